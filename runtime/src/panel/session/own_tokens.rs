//! The user's own tokens on the account page: listed, and revoked after a question, through the API with the user's
//! rights.

use maud::{Markup, html};
use serde_json::Value;

use super::account_page::{PATH, question, time};
use super::flash::Flash;
use crate::language::{html_text, text};
use crate::panel::request::PanelRequest;
use crate::panel::{confirmation, layout};
use crate::server::Response;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::meta::Operation;
use charter_core::ops::consequences::{DELETE, consequences};
use charter_core::resource::Resource;
use charter_platform::auth::token;

/// Tokens on the page. The list of tokens has the others.
const MAX_TOKENS: i64 = 100;

fn entry<'r>(request: &'r PanelRequest<'_>) -> &'r Entry {
    request.state.catalog.linked(token::Entity::meta().name)
}

/// Handles the paths below `/panel/account/tokens`: a question with GET, its answer with POST.
pub(super) async fn handle(request: &PanelRequest<'_>, post: bool, rest: &[&str]) -> Result<Response> {
    let [id, "revoke"] = rest else { return Err(Error::NotFound) };
    let (id, entry): (i64, &Entry) = (id.parse().map_err(|_| Error::NotFound)?, entry(request));
    if !request.may(entry, Operation::Delete) {
        return Err(layout::not_permitted());
    }
    let path = format!("/{}/{id}", entry.meta.path);
    let token = request.get_json(&path).await?[entry.meta.name].clone();
    // An administrator reads the tokens of others too.
    if token["user_id"].as_i64() != request.user.principal.user_id {
        return Err(Error::NotFound);
    }
    if post {
        let response = request.send("DELETE", &path, &[], None).await?;
        return if response.is_success() { Ok(Flash::Done.redirect(PATH)) } else { Err(response.error()) };
    }
    let name = token["name"].as_str().unwrap_or_default();
    let others = consequences(&request.context(), entry, DELETE, &[id]).await?;
    let consequences = html! {
        p { (html_text!("{token_will_be_revoked}: {name}, last used: {time}.", token_will_be_revoked = html! { strong { (text!("1 token will be revoked")) } }, name = name, time = last_use(request, &token)))
            " " (text!("The server rejects its clients from then on. This cannot be undone.")) }
        (confirmation::render(request, (entry, Some(id)), &others))
    };
    Ok(question(request, &text!("Revoke {name}?", name = name), &text!("Revoke 1 token"), &consequences))
}

/// The card of the tokens, for users who may read tokens.
pub(super) async fn render(request: &PanelRequest<'_>) -> Result<Markup> {
    let (entry, Some(user_id)) = (entry(request), request.user.principal.user_id) else { return Ok(html! {}) };
    if !request.may_read(entry) {
        return Ok(html! {});
    }
    let path = entry.meta.path;
    let list = format!("q[user_id_eq]={user_id}");
    let body = request.get_json(&format!("/{path}?{list}&sort=-id&per_page={MAX_TOKENS}")).await?;
    let tokens = body[entry.meta.plural].as_array().cloned().unwrap_or_default();
    let total = body["meta"]["total"].as_i64().unwrap_or_default();
    let may_revoke = request.may(entry, Operation::Delete);
    Ok(html! {
        section .card {
            div .card-head { h2 { (text!("Tokens")) " " span .count { (request.locale.numbers.count(total)) } }
                @if request.may(entry, Operation::Create) { a .button.small href={ "/" (path) "/new" } { (text!("New token")) } } }
            @if tokens.is_empty() { p .faint { (text!("You have no tokens.")) } } @else {
                div .scroll tabindex="0" role="region" aria-label=(text!("Tokens")) { table {
                    thead { tr { th scope="col" { (text!("Name")) } th scope="col" { (text!("Last used")) } th scope="col" { (text!("Expires")) } th scope="col" { span .hidden { (text!("Actions")) } } } }
                    tbody { @for token in &tokens { @let name = token["name"].as_str().unwrap_or_default(); tr {
                        td { a href={ "/" (path) "/" (token["id"].as_i64().unwrap_or_default()) } { (name) } }
                        td { (last_use(request, token)) }
                        td { @match token["expires_at"].as_str() { Some(at) => (time(request, at)), None => (text!("never")) } }
                        td { @if may_revoke { a href={ (PATH) "/tokens/" (token["id"].as_i64().unwrap_or_default()) "/revoke" } aria-label=(text!("Revoke {name}", name = name)) { (text!("Revoke…")) } } }
                    } } }
                } }
                @if total > MAX_TOKENS { p { a href={ "/" (path) "?" (list) } { (text!("All {count}", count = request.locale.numbers.count(total))) } } }
            }
        }
    })
}

fn last_use(request: &PanelRequest<'_>, token: &Value) -> Markup {
    match token["last_used_at"].as_str() {
        Some(at) => time(request, at),
        None => html! { (text!("never")) },
    }
}
