//! Input schemas of tools, from the metadata of their resources and the rights of the caller.

use charter_core::calendar::Period;
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::Operation;
use charter_core::ops::RouteOperation;
use charter_core::ops::list::include_access::allowed_names;
use charter_core::principal::Principal;
use charter_core::query::{self, Function, can_aggregate};
use serde_json::{Value, json};

use super::argument::{
    CURSOR, DRY_RUN, FIELDS, GROUP, IDEMPOTENCY_KEY, IF_MATCH, INCLUDE, LIMIT, Q, SEARCH, SORT, takes_if_match,
    takes_key,
};
use super::tool::Tool;
use crate::openapi::compact::{self, Properties, Write};
use crate::openapi::node::Node;

/// Limit and default of the records that a list returns.
pub(super) const MAX_LIMIT: i64 = 50;
pub(super) const DEFAULT_LIMIT: i64 = 20;

/// The tool as `tools/list` describes it.
pub(super) fn describe(catalog: &Catalog, tool: &Tool, caller: &Principal) -> Node {
    let entry = tool.entry(catalog);
    Node::object()
        .with("name", tool.name.as_str())
        .with("description", tool.description(entry))
        .with("inputSchema", schema(catalog, tool, caller))
        .with("annotations", tool.annotations())
}

/// The schema of a tool's arguments.
pub(super) fn schema(catalog: &Catalog, tool: &Tool, caller: &Principal) -> Node {
    let entry = tool.entry(catalog);
    let mut properties = Node::object();
    let mut required: Vec<String> = Vec::new();
    for name in tool.path_parameters() {
        properties.set(name, json!({ "type": "integer" }));
        required.push(name.into());
    }
    if tool.writes() {
        let described = "true: rehearse, change nothing";
        properties.set(DRY_RUN, json!({ "type": "boolean", "description": described }));
        required.push(DRY_RUN.into());
    }
    let fields = match tool.call {
        RouteOperation::Operation(Operation::List) => list(catalog, entry, caller),
        RouteOperation::Operation(Operation::Show) => record(catalog, entry, caller),
        RouteOperation::Summary => summary(catalog, entry, caller),
        RouteOperation::Operation(Operation::Create) => {
            let parent = entry.meta.under.map(|under| under.field);
            compact::write(catalog, entry, Write::Create, parent, caller)
        }
        RouteOperation::Operation(_) => {
            let parent = entry.meta.under.map(|under| under.field);
            compact::write(catalog, entry, Write::Update, parent, caller)
        }
        RouteOperation::Action(action) => compact::parameters(catalog, action.input, caller),
        RouteOperation::Bulk | RouteOperation::Restore => nothing(),
    };
    if let Node::Object(entries) = fields.properties {
        for (name, schema) in entries {
            // An argument of the tool itself has precedence over a field with its name.
            if properties.get(&name).is_none() {
                properties.set(name, schema);
            }
        }
    }
    for name in fields.required {
        if !required.iter().any(|known| known == name) {
            required.push(name.into());
        }
    }
    if takes_if_match(tool) {
        properties.set(IF_MATCH, json!({ "type": "string", "description": "etag of show" }));
    }
    if takes_key(tool) {
        let described = "from the rehearsal";
        properties.set(IDEMPOTENCY_KEY, json!({ "type": "string", "description": described }));
    }
    let schema = Node::object().with("type", "object").with("properties", properties);
    if required.is_empty() { schema } else { schema.with("required", required) }
}

fn nothing() -> Properties {
    Properties { properties: Node::object(), required: Vec::new() }
}

/// The arguments of a list.
fn list(catalog: &Catalog, entry: &Entry, caller: &Principal) -> Properties {
    let mut properties = filters(catalog, entry, caller, false);
    let filtered: Vec<&str> = compact::filtered(entry, caller).map(|field| field.name).collect();
    let sortable = compact::names(entry, caller, |field| field.sortable);
    let sort = match sortable.iter().all(|name| filtered.contains(name)) {
        true => "a field of q; -name is descending".to_string(),
        false => format!("-name is descending; {}", sortable.join(", ")),
    };
    properties.set(SORT, json!({ "type": "string", "description": sort }));
    if let Node::Object(entries) = record(catalog, entry, caller).properties {
        entries.into_iter().for_each(|(name, schema)| properties.set(name, schema));
    }
    properties.set(LIMIT, json!({ "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT }));
    properties.set(CURSOR, json!({ "type": "string", "description": "meta.next_cursor of the page before" }));
    Properties { properties, required: Vec::new() }
}

/// The arguments that select the records of a list.
fn filters(catalog: &Catalog, entry: &Entry, caller: &Principal, is_summary: bool) -> Node {
    let custom = if entry.can_filter_custom_fields() { "; custom fields: cf.<name>_<predicate>" } else { "" };
    let described = match is_summary {
        true => format!("as in list_{}", entry.meta.plural),
        false => format!(
            "{{\"<field>_<predicate>\": value}}, also not_<predicate>. {}{custom}{}",
            compact::filters(entry, caller),
            over_relations(catalog, entry, caller)
        ),
    };
    let mut properties = Node::object().with(Q, json!({ "type": "object", "description": described }));
    let searched: Vec<&str> = query::search_fields(entry, caller).iter().map(|field| field.name).collect();
    if !searched.is_empty() {
        let schema = match is_summary {
            true => json!({ "type": "string" }),
            false => json!({ "type": "string", "description": format!("words in {}", searched.join(", ")) }),
        };
        properties.set(SEARCH, schema);
    }
    properties
}

/// The form of a condition on the records that belong to a record; empty without a relation to several that the caller may read.
fn over_relations(catalog: &Catalog, entry: &Entry, caller: &Principal) -> String {
    let included = allowed_names(catalog, entry, caller);
    let may_read = |name: &str| match entry.field(name) {
        Some(field) => entry.may_read_field(field, caller),
        None => included.contains(&name),
    };
    let names: Vec<&str> = query::to_many_names(entry.meta).filter(|name| may_read(name)).collect();
    match names.first() {
        Some(first) => format!("; of one of {}: {first}.some (or none): {{conditions}}", names.join(", ")),
        None => String::new(),
    }
}

/// The arguments that select what a record has.
fn record(catalog: &Catalog, entry: &Entry, caller: &Principal) -> Properties {
    let mut properties = Node::object();
    let names = allowed_names(catalog, entry, caller);
    if !names.is_empty() {
        properties.set(INCLUDE, names_of(json!({ "type": "string", "enum": names })));
    }
    if !compact::names(entry, caller, |_| true).is_empty() {
        properties.set(FIELDS, names_of(json!({ "type": "string" })));
    }
    Properties { properties, required: Vec::new() }
}

fn names_of(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// The arguments of a summary.
fn summary(catalog: &Catalog, entry: &Entry, caller: &Principal) -> Properties {
    let mut properties = filters(catalog, entry, caller, true);
    let names = json!({ "type": "array", "items": { "type": "string" } });
    let described = |text: String| Node::from(names.clone()).with("description", text);
    let periods = Period::ALL.map(Period::name).join(", ");
    properties.set(GROUP, described(format!("fields; times by period: created_at.month ({periods})")));
    for function in Function::ALL {
        let fit = compact::names(entry, caller, |field| can_aggregate(function, &entry.source(field)));
        if !fit.is_empty() {
            // The average takes the fields of the sum, and the least and the greatest value take times besides.
            let schema = match function {
                Function::Sum => described(fit.join(", ")),
                Function::Min | Function::Max | Function::Avg => names.clone().into(),
            };
            properties.set(function.name(), schema);
        }
    }
    Properties { properties, required: Vec::new() }
}
