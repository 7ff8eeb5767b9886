//! Requests to every route that reads: lists, summaries, records and actions.

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{ActionMethod, FieldMeta, Kind, Operation, Shown};
use charter_runtime::ops::{RouteOperation, routes};
use charter_runtime::query::{Predicate, allows};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};

use super::exceptions::{counts_hidden, exports_itself, has_other_tag, is_of_the_moment, is_publication};
use super::marker::Role;
use super::request::{ABSENT, Request};
use super::to_many;
use super::world::World;

/// The query parameters of lists and summaries. A parameter of the document that is not among them has no requests here.
pub const PARAMETERS: &[&str] = &[
    "q",
    "filters",
    "sort",
    "fields",
    "include",
    "search",
    "view_id",
    "deleted",
    "cursor",
    "page",
    "per_page",
    "count",
    "csv",
    "explain",
    "choices_of",
    "group",
    "sum",
    "avg",
    "min",
    "max",
];
/// The parameters of actions that read, and of the search over all resources.
pub const OTHER_PARAMETERS: &[&str] = &["from", "to", "amount", "at", "resources", "limit"];

/// The names of all records of a world in the order of both.
pub struct Probes<'w> {
    worlds: [&'w World; 2],
}

impl<'w> Probes<'w> {
    pub fn new(worlds: [&'w World; 2]) -> Probes<'w> {
        Probes { worlds }
    }

    pub fn world(&self) -> &'w World {
        self.worlds[0]
    }

    /// The values of a field of records that a caller does not see, in either world.
    pub fn values(&self, resource: &str, field: &str) -> Vec<String> {
        let mut found = Vec::new();
        for world in self.worlds {
            for role in [Role::Hidden, Role::Open] {
                let is_it = |marker: &&super::marker::Marker| {
                    (marker.resource, marker.role, marker.field) == (resource, role, field)
                };
                found.extend(world.markers.iter().filter(is_it).map(|marker| plain(&marker.value)).take(1));
            }
        }
        found.dedup();
        found
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// A path with ids in place of its parameters, and the record that it names.
pub struct Address {
    pub path: String,
    pub names: Option<(&'static str, i64)>,
}

/// The addresses of a route: those of each record, of an absent one, and of records under a parent that is not theirs.
pub fn addresses(world: &World, template: &str, resource: &str) -> Vec<Address> {
    let template = template.trim_start_matches("/api/v1");
    let segments: Vec<&str> = template.split('/').collect();
    let is_parameter = |segment: &&str| segment.starts_with('{');
    let parameters: Vec<&str> = segments.iter().copied().filter(is_parameter).collect();
    let of = |parameter: &str| {
        let at = segments.iter().position(|segment| *segment == parameter).expect("it is there");
        let entry = world.entries().find(|entry| entry.meta.path == segments[at - 1]);
        let is_nested = |entry: &&Entry| entry.meta.path == segments[at - 1] && entry.meta.name == resource;
        world.entries().find(is_nested).or(entry).expect("a resource before each parameter").meta.name
    };
    match parameters.as_slice() {
        [] => vec![Address { path: template.into(), names: None }],
        [one] => {
            let name = of(one);
            let rows = world.rows_of(name).map(|row| (row.id, Some((row.resource, row.id))));
            let mut ids: Vec<_> = rows.collect();
            if ids.is_empty() {
                ids.push((1, None));
            }
            ids.push((ABSENT, None));
            let address = |(id, names): (i64, _)| Address { path: template.replace(one, &id.to_string()), names };
            ids.into_iter().map(address).collect()
        }
        [over, one] => {
            let (parent, name) = (of(over), of(one));
            let mut ids: Vec<(i64, i64, _)> = Vec::new();
            for row in world.rows_of(name) {
                let own = row.parent.expect("it is under another");
                ids.push((own, row.id, Some((row.resource, row.id))));
                if let Some(open) = world.row(parent, Role::Open).filter(|open| open.id != own) {
                    ids.push((open.id, row.id, None));
                }
            }
            if ids.is_empty() {
                let parents = world.rows_of(parent).map(|row| (row.id, 1, None));
                ids.extend(parents);
            }
            let address = |(over_id, id, names): (i64, i64, _)| Address {
                path: template.replace(over, &over_id.to_string()).replace(one, &id.to_string()),
                names,
            };
            ids.into_iter().map(address).collect()
        }
        _ => panic!("no addresses are known for {template}"),
    }
}

/// How much is asked about an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    Main,
    /// Each field and include.
    Each,
    /// Every condition too.
    All,
}

/// The requests to all routes that read.
pub fn requests(probes: &Probes<'_>) -> Vec<Request> {
    let world = probes.world();
    let mut found = Vec::new();
    for route in routes(&world.server.state) {
        let entry = world.entry(route.resource);
        for (number, Address { path, names }) in addresses(world, &route.path, route.resource).into_iter().enumerate() {
            // A record of each kind is asked for everything, and the others for the main things.
            let role = names.and_then(|(name, id)| world.rows_of(name).find(|row| row.id == id)).map(|row| row.role);
            let depth = match role {
                Some(Role::Bridge | Role::Doomed) => Depth::Main,
                _ if number == 0 => Depth::All,
                Some(Role::Hidden) => Depth::Each,
                _ => Depth::Main,
            };
            let mut own = match route.call {
                RouteOperation::Operation(Operation::List) => lists(probes, entry, &path, depth),
                RouteOperation::Summary => summaries(probes, entry, &path, number == 0),
                RouteOperation::Operation(Operation::Show) => shows(entry, &path, depth),
                RouteOperation::Action(action) if action.method == ActionMethod::Get => {
                    let query = "?from=GBP&to=EUR&amount=1&at=2026-01-01T00:00:00Z";
                    vec![
                        Request::get("action that reads", format!("{path}{query}")),
                        Request::get("action that reads", &path),
                    ]
                }
                // `writes` has them.
                RouteOperation::Operation(Operation::Create | Operation::Update | Operation::Delete)
                | RouteOperation::Action(_)
                | RouteOperation::Bulk
                | RouteOperation::Restore => Vec::new(),
            };
            if let Some(first) = own.first_mut() {
                first.is_basic = true;
            }
            for request in &mut own {
                request.names = names;
                request.resource = route.resource;
                request.is_compared &= !counts_hidden(&world.server.state.catalog, entry);
                request.ignores_tag |= has_other_tag(&world.server.state.catalog, entry);
                request.is_compared &= !exports_itself(route.resource, request.door);
            }
            found.extend(own);
        }
    }
    found.extend(search(probes));
    found
}

fn lists(probes: &Probes<'_>, entry: &Entry, path: &str, depth: Depth) -> Vec<Request> {
    let mut found = vec![
        Request::get("list", path),
        Request::new("list: HEAD", Method::HEAD, path),
        Request::get("list: csv", path).with("accept", "text/csv"),
    ];
    if depth == Depth::Main {
        return found;
    }
    found.extend([
        Request::get("list: page", format!("{path}?per_page=1&page=2")),
        Request::get("list: cursor", format!("{path}?cursor=&per_page=1")),
        Request::get("list: count", format!("{path}?count=none")),
        Request::get("list: estimate", format!("{path}?count=estimate")),
        Request::get("list: deleted", format!("{path}?deleted=only")),
        Request::get("list: csv", format!("{path}?csv=labels")).with("accept", "text/csv"),
        Request::get("list: ndjson", path).with("accept", "application/x-ndjson"),
        Request::get("list: explain", format!("{path}?explain=1")),
    ]);
    let includes: Vec<&str> = entry.meta.includes.iter().map(|include| include.name).collect();
    for include in &includes {
        found.push(Request::get("list: include", format!("{path}?include={include}")));
        let lines = Request::get("list: include in ndjson", format!("{path}?include={include}"));
        found.push(lines.with("accept", "application/x-ndjson"));
    }
    for view in probes.world().rows_of("custom_view") {
        found.push(Request::get("list: view", format!("{path}?view_id={}", view.id)));
    }
    for text in searched(probes, entry) {
        found.push(Request::get("list: search", format!("{path}?search={text}")));
    }
    for name in choices(probes.world(), entry) {
        found.push(Request::get("list: choices", format!("{path}?choices_of={name}")));
    }
    if depth == Depth::All {
        conditions(probes, entry, path, &mut found);
        to_many::requests(probes, entry, path, false, &mut found);
    }
    found
}

/// The references that limit which records of a resource they can get: `receipt.dossier_id`.
fn choices(world: &World, entry: &Entry) -> Vec<String> {
    let limits = |field: &&FieldMeta| {
        !field.choices.is_empty() && matches!(field.kind, Kind::Ref { resource } if resource == entry.meta.name)
    };
    let of = |other: &Entry| {
        let fields = other.meta.fields.iter().filter(limits);
        fields.map(|field| format!("{}.{}", other.meta.name, field.name)).collect::<Vec<_>>()
    };
    world.entries().flat_map(of).collect()
}

/// Texts of records and fields that some caller does not see.
fn searched(probes: &Probes<'_>, entry: &Entry) -> Vec<String> {
    let fields = entry.meta.search.iter().flat_map(|field| probes.values(entry.meta.name, field));
    fields.collect()
}

/// Filters, sorts and projections by each field, and by the fields of what each reference leads to.
fn conditions(probes: &Probes<'_>, entry: &Entry, path: &str, found: &mut Vec<Request>) {
    let catalog = &probes.world().server.state.catalog;
    for field in entry.meta.fields {
        let is_compared = !is_publication(catalog, entry, field) && !is_of_the_moment(field);
        let name = field.name;
        let is_hidden = entry.is_restricted || !entry.read_right(field).is_empty();
        let mut add =
            |door, query: String| found.push(Request::get(door, format!("{path}?{query}")).compared(is_compared));
        if entry.behavior.is_platform && !is_hidden {
            continue;
        }
        add("list: fields", format!("fields={name}"));
        add("list: sort", format!("sort=-{name}"));
        for (predicate, value) in tests(probes, entry, field) {
            add("list: filter", format!("q[{name}_{}]={}", predicate.name(), encode(&value)));
            if predicate == Predicate::Eq && is_hidden {
                add("list: or", format!("q[id_or_{name}_eq]={}", encode(&value)));
                let filters = json!([
                    { "field": "id", "predicate": "lt", "value": 0 },
                    { "field": name, "predicate": "eq", "value": value, "logic": "or" },
                ]);
                add("list: filters", format!("filters={}", encode(&filters.to_string())));
            }
        }
        if let Kind::Ref { resource } = field.kind {
            let relation = name.strip_suffix("_id").unwrap_or(name);
            let target = catalog.linked(resource);
            let is_hidden = |other: &&FieldMeta| target.is_restricted || !target.read_right(other).is_empty();
            for other in target.meta.fields.iter().filter(|other| other.shown != Shown::Never).filter(is_hidden) {
                let name = format!("{relation}.{}", other.name);
                add("list: sort through a relation", format!("sort={name}"));
                let mut tests = vec![(Predicate::Null, "1".to_string())];
                tests.extend(
                    probes.values(resource, other.name).into_iter().map(|value| (Predicate::Eq, value)).take(2),
                );
                for (predicate, value) in tests {
                    let q = format!("q[{name}_{}]={}", predicate.name(), encode(&value));
                    add("list: filter through a relation", q);
                }
            }
        }
    }
}

/// Tests of a field that are true of a hidden record or value in one of the worlds.
pub fn tests(probes: &Probes<'_>, entry: &Entry, field: &'static FieldMeta) -> Vec<(Predicate, String)> {
    let kind = entry.source(field).field.kind;
    let values = match kind {
        Kind::Boolean => vec!["true".into(), "false".into()],
        Kind::Enum { values } => values.iter().map(ToString::to_string).collect(),
        Kind::Code { values } => values.iter().map(|(code, _)| code.to_string()).collect(),
        Kind::Ref { .. } | Kind::BigInt if field.name.ends_with("id") => vec!["3".into(), "4".into()],
        _ => match field.kind {
            Kind::Derived { via, field } => match entry.field(via).map(|via| via.kind) {
                Some(Kind::Ref { resource }) => probes.values(resource, field),
                _ => Vec::new(),
            },
            _ => match field.rollup.and_then(|rollup| Some((rollup.of, rollup.field?))) {
                Some((resource, field)) => probes.values(resource, field),
                None => probes.values(entry.meta.name, field.name),
            },
        },
    };
    let switch =
        [Predicate::Null, Predicate::NotNull, Predicate::Present, Predicate::Blank, Predicate::True, Predicate::False];
    // Fields of records that everybody sees have fewer tests.
    let is_plain = entry.behavior.is_platform || !entry.is_restricted;
    let few = [Predicate::Eq, Predicate::Gt, Predicate::Null];
    let is_asked = |predicate: &Predicate| !is_plain || few.contains(predicate);
    let mut found = Vec::new();
    for predicate in Predicate::ALL.iter().copied().filter(|predicate| allows(field, *predicate, kind)).filter(is_asked)
    {
        if switch.contains(&predicate) {
            found.push((predicate, "1".to_string()));
        } else {
            let most = if predicate == Predicate::Eq && !is_plain { values.len() } else { 2 };
            found.extend(values.iter().take(most).map(|value| (predicate, value.clone())));
        }
    }
    found
}

fn summaries(probes: &Probes<'_>, entry: &Entry, path: &str, is_full: bool) -> Vec<Request> {
    let catalog = &probes.world().server.state.catalog;
    let mut found = vec![
        Request::get("summary", path),
        Request::get("summary", format!("{path}?deleted=only")),
        Request::new("summary", Method::HEAD, path),
    ];
    let is_hidden = |field: &&FieldMeta| entry.is_restricted || !entry.read_right(field).is_empty();
    for field in entry.meta.fields.iter().filter(|_| is_full).filter(is_hidden) {
        let is_compared = !is_publication(catalog, entry, field) && !is_of_the_moment(field);
        let name = field.name;
        let mut add =
            |door, query: String| found.push(Request::get(door, format!("{path}?{query}")).compared(is_compared));
        add("summary: group", format!("group={name}"));
        if let Kind::Date | Kind::Timestamp { .. } = field.kind {
            add("summary: group", format!("group={name}.month"));
        }
        for function in ["sum", "max"] {
            add("summary: aggregate", format!("{function}={name}"));
        }
        for (predicate, value) in
            tests(probes, entry, field).into_iter().filter(|(predicate, _)| *predicate == Predicate::Eq)
        {
            add("summary: filter", format!("q[{name}_{}]={}", predicate.name(), encode(&value)));
        }
    }
    if is_full {
        to_many::requests(probes, entry, path, true, &mut found);
    }
    found
}

fn shows(entry: &Entry, path: &str, depth: Depth) -> Vec<Request> {
    let mut found = vec![
        Request::get("record", path),
        Request::new("record: HEAD", Method::HEAD, path),
        Request::get("record: 304", path).with("if-none-match", "*"),
        Request::get("record: 412", path).with("if-match", "\"0123\""),
    ];
    for include in entry.meta.includes {
        found.push(Request::get("record: include", format!("{path}?include={}", include.name)));
    }
    for field in entry.meta.fields.iter().filter(|_| depth > Depth::Main) {
        let is_hidden = entry.is_restricted || !entry.read_right(field).is_empty();
        if is_hidden {
            found.push(Request::get("record: fields", format!("{path}?fields={}", field.name)));
        }
    }
    found
}

fn search(probes: &Probes<'_>) -> Vec<Request> {
    let world = probes.world();
    let mut found = vec![Request::get("search", "/search?q=zq&limit=50").basic()];
    for entry in world.entries() {
        for text in searched(probes, entry) {
            found.push(Request::get("search", format!("/search?q={text}")));
            found.push(Request::get("search", format!("/search?q={text}&resources={}", entry.meta.plural)));
        }
    }
    found
}
