//! Valid writes: new records, and changes of records that the caller sees. Their answers show a record, and must show no
//! more of it than a read. They are sent one after another, so that both worlds give the same ids.

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{Access, ActionMethod, ActionOn, FieldMeta, Kind, Operation};
use charter_runtime::ops::{RouteOperation, routes};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::exceptions::counts_hidden;
use super::marker::{Role, value};
use super::reads::{Address, Probes, addresses};
use super::request::{ABSENT, Request};
use super::world::{Row, World};

/// The doors of this file. Each has to be passed by some caller whose answers are compared.
pub const DOORS: &[&str] =
    &["valid: create", "valid: bulk", "valid: update", "valid: update of links", "valid: action", "valid: delete"];

/// The valid writes of one caller. `number` is different for each caller, so that created values are. A caller that sees the hidden
/// records writes no others: what it copies from them into a record of everybody is not hidden any more.
pub fn requests(probes: &Probes<'_>, number: usize, sees_hidden: bool) -> Vec<Request> {
    let world = probes.world();
    let mut found = Vec::new();
    for route in routes(&world.server.state).into_iter().filter(|route| !route.call.reads()) {
        let entry = world.entry(route.resource);
        if entry.behavior.is_platform || entry.meta.singleton {
            continue;
        }
        let method: Method = route.method.parse().expect("a method");
        for Address { path, names } in addresses(world, &route.path, route.resource) {
            let role = names.and_then(|(name, id)| world.rows_of(name).find(|row| row.id == id)).map(|row| row.role);
            // A new record under one that one of the worlds does not have would make the ids differ.
            let is_shared = role != Some(Role::Doomed) && !path.contains(&ABSENT.to_string());
            if !is_shared || role.is_some_and(|role| sees_hidden != role.is_hidden()) {
                continue;
            }
            let bodies: Vec<(&'static str, Value)> = match route.call {
                RouteOperation::Operation(Operation::Create) => {
                    vec![("valid: create", new_record(world, entry, number))]
                }
                RouteOperation::Bulk => {
                    let mut create = json!({ "method": "create" });
                    create[entry.meta.name] = new_record(world, entry, number);
                    vec![("valid: bulk", json!({ "operations": [create] }))]
                }
                RouteOperation::Operation(Operation::Update) => updates(entry, number),
                RouteOperation::Action(action)
                    if action.method == ActionMethod::Post && action.on == ActionOn::Record && !action.external =>
                {
                    vec![("valid: action", json!({}))]
                }
                _ => Vec::new(),
            };
            for (door, body) in bodies {
                let own = request(door, &method, &path, entry, names);
                let catalog = &world.server.state.catalog;
                found.push(own.body(body).compared(!counts_hidden(catalog, entry)));
            }
        }
    }
    found
}

/// The deletions of the records that everybody sees. They come last.
pub fn deletions(probes: &Probes<'_>) -> Vec<Request> {
    let world = probes.world();
    let rows = world.rows.iter().filter(|row| row.role == Role::Open);
    let deleted = rows.filter(|row| {
        let entry = world.entry(row.resource);
        !entry.behavior.is_platform && entry.meta.operations.contains(&Operation::Delete)
    });
    let of = |row: &Row| {
        let entry = world.entry(row.resource);
        request("valid: delete", &Method::DELETE, &world.path(row), entry, Some((row.resource, row.id)))
    };
    deleted.map(of).collect()
}

fn request(
    door: &'static str,
    method: &Method,
    path: &str,
    entry: &Entry,
    names: Option<(&'static str, i64)>,
) -> Request {
    let resource = entry.meta.name;
    Request { resource, names, ignores_tag: true, is_basic: true, ..Request::new(door, method.clone(), path) }
}

/// A new record with the required values, and with a reference to a record that everybody sees wherever it can have one.
pub fn new_record(world: &World, entry: &Entry, number: usize) -> Value {
    let mut body = Map::new();
    for field in entry.meta.fields.iter().filter(|field| is_set(entry, field)) {
        let open = |resource: &str| world.row(resource, Role::Open).map(|row| json!(row.id));
        let set = match field.kind {
            Kind::Ref { resource } if field.choices.is_empty() => open(resource),
            Kind::RefList { resource } | Kind::Links { resource, .. } => open(resource).map(|id| json!([id])),
            _ if field.required => value(field, number, None),
            _ => None,
        };
        body.extend(set.map(|set| (field.name.to_string(), set)));
    }
    Value::Object(body)
}

/// True if a caller without rights of its own can set the field.
pub fn is_set(entry: &Entry, field: &FieldMeta) -> bool {
    let is_over = entry.meta.under.is_some_and(|under| under.field == field.name);
    let is_open = entry.read_right(field).is_empty() && field.write.is_empty();
    matches!(field.access, Access::Writable | Access::Immutable) && !is_over && is_open
}

fn updates(entry: &Entry, number: usize) -> Vec<(&'static str, Value)> {
    let writable = || entry.meta.fields.iter().filter(|field| field.access == Access::Writable && is_set(entry, field));
    let text = writable().find(|field| matches!(field.kind, Kind::String { .. } | Kind::Text));
    let text = text.and_then(|field| Some(("valid: update", json!({ field.name: value(field, number, None)? }))));
    // The links that the caller does not see stay.
    let links = writable().filter(|field| matches!(field.kind, Kind::Links { .. }));
    text.into_iter().chain(links.map(|field| ("valid: update of links", json!({ field.name: [] })))).collect()
}
