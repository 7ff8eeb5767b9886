//! The paths of every resource, and the one handler behind them: from an HTTP request to an operation and back.

use std::sync::Arc;

use salvo::http::{HeaderValue, StatusCode};
use salvo::{Request, Router, async_trait};

use super::action::{self, ActionCall};
use super::body::Body;
use super::{Transaction, create, delete, list, show, store, update};
use crate::attachment;
use crate::auth::authenticate;
use crate::catalog::Entry;
use crate::context::{Context, State};
use crate::error::{Error, Result};
use crate::meta::{ActionMeta, ActionMethod, ActionOn, Operation};
use crate::query::Condition;
use crate::server::{Answer, Endpoint, begin_upload, read_body};

/// One path of a resource.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// `/products`
    Collection,
    /// `/products/{id}`
    Member,
    /// `/settings`: the one record of a singleton.
    Singleton,
    /// `/exchange_rates/convert` or `/users/{id}/deactivate`
    Action(&'static ActionMeta),
    /// `/members/{id}/attachments`: what hangs on a record of the resource at this position of the catalog.
    Attached(usize),
}

/// What stands at one path and method.
#[derive(Debug, Clone, Copy)]
enum Call {
    Operation(Operation),
    Action(&'static ActionMeta),
}

impl Call {
    /// Whether it leaves everything as it is.
    fn reads(self) -> bool {
        match self {
            Call::Operation(operation) => matches!(operation, Operation::List | Operation::Show),
            Call::Action(action) => action.method == ActionMethod::Get,
        }
    }
}

/// A path and method of the API, as `charter routes` lists them.
#[derive(Debug, Clone, serde::Serialize)]
pub struct RouteInfo {
    pub method: &'static str,
    pub path: String,
    pub resource: &'static str,
    pub ability: String,
    pub permission: Option<&'static str>,
}

/// The only id that a singleton has.
const SINGLETON: i64 = 1;

/// Mounts every resource under `/api/v1`.
pub fn router(state: &Arc<State>) -> Router {
    let mut router = Router::with_path("api/v1");
    for (index, entry) in state.catalog.entries().iter().enumerate() {
        for place in places(state, entry) {
            let path = path(state, entry, place);
            let at = At { index, place, methods: methods(state, entry, place) };
            router = router.push(Router::with_path(path).goal(Endpoint::new(state.clone(), at)));
        }
    }
    router
}

/// Every path and method of the application.
pub fn routes(state: &State) -> Vec<RouteInfo> {
    let mut routes = Vec::new();
    for entry in state.catalog.entries() {
        for place in places(state, entry) {
            for Method { name, abilities, permission, .. } in methods(state, entry, place) {
                let ability = abilities.join(" or ");
                let path = format!("/api/v1/{}", path(state, entry, place));
                routes.push(RouteInfo { method: name, path, resource: entry.meta.name, ability, permission });
            }
        }
    }
    routes
}

/// The paths of a resource: named actions stand before `{id}`, which would match them too.
fn places(state: &State, entry: &Entry) -> Vec<Place> {
    let actions = |on| entry.meta.actions.iter().filter(move |a| a.on == on).map(Place::Action);
    let mut places: Vec<Place> = actions(ActionOn::Collection).collect();
    places.extend(actions(ActionOn::Record));
    if entry.meta.singleton {
        places.push(Place::Singleton);
    } else {
        places.extend([Place::Collection, Place::Member]);
    }
    if entry.is_attached() {
        let all = state.catalog.entries().iter().enumerate();
        places.extend(all.filter(|(_, other)| other.meta.attachments).map(|(index, _)| Place::Attached(index)));
    }
    places.retain(|place| !methods(state, entry, *place).is_empty());
    places
}

/// A method of a place, and what it needs.
#[derive(Debug, Clone)]
struct Method {
    name: &'static str,
    call: Call,
    /// The caller needs one of them.
    abilities: Vec<String>,
    permission: Option<&'static str>,
}

/// The methods at a place, in the order in which `Allow` lists them.
fn methods(state: &State, entry: &Entry, place: Place) -> Vec<Method> {
    let method = |name, call| {
        let (abilities, permission) = needs(state, entry, place, call);
        Method { name, call, abilities, permission }
    };
    let all: &[(&str, Operation)] = match place {
        Place::Collection => &[("GET", Operation::List), ("POST", Operation::Create)],
        Place::Member => &[
            ("GET", Operation::Show),
            ("PUT", Operation::Update),
            ("PATCH", Operation::Update),
            ("DELETE", Operation::Delete),
        ],
        Place::Singleton => &[("GET", Operation::Show), ("PUT", Operation::Update), ("PATCH", Operation::Update)],
        Place::Action(action) => {
            let name = if action.method == ActionMethod::Get { "GET" } else { "POST" };
            return vec![method(name, Call::Action(action))];
        }
        Place::Attached(_) => return vec![method("GET", Call::Operation(Operation::List))],
    };
    let served = |(_, operation): &&(&str, Operation)| entry.meta.operations.contains(operation);
    all.iter().filter(served).map(|(name, operation)| method(name, Call::Operation(*operation))).collect()
}

/// `products/{parent_id}/accessories/{id}`
fn path(state: &State, entry: &Entry, place: Place) -> String {
    if let Place::Attached(index) = place {
        let target = &state.catalog.entries()[index];
        let record = if target.meta.singleton { Place::Singleton } else { Place::Member };
        return format!("{}/{}", self::path(state, target, record), entry.meta.path);
    }
    let mut path = String::new();
    if let Some(under) = entry.meta.under {
        path = format!("{}/{{parent_id}}/", state.catalog.get(under.resource).meta.path);
    }
    path.push_str(entry.meta.path);
    match place {
        Place::Member => path.push_str("/{id}"),
        Place::Action(action) if action.on == ActionOn::Record => path.push_str(&format!("/{{id}}/{}", action.name)),
        Place::Action(action) => path.push_str(&format!("/{}", action.name)),
        Place::Collection | Place::Singleton | Place::Attached(_) => {}
    }
    path
}

/// The abilities, one of which a call needs, and the permission. What hangs on other records needs what those need: for
/// one of them it is known here, else once it is known on which.
fn needs(state: &State, entry: &Entry, place: Place, call: Call) -> (Vec<String>, Option<&'static str>) {
    let needs = |entry: &Entry| match call.reads() {
        true => (format!("{}:read", entry.meta.ability), entry.meta.read_permission),
        false => (format!("{}:write", entry.meta.ability), entry.meta.write_permission),
    };
    let (ability, permission) = match place {
        Place::Attached(index) => needs(&state.catalog.entries()[index]),
        _ if entry.is_attached() => {
            let mut abilities: Vec<String> = state.catalog.attachables().map(|target| needs(target).0).collect();
            abilities.sort();
            abilities.dedup();
            return (abilities, None);
        }
        _ => needs(entry),
    };
    (vec![ability], permission)
}

/// One path of one resource.
#[derive(Debug)]
struct At {
    /// The position of the resource in the catalog.
    index: usize,
    place: Place,
    methods: Vec<Method>,
}

#[async_trait]
impl crate::server::Answers for At {
    /// An upload may take long, as long as it goes on; it watches the clock itself.
    fn is_unhurried(&self, state: &State, request: &Request) -> bool {
        let uploads = state.catalog.entries()[self.index].route.upload.is_some();
        uploads && matches!(self.place, Place::Collection) && request.method().as_str() == "POST"
    }

    /// The order of the checks is the contract's: 401, 403, 404, 422.
    async fn answer(&self, state: &Arc<State>, request: &mut Request) -> Result<Answer> {
        let caller = authenticate(state, request).await?;
        let entry = &state.catalog.entries()[self.index];
        let asked = match request.method().as_str() {
            "HEAD" => "GET",
            other => other,
        };
        let Some(method) = self.methods.iter().find(|method| method.name == asked) else {
            return Err(Error::MethodNotAllowed(self.methods.iter().map(|method| method.name).collect()));
        };
        caller.need_any_ability(&method.abilities)?;
        if let Some(permission) = method.permission {
            caller.need_permission(permission)?;
        }
        let context = Context::new(state, &caller, state.db.reader());
        let (parent, within) = match self.place {
            Place::Attached(index) => (None, attached(&context, entry, index, request).await?),
            _ => parent(&context, entry, request).await?,
        };
        let query = request.uri().query().unwrap_or_default().to_string();
        let id = match self.place {
            Place::Singleton => Some(SINGLETON),
            _ => match parameter(request, "id") {
                Some(text) => Some(id(&text)?),
                None => None,
            },
        };
        if let (true, Place::Member, Some(id)) = (entry.is_attached(), self.place, id) {
            attachment::reach(&context, id, method.name == "GET").await?;
        }
        if let (Some(upload), Call::Operation(Operation::Create)) = (entry.route.upload, method.call) {
            let (id, record) = upload(&context, begin_upload(request)).await?;
            let location = location(&context, entry, parent, id)?;
            return Ok(Answer::json(StatusCode::CREATED, record).with("location", location));
        }
        let bytes = match method.name {
            "GET" | "DELETE" => Default::default(),
            _ => {
                // What is not there is 404 before its body is judged.
                if let Some(id) = id {
                    exists(&context, entry, id, within.clone()).await?;
                }
                read_body(request, state.config.body_limit).await?
            }
        };
        let with = Arguments { id, parent, within, query: &query, bytes: &bytes };
        if method.call.reads() {
            return read(&context, entry, method.call, with).await;
        }
        // What cannot be read needs no transaction.
        let body = match method.call {
            Call::Action(_) => Body::default(),
            Call::Operation(_) => Body::read(&bytes, entry.meta.name, entry.field(entry.meta.name).is_some())?,
        };
        let transaction = Transaction::begin(state).await?;
        let answer = write(&context.within(&transaction), entry, method.call, with, &body).await?;
        transaction.commit(&context).await?;
        let deletes = matches!(method.call, Call::Operation(Operation::Delete));
        if deletes && (entry.meta.attachments || entry.is_attached()) {
            state.attachments.wake_sweeper();
        }
        Ok(answer)
    }
}

/// What an operation is called with.
struct Arguments<'r> {
    id: Option<i64>,
    parent: Option<i64>,
    within: Condition,
    query: &'r str,
    bytes: &'r [u8],
}

async fn read(context: &Context<'_>, entry: &Entry, call: Call, with: Arguments<'_>) -> Result<Answer> {
    let Arguments { id, within, query, bytes, .. } = with;
    let body = match (call, id) {
        (Call::Operation(Operation::List), _) => list::list(context, entry, within, query).await?,
        (Call::Operation(_), Some(id)) => show::show(context, entry, id, within, query).await?,
        (Call::Operation(_), None) => return Err(Error::NotFound),
        (Call::Action(action), id) => {
            let call = ActionCall { action, id, within, query, body: bytes };
            action::run(context, entry, call).await?.0
        }
    };
    Ok(Answer::json(StatusCode::OK, body))
}

/// A write in the context's transaction.
async fn write(
    context: &Context<'_>,
    entry: &Entry,
    call: Call,
    with: Arguments<'_>,
    body: &Body<'_>,
) -> Result<Answer> {
    let Arguments { id, parent, within, query, bytes } = with;
    let (body, created) = match (call, id) {
        (Call::Operation(Operation::Create), _) => {
            let (id, record) = create::create(context, entry, body, parent).await?;
            (record, Some(id))
        }
        (Call::Operation(Operation::Delete), Some(id)) => {
            delete::delete(context, entry, id, within).await?;
            return Ok(Answer::empty(StatusCode::NO_CONTENT));
        }
        (Call::Operation(_), Some(id)) => (update::update(context, entry, id, within, body).await?, None),
        (Call::Operation(_), None) => return Err(Error::NotFound),
        (Call::Action(action), id) => {
            action::run(context, entry, ActionCall { action, id, within, query, body: bytes }).await?
        }
    };
    match created {
        None => Ok(Answer::json(StatusCode::OK, body)),
        Some(id) => Ok(Answer::json(StatusCode::CREATED, body).with("location", location(context, entry, parent, id)?)),
    }
}

/// Where a new record is.
fn location(context: &Context<'_>, entry: &Entry, parent: Option<i64>, id: i64) -> Result<HeaderValue> {
    let collection = path(context.state(), entry, Place::Collection);
    let collection = match parent {
        Some(parent) => collection.replace("{parent_id}", &parent.to_string()),
        None => collection,
    };
    HeaderValue::from_str(&format!("/api/v1/{collection}/{id}")).map_err(Error::internal)
}

/// The record that the path names, which must be there, and the condition that something hangs on it.
async fn attached(context: &Context<'_>, entry: &Entry, index: usize, request: &Request) -> Result<Condition> {
    let target = &context.catalog().entries()[index];
    let (_, within) = parent(context, target, request).await?;
    let id = match target.meta.singleton {
        true => SINGLETON,
        false => id(&parameter(request, "id").ok_or(Error::NotFound)?)?,
    };
    exists(context, target, id, within).await?;
    attachment::hangs_on(entry, target, id)
}

/// The parent that the path names, which must be there, and the condition that a record belongs to it.
async fn parent(context: &Context<'_>, entry: &Entry, request: &Request) -> Result<(Option<i64>, Condition)> {
    let Some(under) = entry.meta.under else { return Ok((None, Condition::always())) };
    let id = id(&parameter(request, "parent_id").ok_or(Error::NotFound)?)?;
    let target = context.catalog().get(under.resource);
    exists(context, target, id, Condition::always()).await?;
    let field = entry.field(under.field).ok_or_else(|| Error::internal(format!("`{}` is not a field", under.field)))?;
    Ok((Some(id), Condition::equals(field, id)))
}

async fn exists(context: &Context<'_>, entry: &Entry, id: i64, within: Condition) -> Result<()> {
    let condition = store::visible(context, entry)?.and(within);
    store::load(context, entry, id, &condition, false).await?.map(drop).ok_or(Error::NotFound)
}

fn parameter(request: &Request, name: &str) -> Option<String> {
    request.params().get(name).cloned()
}

/// An id of a path. What no record can have is not found.
fn id(text: &str) -> Result<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or(Error::NotFound)
}
