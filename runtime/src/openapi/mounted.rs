//! Operations of mounted paths.

use serde_json::{Value, json};

use super::node::Node;
use super::operation::SCHEMES;
use super::{english, error_responses, header, service};
use crate::server::{Mount, MountAccess};

/// The operation of a mounted path.
pub(super) fn operation(mount: &Mount) -> Node {
    let security: Vec<Node> = match mount.access {
        MountAccess::Public => Vec::new(),
        MountAccess::AnyToken => SCHEMES.map(|scheme| Node::object().with(scheme, Vec::<&str>::new())).to_vec(),
        MountAccess::Ability(ability) => SCHEMES.map(|scheme| Node::object().with(scheme, [ability])).to_vec(),
    };
    let needs = match mount.access {
        MountAccess::Public => "Needs no token.".to_owned(),
        MountAccess::AnyToken => "Needs a token.".to_owned(),
        MountAccess::Ability(ability) => format!("Needs the ability `{ability}`."),
    };
    let description = match mount.description {
        "" => needs,
        said => format!("{}\n\n{needs}", english::sentence(said)),
    };
    let (content_type, schema) = mount.returns;
    let schema = schema.map_or_else(|| schema_of(content_type), |schema| schema());
    let content = json!({ content_type: { "schema": schema } });
    let success = Node::object()
        .with("description", mount.summary)
        .with("headers", header::of(&header::COMMON_HEADERS))
        .with("content", content);
    let mut responses = Node::object().with("200", success);
    let statuses: &[u16] = match mount.access {
        MountAccess::Public => &[400, 404, 405, 422, 500, 503],
        MountAccess::AnyToken | MountAccess::Ability(_) => &[400, 401, 403, 404, 405, 422, 429, 500, 503],
    };
    error_responses::add(&mut responses, statuses);
    let ability = matches!(mount.access, MountAccess::Ability(_)).then(|| mount.access_text());
    let node = Node::object()
        .with("operationId", id(mount))
        .with("tags", [service::TAG])
        .with("summary", mount.summary)
        .with("description", description)
        .with("security", security)
        .with_some("x-ability", ability);
    let parameters: Vec<Node> = mount.parameters().map(parameter).collect();
    let node = if parameters.is_empty() { node } else { node.with("parameters", parameters) };
    let body = mount
        .takes
        .map(|schema| json!({ "required": true, "content": { "application/json": { "schema": schema() } } }));
    node.with_some("requestBody", body).with("responses", responses)
}

/// `get_reports_year` for `GET /reports/{year}`.
fn id(mount: &Mount) -> String {
    let words = mount.path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words = std::iter::once(mount.method).chain(words).map(str::to_lowercase);
    words.collect::<Vec<_>>().join("_")
}

fn parameter(name: &str) -> Node {
    json!({
        "name": name, "in": "path", "required": true, "schema": { "type": "string" },
        "description": format!("The {} in the path.", english::words(name)),
    })
    .into()
}

/// The schema of a response without one: any object, or the text of the content.
fn schema_of(content_type: &str) -> Value {
    match content_type.starts_with("application/json") {
        true => json!({ "type": "object" }),
        false => json!({ "type": "string" }),
    }
}
