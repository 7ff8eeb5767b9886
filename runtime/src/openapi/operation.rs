//! One operation of a path: what it does, what it needs, what it is sent and what it answers.

use serde_json::{Value, json};

use super::example::Examples;
use super::given::{self, Write};
use super::node::{Node, reference};
use super::{bulk, header, parameter, problem, prose, shown};
use crate::catalog::{Catalog, Entry};
use crate::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, Deprecated, Operation, Shown};
use crate::ops::{Format, RouteInfo, RouteOperation, deprecation, list::explain};

/// The names under which the description has the two ways to send a token.
pub const SCHEMES: [&str; 2] = ["bearer", "token"];

/// Describes what a route does.
pub fn describe(catalog: &Catalog, entry: &Entry, route: &RouteInfo) -> Node {
    let (id, summary, details) = words(catalog, entry, route);
    let description =
        [details, needs(route)].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    let mut parameters = parameter::of_path(catalog, entry, &route.path);
    parameters.extend(match route.call {
        RouteOperation::Operation(Operation::List) => parameter::of_list(catalog, entry),
        RouteOperation::Operation(Operation::Show) => parameter::of_record(entry),
        RouteOperation::Action(action) if action.method == ActionMethod::Get => {
            parameter::of_action(catalog, action.input)
        }
        _ => Vec::new(),
    });
    parameters.extend(header::of_call(route.call, route.call.takes_key()));
    // Where one of several abilities will do, each is a way of its own.
    let schemes = SCHEMES.iter().flat_map(|scheme| route.ability.split(" or ").map(move |ability| (scheme, ability)));
    let security: Vec<Node> = schemes.map(|(scheme, ability)| Node::object().with(*scheme, [ability])).collect();
    let node = Node::object()
        .with("operationId", id)
        .with("tags", [prose::tag(entry.meta)])
        .with("summary", summary)
        .with("description", description)
        .with("security", security)
        .with("x-ability", route.ability.clone())
        .with_some("x-permission", route.permission);
    let node = match route.call {
        RouteOperation::Action(action) => {
            prose::deprecated(node, entry.meta.deprecation(Deprecated::Action, action.name))
        }
        RouteOperation::Operation(_) | RouteOperation::Bulk | RouteOperation::Restore => node,
    };
    let node = if parameters.is_empty() { node } else { node.with("parameters", parameters) };
    node.with_some("requestBody", body(catalog, entry, route.call)).with("responses", responses(catalog, entry, route))
}

/// The id, the headline and more words.
fn words(catalog: &Catalog, entry: &Entry, route: &RouteInfo) -> (String, String, String) {
    let meta = entry.meta;
    let (one, several) = (prose::a_record(meta), prose::records(meta));
    match route.call {
        // What hangs on the records of another resource, or on the one record of a singleton.
        RouteOperation::Operation(Operation::List) if entry.is_attached() => {
            let place = route.path.rsplit('/').skip(1).find(|segment| !segment.starts_with('{')).unwrap_or_default();
            let of = if route.path.contains("{id}") { "one of the" } else { "the" };
            (
                format!("list_{}_of_{place}", meta.plural),
                format!("List {several} of {of} {}", prose::words(place)),
                format!("Answers {several}, a page at a time. {}", parameter::more_filters(catalog, entry)),
            )
        }
        RouteOperation::Operation(Operation::List) => (
            format!("list_{}", meta.plural),
            format!("List {several}"),
            format!("Answers {several}, a page at a time. {}", parameter::more_filters(catalog, entry)),
        ),
        RouteOperation::Operation(Operation::Show) => {
            (format!("show_{}", meta.name), format!("Show {one}"), format!("Answers {one} with all of its fields."))
        }
        RouteOperation::Operation(Operation::Create) => (
            format!("create_{}", meta.name),
            format!("Create {one}"),
            "The fields stand flat in the body, or all of them under the singular name. What is left out, or null, gets its \
             default."
                .to_string(),
        ),
        RouteOperation::Operation(Operation::Update) => {
            let verb = if route.method == "PATCH" { "patch" } else { "update" };
            let same = if route.method == "PATCH" { " The same as `PUT`." } else { "" };
            (
                format!("{verb}_{}", meta.name),
                format!("Change {one}"),
                format!(
                    "Takes the fields to change: one that is left out, or null, stays as it is; an empty text clears one that \
                     may be null. Fields that clients do not write are ignored, so that what was read can be sent back.{same}"
                ),
            )
        }
        RouteOperation::Operation(Operation::Delete) => {
            let marked = match (meta.soft_delete, meta.keeps_deleted()) {
                (_, true) => " It is kept, marked as deleted, and shown only where `deleted=only` asks for it.",
                (true, false) => " It is kept, marked as deleted, and shown nowhere.",
                (false, false) => "",
            };
            (format!("delete_{}", meta.name), format!("Delete {one}"), format!("Removes {one}.{marked}"))
        }
        RouteOperation::Action(action) => action_words(entry, action),
        RouteOperation::Bulk => bulk::words(entry),
        RouteOperation::Restore => (
            format!("restore_{}", meta.name),
            format!("Restore {one}"),
            format!(
                "Brings back {one} that was deleted, as it was then. One that is not deleted stays as it is. It is refused \
                 while another has one of its unique values, or what it cannot be without is deleted."
            ),
        ),
    }
}

fn action_words(entry: &Entry, action: &ActionMeta) -> (String, String, String) {
    let (on, what) = match action.on {
        ActionOn::Record => (entry.meta.name, prose::a_record(entry.meta)),
        ActionOn::Collection => (entry.meta.plural, prose::records(entry.meta)),
    };
    let verb = prose::words(action.name);
    let details = match (action.description, action.output) {
        ("", ActionOutput::Record) => format!("Answers {what} as it is afterwards."),
        ("", ActionOutput::Created) => format!("Answers a new {}.", prose::noun(entry.meta)),
        ("", ActionOutput::Fields { key, .. }) => format!("Answers the {}.", prose::words(key)),
        (said, _) => prose::sentence(said),
    };
    (format!("{}_{on}", action.name), format!("{}: {verb}", prose::capital(&what)), details)
}

/// What the caller must hold, in words.
fn needs(route: &RouteInfo) -> String {
    let permission = route
        .permission
        .map(|permission| format!(", and its user the permission `{permission}`, which one of the user's roles gives"));
    format!("The token needs the ability `{}`{}.", route.ability, permission.unwrap_or_default())
}

/// The body of a write: flat, or under the singular name.
fn body(catalog: &Catalog, entry: &Entry, call: RouteOperation) -> Option<Node> {
    let examples = Examples { catalog };
    if let (Some(_), RouteOperation::Operation(Operation::Create)) = (entry.route.upload, call) {
        return Some(upload(catalog, entry));
    }
    if let RouteOperation::Bulk = call {
        return Some(bulk::body(catalog, entry));
    }
    let (schema, example, required, what) = match call {
        RouteOperation::Operation(Operation::Create) => {
            let required =
                entry.meta.fields.iter().any(|field| field.required && given::is_given(field, Write::Create));
            (wrapped(entry, &body_name(entry, Write::Create)), examples.body(entry, Write::Create), required, "new")
        }
        RouteOperation::Operation(Operation::Update) => {
            (wrapped(entry, &body_name(entry, Write::Update)), examples.body(entry, Write::Update), false, "changed")
        }
        RouteOperation::Action(action) if action.method == ActionMethod::Post && !action.input.is_empty() => {
            let (mut properties, mut required) = (Node::object(), Vec::new());
            for field in action.input {
                if field.required {
                    required.push(field.name);
                }
                properties.set(field.name, given::field(catalog, action.input, field, Write::Action, None));
            }
            let example: serde_json::Map<String, Value> =
                action.input.iter().map(|field| (field.name.to_string(), examples.of_parameter(field))).collect();
            let needed = !required.is_empty();
            // Parameters that an action does not have are ignored.
            let schema = given::object(properties, &required).with("additionalProperties", true);
            (schema, Value::Object(example), needed, "")
        }
        _ => return None,
    };
    let described = match what {
        "" => "The parameters.".to_string(),
        "new" => format!("The fields of the new {}.", prose::noun(entry.meta)),
        _ => format!("The {what} fields of {}.", prose::a_record(entry.meta)),
    };
    Some(
        Node::object()
            .with("description", described)
            .with("required", required)
            .with("content", json_content(schema, example)),
    )
}

/// A form with a file: the fields stand in it by name.
fn upload(catalog: &Catalog, entry: &Entry) -> Node {
    let mut properties = Node::object().with(
        "file",
        json!({ "type": "string", "contentMediaType": "application/octet-stream", "description": "The file." }),
    );
    let mut required = vec!["file"];
    let examples = Examples { catalog };
    let mut example = json!({ "file": "the bytes" });
    for field in entry.meta.fields.iter().filter(|field| given::is_given(field, Write::Create)) {
        if field.required {
            required.push(field.name);
        }
        properties.set(field.name, given::field(catalog, entry.meta.fields, field, Write::Create, Some(entry)));
        example[field.name] = examples.given(entry, field);
    }
    let schema = Node::object()
        .with("type", "object")
        .with("required", required)
        .with("properties", properties)
        .with("additionalProperties", false);
    let content = Node::object().with("schema", schema).with("example", example);
    Node::object()
        .with("description", "A form with the file and what is said of it.")
        .with("required", true)
        .with("content", Node::object().with("multipart/form-data", content))
}

/// The component that describes a write's fields.
pub fn body_name(entry: &Entry, write: Write) -> String {
    let verb = if write == Write::Create { "Create" } else { "Update" };
    format!("{}{verb}", prose::camel(entry.meta.name))
}

/// `{"name": ...}` or `{"product": {"name": ...}}`
fn wrapped(entry: &Entry, name: &str) -> Node {
    let flat = reference("schemas", name);
    // A field of the resource's own name would be taken for the wrapper.
    if entry.field(entry.meta.name).is_some() {
        return flat;
    }
    let key = entry.meta.name;
    let properties = Node::object().with(key, flat.clone());
    Node::object().with("anyOf", [flat, given::object(properties, &[key])])
}

pub fn json_content(schema: Node, example: Value) -> Node {
    Node::object().with("application/json", Node::object().with("schema", schema).with("example", example))
}

fn responses(catalog: &Catalog, entry: &Entry, route: &RouteInfo) -> Node {
    let mut responses = Node::object();
    let meta = entry.meta;
    let one = |name: String| under_name(entry, &name);
    let examples = Examples { catalog };
    let record = || json!({ meta.name: examples.record(entry, |_| true) });
    let single = || json_content(one(shown::record_name(entry)), record());
    // What `fields` leaves out is not there.
    let sparse = || {
        let name = shown::record_name(entry);
        let schema = Node::object().with("anyOf", [one(name), one(fields_name(entry))]);
        json_content(schema, record())
    };
    let tells = deprecation::may_tell(meta, route.call);
    let headers = |created| header::of_success(route.call, route.call.takes_key(), created, tells);
    let answer = |text: String, content: Node| {
        Node::object().with("description", text).with("headers", headers(false)).with("content", content)
    };
    let created = || created(examples, entry).with("headers", headers(true));
    let noun = prose::noun(meta);
    let as_it_is = || answer(format!("The {noun} as it is now."), single());
    let mut errors = vec![401, 403, 429, 500, 503];
    if route.path.contains('{') {
        errors.push(404);
    }
    if route.call.has_conditions() && !matches!(route.call, RouteOperation::Operation(Operation::List)) {
        errors.extend([400, 412]);
    }
    match route.call {
        RouteOperation::Operation(Operation::List) => {
            errors.extend([400, 422]);
            let text = format!("A page of {}, or all of them as `Accept` says.", prose::records(meta));
            responses.set("200", answer(text, list(examples, entry)));
            responses.set("304", reference("responses", problem::NOT_MODIFIED));
        }
        RouteOperation::Operation(Operation::Show) => {
            errors.push(422);
            responses.set("200", answer(format!("The {noun}."), sparse()));
            responses.set("304", reference("responses", problem::NOT_MODIFIED));
        }
        RouteOperation::Operation(Operation::Create) => {
            errors.extend([400, 409, 413, 415, 422]);
            responses.set("201", created());
        }
        RouteOperation::Operation(Operation::Update) => {
            errors.extend([409, 413, 415, 422]);
            responses.set("200", as_it_is());
        }
        RouteOperation::Operation(Operation::Delete) => {
            errors.push(409);
            if entry.route.hooks.before_delete.is_some() {
                errors.push(422);
            }
            let gone = Node::object().with("description", format!("The {noun} is gone."));
            responses.set("204", gone.with("headers", headers(false)));
        }
        RouteOperation::Action(action) => {
            errors.extend([400, 422]);
            if action.method == ActionMethod::Post {
                errors.extend([409, 413, 415]);
            }
            match action.output {
                ActionOutput::Created => responses.set("201", created()),
                ActionOutput::Record if action.reveals.is_empty() => responses.set("200", as_it_is()),
                ActionOutput::Record => {
                    let example = json!({ meta.name: with_secrets(examples, entry, action.reveals) });
                    let text = format!("The {noun} as it is now, with what is shown this once.");
                    responses.set("200", answer(text, json_content(one(output_name(entry, action)), example)));
                }
                ActionOutput::Fields { key, fields } => {
                    let properties = Node::object().with(key, reference("schemas", &output_name(entry, action)));
                    let schema =
                        Node::object().with("type", "object").with("required", [key]).with("properties", properties);
                    let example = json!({ key: examples.output(fields) });
                    responses.set("200", answer(format!("The {}.", prose::words(key)), json_content(schema, example)));
                }
            }
        }
        RouteOperation::Restore => {
            errors.extend([409, 413, 415, 422]);
            responses.set("200", as_it_is());
        }
        RouteOperation::Bulk => {
            errors.extend([400, 409, 413, 415, 422]);
            responses.set("200", bulk::answer(catalog, entry).with("headers", headers(false)));
        }
    }
    problem::add(&mut responses, &errors);
    if matches!(route.call, RouteOperation::Operation(Operation::List)) {
        problem::add_too_long(&mut responses);
    }
    responses
}

/// A record under its singular name.
fn under_name(entry: &Entry, schema: &str) -> Node {
    let name = entry.meta.name;
    let properties = Node::object().with(name, reference("schemas", schema));
    Node::object().with("type", "object").with("required", [name]).with("properties", properties)
}

/// The answer that has a new record, with the secrets that are shown this once.
fn created(examples: Examples<'_>, entry: &Entry) -> Node {
    let meta = entry.meta;
    let (name, example) = match meta.reveals {
        [] => (shown::record_name(entry), examples.record(entry, |_| true)),
        _ => (created_name(entry), with_secrets(examples, entry, meta.reveals)),
    };
    Node::object()
        .with("description", format!("The new {}.", prose::noun(meta)))
        .with("content", json_content(under_name(entry, &name), json!({ meta.name: example })))
}

/// The answer to a list.
fn list(examples: Examples<'_>, entry: &Entry) -> Node {
    let items = [shown::item_name(entry), fields_name(entry)].map(|name| reference("schemas", &name));
    let records = Node::object()
        .with("type", "array")
        .with("description", "The records of the page; with `fields` or `view_id` each has some of its fields only.")
        .with("items", Node::object().with("anyOf", items));
    let properties = Node::object().with(entry.meta.plural, records).with("meta", reference("schemas", "Meta"));
    let schema = Node::object()
        .with("type", "object")
        .with("required", [entry.meta.plural, "meta"])
        .with("properties", properties);
    let item = examples.record(entry, |field| field.shown == Shown::Always);
    let example = json!({ entry.meta.plural: [item], "meta": { "total": 1, "per_page": 20, "page": 1 } });
    let plan = json!({ "plan": { "conditions": "everything", "order": ["id"], "statements": [] } });
    let plan = Node::object().with("schema", reference("schemas", "Plan")).with("example", plan);
    let records = prose::records(entry.meta);
    let all = |format| {
        let (said, example) = match format {
            Format::Csv => ("in CSV (RFC 4180) with a line of titles", "id\r\n1\r\n"),
            Format::Lines => ("each as JSON on a line of its own", "{\"id\":1}\n"),
        };
        let schema = Node::object().with("type", "string").with("description", format!("All {records}, {said}."));
        Node::object().with("schema", schema).with("example", example)
    };
    let content = json_content(schema, example);
    let content = Format::ALL.into_iter().fold(content, |content, form| content.with(form.media_type(), all(form)));
    content.with(explain::MEDIA_TYPE, plan)
}

fn with_secrets(examples: Examples<'_>, entry: &Entry, reveals: &[(&str, &str)]) -> Value {
    let mut record = examples.record(entry, |_| true);
    for (name, _) in reveals {
        record[*name] = json!("shown-this-once");
    }
    record
}

/// The schema of a record with some of its fields.
pub fn fields_name(entry: &Entry) -> String {
    format!("{}Fields", shown::record_name(entry))
}

/// The schema of a new record with the secrets that are shown this once.
pub fn created_name(entry: &Entry) -> String {
    format!("{}Created", shown::record_name(entry))
}

/// The schema of an action's own answer.
pub fn output_name(entry: &Entry, action: &ActionMeta) -> String {
    format!("{}{}Answer", shown::record_name(entry), prose::camel(action.name))
}
