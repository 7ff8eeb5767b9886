//! Path and query parameters of operations.

use serde_json::{Value, json};

use super::example::Examples;
use super::filter::{self, FilterForm};
use super::node::{Node, reference};
use super::request_schema::BOOLEAN_WORD;
use super::response_schema::formatted;
use super::{english, number_pattern, search};
use charter_core::catalog::EXPLAIN_ABILITY;
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{FieldMeta, Kind, Shown};
use charter_core::ops::input::choices;
use charter_core::ops::list::csv::CsvForm;
use charter_core::ops::list::explain::MEDIA_TYPE;
use charter_core::ops::{Access, RESTORE};
use charter_core::query::{CHOICES_OF, DEFAULT_PER_PAGE, MAX_PER_PAGE, MAX_VALUE_CHARACTERS, include_names};
use charter_platform::view;

/// Shared parameters of all lists.
pub(super) fn shared() -> Node {
    let page = json!({ "type": "integer", "minimum": 1, "default": 1 });
    let per_page = json!({ "type": "integer", "minimum": 1, "default": DEFAULT_PER_PAGE });
    let view = json!({ "type": "integer", "format": "int64", "minimum": 1 });
    Node::object()
        .with("page", query("page", "Number of the page, from 1.", page.into(), json!(1)))
        .with(
            "per_page",
            query(
                "per_page",
                &format!("Records per page; at most {MAX_PER_PAGE}, larger values count as {MAX_PER_PAGE}."),
                per_page.into(),
                json!(DEFAULT_PER_PAGE),
            ),
        )
        .with(
            "cursor",
            query(
                "cursor",
                "Keyset pagination: empty for the first page, then `meta.next_cursor` of the previous page, with the same order \
                 and filters. Replaces `page`. The total is only counted with `count=exact`.",
                json!({ "type": "string" }).into(),
                json!(""),
            ),
        )
        .with(
            "count",
            query(
                "count",
                "`exact` returns the `total` in `meta`, `estimate` returns a `total_estimate`, which is cheap with any filter, \
                 and `none` returns neither.",
                json!({ "type": "string", "enum": ["exact", "estimate", "none"], "default": "exact" }).into(),
                json!("none"),
            ),
        )
        .with(
            "explain",
            query(
                "explain",
                &format!("`1` returns the query plan of the list as `{MEDIA_TYPE}`. Requires the ability `{EXPLAIN_ABILITY}`."),
                json!({ "type": "string", "enum": ["1"] }).into(),
                json!("1"),
            ),
        )
        .with(
            "csv",
            separated(query(
                "csv",
                "The form of an export as `text/csv`, by default exact values without a byte order mark. `neutral` writes an \
                 apostrophe before a text that a spreadsheet would take for a formula, and `bom` a byte order mark.",
                named(&CsvForm::WORDS),
                json!(["neutral", "bom"]),
            )),
        )
        .with(
            "view_id",
            query(
                "view_id",
                "The id of a saved view of these records. Its filters are added, its order and page size are the defaults, and \
                 records have only its columns.",
                view.into(),
                json!(1),
            ),
        )
        .with("filters", filters())
}

/// The parameter with a JSON value. It is described as text, because most client generators skip operations with parameters that
/// have a `content`.
fn filters() -> Node {
    let example = json!([{ "field": "id", "predicate": "lt", "value": "9", "logic": "and" }]);
    let schema = json!({ "type": "string", "contentMediaType": "application/json", "contentSchema": view::filters() });
    let described = "Conditions as JSON, evaluated from the first to the last. Unlike in `q`, they can be joined by \"or\". Each is an \
                     object with `field`, `predicate`, `value` and `logic`, as in `filters` of a saved view.";
    query("filters", described, schema.into(), json!(example.to_string()))
}

/// The ids in a path.
pub(super) fn of_path(catalog: &Catalog, entry: &Entry, path: &str) -> Vec<Node> {
    let names = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let id = |name: &str| {
        let parent =
            entry.meta.under.filter(|under| under.field == name).map(|under| catalog.linked(under.resource).meta);
        // For attachments, the resource of the preceding segment.
        let attached_to = path.ends_with(&format!("{{{name}}}/{}", entry.meta.path)).then(|| {
            let segment = path.rsplit('/').nth(2).unwrap_or_default();
            catalog.entries().iter().find(|other| other.meta.path == segment).map(|other| other.meta)
        });
        let of = english::noun(parent.or(attached_to.flatten()).unwrap_or(entry.meta));
        Node::object()
            .with("name", name)
            .with("in", "path")
            .with("required", true)
            .with("description", format!("The id of the {of}."))
            .with("schema", json!({ "type": "integer", "format": "int64", "minimum": 1 }))
            .with("example", json!(1))
    };
    names.map(id).collect()
}

/// The parameters of a single record.
pub(super) fn of_record(entry: &Entry) -> Vec<Node> {
    [include(entry), fields(entry), deleted(entry)].into_iter().flatten().collect()
}

/// The parameter `deleted` of resources with soft delete.
fn deleted(entry: &Entry) -> Option<Node> {
    let ability = Access::write(entry, RESTORE).abilities_text();
    let description = format!(
        "`only` returns deleted {} instead, with `deleted_at`, by which they can be sorted and filtered. \
         Also requires the ability `{ability}`.",
        english::records(entry.meta)
    );
    let schema = json!({ "type": "string", "enum": ["only"] });
    entry.meta.keeps_deleted().then(|| query("deleted", &description, schema.into(), json!("only")))
}

/// The parameter `choices_of` of a list with records that a reference limits with `where`.
fn choices_of(catalog: &Catalog, entry: &Entry) -> Option<Node> {
    let names = choices::names_over(catalog, entry);
    let first = names.first()?.clone();
    let description = format!("Only the {} that this reference can get.", english::records(entry.meta));
    let schema = json!({ "type": "string", "enum": names });
    Some(query(CHOICES_OF, &description, schema.into(), json!(first)))
}

/// The parameters of a list: pagination, order, selected fields, and all filters.
pub(super) fn of_list(catalog: &Catalog, entry: &Entry, form: FilterForm) -> Vec<Node> {
    let mut parameters =
        shared_parameters(&["page", "per_page", "cursor", "count", "view_id", "filters", "explain", "csv"]);
    parameters.extend(sort(entry));
    parameters.extend(search::parameter(entry));
    parameters.extend(choices_of(catalog, entry));
    parameters.extend(of_record(entry));
    parameters.extend(q(catalog, entry, form));
    parameters
}

/// The parameters that select the records of a list.
pub(super) fn that_select(catalog: &Catalog, entry: &Entry, form: FilterForm) -> Vec<Node> {
    let mut parameters = shared_parameters(&["view_id", "filters", "explain"]);
    parameters.extend(search::parameter(entry));
    parameters.extend(choices_of(catalog, entry));
    parameters.extend(deleted(entry));
    parameters.extend(q(catalog, entry, form));
    parameters
}

fn shared_parameters(names: &[&str]) -> Vec<Node> {
    names.iter().map(|name| reference("parameters", name)).collect()
}

fn q(catalog: &Catalog, entry: &Entry, form: FilterForm) -> Vec<Node> {
    match form {
        FilterForm::Once => vec![reference("parameters", &filter::component_name(entry))],
        FilterForm::Each => filter::filters_of(catalog, entry).into_iter().map(|(_, parameter)| parameter).collect(),
    }
}

/// The parameters of an action with method GET.
pub(super) fn of_action(catalog: &Catalog, fields: &'static [FieldMeta]) -> Vec<Node> {
    let parameter = |field: &'static FieldMeta| {
        let example = Examples { catalog }.of_parameter(field);
        let schema = value(field.kind);
        let described = english::field(catalog, fields, field);
        let node = query(field.name, &described, limited(schema, field), example);
        let node = if field.required { node.with("required", true) } else { node };
        if matches!(field.kind, Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. }) {
            separated(node)
        } else {
            node
        }
    };
    fields.iter().map(parameter).collect()
}

/// Adds the limits of a written value to the schema of a compared one.
fn limited(schema: Node, field: &FieldMeta) -> Node {
    match field.kind {
        Kind::String { max } => schema.with("maxLength", i64::from(max)),
        Kind::Decimal { .. } => match number_pattern::pattern(field) {
            Some(pattern) => Node::object().with("type", "string").with("format", "decimal").with("pattern", pattern),
            None => schema,
        },
        Kind::Integer | Kind::BigInt | Kind::Ref { .. } => schema.with("type", "integer"),
        _ => schema,
    }
}

pub(super) fn query(name: &str, description: &str, schema: Node, example: Value) -> Node {
    Node::object()
        .with("name", name)
        .with("in", "query")
        .with("description", description)
        .with("schema", schema)
        .with("example", example)
}

/// A comma-separated list.
pub(super) fn separated(parameter: Node) -> Node {
    parameter.with("style", "form").with("explode", false)
}

fn sort(entry: &Entry) -> Option<Node> {
    let names: Vec<&str> = entry.meta.fields.iter().filter(|field| field.sortable).map(|field| field.name).collect();
    let first = names.first()?;
    let both: Vec<String> = names.iter().flat_map(|name| [(*name).to_string(), format!("-{name}")]).collect();
    let custom = if entry.meta.custom_fields { " A custom field is `cf.<name>`." } else { "" };
    let order = match entry.meta.order {
        [] => String::new(),
        order => format!(" Default: `{}`.", order.join("`, then `")),
    };
    let description = format!(
        "The field to sort by, with the prefix `-` in descending order. Equal records are sorted by id. Other values are \
         ignored.{custom}{order}"
    );
    let known = Node::object().with("type", "string").with("enum", json!(both));
    let schema = Node::object().with("anyOf", [known, Node::object().with("type", "string")]);
    Some(query("sort", &description, schema, json!(first)))
}

fn include(entry: &Entry) -> Option<Node> {
    let names: Vec<&str> = include_names(entry.meta).collect();
    let first = names.first()?;
    let known =
        format!("Related records to include: {}. Each is returned under its name in snake_case.", names.join(", "));
    Some(separated(query("include", &known, named(&names), json!([first]))))
}

fn fields(entry: &Entry) -> Option<Node> {
    let shown = entry.meta.fields.iter().filter(|field| field.shown != Shown::Never).map(|field| field.name);
    let names: Vec<&str> = shown.collect();
    let first = names.first()?;
    let known = "The fields to return; by default all.";
    Some(separated(query("fields", known, named(&names), json!([first]))))
}

/// A list of these names, in which empty ones are ignored.
fn named(names: &[&str]) -> Node {
    let all: Vec<&str> = names.iter().copied().chain([""]).collect();
    array(json!({ "type": "string", "enum": all }))
}

fn array(items: Value) -> Node {
    json!({ "type": "array", "items": items }).into()
}

pub(super) fn text(pattern: Option<&str>) -> Node {
    let most = i64::try_from(MAX_VALUE_CHARACTERS).unwrap_or(i64::MAX);
    Node::object().with("type", "string").with("minLength", 1).with("maxLength", most).with_some("pattern", pattern)
}

/// The schema of a value that a column is compared with. Numbers can have any precision.
pub(super) fn value(kind: Kind) -> Node {
    match kind {
        Kind::Integer | Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } | Kind::Code { .. } => {
            Node::object().with("type", ["integer", "number"])
        }
        Kind::Decimal { .. } => Node::object().with("type", "number"),
        Kind::Boolean => reference("schemas", BOOLEAN_WORD),
        Kind::Timestamp { .. } => Node::object().with("type", "string").with("format", "date-time"),
        Kind::Enum { values } => Node::object().with("type", "string").with("enum", json!(values)),
        Kind::PolymorphicType { type_names } => Node::object().with("type", "string").with("enum", json!(type_names)),
        Kind::StringList { .. } => array(json!({ "type": "string" })),
        Kind::RefList { .. } | Kind::Links { .. } => array(json!({ "type": "integer" })),
        kind => formatted(kind, |pattern| pattern.read).unwrap_or_else(|| text(None)),
    }
}

/// Sentences about filters that are not listed as parameters.
pub(super) fn more_filters(catalog: &Catalog, entry: &Entry) -> String {
    let mut sentences = vec![
        "Several `q` parameters are joined by \"and\". A list has commas, or is given as `q[id_in][]=1&q[id_in][]=2`. \
         `q[<field>_or_<field>_<predicate>]` matches either field."
            .to_string(),
    ];
    let relations: Vec<String> = entry
        .meta
        .fields
        .iter()
        .filter(|field| match field.kind {
            Kind::Ref { resource } => {
                let target = catalog.linked(resource);
                target.meta.fields.iter().any(|f| entry.exposes(field, target, f.name))
            }
            _ => false,
        })
        .map(|field| format!("`q[{}.<field>_<predicate>]`", field.name.strip_suffix("_id").unwrap_or(field.name)))
        .collect();
    if !relations.is_empty() {
        sentences.push(format!("Fields of a related record are filtered with {}.", relations.join(" or ")));
    }
    if entry.can_filter_custom_fields() {
        sentences.push("A custom field is filtered with `q[cf.<name>_<predicate>]`.".into());
    }
    sentences.join(" ")
}
