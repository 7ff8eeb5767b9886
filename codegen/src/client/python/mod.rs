//! Writer of the Python client.

mod types;

use self::types::{quoted, type_text};
use super::document::{Api, Declaration, Group, Media, Operation, Pages};
use super::names::{snake, unreserved};
use super::one_line;
use super::schema::{Property, Shape, Type};

/// The handwritten part of the client.
const RUNTIME: &str =
    concat!(include_str!("runtime.py"), "\n\n", include_str!("values.py"), "\n\n", include_str!("webhook.py"));

/// Names of the client and of the language that no type of the document may have.
pub const RESERVED: &[&str] = &[
    "Any",
    "ApiClient",
    "ApiError",
    "ConflictError",
    "ConnectionFailedError",
    "CustomFieldName",
    "Dict",
    "Exception",
    "False",
    "FilterGroup",
    "FilterValue",
    "ForbiddenError",
    "Iterator",
    "KeyError",
    "List",
    "Literal",
    "Mapping",
    "NamedTuple",
    "NewType",
    "None",
    "NotFoundError",
    "NotRequired",
    "Optional",
    "RateLimitedError",
    "Required",
    "Sequence",
    "Transport",
    "True",
    "Tuple",
    "TypedDict",
    "UnauthorizedError",
    "UnavailableError",
    "Union",
    "Unpack",
    "Upload",
    "ValidationError",
    "ValueError",
    "WebhookEvent",
    "WebhookVerificationError",
];

/// Keywords of Python, and parameters that the methods have.
const WORDS: &[&str] = &[
    "and",
    "as",
    "assert",
    "async",
    "await",
    "body",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "idempotency_key",
    "if",
    "if_match",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "params",
    "pass",
    "raise",
    "return",
    "self",
    "try",
    "while",
    "with",
    "yield",
];

/// Names that annotations use: a class with such a member would change their meaning.
const ANNOTATIONS: &[&str] = &["bool", "bytes", "float", "int", "object", "str"];

/// The file.
pub fn write(api: &Api) -> String {
    let mut out = format!(
        "# Client of the {}, written by `cargo charter client python`. Do not edit it.\n# ruff: noqa\n",
        one_line(&api.title)
    );
    out.push_str(RUNTIME);
    api.declared.iter().for_each(|declared| declaration(&mut out, declared));
    events(&mut out, api);
    api.groups.iter().for_each(|group| class(&mut out, group));
    client(&mut out, api);
    out
}

fn declaration(out: &mut String, declared: &Declaration) {
    let name = &declared.name;
    let named = |properties: &'_ [Property], key: fn(&str) -> String| -> Vec<(String, Property)> {
        properties.iter().map(|property| (key(&property.name), property.clone())).collect()
    };
    match &declared.shape {
        // A text, because it may name types that are declared further down.
        Shape::Alias(of) => out.push_str(&format!("\n\n{name}: TypeAlias = {}\n", quoted(&type_text(of)))),
        Shape::Object { base, properties } => {
            typed_dict(out, name, base.as_deref(), &declared.description, &named(properties, str::to_owned));
        }
        Shape::Parameters { base, properties } => {
            let properties = named(properties, argument);
            typed_dict(out, name, base.as_deref(), &declared.description, &properties);
            // A TypedDict has no open keys: further filters have a parameter of their own.
            if properties.iter().any(|(key, property)| key == "q" && matches!(property.of, Type::Named(_))) {
                out.push_str("    q_extra: NotRequired[Mapping[str, Union[FilterValue, FilterGroup]]]\n");
            }
        }
        Shape::Filters(properties) => {
            typed_dict(out, name, None, &declared.description, &named(properties, str::to_owned));
        }
    }
}

fn typed_dict(out: &mut String, name: &str, base: Option<&str>, description: &str, properties: &[(String, Property)]) {
    let is_member = |key: &str| {
        snake(key) == key && !key.starts_with("__") && !WORDS[..].contains(&key) && !ANNOTATIONS.contains(&key)
    };
    let of = |property: &Property| match property.is_required {
        true => type_text(&property.of),
        false => format!("NotRequired[{}]", type_text(&property.of)),
    };
    // The names of filters and the like cannot have the form of a class.
    if base.is_none() && !properties.iter().all(|(key, _)| is_member(key)) {
        out.push_str(&format!("\n\n{name} = TypedDict(\n    \"{name}\",\n    {{\n"));
        for (key, property) in properties {
            out.push_str(&format!("        {}: {},\n", quoted(key), quoted(&of(property))));
        }
        out.push_str("    },\n)\n");
        return;
    }
    out.push_str(&format!("\n\nclass {name}({}):\n", base.unwrap_or("TypedDict")));
    docstring(out, "    ", description);
    for (key, property) in properties {
        out.push_str(&format!("    {key}: {}\n", of(property)));
    }
    if properties.is_empty() && description.is_empty() {
        out.push_str("    pass\n");
    }
}

fn events(out: &mut String, api: &Api) {
    let names: Vec<&str> = api.events.iter().map(|(_, name)| name.as_str()).collect();
    let all =
        if names.is_empty() { "Dict[str, Any]".into() } else { format!("Union[\n    {},\n]", names.join(",\n    ")) };
    out.push_str(&format!("\n\nWebhookEvent = {all}\n\"\"\"An event; ``event`` is its name.\"\"\"\n"));
    out.push_str(
        "

def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, tolerance: float = 300.0
) -> WebhookEvent:
    \"\"\"Verifies a delivery and returns its event.

    ``body`` is the body as received, and ``tolerance`` the most seconds between the time of the delivery and now.
    Raises ``WebhookVerificationError``.
    \"\"\"
    return cast(WebhookEvent, _verified(secret, headers, body, tolerance))
",
    );
}

fn class(out: &mut String, group: &Group) {
    out.push_str(&format!("\n\nclass {}:\n    \"\"\"Operations of ``{}``.\"\"\"\n", group.class, group.name));
    out.push_str("\n    def __init__(self, transport: Transport) -> None:\n        self._transport = transport\n");
    for operation in &group.operations {
        method(out, operation);
        if let Some(pages) = &operation.pages {
            each(out, operation, pages);
        }
    }
}

/// The name of a method or of an attribute.
fn member(name: &str) -> String {
    unreserved(snake(name), WORDS)
}

fn method(out: &mut String, operation: &Operation) {
    let name = member(&operation.name);
    let answer = answer_text(operation);
    let query = operation.query.as_ref().map(|query| query.name.as_str());
    if let Some(selected) = &operation.answer.selected {
        signatures(out, operation, &name, query, &answer, &type_text(selected));
    } else {
        let parameters = parameters(operation, None, query);
        out.push_str(&format!("\n    def {name}({parameters}) -> {answer}:\n"));
    }
    docstring(out, "        ", &format!("{} (``{}``).", operation.summary, operation.id));
    let call = format!("self._transport.call({})", arguments(operation));
    out.push_str(&match answer.as_str() {
        "None" => format!("        {call}\n"),
        _ if operation.answer.selected.is_some() => format!("        return {call}\n"),
        _ => format!("        return cast({}, {call})\n", quoted(&answer)),
    });
}

fn each(out: &mut String, operation: &Operation, pages: &Pages) {
    let name = member(&operation.iterator());
    let iterator = |of: &Type| format!("Iterator[{}]", type_text(of));
    signatures(out, operation, &name, Some(&pages.parameters), &iterator(&pages.record), &iterator(&pages.selected));
    docstring(out, "        ", "All records, page by page.");
    out.push_str(&format!(
        "        return self._transport.each(\"GET\", {}, {}, {})\n",
        path(operation),
        quoted(&pages.key),
        operation.query.as_ref().map(|query| renamed(&query.names)).unwrap_or_default()
    ));
}

/// The overloads of a method that can select fields, and the head of its implementation.
fn signatures(out: &mut String, operation: &Operation, name: &str, query: Option<&str>, whole: &str, selected: &str) {
    let selection = operation.query.as_ref().map(|query| &query.selection[..]).unwrap_or_default();
    let typed =
        |property: &Property, end: &str| format!("{}: {}{end}", argument(&property.name), type_text(&property.of));
    out.push_str(&format!("\n    @overload\n    def {name}({}) -> {whole}: ...\n", parameters(operation, None, query)));
    for (at, property) in selection.iter().enumerate() {
        // With the first parameter the others are optional. Without it the next one is required.
        let mut named = vec![typed(property, "")];
        named.extend(selection[at + 1..].iter().map(|property| typed(property, " = ...")));
        let parameters = parameters(operation, Some(&named.join(", ")), query);
        out.push_str(&format!("\n    @overload\n    def {name}({parameters}) -> {selected}: ...\n"));
    }
    let mut parts = path_parameters(operation);
    parts.push("**params: Any".into());
    out.push_str(&format!("\n    def {name}({}) -> Any:\n", parts.join(", ")));
}

fn path_parameters(operation: &Operation) -> Vec<String> {
    let typed = operation.in_path.iter().map(|one| format!("{}: {}", argument(&one.name), type_text(&one.of)));
    std::iter::once("self".to_owned()).chain(typed).collect()
}

fn parameters(operation: &Operation, named: Option<&str>, query: Option<&str>) -> String {
    let mut parts = path_parameters(operation);
    if let Some(body) = &operation.body {
        let of = type_text(&body.of);
        parts.push(if body.is_required { format!("body: {of}") } else { format!("body: Optional[{of}] = None") });
    }
    let mut keywords: Vec<String> = named.map(str::to_owned).into_iter().collect();
    keywords.extend(operation.takes_if_match.then(|| "if_match: Optional[str] = None".to_owned()));
    keywords.extend(operation.takes_idempotency_key.then(|| "idempotency_key: Optional[str] = None".to_owned()));
    if !keywords.is_empty() {
        parts.push("*".into());
        parts.extend(keywords);
    }
    parts.extend(query.map(|query| format!("**params: Unpack[{query}]")));
    parts.join(", ")
}

fn path(operation: &Operation) -> String {
    let mut path = operation.path.clone();
    for parameter in &operation.in_path {
        let value = format!("{{quote(str({}), safe='')}}", argument(&parameter.name));
        path = path.replace(&format!("{{{}}}", parameter.name), &value);
    }
    if operation.in_path.is_empty() { quoted(&path) } else { format!("f{}", quoted(&path)) }
}

/// The arguments of `call`.
fn arguments(operation: &Operation) -> String {
    let mut parts = vec![quoted(&operation.method), path(operation)];
    parts.extend(operation.query.as_ref().map(|query| format!("query={}", renamed(&query.names))));
    if let Some(body) = &operation.body {
        parts.push(if body.is_required { "body=body".into() } else { "body=body or {}".into() });
        parts.extend(body.is_form.then(|| "is_form=True".to_owned()));
    }
    parts.extend(operation.answer.key.as_ref().map(|key| format!("key={}", quoted(key))));
    parts.extend(match operation.answer.media {
        Media::Json => None,
        Media::Text => Some("media=\"text\"".to_owned()),
        Media::Bytes => Some("media=\"bytes\"".to_owned()),
        Media::Nothing => Some("media=\"nothing\"".to_owned()),
    });
    parts.extend((!operation.needs_token).then(|| "is_public=True".to_owned()));
    parts.extend(operation.takes_if_match.then(|| "if_match=if_match".to_owned()));
    parts.extend(operation.takes_idempotency_key.then(|| "has_key=True, idempotency_key=idempotency_key".to_owned()));
    parts.join(", ")
}

/// The parameters under their names in the API, which may be keywords of Python.
fn renamed(names: &[String]) -> String {
    let changed = names.iter().filter(|name| argument(name) != **name);
    let pairs: Vec<String> = changed.map(|name| format!("{}: {}", quoted(&argument(name)), quoted(name))).collect();
    if pairs.is_empty() { "params".into() } else { format!("_renamed(params, {{{}}})", pairs.join(", ")) }
}

fn answer_text(operation: &Operation) -> String {
    match operation.answer.media {
        Media::Json => type_text(&operation.answer.of),
        Media::Text => "str".into(),
        Media::Bytes => "bytes".into(),
        Media::Nothing => "None".into(),
    }
}

fn client(out: &mut String, api: &Api) {
    out.push_str("\n\nclass ApiClient:\n");
    docstring(out, "    ", &format!("Client of the {}. Times are in seconds.", api.title));
    out.push_str(
        "
    def __init__(
        self,
        base_url: str,
        token: Optional[str] = None,
        *,
        max_attempts: int = 4,
        attempt_timeout: float = 60.0,
        deadline: float = 120.0,
        http: Optional[httpx.Client] = None,
    ) -> None:
        self._owns_http = http is None
        self._http = http or httpx.Client()
        transport = Transport(base_url, token, max_attempts, attempt_timeout, deadline, self._http)
        self._transport = transport
",
    );
    for group in &api.groups {
        let name = unreserved(member(&group.name), &["close", "download"]);
        out.push_str(&format!("        self.{name} = {}(transport)\n", group.class));
    }
    out.push_str(
        "
    def download(self, url: str) -> bytes:
        \"\"\"The file behind a signed link, such as the ``url`` of an attachment. The link needs no token.\"\"\"
        return cast(bytes, self._transport.call(\"GET\", url, media=\"bytes\", is_public=True))

    def close(self) -> None:
        \"\"\"Closes the connections, unless ``http`` was given.\"\"\"
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
",
    );
}

/// The name of a parameter.
fn argument(name: &str) -> String {
    unreserved(snake(name), WORDS)
}

fn docstring(out: &mut String, indent: &str, text: &str) {
    if !text.is_empty() {
        let text = one_line(text).replace('\\', "\\\\").replace('"', "'");
        out.push_str(&format!("{indent}\"\"\"{text}\"\"\"\n"));
    }
}
