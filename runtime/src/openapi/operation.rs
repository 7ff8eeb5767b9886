//! Description of an operation: texts, security, parameters, request body and responses.

use charter_model::reserved::ATTACHMENTS_PATH;
use serde_json::{Value, json};

use super::example::Examples;
use super::node::{Node, reference};
use super::request_schema::{self, Write};
use super::{
    bulk, english, error_responses, filter, header, list, on_delete, open_door, operation_name, parameter,
    response_schema, summary,
};
use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{ActionMeta, ActionMethod, ActionOn, ActionOutput, Deprecated, Operation};
use charter_core::ops::endpoints::SUMMARY;
use charter_core::ops::{RouteInfo, RouteOperation, deprecation};

/// Names of the security schemes.
pub(super) const SCHEMES: [&str; 2] = ["bearer", "token"];

/// Describes the operation of a route.
pub(super) fn describe(catalog: &Catalog, entry: &Entry, route: &RouteInfo, form: filter::FilterForm) -> Node {
    let (id, summary, details) = texts(catalog, entry, route);
    let description =
        [details, requirements(route)].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    let mut parameters = parameter::of_path(catalog, entry, &route.path);
    parameters.extend(match route.call {
        RouteOperation::Operation(Operation::List) => parameter::of_list(catalog, entry, form),
        RouteOperation::Summary => summary::parameters(catalog, entry, form),
        RouteOperation::Operation(Operation::Show) => parameter::of_record(entry),
        RouteOperation::Action(action) if action.method == ActionMethod::Get => {
            parameter::of_action(catalog, action.input)
        }
        _ => Vec::new(),
    });
    parameters.extend(header::of_call(route.call));
    // Alternative abilities are alternative security requirements.
    let schemes = SCHEMES.iter().flat_map(|scheme| route.ability.split(" or ").map(move |ability| (scheme, ability)));
    let schemes = schemes.map(|(scheme, ability)| Node::object().with(*scheme, [ability]));
    // The empty requirement is that of a request without a token.
    let security: Vec<Node> = schemes.chain(route.public.is_some().then(Node::object)).collect();
    let node = Node::object()
        .with("operationId", id)
        .with("tags", [english::tag(entry.meta)])
        .with("summary", summary)
        .with("description", description)
        .with("security", security)
        .with("x-resource", entry.meta.plural)
        .with("x-operation", operation_name::of(entry, route))
        .with("x-ability", route.ability.clone())
        .with_some("x-permission", route.permission.clone());
    let node = match route.call {
        RouteOperation::Action(to) => english::deprecated(node, entry.meta.deprecation(Deprecated::Action, to.name)),
        RouteOperation::Operation(_) | RouteOperation::Bulk | RouteOperation::Restore | RouteOperation::Summary => node,
    };
    let node = if parameters.is_empty() { node } else { node.with("parameters", parameters) };
    node.with_some("requestBody", body(catalog, entry, route.call)).with("responses", responses(catalog, entry, route))
}

/// The operation id, the summary and the description.
pub(crate) fn texts(catalog: &Catalog, entry: &Entry, route: &RouteInfo) -> (String, String, String) {
    let meta = entry.meta;
    let (one, several) = (english::record_with_article(meta), english::records(meta));
    match route.call {
        // Attachments of the records of another resource, or of a singleton.
        RouteOperation::Operation(Operation::List) if entry.is_attached() => {
            let (place, owner) = attached_to(route);
            (
                format!("list_{}_of_{place}", meta.plural),
                format!("List {several} of {owner}"),
                format!("Lists {several} by page. {}", parameter::more_filters(catalog, entry)),
            )
        }
        RouteOperation::Operation(Operation::List) => (
            format!("list_{}", meta.plural),
            format!("List {several}"),
            format!("Lists {several} by page. {}", parameter::more_filters(catalog, entry)),
        ),
        RouteOperation::Summary => summary::texts(entry, entry.is_attached().then(|| attached_to(route))),
        RouteOperation::Operation(Operation::Show) => {
            (format!("show_{}", meta.name), format!("Show {one}"), format!("Shows {one} with all fields."))
        }
        RouteOperation::Operation(Operation::Create) => (
            format!("create_{}", meta.name),
            format!("Create {one}"),
            format!(
                "The body has the fields at its top level, or all of them under the singular name. A field that is missing or null \
                 gets its default.{}",
                english::record_rules(meta)
            ),
        ),
        RouteOperation::Operation(Operation::Update) => {
            let verb = if route.method == "PATCH" { "patch" } else { "update" };
            let same = if route.method == "PATCH" { " The same as `PUT`." } else { "" };
            (
                format!("{verb}_{}", meta.name),
                format!("Change {one}"),
                format!(
                    "Changes the given fields. A field that is missing or null stays as it is; an empty text sets a nullable field to \
                     null. Read-only fields are ignored, so that a record can be sent back as it was read.{same}{}{}",
                    english::record_rules(meta),
                    english::frozen(meta)
                ),
            )
        }
        RouteOperation::Operation(Operation::Delete) => {
            (format!("delete_{}", meta.name), format!("Delete {one}"), on_delete::description(catalog, entry))
        }
        RouteOperation::Action(action) => action_texts(entry, action),
        RouteOperation::Bulk => bulk::texts(entry),
        RouteOperation::Restore => (
            format!("restore_{}", meta.name),
            format!("Restore {one}"),
            format!(
                "Restores {one} after a soft delete. One that is not deleted stays as it is. Fails while another record has \
                 one of its unique values, or while a required reference is deleted."
            ),
        ),
    }
}

/// The path segment of the records that attachments belong to, and the words for one of them.
pub(super) fn attached_to(route: &RouteInfo) -> (&str, String) {
    let is_record = |segment: &&str| !segment.starts_with('{') && ![ATTACHMENTS_PATH, SUMMARY].contains(segment);
    let place = route.path.rsplit('/').find(is_record).unwrap_or_default();
    let of = if route.path.contains("{id}") { "one of the" } else { "the" };
    (place, format!("{of} {}", english::words(place)))
}

fn action_texts(entry: &Entry, action: &ActionMeta) -> (String, String, String) {
    let (on, what) = match action.on {
        ActionOn::Record => (entry.meta.name, english::record_with_article(entry.meta)),
        ActionOn::Collection => (entry.meta.plural, english::records(entry.meta)),
    };
    let verb = english::words(action.name);
    let details = match (action.description, action.output) {
        ("", ActionOutput::Record) => format!("Returns {what} after the action."),
        ("", ActionOutput::Created) => format!("Returns a new {}.", english::noun(entry.meta)),
        ("", ActionOutput::Fields { key, .. }) => format!("Returns the {}.", english::words(key)),
        (declared, _) => english::sentence(declared),
    };
    (format!("{}_{on}", action.name), format!("{}: {verb}", english::capitalize(&what)), details)
}

/// The required ability and permission, as a sentence.
fn requirements(route: &RouteInfo) -> String {
    let permission = route.permission.as_ref().map(|permission| {
        let (word, names) = match permission.contains(" and ") {
            true => ("permissions", permission.replace(" and ", "` and `")),
            false => ("permission", permission.clone()),
        };
        format!(", and its user needs the {word} `{names}` from a role")
    });
    let open = route.public.as_deref().map(open_door::without_token).unwrap_or_default();
    let permission = permission.unwrap_or_default();
    format!("The token needs the ability `{}`{permission}.{open}", route.ability)
}

/// The request body of a write, with its fields at the top level or under the singular name.
fn body(catalog: &Catalog, entry: &Entry, call: RouteOperation) -> Option<Node> {
    let examples = Examples { catalog };
    match call {
        RouteOperation::Operation(Operation::Create) if entry.receives_file() => return Some(upload(catalog, entry)),
        RouteOperation::Bulk => return Some(bulk::body(catalog, entry)),
        _ => {}
    }
    let (schema, example, required, what) = match call {
        RouteOperation::Operation(Operation::Create) => {
            let required =
                entry.meta.fields.iter().any(|field| field.required && request_schema::can_set(field, Write::Create));
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
                properties.set(field.name, request_schema::field(catalog, action.input, field, Write::Action, None));
            }
            let example: serde_json::Map<String, Value> =
                action.input.iter().map(|field| (field.name.to_string(), examples.of_parameter(field))).collect();
            let needed = !required.is_empty();
            // Unknown parameters of an action are ignored.
            let schema = request_schema::object(properties, &required).with("additionalProperties", true);
            (schema, Value::Object(example), needed, "")
        }
        _ => return None,
    };
    let described = match what {
        "" => "The parameters.".to_string(),
        "new" => format!("The fields of the new {}.", english::noun(entry.meta)),
        _ => format!("The {what} fields of {}.", english::record_with_article(entry.meta)),
    };
    Some(
        Node::object()
            .with("description", described)
            .with("required", required)
            .with("content", json_content(schema, example)),
    )
}

/// The form of an upload.
fn upload(catalog: &Catalog, entry: &Entry) -> Node {
    let mut properties = Node::object().with(
        "file",
        json!({ "type": "string", "contentMediaType": "application/octet-stream", "description": "The file." }),
    );
    let mut required = vec!["file"];
    let examples = Examples { catalog };
    let mut example = json!({ "file": "the bytes" });
    for field in entry.meta.fields.iter().filter(|field| request_schema::can_set(field, Write::Create)) {
        if field.required {
            required.push(field.name);
        }
        properties
            .set(field.name, request_schema::field(catalog, entry.meta.fields, field, Write::Create, Some(entry)));
        example[field.name] = examples.request_value(entry, field);
    }
    let schema = Node::object()
        .with("type", "object")
        .with("required", required)
        .with("properties", properties)
        .with("additionalProperties", false);
    let content = Node::object().with("schema", schema).with("example", example);
    Node::object()
        .with("description", "A form with the file and its fields.")
        .with("required", true)
        .with("content", Node::object().with("multipart/form-data", content))
}

/// The schema of a write's fields.
pub(super) fn body_name(entry: &Entry, write: Write) -> String {
    let verb = if write == Write::Create { "Create" } else { "Update" };
    format!("{}{verb}", english::camel(entry.meta.name))
}

/// `{"name": ...}` or `{"product": {"name": ...}}`
fn wrapped(entry: &Entry, name: &str) -> Node {
    let flat = reference("schemas", name);
    // A field with the name of the resource would be ambiguous.
    if entry.field(entry.meta.name).is_some() {
        return flat;
    }
    let key = entry.meta.name;
    let properties = Node::object().with(key, flat.clone());
    Node::object().with("anyOf", [flat, request_schema::object(properties, &[key])])
}

pub(super) fn json_content(schema: Node, example: Value) -> Node {
    Node::object().with("application/json", Node::object().with("schema", schema).with("example", example))
}

fn responses(catalog: &Catalog, entry: &Entry, route: &RouteInfo) -> Node {
    let mut responses = Node::object();
    let meta = entry.meta;
    let one = |name: String| under_name(entry, &name);
    let examples = Examples { catalog };
    let record = || json!({ meta.name: examples.record(entry, |_| true) });
    let single = || json_content(one(response_schema::record_name(entry)), record());
    // The schema without required fields is for `fields`.
    let sparse = || {
        let name = response_schema::record_name(entry);
        let schema = Node::object().with("anyOf", [one(name), one(fields_name(entry))]);
        json_content(schema, record())
    };
    let is_deprecated = deprecation::can_have_headers(meta, route.call);
    let headers = |created| header::of_success(route.call, created, is_deprecated);
    let response = |text: String, content: Node| {
        Node::object().with("description", text).with("headers", headers(false)).with("content", content)
    };
    let created = || created(examples, entry).with("headers", headers(true));
    let noun = english::noun(meta);
    let updated = || response(format!("The updated {noun}."), single());
    let mut errors = vec![401, 403, 429, 500, 503];
    if route.path.contains('{') {
        errors.push(404);
    }
    if route.call.has_conditions() && !route.call.is_list() {
        errors.extend([400, 412]);
    }
    match route.call {
        RouteOperation::Operation(Operation::List) => {
            errors.extend([400, 422]);
            let text = format!("A page of {}, or all of them in the format of `Accept`.", english::records(meta));
            responses.set("200", response(text, list::content(examples, entry)));
            responses.set("304", reference("responses", error_responses::NOT_MODIFIED));
        }
        RouteOperation::Summary => {
            errors.extend([400, 422]);
            let text = format!("The summary of {}.", english::records(meta));
            responses.set("200", response(text, summary::content()));
            responses.set("304", reference("responses", error_responses::NOT_MODIFIED));
        }
        RouteOperation::Operation(Operation::Show) => {
            errors.push(422);
            responses.set("200", response(format!("The {noun}."), sparse()));
            responses.set("304", reference("responses", error_responses::NOT_MODIFIED));
        }
        RouteOperation::Operation(Operation::Create) => {
            errors.extend([400, 408, 409, 413, 415, 422]);
            responses.set("201", created());
        }
        RouteOperation::Operation(Operation::Update) => {
            errors.extend([408, 409, 413, 415, 422]);
            responses.set("200", updated());
        }
        RouteOperation::Operation(Operation::Delete) => {
            errors.push(409);
            if on_delete::can_refuse(catalog, entry) {
                errors.push(422);
            }
            let gone = Node::object().with("description", format!("The {noun} was deleted."));
            responses.set("204", gone.with("headers", headers(false)));
        }
        RouteOperation::Action(action) => {
            errors.extend([400, 422]);
            if action.method == ActionMethod::Post {
                errors.extend([408, 409, 413, 415]);
            }
            match action.output {
                ActionOutput::Created => responses.set("201", created()),
                ActionOutput::Record if action.reveals.is_empty() => responses.set("200", updated()),
                ActionOutput::Record => {
                    let example = json!({ meta.name: with_secrets(examples, entry, action.reveals) });
                    let text = format!("The updated {noun}, with secrets that are shown only once.");
                    responses.set("200", response(text, json_content(one(output_name(entry, action)), example)));
                }
                ActionOutput::Fields { key, fields } => {
                    let properties = Node::object().with(key, reference("schemas", &output_name(entry, action)));
                    let schema =
                        Node::object().with("type", "object").with("required", [key]).with("properties", properties);
                    let example = json!({ key: examples.output(fields) });
                    responses
                        .set("200", response(format!("The {}.", english::words(key)), json_content(schema, example)));
                }
            }
        }
        RouteOperation::Restore => {
            errors.extend([408, 409, 413, 415, 422]);
            responses.set("200", updated());
        }
        RouteOperation::Bulk => {
            errors.extend([400, 408, 409, 413, 415, 422]);
            responses.set("200", bulk::response(catalog, entry).with("headers", headers(false)));
        }
    }
    error_responses::add(&mut responses, &errors);
    if route.call.is_list() {
        error_responses::add_too_long(&mut responses);
    }
    responses
}

/// A record under its singular name.
fn under_name(entry: &Entry, schema: &str) -> Node {
    let name = entry.meta.name;
    let properties = Node::object().with(name, reference("schemas", schema));
    Node::object().with("type", "object").with("required", [name]).with("properties", properties)
}

/// The response with a new record, and the secrets that are shown once.
fn created(examples: Examples<'_>, entry: &Entry) -> Node {
    let meta = entry.meta;
    let (name, example) = match meta.reveals {
        [] => (response_schema::record_name(entry), examples.record(entry, |_| true)),
        _ => (created_name(entry), with_secrets(examples, entry, meta.reveals)),
    };
    Node::object().with("description", format!("The new {}.", english::noun(meta))).with(
        "content",
        json_content(open_door::answer(entry, under_name(entry, &name)), json!({ meta.name: example })),
    )
}

fn with_secrets(examples: Examples<'_>, entry: &Entry, reveals: &[(&str, &str)]) -> Value {
    let mut record = examples.record(entry, |_| true);
    for (name, _) in reveals {
        record[*name] = json!("shown-this-once");
    }
    record
}

/// The schema of a record with some of its fields.
pub(super) fn fields_name(entry: &Entry) -> String {
    format!("{}Fields", response_schema::record_name(entry))
}

/// The schema of a new record with the secrets that are shown once.
pub(super) fn created_name(entry: &Entry) -> String {
    format!("{}Created", response_schema::record_name(entry))
}

/// The schema of an action's output.
pub(super) fn output_name(entry: &Entry, action: &ActionMeta) -> String {
    format!("{}{}Answer", response_schema::record_name(entry), english::camel(action.name))
}
