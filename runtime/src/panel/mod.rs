//! The panel: every resource in the browser, from the same declaration as the API.
//!
//! Pages are written by the server and work without scripts; one small script makes them quicker. A page never touches
//! the database for what the API has: it asks the API, in this process, as the user who is signed in (`api.rs`). So
//! what a user may not do there cannot be done here, and a page's address is that of the API's request: `/products?sort=-name`
//! shows what `/api/v1/products?sort=-name` answers. `docs/panel.md` has the rest.

mod action;
mod amount;
mod api;
mod asset;
mod bulk;
mod cell;
mod change;
mod choice;
mod chooser;
mod columns;
mod condition;
mod cookie;
mod dashboard;
mod deleted;
mod difference;
mod files;
mod filter;
mod foretold;
mod form;
mod form_fields;
mod history;
mod input;
mod list;
mod listing;
mod locale;
mod memory;
mod page;
mod place;
mod plot;
mod recent;
mod record;
mod related;
mod row;
mod said;
mod sent;
mod several;
mod sign_in;
mod sweep;
mod table;
mod title;
mod token;
mod tools;
mod view_form;
mod views;
mod visit;
mod was;
mod words;
mod zone;

use std::sync::Arc;

use salvo::http::StatusCode;
use salvo::{Request, Router, async_trait};

use crate::attachment::Location;
use crate::auth::session::{self, Found};
use crate::catalog::validate::{DELETE, EDIT, HISTORY, NEW, VIEWS};
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;
use crate::metrics::UNMATCHED;
use crate::ops::{BULK, RESTORE};
use crate::server::{Answer, Answers, Endpoint, Nothing};
use api::Api;
use place::Place;
use visit::{Asked, Visit};

/// Where what belongs to no resource stands.
const ROOT: &str = "panel";
/// The path before the names of its own files.
const ASSETS: &str = "/panel/assets/";

/// What a browser may load for a page: nothing from elsewhere, no script and no style but the panel's own files.
/// Its images may be thumbnails, which are where the files are: where that is no HTTPS, its origin is named.
fn policy(state: &State) -> String {
    let store = state.config.storage.as_ref().and_then(Location::origin).filter(|origin| origin.starts_with("http:"));
    let images = store.map_or_else(|| "https:".to_string(), |origin| format!("https: {origin}"));
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: {images}; \
         font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Every path that neither the API nor the server itself has.
pub fn router(state: &Arc<State>) -> Router {
    let panel = Arc::new(Panel {
        api: Api::new(state),
        locales: locale::Locales::default(),
        remembered: memory::Remembered::default(),
        policy: policy(state),
    });
    let panel = || Endpoint::new(state.clone(), panel.clone());
    Router::new().push(Router::new().goal(panel())).push(Router::with_path("{**rest}").goal(panel()))
}

/// Whether a path is below the API's, whatever its version.
fn is_of_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

struct Panel {
    api: Api,
    locales: locale::Locales,
    remembered: memory::Remembered,
    policy: String,
}

#[async_trait]
impl Answers for Arc<Panel> {
    fn is_unhurried(&self, _: &State, request: &Request) -> bool {
        let path = request.uri().path();
        path.starts_with("/panel/api/") && path.ends_with("/attachments") && request.method().as_str() == "POST"
    }

    /// A page is one route: its paths are those of records, with their ids.
    fn route(&self, request: &Request) -> Option<&'static str> {
        let path = request.uri().path();
        Some(match path {
            _ if is_of_api(path) => UNMATCHED,
            _ if path.starts_with(ASSETS) => "/panel/assets/{name}",
            _ if path.starts_with("/panel/api/") => "/panel/api/{path}",
            _ => "/{page}",
        })
    }

    /// What it asks of the API takes turns.
    fn takes_turns(&self) -> bool {
        false
    }

    /// A link that sets a password is a secret.
    fn logged<'p>(&self, path: &'p str) -> &'p str {
        let segments = visit::segments(path).unwrap_or_default();
        let is_link = matches!(segments.as_slice(), [root, page, ..] if root == ROOT && page == "invitation");
        if is_link { "/panel/invitation/-" } else { path }
    }

    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        let path = request.uri().path().to_string();
        if is_of_api(&path) {
            return Nothing.answer(state, request).await;
        }
        if let Some(name) = path.strip_prefix(ASSETS) {
            return asset::answer(request, name);
        }
        let is_page = visit::wants_page(request);
        let (asked, found) = match known(state, request).await {
            Ok(known) => known,
            Err(error) => return Ok(self.guarded(page::failed(state, request, &error, is_page))),
        };
        let says = asked.says.is_some();
        let renewed = found.as_ref().and_then(|found| found.renewed.clone());
        let answer = match self.go(state, request, asked, found).await {
            Ok(answer) => answer,
            Err(error) => page::failed(state, request, &error, is_page),
        };
        // A secret that was changed is told whatever came of the request, unless it has begun or ended a session.
        let sets = answer.header(cookie::SET).and_then(|set| set.to_str().ok()).is_some_and(cookie::is_session);
        let answer = match renewed.filter(|_| !sets) {
            Some(secret) => answer.with_text(cookie::SET, &cookie::session(state, &secret)),
            None => answer,
        };
        // What a page has said is said.
        let answer = match says && is_page && !answer.status().is_redirection() {
            true => answer.with_text(cookie::SET, &cookie::said("")),
            false => answer,
        };
        Ok(self.guarded(answer))
    }
}

impl Panel {
    /// The headers of every page.
    fn guarded(&self, answer: Answer) -> Answer {
        if answer.header(header::SECURITY_POLICY).is_some() {
            return answer;
        }
        answer
            .with_text(header::SECURITY_POLICY, &self.policy)
            .with_text(header::TYPE_OPTIONS, "nosniff")
            .with_text(header::REFERRER_POLICY, "same-origin")
            .with_text(header::CACHE_CONTROL, "no-store")
    }

    async fn go(
        &self,
        state: &Arc<State>,
        request: &mut Request,
        asked: Asked,
        found: Option<Found>,
    ) -> Result<Answer> {
        let segments: Vec<String> = asked.segments.clone();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if let [ROOT, rest @ ..] = segments.as_slice()
            && let Some(answer) = sign_in::outside(self, state, request, &asked, rest, found.as_ref()).await?
        {
            return Ok(answer);
        }
        let Some(found) = found else { return sign_in::needed(state, request, &asked).await };
        let visit = Visit::new(self, state, asked, found.user).await?;
        self.inside(request, &visit, &segments).await
    }

    async fn inside(&self, request: &mut Request, visit: &Visit<'_>, segments: &[&str]) -> Result<Answer> {
        let post = match request.method().as_str() {
            "GET" | "HEAD" => false,
            "POST" => true,
            _ if matches!(segments, [ROOT, "api", ..]) => true,
            _ => return Err(Error::method_not_allowed(["GET", "POST"])),
        };
        if post {
            visit.need_same_origin(request)?;
        }
        match segments {
            [] => dashboard::answer(visit).await,
            [ROOT, "api", rest @ ..] => visit.forward(request, rest).await,
            [ROOT, "titles", plural] => title::search(visit, plural).await,
            [ROOT, rest @ ..] => sign_in::inside(request, visit, rest).await,
            _ => {
                let (place, rest) = Place::find(&visit.state.catalog, segments).ok_or(Error::NotFound)?;
                let form = if post { visit.form(request).await? } else { Vec::new() };
                if post && visit.need_token(&form).is_err() {
                    return sign_in::stale(visit, &place, rest, &form).await;
                }
                match (post, rest) {
                    (false, []) if place.is_list() => list::answer(visit, &place).await,
                    (false, []) if place.is_edited() => form::edit(visit, &place).await,
                    (false, []) => record::answer(visit, &place).await,
                    (false, [NEW]) if place.is_list() => form::new(visit, &place).await,
                    (false, [EDIT]) if !place.is_list() => form::edit(visit, &place).await,
                    (false, [HISTORY]) if !place.is_list() => history::answer(visit, &place).await,
                    (true, []) if place.is_list() => form::create(visit, &place, &form).await,
                    (true, []) => form::update(visit, &place, &form).await,
                    (true, [DELETE]) if !place.is_list() => record::delete(visit, &place, &form).await,
                    (true, [RESTORE]) if !place.is_list() && place.entry.meta.keeps_deleted() => {
                        deleted::restore(visit, &place, &form).await
                    }
                    (true, [VIEWS]) if place.is_list() => views::save_or_clone(visit, &place, &form).await,
                    (true, [BULK]) if place.is_list() => bulk::answer(visit, &place, &form).await,
                    (true, [path, id, DELETE]) if !place.is_list() => files::delete(visit, &place, path, id).await,
                    (_, [name]) => action::run(visit, &place, name, &form).await,
                    _ => Err(Error::NotFound),
                }
            }
        }
    }
}

/// What is asked, and whose session it is, if anybody's.
async fn known(state: &Arc<State>, request: &Request) -> Result<(Asked, Option<Found>)> {
    let asked = Asked::of(state, request)?;
    // Whoever does not come with a browser is told what the API would tell.
    if !asked.is_page && asked.session.is_none() {
        // A script of a page from before somebody signed out is told that.
        let of_panel = asked.segments.first().is_some_and(|first| first == ROOT);
        return Err(if of_panel { Error::Unauthenticated } else { Error::NotFound });
    }
    let found = match &asked.session {
        // What is written may outlast the session.
        Some(secret) => session::find(state, secret, !matches!(request.method().as_str(), "GET" | "HEAD")).await?,
        None => None,
    };
    Ok((asked, found))
}

/// Sends the browser to another page, which it asks for with GET.
fn see(path: &str) -> Answer {
    Answer::empty(StatusCode::SEE_OTHER).with_text(header::LOCATION, path)
}
