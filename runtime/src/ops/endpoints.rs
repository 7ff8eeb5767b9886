//! The paths of every resource: what stands where, under which method, and what a caller needs for it.

use super::RESTORE;
use super::write::bulk;
use crate::auth::Principal;
use crate::catalog::{Catalog, Entry};
use crate::context::State;
use crate::error::Result;
use crate::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, Operation};

/// What every path of the API begins with.
pub const API: &str = "/api/v1";
/// What stands behind a resource's path for many writes. No action of a collection has the name.
pub const BULK: &str = "bulk";

/// One path of a resource.
#[derive(Debug, Clone, Copy)]
pub enum PathKind {
    /// `/products`
    Collection,
    /// `/products/{id}`
    Member,
    /// `/products/bulk`: many writes at once.
    Bulk,
    /// `/products/{id}/restore`: a deleted record.
    Restore,
    /// `/settings`: the one record of a singleton.
    Singleton,
    /// `/exchange_rates/convert` or `/users/{id}/deactivate`
    Action(&'static ActionMeta),
    /// `/members/{id}/attachments`: what hangs on a record of the resource at this position of the catalog.
    Attached(usize),
}

/// What stands at one path and method.
#[derive(Debug, Clone, Copy)]
pub enum RouteOperation {
    Operation(Operation),
    Action(&'static ActionMeta),
    /// Many writes in one transaction.
    Bulk,
    /// A deleted record comes back.
    Restore,
}

impl RouteOperation {
    /// Whether it leaves everything as it is.
    pub fn reads(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => matches!(operation, Operation::List | Operation::Show),
            RouteOperation::Action(action) => action.method == ActionMethod::Get,
            RouteOperation::Bulk | RouteOperation::Restore => false,
        }
    }

    /// Whether all of it is one transaction.
    pub fn is_transaction(self) -> bool {
        !self.reads() && !matches!(self, RouteOperation::Action(action) if action.external)
    }

    /// Whether `If-Match` and `If-None-Match` are asked: of the one record that it shows or changes. Of a page it is the latter
    /// alone.
    pub fn has_conditions(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => operation != Operation::Create,
            RouteOperation::Action(action) => action.on == ActionOn::Record && self.is_transaction(),
            RouteOperation::Restore => true,
            RouteOperation::Bulk => false,
        }
    }

    /// Whether its answer has the `ETag` of the record, or of the page, that it holds.
    pub fn answers_tag(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => operation != Operation::Delete,
            RouteOperation::Action(action) => matches!(action.output, ActionOutput::Record | ActionOutput::Created),
            RouteOperation::Restore => true,
            RouteOperation::Bulk => false,
        }
    }

    /// Whether an `Idempotency-Key` makes it safe to repeat: every `POST`, since the other methods are safe by themselves.
    pub fn takes_key(self) -> bool {
        match self {
            RouteOperation::Operation(operation) => operation == Operation::Create,
            RouteOperation::Action(_) => !self.reads(),
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
    pub permission: Option<&'static str>,
    #[serde(skip)]
    pub call: RouteOperation,
}

/// Every path and method of the application.
pub fn routes(state: &State) -> Vec<RouteInfo> {
    let mut routes = Vec::new();
    for entry in state.catalog.entries() {
        for place in places(&state.catalog, entry) {
            for Method { name, call, abilities, permission } in methods(&state.catalog, entry, place) {
                let ability = abilities.join(" or ");
                let path = format!("{API}/{}", path(&state.catalog, entry, place));
                routes.push(RouteInfo { method: name, path, resource: entry.meta.name, ability, permission, call });
            }
        }
    }
    routes
}

/// What can be done with a resource, by name: `list`, `show`, `create`, `update`, `delete`, `restore`, and the named actions.
pub fn operations(state: &State, entry: &Entry) -> Vec<(&'static str, Method)> {
    let name = |call: RouteOperation| match call {
        RouteOperation::Operation(Operation::List) => "list",
        RouteOperation::Operation(Operation::Show) => "show",
        RouteOperation::Operation(Operation::Create) => "create",
        RouteOperation::Operation(Operation::Update) => "update",
        RouteOperation::Operation(Operation::Delete) => "delete",
        RouteOperation::Action(action) => action.name,
        RouteOperation::Bulk => BULK,
        RouteOperation::Restore => RESTORE,
    };
    let path_kinds = places(&state.catalog, entry);
    path_kinds
        .into_iter()
        .flat_map(|place| methods(&state.catalog, entry, place))
        .map(|method| (name(method.call), method))
        .collect()
}

/// The paths of a resource: named actions stand before `{id}`, which would match them too.
pub fn places(catalog: &Catalog, entry: &Entry) -> Vec<PathKind> {
    let actions = |on| entry.meta.actions.iter().filter(move |a| a.on == on).map(PathKind::Action);
    let mut places: Vec<PathKind> = actions(ActionOn::Collection).collect();
    places.extend(actions(ActionOn::Record));
    places.extend(entry.meta.keeps_deleted().then_some(PathKind::Restore));
    if entry.meta.singleton {
        places.push(PathKind::Singleton);
    } else {
        places.extend(bulk::is_served(entry).then_some(PathKind::Bulk));
        places.extend([PathKind::Collection, PathKind::Member]);
    }
    if entry.is_attached() {
        let all = catalog.entries().iter().enumerate();
        places.extend(all.filter(|(_, other)| other.meta.attachments).map(|(index, _)| PathKind::Attached(index)));
    }
    places.retain(|place| !methods(catalog, entry, *place).is_empty());
    places
}

/// A method of a place, and what it needs.
#[derive(Debug, Clone)]
pub struct Method {
    pub name: &'static str,
    pub call: RouteOperation,
    /// The caller needs one of them.
    pub abilities: Vec<String>,
    pub permission: Option<&'static str>,
}

impl Method {
    /// # Errors
    /// 403 when the caller has none of the abilities, or not the permission.
    pub fn admit(&self, caller: &Principal) -> Result<()> {
        caller.need_any_ability(&self.abilities)?;
        self.permission.map_or(Ok(()), |permission| caller.need_permission(permission))
    }
}

/// The methods at a place, in the order in which `Allow` lists them.
pub fn methods(catalog: &Catalog, entry: &Entry, place: PathKind) -> Vec<Method> {
    let method = |name, call| {
        let (abilities, permission) = required_access(catalog, entry, place, call);
        Method { name, call, abilities, permission }
    };
    let all: &[(&str, Operation)] = match place {
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
        PathKind::Bulk => return vec![method("POST", RouteOperation::Bulk)],
        PathKind::Restore => return vec![method("POST", RouteOperation::Restore)],
    };
    let served = |(_, operation): &&(&str, Operation)| entry.meta.operations.contains(operation);
    all.iter().filter(served).map(|(name, operation)| method(name, RouteOperation::Operation(*operation))).collect()
}

/// `products/{product_id}/accessories/{id}`
pub fn path(catalog: &Catalog, entry: &Entry, place: PathKind) -> String {
    if let PathKind::Attached(index) = place {
        let target = &catalog.entries()[index];
        let record = if target.meta.singleton { PathKind::Singleton } else { PathKind::Member };
        return format!("{}/{}", self::path(catalog, target, record), entry.meta.path);
    }
    let mut path = String::new();
    if let Some(under) = entry.meta.under {
        path = format!("{}/{{{}}}/", catalog.linked(under.resource).meta.path, under.field);
    }
    path.push_str(entry.meta.path);
    match place {
        PathKind::Member => path.push_str("/{id}"),
        PathKind::Bulk => path.push_str(&format!("/{BULK}")),
        PathKind::Restore => path.push_str(&format!("/{{id}}/{RESTORE}")),
        PathKind::Action(action) if action.on == ActionOn::Record => path.push_str(&format!("/{{id}}/{}", action.name)),
        PathKind::Action(action) => path.push_str(&format!("/{}", action.name)),
        PathKind::Collection | PathKind::Singleton | PathKind::Attached(_) => {}
    }
    path
}

/// Every path of a resource.
pub fn paths(catalog: &Catalog, entry: &Entry) -> Vec<String> {
    places(catalog, entry).into_iter().map(|place| path(catalog, entry, place)).collect()
}

/// The path of its list, or of the one record that there is.
pub fn collection(catalog: &Catalog, entry: &Entry) -> String {
    path(catalog, entry, PathKind::Collection)
}

/// The ability and the permission that every write of a resource needs. Its answer shows the record: where writing has no
/// permission of its own, reading's is needed.
pub fn to_write(entry: &Entry) -> (String, Option<&'static str>) {
    (format!("{}:write", entry.meta.ability), entry.meta.write_permission.or(entry.meta.read_permission))
}

/// The ability and the permission that every read of a resource needs.
pub fn to_read(entry: &Entry) -> (String, Option<&'static str>) {
    (format!("{}:read", entry.meta.ability), entry.meta.read_permission)
}

/// The abilities, one of which a call needs, and the permission. What hangs on other records needs what those need: for
/// one of them it is known here, else once it is known on which.
fn required_access(
    catalog: &Catalog,
    entry: &Entry,
    place: PathKind,
    call: RouteOperation,
) -> (Vec<String>, Option<&'static str>) {
    let writes = !call.reads() || matches!(call, RouteOperation::Action(action) if action.needs_write);
    let needs = |entry: &Entry| match writes {
        true => to_write(entry),
        false => to_read(entry),
    };
    let (ability, permission) = match place {
        PathKind::Attached(index) => needs(&catalog.entries()[index]),
        _ if entry.is_attached() => {
            let mut abilities: Vec<String> = catalog.attachables().map(|target| needs(target).0).collect();
            abilities.sort();
            abilities.dedup();
            return (abilities, None);
        }
        _ => needs(entry),
    };
    (vec![ability], permission)
}

/// Where a new record is.
pub fn location(catalog: &Catalog, entry: &Entry, parent: Option<i64>, id: i64) -> String {
    let mut collection = path(catalog, entry, PathKind::Collection);
    if let (Some(under), Some(parent)) = (entry.meta.under, parent) {
        collection = collection.replace(&format!("{{{}}}", under.field), &parent.to_string());
    }
    format!("{API}/{collection}/{id}")
}

/// The parts of a path as the router reads it, to which a slash too many says nothing.
pub fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// Whether a path is the API's.
pub fn is_of_api(path: &str) -> bool {
    parts(path).take(2).eq(parts(API))
}
