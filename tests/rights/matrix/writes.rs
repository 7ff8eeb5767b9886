//! Requests to every route that writes, about records that the caller does not see, and about the caller's own.

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{Access, ActionMethod, ActionOn, Kind, Operation, Rule};
use charter_runtime::ops::{RouteOperation, routes};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::marker::{Role, value};
use super::reads::{Address, Probes, addresses};
use super::request::{ABSENT, Request};
use super::world::World;

/// The requests to all routes that write. `number` is different for each caller, so that created values are.
pub fn requests(probes: &Probes<'_>, number: usize) -> Vec<Request> {
    let world = probes.world();
    let mut found = Vec::new();
    for route in routes(&world.server.state).into_iter().filter(|route| !route.call.reads()) {
        let entry = world.entry(route.resource);
        for (position, Address { path, names }) in addresses(world, &route.path, route.resource).into_iter().enumerate()
        {
            let role = names.and_then(|(name, id)| world.rows_of(name).find(|row| row.id == id)).map(|row| row.role);
            // The records that the caller sees stay as they are for the next one.
            let is_harmless = role.is_some_and(Role::is_hidden) || path.contains(&ABSENT.to_string());
            let method: Method = route.method.parse().expect("a method");
            let mut own = match route.call {
                RouteOperation::Operation(Operation::Update) => updates(entry, &path, method),
                RouteOperation::Operation(Operation::Delete) if is_harmless && entry.is_restricted => {
                    vec![Request::new("delete", method, &path)]
                }
                RouteOperation::Restore if is_harmless => vec![Request::new("restore", method, &path).body(json!({}))],
                RouteOperation::Action(action) if action.method == ActionMethod::Post => {
                    let is_sent = is_harmless && action.on == ActionOn::Record && entry.is_restricted;
                    let request = Request::new("action", method, &path).body(json!({}));
                    if is_sent { vec![request] } else { Vec::new() }
                }
                RouteOperation::Bulk if entry.is_restricted || !entry.behavior.is_platform => {
                    bulk(world, entry, &path, method)
                }
                RouteOperation::Operation(Operation::Create)
                    if !entry.receives_file() && !entry.behavior.is_platform =>
                {
                    creates(probes, entry, &path, method, number)
                }
                _ => Vec::new(),
            };
            if let Some(first) = own.first_mut().filter(|_| position == 0) {
                first.is_basic = true;
            }
            for request in &mut own {
                request.names = request.names.or(names);
                request.ignores_tag = true;
                request.resource = route.resource;
            }
            found.extend(own);
        }
    }
    found
}

fn updates(entry: &Entry, path: &str, method: Method) -> Vec<Request> {
    let mut found = vec![
        Request::new("update: nothing", method.clone(), path).body(json!({})),
        Request::new("update: 412", method.clone(), path).body(json!({})).with("if-match", "\"0123\""),
    ];
    let is_sent = |field: &&charter_runtime::meta::FieldMeta| field.access == Access::Writable;
    for field in entry.meta.fields.iter().filter(is_sent) {
        if let Kind::Integer | Kind::Date | Kind::Decimal { .. } = field.kind {
            // An invalid value: the message must not have the stored one.
            found.push(Request::new("update: invalid", method.clone(), path).body(json!({ field.name: "wrong" })));
        }
    }
    found
}

/// Bulk writes of hidden records, whose results have a message for each.
fn bulk(world: &World, entry: &Entry, path: &str, method: Method) -> Vec<Request> {
    let mut found = Vec::new();
    for row in world.rows_of(entry.meta.name).filter(|row| row.role.is_hidden()) {
        for operation in ["update", "delete"] {
            let mut one = json!({ "method": operation, "id": row.id });
            if operation == "update" {
                one[entry.meta.name] = json!({});
            }
            let body = json!({ "operations": [one] });
            found.push(Request::new("bulk", method.clone(), path).body(body).naming(entry.meta.name, row.id));
        }
    }
    found
}

/// New records that refer to each record of another resource, and ones with a unique value of a record that is hidden.
fn creates(probes: &Probes<'_>, entry: &Entry, path: &str, method: Method, number: usize) -> Vec<Request> {
    let world = probes.world();
    let mut body = Map::new();
    for field in entry.meta.fields.iter().filter(|field| field.required && !matches!(field.kind, Kind::Ref { .. })) {
        body.extend(value(field, number, None).map(|value| (field.name.to_string(), value)));
    }
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body.insert(name.into(), value);
        Value::Object(body)
    };
    let mut found = Vec::new();
    for field in entry.meta.fields {
        let is_over = entry.meta.under.is_some_and(|under| under.field == field.name);
        if let Kind::Ref { resource } | Kind::RefList { resource } | Kind::Links { resource, .. } = field.kind
            && !is_over
        {
            for row in world.rows_of(resource).filter(|row| row.role.is_hidden()) {
                let id = if let Kind::Ref { .. } = field.kind { json!(row.id) } else { json!([row.id]) };
                let request = Request::new("create: reference", method.clone(), path).body(with(field.name, id));
                found.push(request.naming(resource, row.id));
            }
        }
        if field.rules.contains(&Rule::Unique) {
            for value in probes.values(entry.meta.name, field.name) {
                let door = "create: value of a hidden record";
                found.push(Request::new(door, method.clone(), path).body(with(field.name, json!(value))));
            }
        }
    }
    found
}
