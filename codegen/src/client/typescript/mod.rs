//! Writer of the TypeScript client.

mod types;

use self::types::{key, type_text};
use super::document::{Api, Declaration, Group, Media, Operation, Pages};
use super::names::{lower_camel, unreserved};
use super::one_line;
use super::schema::{Property, Shape};

/// The handwritten part of the client.
const RUNTIME: &str =
    concat!(include_str!("runtime.ts"), "\n", include_str!("values.ts"), "\n", include_str!("webhook.ts"));

/// Names of the client and of the language that no type of the document may have.
pub const RESERVED: &[&str] = &[
    "AbortSignal",
    "ApiClient",
    "ApiError",
    "Array",
    "ArrayBuffer",
    "AsyncGenerator",
    "Blob",
    "Call",
    "CallOptions",
    "ClientOptions",
    "ConflictError",
    "ConnectionFailedError",
    "Date",
    "Error",
    "ErrorDetails",
    "File",
    "FilterGroup",
    "FilterValue",
    "ForbiddenError",
    "FormData",
    "Headers",
    "IdempotencyOption",
    "IfMatchOption",
    "JSON",
    "Map",
    "Math",
    "NotFoundError",
    "Number",
    "Object",
    "Omit",
    "Partial",
    "Promise",
    "RateLimitedError",
    "Readonly",
    "Record",
    "Required",
    "Response",
    "Set",
    "String",
    "TextDecoder",
    "TextEncoder",
    "Transport",
    "TypeError",
    "URL",
    "URLSearchParams",
    "Uint8Array",
    "UnauthorizedError",
    "UnavailableError",
    "Unselected",
    "Upload",
    "ValidationError",
    "VerifyOptions",
    "WeakMap",
    "WebhookEvent",
    "WebhookHeaders",
    "WebhookVerificationError",
];

/// Words that are no names of parameters, and the members of every class.
const WORDS: &[&str] = &[
    "arguments",
    "await",
    "body",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "constructor",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "options",
    "package",
    "params",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// The file.
pub fn write(api: &Api) -> String {
    let mut out = format!(
        "// Client of the {}, written by `cargo charter client typescript`. Do not edit it.\n\n",
        comment_line(&api.title)
    );
    out.push_str(RUNTIME);
    api.declared.iter().for_each(|declared| declaration(&mut out, declared));
    events(&mut out, api);
    api.groups.iter().for_each(|group| class(&mut out, group));
    client(&mut out, api);
    out
}

fn declaration(out: &mut String, declared: &Declaration) {
    out.push('\n');
    comment(out, "", &declared.description);
    let name = &declared.name;
    match &declared.shape {
        Shape::Alias(of) => out.push_str(&format!("export type {name} = {};\n", type_text(of))),
        Shape::Object { base, properties } | Shape::Parameters { base, properties } => {
            let extends = base.as_ref().map(|base| format!(" extends {base}")).unwrap_or_default();
            out.push_str(&format!("export interface {name}{extends} {{\n"));
            properties.iter().for_each(|property| member(out, property));
            out.push_str("}\n");
        }
        Shape::Filters(properties) => {
            out.push_str(&format!("export interface {name} {{\n"));
            properties.iter().for_each(|property| member(out, property));
            // Custom fields, related records and alternatives, which the document cannot list.
            out.push_str("  [open: `${string}.${string}`]: FilterValue | FilterGroup | undefined;\n");
            out.push_str("  [either: `${string}_or_${string}`]: FilterValue | undefined;\n}\n");
        }
    }
}

fn member(out: &mut String, property: &Property) {
    comment(out, "  ", &property.description);
    let mark = if property.is_required { "" } else { "?" };
    out.push_str(&format!("  {}{mark}: {};\n", key(&property.name), type_text(&property.of)));
}

fn events(out: &mut String, api: &Api) {
    let names: Vec<&str> = api.events.iter().map(|(_, name)| name.as_str()).collect();
    let all = if names.is_empty() {
        "{ event: string; timestamp: string; data: unknown }".into()
    } else {
        names.join("\n  | ")
    };
    out.push_str(&format!("\n/** An event; `event` is its name. */\nexport type WebhookEvent =\n  | {all};\n"));
    out.push_str(
        "
/**
 * Verifies a delivery and returns its event. `body` is the body as received. Throws `WebhookVerificationError`.
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  return (await verified(secret, headers, body, options)) as WebhookEvent;
}
",
    );
}

fn class(out: &mut String, group: &Group) {
    out.push_str(&format!("\n/** Operations of `{}`. */\nexport class {} {{\n", group.name, group.class));
    out.push_str("  readonly #transport: Transport;\n\n  constructor(transport: Transport) {\n    this.#transport = transport;\n  }\n");
    for operation in &group.operations {
        method(out, operation);
        if let Some(pages) = &operation.pages {
            each(out, operation, pages);
        }
    }
    out.push_str("}\n");
}

fn method(out: &mut String, operation: &Operation) {
    let name = unreserved(lower_camel(&operation.name), &["constructor"]);
    out.push('\n');
    let answer = answer_text(operation);
    let summary = format!("{} (`{}`).", operation.summary, operation.id);
    if let Some(selected) = &operation.answer.selected {
        comment(out, "  ", &summary);
        out.push_str(&format!("  {name}({}): Promise<{answer}>;\n", parameters(operation, Form::Whole)));
        let selected = type_text(selected);
        out.push_str(&format!("  {name}({}): Promise<{selected}>;\n", parameters(operation, Form::Selected)));
        out.push_str(&format!("  {name}({}): Promise<unknown> {{\n", parameters(operation, Form::Body)));
    } else {
        comment(out, "  ", &summary);
        out.push_str(&format!("  {name}({}): Promise<{answer}> {{\n", parameters(operation, Form::Whole)));
    }
    out.push_str(&format!("    return this.#transport.call({});\n  }}\n", call(operation)));
}

fn each(out: &mut String, operation: &Operation, pages: &Pages) {
    let name = lower_camel(&operation.iterator());
    let (record, selected) = (type_text(&pages.record), type_text(&pages.selected));
    out.push_str("\n  /** All records, page by page. */\n");
    let parameters = |form| parameters_of(operation, Some(&pages.parameters), form);
    out.push_str(&format!("  {name}({}): AsyncGenerator<{record}, void, undefined>;\n", parameters(Form::Whole)));
    out.push_str(&format!("  {name}({}): AsyncGenerator<{selected}, void, undefined>;\n", parameters(Form::Selected)));
    out.push_str(&format!("  {name}({}): AsyncGenerator<unknown, void, undefined> {{\n", parameters(Form::Body)));
    out.push_str(&format!("    return this.#transport.each({}, {:?});\n  }}\n", call(operation), pages.key));
}

/// Which of the signatures of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Returns whole records.
    Whole,
    /// Returns records with selected fields.
    Selected,
    /// Followed by the body of the method.
    Body,
}

fn parameters(operation: &Operation, form: Form) -> String {
    parameters_of(operation, operation.query.as_ref().map(|query| query.name.as_str()), form)
}

fn parameters_of(operation: &Operation, query: Option<&str>, form: Form) -> String {
    let mut parts: Vec<String> =
        operation.in_path.iter().map(|one| format!("{}: {}", argument(&one.name), type_text(&one.of))).collect();
    // Only a form with a body can have defaults.
    let has_body = form == Form::Body || operation.answer.selected.is_none();
    let optional = |name: &str, of: String, default: &str| match has_body {
        true => format!("{name}: {of} = {default}"),
        false => format!("{name}?: {of}"),
    };
    if let Some(body) = &operation.body {
        let of = type_text(&body.of);
        parts.push(if body.is_required { format!("body: {of}") } else { format!("body: {of} = {{}}") });
    }
    if let (Some(query), Some(name)) = (&operation.query, query) {
        let selection = query.selection.iter().map(|one| format!("{}?: {}", key(&one.name), type_text(&one.of)));
        let selected = format!("Unselected<{name}> & {{ {} }}", selection.collect::<Vec<_>>().join("; "));
        let none = query.selection.iter().map(|one| format!("{}?: undefined", key(&one.name)));
        let whole = match query.selection.is_empty() {
            true => name.to_owned(),
            false => format!("{name} & {{ {} }}", none.collect::<Vec<_>>().join("; ")),
        };
        parts.push(match form {
            Form::Whole if query.is_required => format!("params: {whole}"),
            Form::Whole => optional("params", whole, "{}"),
            Form::Selected => format!("params: {selected}"),
            Form::Body => optional("params", "object".to_owned(), "{}"),
        });
    }
    let mut options = vec!["CallOptions"];
    options.extend(operation.takes_if_match.then_some("IfMatchOption"));
    options.extend(operation.takes_idempotency_key.then_some("IdempotencyOption"));
    parts.push(optional("options", options.join(" & "), "{}"));
    parts.join(", ")
}

/// The argument of `call`.
fn call(operation: &Operation) -> String {
    let mut path = operation.path.clone();
    for parameter in &operation.in_path {
        let value = format!("${{encodeURIComponent({})}}", argument(&parameter.name));
        path = path.replace(&format!("{{{}}}", parameter.name), &value);
    }
    let mut parts = vec![format!("method: {:?}", operation.method), format!("path: `{path}`")];
    parts.extend(operation.query.as_ref().map(|_| "query: params".to_owned()));
    parts.extend(operation.body.as_ref().map(|_| "body".to_owned()));
    parts.extend(operation.body.as_ref().filter(|body| body.is_form).map(|_| "isForm: true".to_owned()));
    parts.extend(operation.answer.key.as_ref().map(|key| format!("key: {key:?}")));
    parts.extend(match operation.answer.media {
        Media::Json => None,
        Media::Text => Some("media: \"text\"".to_owned()),
        Media::Bytes => Some("media: \"bytes\"".to_owned()),
        Media::Nothing => Some("media: \"nothing\"".to_owned()),
    });
    parts.extend(operation.takes_idempotency_key.then(|| "hasKey: true".to_owned()));
    parts.extend((!operation.needs_token).then(|| "isPublic: true".to_owned()));
    parts.push("options".into());
    format!("{{ {} }}", parts.join(", "))
}

fn answer_text(operation: &Operation) -> String {
    match operation.answer.media {
        Media::Json => type_text(&operation.answer.of),
        Media::Text => "string".into(),
        Media::Bytes => "Uint8Array".into(),
        Media::Nothing => "void".into(),
    }
}

fn client(out: &mut String, api: &Api) {
    let name = |group: &Group| unreserved(lower_camel(&group.name), &["constructor", "download"]);
    out.push_str(&format!(
        "\n/** Client of the {}. */\nexport class ApiClient {{\n  readonly #transport: Transport;\n",
        comment_line(&api.title)
    ));
    for group in &api.groups {
        out.push_str(&format!("  readonly {}: {};\n", name(group), group.class));
    }
    out.push_str("\n  constructor(options: ClientOptions) {\n    const transport = new Transport(options);\n    this.#transport = transport;\n");
    for group in &api.groups {
        out.push_str(&format!("    this.{} = new {}(transport);\n", name(group), group.class));
    }
    out.push_str(
        "  }

  /** The file behind a signed link, such as the `url` of an attachment. The link needs no token. */
  download(url: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#transport.call({ method: \"GET\", path: url, media: \"bytes\", isPublic: true, options });
  }
}
",
    );
}

/// The name of a parameter of a method.
fn argument(name: &str) -> String {
    unreserved(lower_camel(name), WORDS)
}

fn comment(out: &mut String, indent: &str, text: &str) {
    if !text.is_empty() {
        out.push_str(&format!("{indent}/** {} */\n", comment_line(text)));
    }
}

/// The text in one line that ends no comment.
fn comment_line(text: &str) -> String {
    one_line(text).replace("*/", "*\\/")
}
