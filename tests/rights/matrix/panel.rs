//! Requests to the pages of the panel, and the check that every page of its router is among them.

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{Kind, Operation};
use serde_json::json;

use super::exceptions::{counts_hidden, exports_itself, has_other_tag};
use super::marker::Role;
use super::reads::{Probes, encode};
use super::request::Request;
use super::world::{Row, World};

/// The router of the panel, whose arms are compared with [`ARMS`].
const ROUTER: &str = include_str!("../../../runtime/src/panel/mod.rs");

/// Each arm of the router, with where its requests are, or why there are none.
const ARMS: &[(&str, &str)] = &[
    ("[]", "dashboard"),
    ("[ROOT, \"api\", rest @ ..]", "api"),
    ("[SEARCH] if post", "refused"),
    ("[SEARCH]", "search"),
    ("[ROOT, \"titles\", plural]", "titles"),
    ("[ROOT, \"time_zones\"]", "the time zones of the world"),
    ("[ROOT, \"pages\", _] if post", "refused"),
    ("[ROOT, \"pages\", path]", "pages of an application, which reads what it likes"),
    ("[ROOT, \"undo\"] if post", "the undo of a user's own deletion, by a signed list of ids"),
    ("[ROOT, rest @ ..]", "the user's own account"),
    ("(false, []) if target.is_list()", "list"),
    ("(false, []) if target.is_singleton()", "the settings"),
    ("(false, []) if import::is_import(target.entry)", "record"),
    ("(false, [])", "record"),
    ("(false, [NEW]) if import::is_import(target.entry)", "new"),
    ("(true, [import::MAPPING]) if !target.is_list() && import::is_import(target.entry)", "API: update"),
    ("(false, [NEW]) if target.is_list()", "new"),
    ("(false, [EDIT]) if !target.is_list()", "edit"),
    ("(false, [HISTORY]) if !target.is_list()", "history"),
    ("(false, [CELL]) if target.id.is_some()", "cell"),
    ("(true, [CELL]) if target.id.is_some()", "API: update"),
    ("(true, []) if target.is_list()", "API: create"),
    ("(true, [])", "API: update"),
    ("(false, [DELETE]) if target.id.is_some()", "question before a deletion"),
    ("(true, [DELETE]) if !target.is_list()", "API: delete"),
    ("(true, [RESTORE]) if !target.is_list() && target.entry.meta.keeps_deleted()", "API: restore"),
    ("(false, [EXPORT]) if target.is_list()", "export"),
    ("(true, [COLUMNS]) if target.is_list()", "a choice of the user"),
    ("(true, [VIEWS]) if target.is_list()", "API: create"),
    ("(true, [BULK]) if target.is_list()", "bulk"),
    ("(false, [path, id, DELETE]) if target.id.is_some()", "question before a deletion"),
    ("(true, [path, id, DELETE]) if !target.is_list()", "API: delete"),
    ("(_, [name])", "API: actions"),
];

/// The arms of the router that [`ARMS`] does not have.
pub fn unknown_arms() -> Vec<String> {
    let body = ROUTER.split("match segments {").nth(1).expect("a router").split("\n    }\n}").next().expect("its end");
    let arms = body.lines().map(str::trim).filter(|line| line.starts_with('[') || line.starts_with('('));
    let arms = arms.filter_map(|line| line.split_once(" => ")).map(|(arm, _)| arm.to_string());
    arms.filter(|arm| !ARMS.iter().any(|(known, _)| known == arm)).collect()
}

/// The requests to the pages of all resources.
pub fn requests(probes: &Probes<'_>) -> Vec<Request> {
    let world = probes.world();
    let mut found =
        vec![Request::panel("panel: dashboard", "/").basic(), Request::panel("panel: search", "/search?q=zq")];
    for entry in world.entries().filter(|entry| entry.is_served() && !entry.meta.singleton && !entry.is_attached()) {
        let catalog = &world.server.state.catalog;
        let (resource, is_compared) = (entry.meta.name, !counts_hidden(catalog, entry));
        let mut of_records = Vec::new();
        for row in world.rows_of(entry.meta.name) {
            of_record(world, entry, row, &mut of_records);
        }
        let ignores_tag = has_other_tag(catalog, entry);
        let of_records = of_records.into_iter().map(|request| request.compared(is_compared));
        found.extend(of_records.map(|request| Request { ignores_tag, resource, ..request }));
        let lists: Vec<String> = match (entry.meta.under, world.row(entry.meta.name, Role::Open)) {
            (Some(_), None) => Vec::new(),
            (Some(_), Some(_)) => world.rows_of(entry.meta.name).map(|row| world.collection(row)).collect(),
            (None, _) => vec![format!("/{}", entry.meta.path)],
        };
        for list in lists.into_iter().filter(|_| entry.meta.operations.contains(&Operation::List)) {
            let mut of_lists = Vec::new();
            of_list(probes, entry, &list, &mut of_lists);
            let compared = |request: Request| {
                let is_compared = is_compared && !exports_itself(resource, request.door);
                Request { resource, ..request.compared(is_compared) }
            };
            found.extend(of_lists.into_iter().map(compared));
        }
    }
    found
}

fn of_record(world: &World, entry: &Entry, row: &Row, found: &mut Vec<Request>) {
    let path = world.path(row);
    let naming = (entry.meta.name, row.id);
    for (door, end) in [
        ("panel: record", ""),
        ("panel: edit", "/edit"),
        ("panel: history", "/history"),
        ("panel: question before a deletion", "/delete"),
    ] {
        let mut request = Request::panel(door, format!("{path}{end}"));
        // A page of a deleted record may have a history.
        request.names = Some(naming);
        found.push(request);
    }
    if let Some(field) = entry.meta.fields.iter().find(|field| matches!(field.kind, Kind::String { .. })) {
        found.push(Request::panel("panel: cell", format!("{path}/cell?field={}", field.name)));
    }
    let title = format!("/panel/titles/{}?id={}", entry.meta.plural, row.id);
    found.push(Request { names: Some(naming), ..Request::panel("panel: titles", title) });
    let ids = json!({ "_step": "delete", "id": row.id.to_string() });
    found.push(Request {
        names: Some(naming),
        ..Request::panel("panel: bulk", format!("{}/bulk", world.collection(row))).body(ids)
    });
}

fn of_list(probes: &Probes<'_>, entry: &Entry, path: &str, found: &mut Vec<Request>) {
    found.extend([
        Request::panel("panel: list", path).basic(),
        Request::panel("panel: list", format!("{path}?totals=1")),
        Request::panel("panel: list", format!("{path}?deleted=only")),
        Request::panel("panel: new", format!("{path}/new")),
        Request::panel("panel: api", format!("/panel/api{path}")),
        Request::panel("panel: export as csv", format!("{path}/export?format=csv")),
        Request::panel("panel: export as ndjson", format!("{path}/export?format=ndjson")),
        Request::panel("panel: titles", format!("/panel/titles/{}?q=zq", entry.meta.plural)),
    ]);
    for step in ["delete", "export"] {
        let all = json!({ "_all": "1", "_query": "", "_step": step });
        found.push(Request::panel("panel: bulk", format!("{path}/bulk")).body(all));
    }
    for view in probes.world().rows_of("custom_view").filter(|_| entry.is_restricted) {
        found.push(Request::panel("panel: list", format!("{path}?view_id={}", view.id)));
    }
    for field in entry.meta.search {
        for value in probes.values(entry.meta.name, field) {
            found.push(Request::panel("panel: search", format!("/search?q={value}")));
            found.push(Request::panel("panel: titles", format!("/panel/titles/{}?q={value}", entry.meta.plural)));
            found.push(Request::panel("panel: list", format!("{path}?q[{field}_eq]={}", encode(&value))));
        }
    }
}
