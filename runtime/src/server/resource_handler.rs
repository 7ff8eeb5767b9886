//! HTTP handler of every resource path: from a request to an operation, and from its result to a response.

use std::sync::Arc;

use salvo::http::StatusCode;
use salvo::{Request, async_trait};
use sea_orm::QueryResult;

use super::authenticate::{authenticate_with, charge};
use super::dry_run::{self, DryRun};
use super::open_door;
use super::resource_write::{Arguments, in_transaction};
use super::upload::create_with_file;
use super::{Handler, Response, begin_upload, client_address, headers, read_body, release_for_external_call};
use crate::server::ServerState;
use charter_core::catalog::Entry;
use charter_core::client::Lane;
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::meta::Operation;
use charter_core::ops::Context;
use charter_core::ops::action::external::ExternalCall;
use charter_core::ops::action::{self, ActionCall, external};
use charter_core::ops::deprecation::UsedDeprecations;
use charter_core::ops::endpoints::{Method, PathKind, RouteOperation};
use charter_core::ops::etag::Preconditions;
use charter_core::ops::input::body::Body;
use charter_core::ops::list::export::Exported;
use charter_core::ops::list::{self, ListRequest, ListResponse, explain};
use charter_core::ops::write::{bulk, fast_path, restore};
use charter_core::ops::{attached_to, records, show, visibility};
use charter_core::query::Condition;
use charter_platform::attachment;
use charter_platform::auth::revalidate;
use charter_platform::view;

/// The id of a singleton's only record.
const SINGLETON_ID: i64 = 1;

/// One path of one resource.
#[derive(Debug)]
pub(super) struct ResourceEndpoint {
    /// The position of the resource in the catalog.
    pub index: usize,
    pub path_kind: PathKind,
    pub methods: Vec<Method>,
}

#[async_trait]
impl Handler for ResourceEndpoint {
    /// An upload has no fixed timeout: its handler limits it by its progress.
    fn has_no_timeout(&self, state: &ServerState, request: &Request) -> bool {
        let uploads = state.catalog.entries()[self.index].receives_file();
        uploads && matches!(self.path_kind, PathKind::Collection) && request.method().as_str() == "POST"
    }

    fn lane(&self, request: &Request) -> Lane {
        match (request.method().is_safe(), self.path_kind) {
            (true, PathKind::Member | PathKind::Singleton) => Lane::Record,
            (true, _) => Lane::Read,
            (false, _) => Lane::Write,
        }
    }

    /// Only a private cache may store the response, and must revalidate it. Shared caches exclude requests with
    /// `Authorization` by themselves, but not those with `X-AUTH-TOKEN`.
    fn cache_control(&self) -> Option<&'static str> {
        Some("private, no-cache")
    }

    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        let mut uses = UsedDeprecations::new(state.catalog.entries()[self.index].meta);
        let answer = self.handle(state, request, &mut uses).await?;
        // 304 carries no deprecation headers.
        if answer.status() == StatusCode::NOT_MODIFIED {
            return Ok(answer);
        }
        Ok(uses.headers().fold(answer, |answer, (name, text)| answer.with_text(name, &text)))
    }
}

impl ResourceEndpoint {
    /// Checks in the order of the specification: 429, 401, 405, 403, 404, then errors in reading the request (400, 413,
    /// 415), 403 of the record, 412, 422. With an `Idempotency-Key`, the key's own 422, 413 and 415 come before the 404
    /// of the record.
    async fn handle(
        &self,
        state: &Arc<ServerState>,
        request: &mut Request,
        uses: &mut UsedDeprecations,
    ) -> Result<Response> {
        let entry = &state.catalog.entries()[self.index];
        if let Some(door) = open_door::of(entry, self.path_kind, request) {
            return open_door::create(state, request, entry, door).await;
        }
        let bypass_cache =
            state.routes[entry.index].grants_access && !matches!(request.method().as_str(), "GET" | "HEAD");
        let caller = authenticate_with(state, request, bypass_cache).await?;
        let method_name = match request.method().as_str() {
            "HEAD" => "GET",
            other => other,
        };
        let Some(method) = self.methods.iter().find(|method| method.name == method_name) else {
            return Err(Error::method_not_allowed(self.methods.iter().map(|method| method.name)));
        };
        method.access.check(&caller)?;
        let (request_id, trace) = (headers::request_id(request), headers::trace(request));
        let address = Some(client_address(request, &state.config.trusted_proxies));
        let mut context = Context::new(state, &caller, state.db.reader())
            .with_request_id(request_id.as_deref())
            .with_client_address(address)
            .with_trace(trace);
        let (parent, within) = match self.path_kind {
            PathKind::Attached(index) | PathKind::AttachedSummary(index) => {
                (None, attached(&context, entry, index, request).await?)
            }
            _ => parent(entry, request)?,
        };
        let uri = request.uri().clone();
        let (path, query) = (uri.path(), uri.query().unwrap_or_default());
        uses.record_query(method.call, query);
        let id = match self.path_kind {
            PathKind::Singleton => Some(SINGLETON_ID),
            _ => match parameter(request, "id") {
                Some(text) => Some(id(&text)?),
                None => None,
            },
        };
        if let (true, PathKind::Member, Some(id)) = (entry.is_attached(), self.path_kind, id) {
            attachment::check_access(&context, id, method.call.verb()).await?;
        }
        let mut key = match method.call.accepts_idempotency_key() {
            true => headers::key(request, &caller)?,
            false => None,
        };
        if let (true, RouteOperation::Operation(Operation::Create)) = (entry.receives_file(), method.call) {
            return create_with_file(&context, entry, begin_upload(request), key).await;
        }
        let mut key_body = None;
        if let Some(key) = &mut key {
            let body = read_body(request, state.config.body_limit).await?;
            key.add(&body);
            uses.record_body(method.call, &body);
            // The stored response is replayed even if the record is deleted by now.
            if let Some(reply) = key.find_reply(&context).await? {
                return headers::replayed(reply);
            }
            key_body = Some(body);
        }
        parent_exists(&context, entry, parent).await?;
        let mut found = None;
        let bytes = match method.name {
            "GET" | "DELETE" => Default::default(),
            _ => {
                // A missing record is 404 before its body is validated.
                match id {
                    Some(id) if matches!(method.call, RouteOperation::Restore) => {
                        restore::find(&context, entry, id, within.clone()).await?;
                    }
                    Some(id) => found = Some(find(&context, entry, id, within.clone()).await?),
                    None => {}
                }
                match key_body {
                    Some(body) => body,
                    None => {
                        let body = read_body(request, state.config.body_limit).await?;
                        uses.record_body(method.call, &body);
                        body
                    }
                }
            }
        };
        if matches!(method.call, RouteOperation::Bulk) {
            charge(state, request, bulk::request_weight(&bytes) - 1);
        }
        // A write that grants access checks the caller again after the body, which can take long to arrive.
        let revalidated;
        if bypass_cache {
            revalidated = revalidate(state, &caller).await?;
            method.access.check(&revalidated)?;
            context = Context::new(state, &revalidated, state.db.reader())
                .with_request_id(request_id.as_deref())
                .with_client_address(address)
                .with_trace(trace);
        }
        let conditions = match method.call.has_conditions() {
            true => headers::conditions(request),
            false => Ok(Preconditions::default()),
        };
        // A missing record is 404 before its conditions are validated.
        if let (Err(_), Some(id)) = (&conditions, id) {
            match method.call {
                RouteOperation::Operation(Operation::Show) => show::find(&context, entry, id, &within, query).await?,
                RouteOperation::Operation(Operation::Delete) => {
                    records::require(&context, entry, id, within.clone()).await?
                }
                // Other methods loaded the record before they read the body.
                _ => {}
            }
        }
        let conditions = conditions?;
        let head = request.method().as_str() == "HEAD";
        let format = match method.call {
            RouteOperation::Operation(Operation::List) => headers::format(request)?,
            _ => None,
        };
        let list = ListRequest {
            path,
            query,
            is_summary: matches!(method.call, RouteOperation::Summary),
            format,
            head,
            conditions: &conditions,
            find_view: |context, entry, id| Box::pin(view::find(context, entry, id)),
            revalidate: |state, caller| Box::pin(revalidate(state, caller)),
        };
        let arguments = Arguments { id, parent, within, conditions: &conditions, list, query, bytes: &bytes, found };
        if request.extensions().get::<DryRun>().is_some() && !method.call.reads() {
            return dry_run::run(&context, entry, method.call, arguments).await;
        }
        if matches!(method.call, RouteOperation::Action(action) if action.external) {
            release_for_external_call(request)?;
        }
        if let (RouteOperation::Action(action), Some(key), false) = (method.call, &key, method.call.is_transaction()) {
            let call = ExternalCall { action, id, within: arguments.within, query, body: &bytes };
            return headers::execution_response(external::run(&context, entry, call, key.clone()).await?);
        }
        if !method.call.is_transaction() {
            return read(&context, entry, method.call, arguments).await;
        }
        in_transaction(&context, entry, method.call, arguments, key).await
    }
}

/// Runs an operation without a transaction.
async fn read(
    context: &Context<'_>,
    entry: &Entry,
    call: RouteOperation,
    arguments: Arguments<'_>,
) -> Result<Response> {
    let Arguments { id, within, conditions, list, query, bytes, .. } = arguments;
    let body = match (call, id) {
        (RouteOperation::Operation(Operation::List) | RouteOperation::Summary, _) => {
            return list_answer(list::list(context, entry, within, list).await?);
        }
        (RouteOperation::Operation(_), Some(id)) => {
            let (body, tag) = show::show(context, entry, id, within, query).await?;
            let is_unchanged = conditions.not_modified(&tag)?;
            let answer = match is_unchanged {
                true => Response::empty(StatusCode::NOT_MODIFIED),
                false => Response::json(StatusCode::OK, body),
            };
            return Ok(answer.with_text(header::ETAG, &tag));
        }
        (RouteOperation::Operation(_), None) | (RouteOperation::Bulk | RouteOperation::Restore, _) => {
            return Err(Error::NotFound);
        }
        (RouteOperation::Action(action), id) => {
            // Preconditions apply to writes of a record ([`RouteOperation::has_conditions`]).
            let conditions = &Preconditions::default();
            let body = &Body::read(bytes, Some(action.name))?;
            let call = ActionCall { action, id, within, conditions, query, body };
            action::run(context, entry, call).await?.body
        }
    };
    Ok(Response::json(StatusCode::OK, body))
}

fn list_answer(response: ListResponse) -> Result<Response> {
    let answer = match response {
        ListResponse::Page { body, link, tag } => {
            let headers = link.map(|link| (header::LINK, link)).into_iter().chain(tag.map(|tag| (header::ETAG, tag)));
            headers.fold(Response::json(StatusCode::OK, body), |answer, (name, text)| answer.with_text(name, &text))
        }
        ListResponse::Unchanged { tag } => Response::empty(StatusCode::NOT_MODIFIED).with_text(header::ETAG, &tag),
        ListResponse::Plan(body) => Response::bytes(explain::MEDIA_TYPE, body),
        ListResponse::All(format, Exported { file_name, body }) => Response::stream(StatusCode::OK, body)
            .with_text("content-type", &format.content_type())
            .with_text(header::DISPOSITION, &format!("attachment; filename=\"{file_name}\"")),
    };
    Ok(answer.with_text(header::VARY, header::ACCEPT))
}

/// The condition that a record is attached to the one in the path, which must exist.
async fn attached(context: &Context<'_>, entry: &Entry, index: usize, request: &Request) -> Result<Condition> {
    let target = &context.catalog().entries()[index];
    let (parent, within) = parent(target, request)?;
    parent_exists(context, target, parent).await?;
    let id = match target.meta.singleton {
        true => SINGLETON_ID,
        false => id(&parameter(request, "id").ok_or(Error::NotFound)?)?,
    };
    records::require(context, target, id, within).await?;
    attached_to(entry, target, id)
}

/// The id of the parent in the path, and the condition that a record belongs to it.
fn parent(entry: &Entry, request: &Request) -> Result<(Option<i64>, Condition)> {
    let Some(under) = entry.meta.under else { return Ok((None, Condition::always())) };
    let id = id(&parameter(request, under.field).ok_or(Error::NotFound)?)?;
    let field = entry.field(under.field).ok_or_else(|| Error::internal(format!("`{}` is not a field", under.field)))?;
    Ok((Some(id), Condition::equals(field, id)))
}

/// Checks that the parent in the path exists, if the path has one.
async fn parent_exists(context: &Context<'_>, entry: &Entry, parent: Option<i64>) -> Result<()> {
    let (Some(under), Some(id)) = (entry.meta.under, parent) else { return Ok(()) };
    records::require(context, context.catalog().linked(under.resource), id, Condition::always()).await
}

/// The record to change.
async fn find(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<Arc<QueryResult>> {
    let condition = visibility::visible(context, entry).and(within);
    fast_path::find(context, entry, id, &condition).await?.ok_or(Error::NotFound)
}

fn parameter(request: &Request, name: &str) -> Option<String> {
    request.params().get(name).cloned()
}

/// Parses an id in a path. An id that no record can have is 404.
fn id(text: &str) -> Result<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or(Error::NotFound)
}
