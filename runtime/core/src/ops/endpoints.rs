//! Route table: the paths of every resource, their methods, and the access that each needs.

pub use charter_model::reserved::{BULK_PATH as BULK, SUMMARY_PATH as SUMMARY};

use super::RESTORE;
use super::write::{bulk, open_door};
use crate::ability::{Ability, READ};
use crate::catalog::{Catalog, Entry};
use crate::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, Operation};
use crate::ops::{Access, State};

/// Prefix of every path of the API.
pub const API: &str = "/api/v1";

/// One path of a resource.
#[derive(Debug, Clone, Copy)]
pub enum PathKind {
    /// `/products`
    Collection,
    /// `/products/{id}`
    Member,
    /// `/products/bulk`: several writes in one request.
    Bulk,
    /// `/products/{id}/restore`
    Restore,
    /// `/settings`: the only record of a singleton.
    Singleton,
    /// `/exchange_rates/convert` or `/users/{id}/deactivate`
    Action(&'static ActionMeta),
    /// `/members/{id}/attachments`: records attached to a record of the resource at this index of the catalog.
    Attached(usize),
    /// `/products/summary`: aggregates of the list.
    Summary,
    /// `/members/{id}/attachments/summary`
    AttachedSummary(usize),
}

/// The operation of one path and method.
#[derive(Debug, Clone, Copy)]
pub enum RouteOperation {
    Operation(Operation),
    Action(&'static ActionMeta),
    /// Several writes in one transaction.
    Bulk,
    /// Restores a soft-deleted record.
    Restore,
    /// Aggregates the records of a list.
    Summary,
}

impl RouteOperation {
    /// `list`, `show`, `create`, `update`, `delete`, `bulk`, `restore`, `summary`, or the name of the action.
    pub fn name(self) -> &'static str {
        match self {
            RouteOperation::Operation(Operation::List) => "list",
            RouteOperation::Operation(Operation::Show) => "show",
            RouteOperation::Operation(Operation::Create) => "create",
            RouteOperation::Operation(Operation::Update) => "update",
            RouteOperation::Operation(Operation::Delete) => "delete",
            RouteOperation::Action(action) => action.name,
            RouteOperation::Bulk => BULK,
            RouteOperation::Restore => RESTORE,
            RouteOperation::Summary => SUMMARY,
        }
    }

    /// True if it reads the records that filters and a saved view select.
    pub fn is_list(self) -> bool {
        matches!(self, RouteOperation::Operation(Operation::List) | RouteOperation::Summary)
    }

    /// The verb of the ability that it needs: `read`, or the name of the operation.
    pub fn verb(self) -> &'static str {
        let needs_write = matches!(self, RouteOperation::Action(action) if action.needs_write);
        if self.reads() && !needs_write { READ } else { self.name() }
    }

    /// True if it changes nothing.
    pub fn reads(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => matches!(operation, Operation::List | Operation::Show),
            RouteOperation::Action(action) => action.method == ActionMethod::Get,
            RouteOperation::Summary => true,
            RouteOperation::Bulk | RouteOperation::Restore => false,
        }
    }

    /// True if it runs in one transaction.
    pub fn is_transaction(self) -> bool {
        !self.reads() && !matches!(self, RouteOperation::Action(action) if action.external)
    }

    /// True if it evaluates `If-Match` and `If-None-Match`, on the record that it shows or changes. A list and its summary
    /// evaluate `If-None-Match` only.
    pub fn has_conditions(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => operation != Operation::Create,
            RouteOperation::Action(action) => action.on == ActionOn::Record && self.is_transaction(),
            RouteOperation::Restore | RouteOperation::Summary => true,
            RouteOperation::Bulk => false,
        }
    }

    /// True if its response has an `ETag`, of the record, the list page or the summary.
    pub fn answers_tag(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => operation != Operation::Delete,
            RouteOperation::Action(action) => matches!(action.output, ActionOutput::Record | ActionOutput::Created),
            RouteOperation::Restore | RouteOperation::Summary => true,
            RouteOperation::Bulk => false,
        }
    }

    /// True if it accepts an `Idempotency-Key`: every `POST`, because the other methods of this API are idempotent.
    pub fn accepts_idempotency_key(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => operation == Operation::Create,
            RouteOperation::Action(_) => !self.reads(),
            RouteOperation::Summary => false,
            RouteOperation::Bulk | RouteOperation::Restore => true,
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
    /// One permission, or several joined by `and`.
    pub permission: Option<String>,
    /// The fields that anybody may send without a token, and how often: `subject, message: 20/hour`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
    #[serde(skip)]
    pub call: RouteOperation,
}

/// Every path and method of the application.
pub fn routes(state: &State) -> Vec<RouteInfo> {
    let mut routes = Vec::new();
    for entry in state.catalog.entries() {
        for path_kind in path_kinds(&state.catalog, entry) {
            for Method { name, call, access } in methods(&state.catalog, entry, path_kind) {
                let (ability, permission) = (access.abilities_text(), access.permissions_text());
                let path = format!("{API}/{}", path(&state.catalog, entry, path_kind));
                let (resource, public) = (entry.meta.name, open_door::described(entry, call));
                routes.push(RouteInfo { method: name, path, resource, ability, permission, public, call });
            }
        }
    }
    routes
}

/// The operations of a resource by name: `list`, `show`, `create`, `update`, `delete`, `restore`, `bulk`, `summary`, and
/// its actions.
pub fn operations(state: &State, entry: &Entry) -> Vec<(&'static str, Method)> {
    let path_kinds = path_kinds(&state.catalog, entry);
    path_kinds
        .into_iter()
        .flat_map(|path_kind| methods(&state.catalog, entry, path_kind))
        .map(|method| (method.call.name(), method))
        .collect()
}

/// The paths of a resource. Actions come before `{id}`, which would match them too.
pub fn path_kinds(catalog: &Catalog, entry: &Entry) -> Vec<PathKind> {
    let actions = |on| entry.meta.actions.iter().filter(move |a| a.on == on).map(PathKind::Action);
    let mut path_kinds: Vec<PathKind> = actions(ActionOn::Collection).collect();
    path_kinds.extend(actions(ActionOn::Record));
    path_kinds.extend(entry.meta.keeps_deleted().then_some(PathKind::Restore));
    if entry.meta.singleton {
        path_kinds.push(PathKind::Singleton);
    } else {
        path_kinds.extend(bulk::is_served(entry).then_some(PathKind::Bulk));
        path_kinds.extend([PathKind::Summary, PathKind::Collection, PathKind::Member]);
    }
    if entry.is_attached() {
        let all = catalog.entries().iter().enumerate();
        let targets = all.filter(|(_, other)| other.meta.attachments).map(|(index, _)| index);
        path_kinds.extend(targets.flat_map(|index| [PathKind::AttachedSummary(index), PathKind::Attached(index)]));
    }
    path_kinds.retain(|path_kind| !methods(catalog, entry, *path_kind).is_empty());
    path_kinds
}

/// A method of a path, and the access that it needs.
#[derive(Debug, Clone)]
pub struct Method {
    pub name: &'static str,
    pub call: RouteOperation,
    pub access: Access,
}

/// The methods of a path, in the order of `Allow`.
pub fn methods(catalog: &Catalog, entry: &Entry, path_kind: PathKind) -> Vec<Method> {
    let method = |name, call| {
        let access = required_access(catalog, entry, path_kind, call);
        Method { name, call, access }
    };
    let all: &[(&str, Operation)] = match path_kind {
        PathKind::Collection => &[("GET", Operation::List), ("POST", Operation::Create)],
        PathKind::Member => &[
            ("GET", Operation::Show),
            ("PUT", Operation::Update),
            ("PATCH", Operation::Update),
            ("DELETE", Operation::Delete),
        ],
        PathKind::Singleton => &[("GET", Operation::Show), ("PUT", Operation::Update), ("PATCH", Operation::Update)],
        PathKind::Action(action) => {
            let name = if action.method == ActionMethod::Get { "GET" } else { "POST" };
            return vec![method(name, RouteOperation::Action(action))];
        }
        PathKind::Attached(_) => return vec![method("GET", RouteOperation::Operation(Operation::List))],
        PathKind::AttachedSummary(_) => return vec![method("GET", RouteOperation::Summary)],
        PathKind::Summary => {
            let is_served = entry.meta.operations.contains(&Operation::List);
            return is_served.then(|| method("GET", RouteOperation::Summary)).into_iter().collect();
        }
        PathKind::Bulk => return vec![method("POST", RouteOperation::Bulk)],
        PathKind::Restore => return vec![method("POST", RouteOperation::Restore)],
    };
    let served = |(_, operation): &&(&str, Operation)| entry.meta.operations.contains(operation);
    all.iter().filter(served).map(|(name, operation)| method(name, RouteOperation::Operation(*operation))).collect()
}

/// `products/{product_id}/accessories/{id}`
pub fn path(catalog: &Catalog, entry: &Entry, path_kind: PathKind) -> String {
    if let PathKind::AttachedSummary(index) = path_kind {
        return format!("{}/{SUMMARY}", self::path(catalog, entry, PathKind::Attached(index)));
    }
    if let PathKind::Attached(index) = path_kind {
        let target = &catalog.entries()[index];
        let record = if target.meta.singleton { PathKind::Singleton } else { PathKind::Member };
        return format!("{}/{}", self::path(catalog, target, record), entry.meta.path);
    }
    let mut path = String::new();
    if let Some(under) = entry.meta.under {
        path = format!("{}/{{{}}}/", catalog.linked(under.resource).meta.path, under.field);
    }
    path.push_str(entry.meta.path);
    match path_kind {
        PathKind::Member => path.push_str("/{id}"),
        PathKind::Bulk => path.push_str(&format!("/{BULK}")),
        PathKind::Summary => path.push_str(&format!("/{SUMMARY}")),
        PathKind::Restore => path.push_str(&format!("/{{id}}/{RESTORE}")),
        PathKind::Action(action) if action.on == ActionOn::Record => path.push_str(&format!("/{{id}}/{}", action.name)),
        PathKind::Action(action) => path.push_str(&format!("/{}", action.name)),
        PathKind::Collection | PathKind::Singleton | PathKind::Attached(_) | PathKind::AttachedSummary(_) => {}
    }
    path
}

/// The paths of a resource.
pub fn paths(catalog: &Catalog, entry: &Entry) -> Vec<String> {
    path_kinds(catalog, entry).into_iter().map(|path_kind| path(catalog, entry, path_kind)).collect()
}

/// The path of a resource's list, or of a singleton's record.
pub fn collection(catalog: &Catalog, entry: &Entry) -> String {
    path(catalog, entry, PathKind::Collection)
}

/// The access that an operation needs. A list of the attachments of a record needs what that record's resource needs.
fn required_access(catalog: &Catalog, entry: &Entry, path_kind: PathKind, call: RouteOperation) -> Access {
    let entry = match path_kind {
        PathKind::Attached(index) | PathKind::AttachedSummary(index) => &catalog.entries()[index],
        _ => entry,
    };
    let access = Access::of_operation(catalog, entry, call);
    match call {
        // Each operation of a bulk write is checked by itself.
        RouteOperation::Bulk => {
            let verbs = bulk::methods(entry).map(|(verb, ..)| Ability { resource: entry.meta.ability, verb });
            Access { abilities: verbs.collect(), ..access }
        }
        _ => access,
    }
}

/// The path of a new record, for `Location`.
pub fn location(catalog: &Catalog, entry: &Entry, parent: Option<i64>, id: i64) -> String {
    let mut collection = path(catalog, entry, PathKind::Collection);
    if let (Some(under), Some(parent)) = (entry.meta.under, parent) {
        collection = collection.replace(&format!("{{{}}}", under.field), &parent.to_string());
    }
    format!("{API}/{collection}/{id}")
}

/// The segments of a path. Like the router, it ignores empty segments.
pub fn path_segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// True if a path belongs to the API.
pub fn is_of_api(path: &str) -> bool {
    path_segments(path).take(2).eq(path_segments(API))
}
