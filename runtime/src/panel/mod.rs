//! The panel: server-rendered HTML pages for every declared resource, at the API's paths without `/api/v1`.
//!
//! Pages work without JavaScript; the scripts in `asset/` only make them faster to use. A page reads and writes records
//! through the API in the same process, as the user who is signed in (`server/api_client.rs`), which makes every permission check of
//! the API hold in the panel. `/products?sort=-name` shows what `/api/v1/products?sort=-name` returns. See
//! `docs/panel.md`.

mod asset;
mod brand;
mod bulk;
mod cache;
mod confirmation;
mod dashboard;
mod display_name;
mod extension;
mod fetch_many;
mod format;
mod import;
mod layout;
mod list;
mod navigation;
mod record;
mod request;
mod search;
mod session;
mod suggestion;
mod target;
mod url;

use std::sync::Arc;

use charter_model::reserved::{
    CELL_PAGE as CELL, COLUMNS_PAGE as COLUMNS, DELETE_PAGE as DELETE, EDIT_PAGE as EDIT, EXPORT_PAGE as EXPORT,
    HISTORY_PAGE as HISTORY, NEW_PAGE as NEW, SEARCH_PATH as SEARCH, VIEWS_PAGE as VIEWS,
};
use salvo::http::StatusCode;
use salvo::{Request, Router, async_trait};

use crate::server::ServerState;
use crate::server::{ApiClient, Endpoint, Handler, Identified, NotFound, Response, headers};
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::metrics::UNMATCHED;
use charter_core::ops::{BULK, RESTORE};
use charter_platform::attachment::S3Config;
use charter_platform::auth::preference;
use charter_platform::auth::session::{self as auth_session, CookieSession};
use confirmation::{deletion, undo};
pub(crate) use extension::PanelExtensions;
pub use extension::{PanelCard, PanelContext, PanelPage, RenderPanel};
pub(crate) use format::label_texts::label_texts;
use format::locale::{LANGUAGE, LocaleCache};
pub(crate) use import::import_labels;
use list::{cell, export, remembered, saved_views, trash};
use record::{action, form, form_save, history};
use request::{PanelRequest, RawRequest};
use session::{account, cookie, sign_in};
use target::Target;

/// First path segment of the pages that belong to no resource.
const ROOT: &str = "panel";
/// Path prefix of the panel's static files.
const ASSETS: &str = "/panel/assets/";

/// The `Content-Security-Policy` of every page: only the panel's own scripts and styles. Thumbnails are loaded from the
/// file store, whose origin is listed if it is not HTTPS.
fn content_security_policy(state: &ServerState) -> String {
    let store = state.config.storage.as_ref().and_then(S3Config::origin).filter(|origin| origin.starts_with("http:"));
    let images = store.map_or_else(|| "https:".to_string(), |origin| format!("https: {origin}"));
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: {images}; \
         font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// Routes every path that no other part of the server matches.
pub(crate) fn router(state: &Arc<ServerState>) -> Router {
    let panel = Arc::new(Panel {
        api: ApiClient::new(state, "A hidden field of the form is invalid. Reload the page."),
        locales: LocaleCache::default(),
        cache: cache::PageCache::default(),
        content_security_policy: content_security_policy(state),
    });
    let panel = || Endpoint::new(state.clone(), panel.clone());
    Router::new().push(Router::new().goal(panel())).push(Router::with_path("{**rest}").goal(panel()))
}

/// Returns true if a path is below `/api`, in any version.
fn is_api_path(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

struct Panel {
    api: ApiClient,
    locales: LocaleCache,
    cache: cache::PageCache,
    content_security_policy: String,
}

#[async_trait]
impl Handler for Arc<Panel> {
    fn has_no_timeout(&self, _: &ServerState, request: &Request) -> bool {
        let path = request.uri().path();
        let is_upload = path.starts_with("/panel/api/") && path.ends_with("/attachments") || path == "/imports";
        is_upload && request.method().as_str() == "POST"
    }

    /// All pages share one route label, because their paths contain record ids.
    fn route(&self, request: &Request) -> Option<&'static str> {
        let path = request.uri().path();
        Some(match path {
            _ if is_api_path(path) => UNMATCHED,
            _ if path.starts_with(ASSETS) => "/panel/assets/{name}",
            _ if path.starts_with("/panel/api/") => "/panel/api/{path}",
            _ => "/{page}",
        })
    }

    /// The concurrency limit applies to the API requests that a page makes.
    fn limits_concurrency(&self) -> bool {
        false
    }

    /// The secret of an invitation link is kept out of the log.
    fn redact_path<'p>(&self, path: &'p str) -> &'p str {
        let segments = request::path_segments(path).unwrap_or_default();
        let is_link = matches!(segments.as_slice(), [root, page, ..] if root == ROOT && page == "invitation");
        if is_link { "/panel/invitation/-" } else { path }
    }

    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        let path = request.uri().path().to_string();
        if is_api_path(&path) {
            return NotFound.handle(state, request).await;
        }
        if let Some(name) = path.strip_prefix(ASSETS) {
            return match brand::is_file(name) {
                true => brand::serve(&state.config.brand, request, name),
                false => asset::serve(&state.languages, request, name),
            };
        }
        let is_page = request::accepts_html(request);
        let of_browser = state.languages.preferred(headers::text(request, "accept-language").as_deref());
        let (raw, session) = match identify(state, request).await {
            Ok(identified) => identified,
            Err(error) => {
                let page = of_browser.scope(async { layout::error_page(state, request, &error, is_page) }).await;
                return Ok(self.with_security_headers(page));
            }
        };
        if let Some(session) = &session {
            Identified::note(request, &session.user.principal);
        }
        let has_flash = raw.flash.is_some();
        let renewed = session.as_ref().and_then(|session| session.renewed.clone());
        let language = raw.preferences.get(LANGUAGE).and_then(|code| state.languages.find(code));
        let answer = language
            .unwrap_or(of_browser)
            .scope(async {
                match self.dispatch(state, request, raw, session).await {
                    Ok(answer) => answer,
                    Err(error) => layout::error_page(state, request, &error, is_page),
                }
            })
            .await;
        // A rotated session secret is sent with any outcome, unless the request itself began or ended a session.
        let sets_session =
            answer.header(cookie::SET_COOKIE).and_then(|set| set.to_str().ok()).is_some_and(cookie::sets_session);
        let answer = match renewed.filter(|_| !sets_session) {
            Some(secret) => answer.with_text(cookie::SET_COOKIE, &cookie::set_session(state, &secret)),
            None => answer,
        };
        // The flash message was rendered: clear it.
        let answer = match has_flash && is_page && !answer.status().is_redirection() {
            true => answer.with_text(cookie::SET_COOKIE, &cookie::set_flash("")),
            false => answer,
        };
        Ok(self.with_security_headers(answer))
    }
}

impl Panel {
    fn with_security_headers(&self, answer: Response) -> Response {
        if answer.header(header::SECURITY_POLICY).is_some() {
            return answer;
        }
        answer
            .with_text(header::SECURITY_POLICY, &self.content_security_policy)
            .with_text(header::REFERRER_POLICY, "same-origin")
            .with_text(header::CACHE_CONTROL, "no-store")
    }

    async fn dispatch(
        &self,
        state: &Arc<ServerState>,
        http_request: &mut Request,
        raw: RawRequest,
        session: Option<CookieSession>,
    ) -> Result<Response> {
        let segments: Vec<String> = raw.segments.clone();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if let [ROOT, rest @ ..] = segments.as_slice()
            && let Some(answer) =
                sign_in::handle_signed_out(self, state, http_request, &raw, rest, session.as_ref()).await?
        {
            return Ok(answer);
        }
        let Some(session) = session else { return sign_in::require_sign_in(state, http_request, &raw).await };
        let request = PanelRequest::new(self, state, raw, session.user).await?;
        match self.dispatch_signed_in(http_request, &request, &segments).await {
            Err(error) if request.raw.wants_html => Ok(layout::signed_in_error_page(&request, &error)),
            answer => answer,
        }
    }

    async fn dispatch_signed_in(
        &self,
        http_request: &mut Request,
        request: &PanelRequest<'_>,
        segments: &[&str],
    ) -> Result<Response> {
        let post = match http_request.method().as_str() {
            "GET" | "HEAD" => false,
            "POST" => true,
            _ if matches!(segments, [ROOT, "api", ..]) => true,
            _ => return Err(Error::method_not_allowed(["GET", "POST"])),
        };
        if post {
            request.require_same_origin(http_request)?;
        }
        match segments {
            [] => dashboard::show(request).await,
            [ROOT, "api", rest @ ..] => request.forward_to_api(http_request, rest).await,
            [SEARCH] if post => Err(Error::method_not_allowed(["GET"])),
            [SEARCH] => search::show(request).await,
            [ROOT, "titles", plural] => suggestion::records(request, plural).await,
            [ROOT, "time_zones"] => suggestion::time_zones(request),
            [ROOT, "pages", _] if post => Err(Error::method_not_allowed(["GET"])),
            [ROOT, "pages", path] => extension::show(request, path).await,
            [ROOT, "undo"] if post => undo::run(http_request, request).await,
            [ROOT, rest @ ..] => account::handle(http_request, request, rest).await,
            _ => {
                let (target, rest) = Target::resolve(&request.state.catalog, segments).ok_or(Error::NotFound)?;
                if post && rest.is_empty() && target.is_list() && import::is_import(target.entry) {
                    return import::receive(http_request, request, &target).await;
                }
                let form = if post { request::read_form(http_request).await? } else { Vec::new() };
                if post && request.require_csrf_token(&form).is_err() {
                    return sign_in::reject_stale_form(request, &target, rest, &form).await;
                }
                match (post, rest) {
                    (false, []) if target.is_list() => list::show(request, &target).await,
                    (false, []) if target.is_singleton() => form::edit(request, &target).await,
                    (false, []) if import::is_import(target.entry) => import::show(request, &target).await,
                    (false, []) => record::show(request, &target).await,
                    (false, [NEW]) if import::is_import(target.entry) => import::show_form(request, &target).await,
                    (true, [import::MAPPING]) if !target.is_list() && import::is_import(target.entry) => {
                        import::change_plan(request, &target, &form).await
                    }
                    (false, [NEW]) if target.is_list() => form::new(request, &target).await,
                    (false, [EDIT]) if !target.is_list() => form::edit(request, &target).await,
                    (false, [HISTORY]) if !target.is_list() => history::show(request, &target).await,
                    (false, [CELL]) if target.id.is_some() => cell::edit(request, &target).await,
                    (true, [CELL]) if target.id.is_some() => cell::save(request, &target, &form).await,
                    (true, []) if target.is_list() => form_save::create(request, &target, &form).await,
                    (true, []) => form_save::update(request, &target, &form).await,
                    (false, [DELETE]) if target.id.is_some() => deletion::ask(request, &target).await,
                    (true, [DELETE]) if !target.is_list() => deletion::run(request, &target, &form).await,
                    (true, [RESTORE]) if !target.is_list() && target.entry.meta.keeps_deleted() => {
                        trash::restore(request, &target, &form).await
                    }
                    (false, [EXPORT]) if target.is_list() => export::download(http_request, request, &target).await,
                    (true, [COLUMNS]) if target.is_list() => remembered::choose(request, &target, &form).await,
                    (true, [VIEWS]) if target.is_list() => saved_views::save_or_clone(request, &target, &form).await,
                    (true, [BULK]) if target.is_list() => bulk::handle(request, &target, &form).await,
                    (false, [path, id, DELETE]) if target.id.is_some() => {
                        deletion::ask_for_file(request, &target, path, id).await
                    }
                    (true, [path, id, DELETE]) if !target.is_list() => {
                        deletion::delete_file(request, &target, path, id).await
                    }
                    (_, [name]) => action::run(request, &target, name, &form).await,
                    _ => Err(Error::NotFound),
                }
            }
        }
    }
}

/// Parses the request and looks up its session.
async fn identify(state: &Arc<ServerState>, request: &Request) -> Result<(RawRequest, Option<CookieSession>)> {
    let mut raw = RawRequest::parse(state, request)?;
    // A client that is no browser gets the API's error. A script of a page that outlived its session gets 401.
    if !raw.wants_html && raw.session_secret.is_none() && !sign_in::is_script_request(&raw.segments) {
        let is_panel_path = raw.segments.first().is_some_and(|first| first == ROOT);
        return Err(if is_panel_path { Error::Unauthenticated } else { Error::NotFound });
    }
    let session = match &raw.session_secret {
        // A write is authorized by the database, not by the session cache.
        Some(secret) => auth_session::find(state, secret, !matches!(request.method().as_str(), "GET" | "HEAD")).await?,
        None => None,
    };
    // The API has no preferences.
    let is_api = matches!(raw.segments.as_slice(), [root, path, ..] if root == ROOT && path == "api");
    if let Some(user_id) = session.as_ref().and_then(|session| session.user.principal.user_id).filter(|_| !is_api) {
        raw.preferences = preference::read(state, user_id).await?;
    }
    Ok((raw, session))
}

/// 303 See Other: the browser loads the page with GET.
fn redirect(path: &str) -> Response {
    Response::empty(StatusCode::SEE_OTHER).with_text(header::LOCATION, path)
}
