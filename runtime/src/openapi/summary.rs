//! Summaries of lists: parameters and response.

use serde_json::{Value, json};

use super::filter::FilterForm;
use super::node::{Node, reference};
use super::operation::json_content;
use super::{component, english, parameter};
use charter_core::calendar::Period;
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{FieldMeta, Shown};
use charter_core::ops::list::explain;
use charter_core::query::{Function, MAX_AGGREGATES, MAX_GROUP_KEYS, MAX_GROUPS, can_aggregate, has_periods, is_key};

/// Name of the schema of a response.
pub(super) const SCHEMA: &str = "ListSummary";

const GROUP: &str = "group";

/// The operation id, the summary and the description. `owner` is the path segment and the words of the records that
/// attachments belong to.
pub(super) fn texts(entry: &Entry, owner: Option<(&str, String)>) -> (String, String, String) {
    let (plural, several) = (entry.meta.plural, english::records(entry.meta));
    let (end, of) =
        owner.map_or_else(Default::default, |(place, words)| (format!("_of_{place}"), format!(" of {words}")));
    let fields = |is_fit: &dyn Fn(&'static FieldMeta) -> bool| {
        let shown = entry.meta.fields.iter().filter(|field| field.shown != Shown::Never && is_fit(field));
        shown.map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ")
    };
    let aggregated = |function| fields(&|field| can_aggregate(function, &entry.source(field)));
    let mut sentences =
        vec![format!("Counts the {several} of the list, with the same filters, and aggregates their fields by group.")];
    for (parameters, names) in [
        ("`sum` and `avg`", aggregated(Function::Sum)),
        ("`min` and `max`", aggregated(Function::Min)),
        ("`group`", fields(&|field| is_key(&entry.source(field)))),
        ("`group`, with a period,", fields(&|field| has_periods(entry.source(field).kind()))),
    ] {
        if !names.is_empty() {
            sentences.push(format!("{parameters} take {names}."));
        }
    }
    if entry.can_filter_custom_fields() {
        sentences.push("All take custom fields, as `cf.<name>`.".into());
    }
    (format!("summarize_{plural}{end}"), format!("Summarize {several}{of}"), sentences.join(" "))
}

/// The shared parameters of all summaries.
pub(super) fn components() -> Vec<(&'static str, Node)> {
    let mut components: Vec<_> =
        Function::ALL.into_iter().map(|function| (function.name(), aggregate(function))).collect();
    let described = format!(
        "The keys by which records are grouped and groups are ordered: at most {MAX_GROUP_KEYS} fields. A date or time has a \
         period: `created_at.month`. The periods are {}; those of times are in the company's time zone. More than \
         {MAX_GROUPS} groups are 422.",
        Period::ALL.map(Period::name).join(", ")
    );
    components.push((GROUP, list(GROUP, &described, json!(["id"]))));
    components
}

fn aggregate(function: Function) -> Node {
    let (what, none, example) = match function {
        Function::Sum => ("Sums of these fields", "0", json!([])),
        Function::Min => ("Least values of these fields", "null", json!(["id"])),
        Function::Max => ("Greatest values of these fields", "null", json!(["id"])),
        Function::Avg => (
            "Averages of these fields, with 4 decimal places more than the field, and halves rounded to even",
            "null",
            json!([]),
        ),
    };
    let described = format!("{what}; {none} if no record has a value. At most {MAX_AGGREGATES} fields.");
    list(function.name(), &described, example)
}

fn list(name: &str, description: &str, example: Value) -> Node {
    let schema = json!({ "type": "array", "items": { "type": "string" } });
    parameter::separated(parameter::query(name, description, schema.into(), example))
}

/// The parameters: aggregates, groups, and those of the list that select records.
pub(super) fn parameters(catalog: &Catalog, entry: &Entry, form: FilterForm) -> Vec<Node> {
    let names = Function::ALL.into_iter().map(Function::name).chain([GROUP]);
    let own = names.map(|name| reference("parameters", name));
    own.chain(parameter::that_select(catalog, entry, form)).collect()
}

/// The response, by media type.
pub(super) fn content() -> Node {
    let example = json!({ "summary": [{ "group": {}, "count": 1 }], "meta": {} });
    let plan = json!({ "plan": { "conditions": "everything", "order": [], "statements": [] } });
    let plan = Node::object().with("schema", reference("schemas", "Plan")).with("example", plan);
    json_content(reference("schemas", SCHEMA), example).with(explain::MEDIA_TYPE, plan)
}

/// The schema of a response.
pub(super) fn schema() -> Node {
    let values = |description: &str, types: Value, example: Value| {
        json!({
            "type": "object",
            "description": description,
            "additionalProperties": { "type": types },
            "examples": [example],
        })
    };
    let value = || json!(["string", "integer", "boolean", "null"]);
    let group = json!({
        "type": "object",
        "description": "A group of records.",
        "required": ["group", "count"],
        "properties": {
            "group": values(
                "The value of each key in the format of a record, or its period: `2026-11-28`, `2026-W48`, `2026-11` or `2026`.",
                value(),
                json!({ "created_at.month": "2026-11" }),
            ),
            "count": { "type": "integer", "format": "int64", "minimum": 0, "description": "The number of records.", "examples": [1] },
            "sum": values("Sums by field, as decimal text of any length.", json!("string"), json!({ "weight": "12.5000" })),
            "min": values("Least values by field.", value(), json!({ "weight": "0.5000" })),
            "max": values("Greatest values by field.", value(), json!({ "weight": "12.0000" })),
            "avg": values("Averages by field, as decimal text.", json!(["string", "null"]), json!({ "weight": "6.25000000" })),
        },
    });
    let zone =
        json!({ "type": "string", "description": "The time zone of the periods.", "examples": ["Europe/London"] });
    let meta = Node::object()
        .with("type", "object")
        .with("description", "The time zone and the saved view that were applied.")
        .with("properties", Node::object().with("timezone", zone).with("view", component::applied_view()));
    let groups = json!({
        "type": "array",
        "description": "The groups in the order of their keys. Without `group` it is one.",
        "items": group,
    });
    Node::object()
        .with("type", "object")
        .with("description", "Aggregates of the records of a list.")
        .with("required", ["summary", "meta"])
        .with("properties", Node::object().with("summary", groups).with("meta", meta))
}
