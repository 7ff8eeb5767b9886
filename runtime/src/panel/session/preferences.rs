//! Language, time zone and number form of one's own pages.

use chrono_tz::Tz;
use maud::{Markup, html};

use super::account_page;
use super::flash::Flash;
use crate::language::text;
use crate::panel::format::locale::{LANGUAGE, NUMBER_FORM, NUMBER_FORMS, TIME_ZONE};
use crate::panel::layout;
use crate::panel::request::{PanelRequest, form_value};
use crate::server::Response;
use charter_core::error::{Error, Result};
use charter_core::query::Pair;
use charter_platform::auth::preference;

/// Path of the form.
const PATH: &str = "/panel/account/preferences";

/// Stores the preferences of the form. An empty one is the default.
pub(super) async fn save(request: &PanelRequest<'_>, form: &[Pair]) -> Result<Response> {
    let Some(user_id) = request.user.principal.user_id else { return Err(Error::NotFound) };
    let sent = |name: &str| form_value(form, name).unwrap_or_default().trim();
    let (language, zone, numbers) = (sent(LANGUAGE), sent(TIME_ZONE), sent(NUMBER_FORM));
    if !zone.is_empty() && zone.parse::<Tz>().is_err() {
        let problem = text!("No time zone is called {name}. Choose one of the suggestions.", name = zone);
        return account_page::page_with_refused_zone(request, zone, problem).await;
    }
    let is_known = language.is_empty() || request.state.languages.find(language).is_some();
    if !is_known || !(numbers.is_empty() || NUMBER_FORMS.contains(&numbers)) {
        return Err(Error::NotFound);
    }
    for (name, value) in [(LANGUAGE, language), (TIME_ZONE, zone), (NUMBER_FORM, numbers)] {
        preference::set(request.state, user_id, name, value).await?;
    }
    Ok(Flash::Saved.redirect(account_page::PATH))
}

/// The card of the account page. `refused` is a time zone with its message.
pub(super) fn render(request: &PanelRequest<'_>, refused: Option<&(&str, String)>) -> Markup {
    let chosen = |name: &str| request.raw.preferences.get(name).map(String::as_str).unwrap_or_default();
    let zone = refused.map_or(chosen(TIME_ZONE), |(zone, _)| zone);
    html! {
        form .record method="post" action=(PATH) {
                h2 { (text!("Language and formats")) }
                (layout::csrf_input(request))
                div .field { label for="language" { (text!("Language")) }
                    select #language name=(LANGUAGE) {
                        option value="" { (text!("As in the browser")) }
                        @for language in request.state.languages.all() {
                            option value=(language.code) lang=(language.code) selected[chosen(LANGUAGE) == language.code] { (language.name) }
                        }
                    }
                }
                div .field .invalid[refused.is_some()] { label for="time-zone" { (text!("Time zone")) }
                    reference-picker .reference data-value {
                        input #time-zone type="text" name=(TIME_ZONE) value=(zone) autocomplete="off" data-titles="/panel/time_zones"
                            aria-describedby="time-zone-help" aria-invalid=[refused.map(|_| "true")];
                    }
                    @if let Some((_, problem)) = refused { p .error { (problem) } }
                    p .help #time-zone-help { (text!("Times are shown and entered in it. Without one, it is that of the company.")) } }
                div .field { label for="number-form" { (text!("Numbers")) }
                    select #number-form name=(NUMBER_FORM) {
                        option value="" { (text!("As in the settings")) }
                        @for form in NUMBER_FORMS { option value=(form) selected[chosen(NUMBER_FORM) == form] { (form) } }
                    }
                }
                div .buttons { button .primary { (text!("Save")) } }
        }
    }
}
