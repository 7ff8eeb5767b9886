//! Shared schemas: record, list item and writes of each resource.

use serde_json::json;

use super::node::{Node, reference};
use super::operation::{body_name, created_name, fields_name, output_name};
use super::request_schema::{self, BOOLEAN_WORD, CUSTOM_VALUE, Write};
use super::{english, error_responses, event, example, response_schema, summary};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{ActionOutput, Deprecated, Kind, Operation, ResourceMeta, Shown};
use charter_core::ops::action::rule::first_state;
use charter_model::diagram::{Arrow, state_diagram};

/// Every schema by name.
pub(super) fn schemas(catalog: &Catalog) -> Node {
    let mut schemas = Node::object()
        .with("Error", error_responses::schema())
        .with("Meta", meta())
        .with("Plan", plan())
        .with(summary::SCHEMA, summary::schema())
        .with(BOOLEAN_WORD, boolean_word())
        .with(CUSTOM_VALUE, custom_value())
        .with(event::ONLY_ID, event::id_only_record());
    for entry in catalog.entries().iter().filter(|entry| entry.is_served()) {
        records(catalog, entry, &mut schemas);
        let has = |operation| entry.meta.operations.contains(&operation);
        for (write, operation) in [(Write::Create, Operation::Create), (Write::Update, Operation::Update)] {
            // The record of a singleton always exists.
            let sent_as_form = entry.receives_file() || entry.meta.singleton;
            if has(operation) && !(sent_as_form && write == Write::Create) {
                let verb = if write == Write::Create { "create" } else { "change" };
                let described =
                    format!("The body of a request to {verb} {}.", english::record_with_article(entry.meta));
                schemas.set(
                    body_name(entry, write),
                    with_deprecations(entry, request_schema::body(catalog, entry, write))
                        .with("description", described),
                );
            }
        }
        for action in entry.meta.actions {
            if let ActionOutput::Fields { key, fields } = action.output {
                let mut properties = Node::object();
                for field in fields {
                    properties.set(field.name, response_schema::output(catalog, fields, field));
                }
                let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
                let schema = Node::object()
                    .with("type", "object")
                    .with("description", format!("The {} that `{}` returns.", english::words(key), action.name))
                    .with("required", names)
                    .with("properties", properties);
                schemas.set(output_name(entry, action), schema);
            }
            if !action.reveals.is_empty() {
                let described = format!("The {} with secrets that are shown only once.", english::noun(entry.meta));
                schemas.set(output_name(entry, action), with_secrets(entry, action.reveals, described));
            }
        }
    }
    schemas
}

/// The state diagram of a record; none without transitions.
fn lifecycle(meta: &ResourceMeta) -> Option<String> {
    let state = meta.state_field()?;
    let state = meta.fields.iter().find(|field| field.name == state)?;
    let (Kind::Enum { values }, Some(first)) = (state.kind, first_state(state)) else { return None };
    let arrows = meta.transitions().flat_map(|(action, change)| {
        let guard = action.rule.and_then(|rule| rule.guard);
        let arrow = move |from| Arrow { from, to: change.to, name: action.name, guard };
        change.from.iter().copied().map(arrow)
    });
    Some(state_diagram(values, first, &arrows.collect::<Vec<_>>()))
}

/// The schemas of a single record, of a list item with fewer fields, and of a record with selected fields.
fn records(catalog: &Catalog, entry: &Entry, schemas: &mut Node) {
    let meta = entry.meta;
    let one = english::record_with_article(meta);
    let fields = |wanted: fn(Shown) -> bool| meta.fields.iter().filter(move |field| wanted(field.shown));
    let described = match meta.description {
        "" => format!("{}.", english::capitalize(&one)),
        declared => english::sentence(declared),
    };
    let described = match lifecycle(meta) {
        Some(diagram) => format!("{described}\n\nIts lifecycle:\n\n```mermaid\n{diagram}```"),
        None => described,
    };
    let full = response_schema::object(catalog, entry, fields(|shown| shown != Shown::Never), true);
    let name = response_schema::record_name(entry);
    schemas.set(name.clone(), with_includes(catalog, entry, full.clone()).with("description", described));
    let item = response_schema::item_name(entry);
    if item != name && meta.operations.contains(&Operation::List) {
        let short = response_schema::object(catalog, entry, fields(|shown| shown == Shown::Always), true);
        let described = format!("{} in a list.", english::capitalize(&one));
        schemas.set(item, with_includes(catalog, entry, short).with("description", described));
    }
    let read = [Operation::List, Operation::Show].iter().any(|operation| meta.operations.contains(operation));
    if read {
        let sparse = response_schema::object(catalog, entry, fields(|shown| shown != Shown::Never), false);
        let described = format!("{} with the fields that `fields` or a saved view selects.", english::capitalize(&one));
        schemas.set(fields_name(entry), with_includes(catalog, entry, sparse).with("description", described));
    }
    if !meta.reveals.is_empty() {
        let described = format!("The new {} with secrets that are shown only once.", english::noun(meta));
        schemas.set(created_name(entry), with_secrets(entry, meta.reveals, described));
    }
}

/// A record with the secrets that one response shows.
fn with_secrets(entry: &Entry, reveals: &[(&str, &str)], described: String) -> Node {
    let (mut properties, mut names) = (Node::object(), Vec::new());
    for (name, what) in reveals {
        let secret =
            json!({ "type": "string", "description": english::sentence(what), "examples": ["shown-this-once"] });
        properties.set(*name, secret);
        names.push(*name);
    }
    let secrets = Node::object().with("type", "object").with("required", names).with("properties", properties);
    let record = reference("schemas", &response_schema::record_name(entry));
    Node::object().with("description", described).with("allOf", [record, secrets])
}

/// Marks deprecated fields.
fn with_deprecations(entry: &Entry, schema: Node) -> Node {
    let Some(mut properties) = schema.get("properties").cloned() else { return schema };
    for deprecation in entry.meta.deprecated.iter().filter(|deprecation| deprecation.of == Deprecated::Field) {
        if let Some(property) = properties.get(deprecation.name).cloned() {
            properties.set(deprecation.name, english::deprecated(property, Some(deprecation)));
        }
    }
    schema.with("properties", properties)
}

/// Adds the optional properties: included records and the time of deletion.
fn with_includes(catalog: &Catalog, entry: &Entry, schema: Node) -> Node {
    let schema = with_deprecations(entry, schema);
    let Some(mut properties) = schema.get("properties").cloned() else { return schema };
    if let Some(mark) = entry.field("deleted_at").filter(|_| entry.meta.keeps_deleted()) {
        properties.set(mark.name, response_schema::mark(catalog, entry, mark));
    }
    for include in entry.meta.includes {
        properties.set(example::include_key(include.name), response_schema::include(catalog, entry, include));
    }
    schema.with("properties", properties)
}

/// The saved view in `meta`.
pub(super) fn applied_view() -> Node {
    json!({
        "type": "object",
        "description": "The saved view that was applied.",
        "required": ["id", "name"],
        "properties": {
            "id": { "type": "integer", "format": "int64", "description": "Its id.", "examples": [1] },
            "name": { "type": "string", "description": "Its name.", "examples": ["Mine"] },
        },
    })
    .into()
}

fn meta() -> Node {
    let count = |text: &str, example: i64| json!({ "type": "integer", "format": "int64", "minimum": 0, "description": text, "examples": [example] });
    let properties = Node::object()
        .with(
            "total",
            count("Number of records on all pages; only with `count=exact`, which is the default without `cursor`.", 1),
        )
        .with("total_estimate", count("Estimated number of records on all pages; only with `count=estimate`.", 1))
        .with("per_page", count("Records per page.", 20))
        .with("page", count("Number of the page; not with `cursor`.", 1))
        .with(
            "next_cursor",
            json!({
                "type": ["string", "null"],
                "description": "The `cursor` of the next page, null on the last page; only with `cursor`.",
                "examples": ["AVmWqG6xp1KFWzIwXQ"],
            }),
        )
        .with("view", applied_view());
    Node::object()
        .with("type", "object")
        .with("description", "Position of the page in the list.")
        .with("required", ["per_page"])
        .with("properties", properties)
}

/// The response to `explain=1`.
fn plan() -> Node {
    let text = |description: &str, example: &str| json!({ "type": "string", "description": description, "examples": [example] });
    let texts = |description: &str, example: &str| {
        let items = text("One of them.", example);
        json!({ "type": "array", "description": description, "items": items })
    };
    let step = json!({
        "type": "object",
        "description": "A step of the query plan.",
        "required": ["depth", "step"],
        "properties": {
            "depth": { "type": "integer", "minimum": 0, "description": "0 for the outermost.", "examples": [0] },
            "step": text("The step, as the database names it.", "Index Scan"),
            "table": { "type": ["string", "null"], "description": "The table.", "examples": ["users"] },
            "index": { "type": ["string", "null"], "description": "The index.", "examples": ["users_pkey"] },
            "rows": { "type": "number", "description": "Estimated rows.", "examples": [20] },
            "cost": { "type": "number", "description": "Estimated cost including inner steps, in the database's units.", "examples": [1.5] },
        },
    });
    let statement = json!({
        "type": "object",
        "description": "An SQL statement.",
        "required": ["reads", "sql", "values", "steps", "indexes", "cost"],
        "properties": {
            "reads": text("Purpose of the statement: it reads the rows, the total, or the groups of a summary.", "rows"),
            "sql": text("The SQL text, with placeholders for values.", "SELECT t.\"id\" FROM ..."),
            "values": { "type": "integer", "minimum": 0, "description": "Number of bound values.", "examples": [1] },
            "steps": { "type": "array", "description": "The query plan, outermost step first.", "items": step },
            "indexes": texts("The indexes that the plan uses.", "users_pkey"),
            "cost": { "type": ["number", "null"], "description": "Estimated cost in the database's units; null on SQLite.", "examples": [1.5] },
        },
    });
    let plan = json!({
        "type": "object",
        "description": "The plan.",
        "required": ["conditions", "order", "statements"],
        "properties": {
            "conditions": text("The conditions, as the server understood them.", "(deleted_at is null and name contains ?)"),
            "order": texts("The sort keys.", "-name"),
            "statements": { "type": "array", "description": "The SQL statements.", "items": statement },
        },
    });
    json!({
        "type": "object",
        "description": "The plan of a list request.",
        "required": ["plan"],
        "properties": { "plan": plan },
    })
    .into()
}

fn boolean_word() -> Node {
    json!({
        "description": "A boolean as text, for forms and query strings.",
        "type": "string",
        "enum": ["true", "false", "t", "f", "1", "0"],
        "examples": ["true"],
    })
    .into()
}

fn custom_value() -> Node {
    json!({
        "description": "The value of a custom field, of the type in its definition. An empty text sets it to null.",
        "type": ["string", "number", "boolean", "null"],
        "examples": ["red"],
    })
    .into()
}
