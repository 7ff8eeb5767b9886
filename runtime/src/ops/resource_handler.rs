//! The one handler behind every path: from an HTTP request to an operation and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use salvo::http::StatusCode;
use salvo::routing::PathState;
use salvo::{Request, Router, async_trait};
use sea_orm::QueryResult;

use super::action::external::{self, ExternalCall};
use super::action::{self, ActionCall};
use super::deprecation::Uses;
use super::endpoints::{API, Method, PathKind, RouteOperation, methods, parts, path, places};
use super::etag::Preconditions;
use super::input::body::Body;
use super::list::explain;
use super::list::export::Exported;
use super::list::{self, ListRequest, ListResponse};
use super::write::bulk::{self, Site};
use super::write::{create, delete, fast_path, restore, update};
use super::{RESTORE, StoredResponse, Transaction, records, show, visibility};
use crate::attachment;
use crate::auth::{identify, still};
use crate::catalog::Entry;
use crate::context::{Context, State};
use crate::error::{Error, Result};
use crate::header;
use crate::idempotency::Key;
use crate::meta::Operation;
use crate::query::Condition;
use crate::server::{Answer, Endpoint, begin_upload, headers, read_body, step_aside};

/// The only id that a singleton has.
const SINGLETON_ID: i64 = 1;

/// So many names are tried one after another.
const ROUTES_PER_GROUP: usize = 8;

/// Mounts every resource under `/api/v1`. Paths are tried one after another: those that begin with the same name hang
/// together, and so do names that follow one another, so that a request passes a few of them and not every path of all.
pub fn router(state: &Arc<State>) -> Router {
    let mut roots: BTreeMap<String, Router> = BTreeMap::new();
    for (index, entry) in state.catalog.entries().iter().enumerate() {
        for place in places(&state.catalog, entry) {
            let path = path(&state.catalog, entry, place);
            let (first, rest) = path.split_once('/').unwrap_or((&path, ""));
            let root = roots.remove(first).unwrap_or_else(|| Router::with_path(first));
            let at = ResourceEndpoint { index, place, methods: methods(&state.catalog, entry, place) };
            let end = Endpoint::new(state.clone(), at);
            let root = match rest {
                "" => root.goal(end),
                _ => root.push(Router::with_path(rest).goal(end)),
            };
            roots.insert(first.into(), root);
        }
    }
    let mut roots = roots.into_iter().peekable();
    let mut api = Router::with_path(API.trim_start_matches('/'));
    while let Some((least, _)) = roots.peek() {
        let (least, mut most) = (least.clone(), String::new());
        let mut those = Vec::with_capacity(ROUTES_PER_GROUP);
        for (name, root) in roots.by_ref().take(ROUTES_PER_GROUP) {
            most = name;
            those.push(root);
        }
        let is_among = move |request: &mut Request, _: &mut PathState<'_>| {
            let name = parts(request.uri().path()).nth(parts(API).count()).unwrap_or_default();
            // What is written with escapes may be any of them.
            name.contains('%') || (least.as_str()..=most.as_str()).contains(&name)
        };
        api = api.push(those.into_iter().fold(Router::with_filter_fn(is_among), Router::push));
    }
    api
}

/// One path of one resource.
#[derive(Debug)]
struct ResourceEndpoint {
    /// The position of the resource in the catalog.
    index: usize,
    place: PathKind,
    methods: Vec<Method>,
}

#[async_trait]
impl crate::server::Answers for ResourceEndpoint {
    /// An upload may take long, as long as it goes on; it watches the clock itself.
    fn is_unhurried(&self, state: &State, request: &Request) -> bool {
        let uploads = state.catalog.entries()[self.index].route.upload.is_some();
        uploads && matches!(self.place, PathKind::Collection) && request.method().as_str() == "POST"
    }

    /// The caller's own cache, and only after asking: `Authorization` alone would keep others from it, `X-AUTH-TOKEN` does not.
    fn may_keep(&self) -> Option<&'static str> {
        Some("private, no-cache")
    }

    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        let mut uses = Uses::new(state.catalog.entries()[self.index].meta);
        let answer = self.handle(state, request, &mut uses).await?;
        // What has not changed since is no answer of its own.
        if answer.status() == StatusCode::NOT_MODIFIED {
            return Ok(answer);
        }
        Ok(uses.headers().fold(answer, |answer, (name, text)| answer.with_text(name, &text)))
    }
}

impl ResourceEndpoint {
    /// The order of the checks is the contract's: 429, 401, 405, 403, 404, then what cannot be read of the request (400, 413,
    /// 415), 403 of the record, 412, 422. Of a request with an `Idempotency-Key` the key's own 422, and 413 and 415, come
    /// before the 404 of its record.
    async fn handle(&self, state: &Arc<State>, request: &mut Request, uses: &mut Uses) -> Result<Answer> {
        let entry = &state.catalog.entries()[self.index];
        let anew = entry.route.grants && !matches!(request.method().as_str(), "GET" | "HEAD");
        let caller = identify(state, request, anew).await?;
        let asked = match request.method().as_str() {
            "HEAD" => "GET",
            other => other,
        };
        let Some(method) = self.methods.iter().find(|method| method.name == asked) else {
            return Err(Error::method_not_allowed(self.methods.iter().map(|method| method.name)));
        };
        method.admit(&caller)?;
        let (request_id, trace) = (headers::request_id(request), headers::trace(request));
        let mut context =
            Context::new(state, &caller, state.db.reader()).with_request_id(request_id.as_deref()).with_trace(trace);
        let (parent, within) = match self.place {
            PathKind::Attached(index) => (None, attached(&context, entry, index, request).await?),
            _ => parent(entry, request)?,
        };
        let uri = request.uri().clone();
        let (path, query) = (uri.path(), uri.query().unwrap_or_default());
        uses.ask(method.call, query);
        let id = match self.place {
            PathKind::Singleton => Some(SINGLETON_ID),
            _ => match parameter(request, "id") {
                Some(text) => Some(id(&text)?),
                None => None,
            },
        };
        if let (true, PathKind::Member, Some(id)) = (entry.is_attached(), self.place, id) {
            attachment::reach(&context, id, method.name == "GET").await?;
        }
        let mut key = match method.call.takes_key() {
            true => headers::key(request, &caller)?,
            false => None,
        };
        if let (Some(upload), RouteOperation::Operation(Operation::Create)) = (entry.route.upload, method.call) {
            return headers::once(upload(&context, begin_upload(request), key).await?);
        }
        let mut early = None;
        if let Some(key) = &mut key {
            let body = read_body(request, state.config.body_limit).await?;
            key.add(&body);
            uses.give(method.call, &body);
            // What was carried out is answered again, also when the record has gone since.
            if let Some(reply) = key.find(&context).await? {
                return headers::replayed(reply);
            }
            early = Some(body);
        }
        parent_exists(&context, entry, parent).await?;
        let mut found = None;
        let bytes = match method.name {
            "GET" | "DELETE" => Default::default(),
            _ => {
                // What is not there is 404 before its body is judged.
                match id {
                    Some(id) if matches!(method.call, RouteOperation::Restore) => {
                        restore::find(&context, entry, id, within.clone()).await?;
                    }
                    Some(id) => found = Some(find(&context, entry, id, within.clone()).await?),
                    None => {}
                }
                match early {
                    Some(body) => body,
                    None => {
                        let body = read_body(request, state.config.body_limit).await?;
                        uses.give(method.call, &body);
                        body
                    }
                }
            }
        };
        // Rights that outlast the caller's are given by who has them when all of the request is there.
        let by_now;
        if anew {
            by_now = still(state, &caller).await?;
            method.admit(&by_now)?;
            context = Context::new(state, &by_now, state.db.reader())
                .with_request_id(request_id.as_deref())
                .with_trace(trace);
        }
        let conditions = match method.call.has_conditions() {
            true => headers::conditions(request),
            false => Ok(Preconditions::default()),
        };
        // What is not there is 404 before its conditions are judged.
        if let (Err(_), Some(id)) = (&conditions, id) {
            match method.call {
                RouteOperation::Operation(Operation::Show) => show::find(&context, entry, id, &within, query).await?,
                RouteOperation::Operation(Operation::Delete) => {
                    records::require(&context, entry, id, within.clone()).await?
                }
                // It was looked for before its body was read.
                _ => {}
            }
        }
        let conditions = conditions?;
        let head = request.method().as_str() == "HEAD";
        let format = match method.call {
            RouteOperation::Operation(Operation::List) => headers::format(request)?,
            _ => None,
        };
        let list = ListRequest { path, query, format, head, conditions: &conditions };
        let with = Arguments { id, parent, within, conditions: &conditions, list, query, bytes: &bytes, found };
        if matches!(method.call, RouteOperation::Action(action) if action.external) {
            step_aside(request)?;
        }
        if let (RouteOperation::Action(action), Some(key), false) = (method.call, &key, method.call.is_transaction()) {
            let call = ExternalCall { action, id, within: with.within, query, body: &bytes };
            return headers::once(external::run(&context, entry, call, key.clone()).await?);
        }
        if !method.call.is_transaction() {
            return read(&context, entry, method.call, with).await;
        }
        in_transaction(&context, entry, method.call, with, key).await
    }
}

/// A call that writes, in a transaction of its own; with a key what the first one did.
async fn in_transaction(
    context: &Context<'_>,
    entry: &Entry,
    call: RouteOperation,
    with: Arguments<'_>,
    mut key: Option<Key>,
) -> Result<Answer> {
    // What cannot be read needs no transaction.
    let body = match call {
        RouteOperation::Operation(_) => Body::read(with.bytes, Some(entry.meta.name))?,
        RouteOperation::Action(action) => Body::read(with.bytes, Some(action.name))?,
        // It takes no parameters; what is no JSON at all is refused as for an action.
        RouteOperation::Restore => Body::read(with.bytes, Some(RESTORE))?,
        // It reads its body itself, as it asks nothing of a record before.
        RouteOperation::Bulk => Body::default(),
    };
    let state = context.state();
    let transaction = Transaction::begin_late(context.state_arc()).await?;
    let inside = context.in_transaction(&transaction);
    if let Some(key) = &mut key
        && let Some(reply) = key.claim(&inside).await?
    {
        return headers::replayed(reply);
    }
    let (reply, reveals) = write(&inside, entry, call, with, &body).await?;
    if let Some(key) = &key {
        key.keep(&inside, &reply, reveals).await?;
    }
    transaction.commit(context).await?;
    let deletes = matches!(call, RouteOperation::Operation(Operation::Delete) | RouteOperation::Bulk);
    if deletes && (entry.meta.attachments || entry.is_attached()) {
        state.attachments.wake_sweeper();
    }
    headers::answer(reply)
}

/// What an operation is called with.
struct Arguments<'r> {
    id: Option<i64>,
    parent: Option<i64>,
    within: Condition,
    conditions: &'r Preconditions,
    list: ListRequest<'r>,
    query: &'r str,
    bytes: &'r [u8],
    /// The record as it was before the body was read, with its version.
    found: Option<Arc<QueryResult>>,
}

/// A call outside of any transaction.
async fn read(context: &Context<'_>, entry: &Entry, call: RouteOperation, with: Arguments<'_>) -> Result<Answer> {
    let Arguments { id, within, conditions, list, query, bytes, .. } = with;
    let body = match (call, id) {
        (RouteOperation::Operation(Operation::List), _) => {
            return listed(list::list(context, entry, within, list).await?);
        }
        (RouteOperation::Operation(_), Some(id)) => {
            let (body, tag) = show::show(context, entry, id, within, query).await?;
            let same = conditions.not_modified(&tag)?;
            let answer =
                if same { Answer::empty(StatusCode::NOT_MODIFIED) } else { Answer::json(StatusCode::OK, body) };
            return Ok(answer.with_text(header::ETAG, &tag));
        }
        (RouteOperation::Operation(_), None) | (RouteOperation::Bulk | RouteOperation::Restore, _) => {
            return Err(Error::NotFound);
        }
        (RouteOperation::Action(action), id) => {
            // The conditions are those of the record, and this is none.
            let conditions = &Preconditions::default();
            let body = &Body::read(bytes, Some(action.name))?;
            let call = ActionCall { action, id, within, conditions, query, body };
            action::run(context, entry, call).await?.body
        }
    };
    Ok(Answer::json(StatusCode::OK, body))
}

fn listed(listed: ListResponse) -> Result<Answer> {
    let answer = match listed {
        ListResponse::Page { body, link, tag } => {
            let headers = link.map(|link| (header::LINK, link)).into_iter().chain(tag.map(|tag| (header::ETAG, tag)));
            headers.fold(Answer::json(StatusCode::OK, body), |answer, (name, text)| answer.with_text(name, &text))
        }
        ListResponse::Unchanged { tag } => Answer::empty(StatusCode::NOT_MODIFIED).with_text(header::ETAG, &tag),
        ListResponse::Plan(body) => Answer::bytes(explain::MEDIA_TYPE, body),
        ListResponse::All(format, Exported { file_name, body }) => Answer::stream(StatusCode::OK, body)
            .with_text("content-type", &format.content_type())
            .with_text(header::DISPOSITION, &format!("attachment; filename=\"{file_name}\"")),
    };
    Ok(answer.with_text(header::VARY, header::ACCEPT))
}

/// A write in the context's transaction: its answer, and whether that shows a secret.
async fn write(
    context: &Context<'_>,
    entry: &Entry,
    call: RouteOperation,
    with: Arguments<'_>,
    body: &Body<'_>,
) -> Result<(StoredResponse, bool)> {
    let Arguments { id, parent, within, conditions, query, bytes, found, .. } = with;
    let outcome = match (call, id) {
        (RouteOperation::Operation(Operation::Create), _) => create::create(context, entry, body, parent).await?,
        (RouteOperation::Operation(Operation::Delete), Some(id)) => {
            delete::delete(context, entry, id, within, conditions).await?;
            return Ok((StoredResponse::empty(), false));
        }
        (RouteOperation::Operation(_), Some(id)) => {
            update::update(context, entry, id, within, conditions, body, found).await?
        }
        (RouteOperation::Restore, Some(id)) => restore::restore(context, entry, id, within, conditions).await?,
        (RouteOperation::Operation(_) | RouteOperation::Restore, None) => return Err(Error::NotFound),
        (RouteOperation::Bulk, _) => return bulk::run(context, entry, &Site { parent, within }, bytes).await,
        (RouteOperation::Action(action), id) => {
            action::run(context, entry, ActionCall { action, id, within, conditions, query, body }).await?
        }
    };
    let reveals = outcome.reveals;
    Ok((outcome.reply(context.catalog(), entry, parent), reveals))
}

/// The record that the path names, which must be there, and the condition that something hangs on it.
async fn attached(context: &Context<'_>, entry: &Entry, index: usize, request: &Request) -> Result<Condition> {
    let target = &context.catalog().entries()[index];
    let (parent, within) = parent(target, request)?;
    parent_exists(context, target, parent).await?;
    let id = match target.meta.singleton {
        true => SINGLETON_ID,
        false => id(&parameter(request, "id").ok_or(Error::NotFound)?)?,
    };
    records::require(context, target, id, within).await?;
    attachment::hangs_on(entry, target, id)
}

/// The parent that the path names, and the condition that a record belongs to it.
fn parent(entry: &Entry, request: &Request) -> Result<(Option<i64>, Condition)> {
    let Some(under) = entry.meta.under else { return Ok((None, Condition::always())) };
    let id = id(&parameter(request, under.field).ok_or(Error::NotFound)?)?;
    let field = entry.field(under.field).ok_or_else(|| Error::internal(format!("`{}` is not a field", under.field)))?;
    Ok((Some(id), Condition::equals(field, id)))
}

/// Whether the parent is there that the path names, if it names one.
async fn parent_exists(context: &Context<'_>, entry: &Entry, parent: Option<i64>) -> Result<()> {
    let (Some(under), Some(id)) = (entry.meta.under, parent) else { return Ok(()) };
    records::require(context, context.catalog().linked(under.resource), id, Condition::always()).await
}

/// The record that is to change.
async fn find(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<Arc<QueryResult>> {
    let condition = visibility::visible(context, entry).and(within);
    fast_path::find(context, entry, id, &condition).await?.ok_or(Error::NotFound)
}

fn parameter(request: &Request, name: &str) -> Option<String> {
    request.params().get(name).cloned()
}

/// An id of a path. What no record can have is not found.
fn id(text: &str) -> Result<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or(Error::NotFound)
}
