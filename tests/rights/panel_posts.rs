//! Every POST that the panel routes, for each resource, filled in from the metadata of its fields.

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{Access, ActionOn, FieldMeta, Kind};

use super::crawl::Form;
use crate::support::Server;

/// A POST with the resource and the operation that it is for.
#[derive(Debug)]
pub struct Post {
    pub resource: &'static str,
    pub operation: String,
    pub form: Form,
}

/// Every POST for each resource, in an order in which none removes what a later one needs. `id_of` gives the record of
/// a resource.
pub fn posts(server: &Server, id_of: impl Fn(&str) -> i64) -> Vec<Post> {
    let catalog = &server.state.catalog;
    let mut posts = Vec::new();
    for entry in catalog.entries().iter().filter(|entry| !entry.is_attached() && entry.is_served()) {
        let collection = match entry.meta.under {
            Some(under) => {
                format!("/{}/{}/{}", catalog.linked(under.resource).meta.path, id_of(under.resource), entry.meta.path)
            }
            None => format!("/{}", entry.meta.path),
        };
        let record =
            if entry.meta.singleton { collection.clone() } else { format!("{collection}/{}", id_of(entry.meta.name)) };
        let mut add = |operation: &str, action: String, fields: Vec<(String, String)>| {
            let form = Form { action, fields };
            posts.push(Post { resource: entry.meta.name, operation: operation.into(), form });
        };
        add("update", record.clone(), fields(entry, false));
        if !entry.meta.singleton {
            for (operation, form) in of_collection(entry, &collection, id_of(entry.meta.name)) {
                add(&operation, form.action, form.fields);
            }
        }
        for action in entry.meta.actions {
            let base = if action.on == ActionOn::Record { &record } else { &collection };
            add(
                action.name,
                format!("{base}/{}", action.name),
                action.input.iter().filter_map(|field| field_of(entry, field)).collect(),
            );
        }
        add("delete", format!("{record}/delete"), Vec::new());
        add("restore", format!("{record}/restore"), Vec::new());
        add("delete attachment", format!("{record}/attachments/{}/delete", id_of("attachment")), Vec::new());
    }
    // Records that others refer to are deleted last.
    posts.sort_by_key(|post| match post.operation.as_str() {
        "delete" => 2,
        "restore" => 3,
        operation if operation.starts_with("bulk apply-delete") => 1,
        _ => 0,
    });
    posts
}

/// The POSTs of a list: a new record, saved views, and the steps of bulk operations.
fn of_collection(entry: &Entry, collection: &str, id: i64) -> Vec<(String, Form)> {
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    let form = |path: &str, fields| Form { action: format!("{collection}{path}"), fields };
    let mut found = vec![("create".to_string(), form("", fields(entry, true)))];
    let view = vec![pair("name", "Changed"), pair("visibility", "personal"), pair("columns", "id")];
    found.push(("save view".into(), form("/views", view)));
    found.push(("copy view".into(), form("/views", vec![pair("clone", "1")])));
    found.push(("change view".into(), form("/views", vec![pair("into", "1"), pair("columns", "id")])));
    let selections =
        [("", vec![pair("id", &id.to_string())]), (" of all", vec![pair("_all", "1"), pair("_query", "")])];
    for (of, selection) in selections {
        let mut step = |name: &str, more: Vec<(String, String)>| {
            let fields = [vec![pair("_step", name)], selection.clone(), more].concat();
            found.push((format!("bulk {name}{of}"), form("/bulk", fields)));
        };
        // One field suffices: all of them take the same way.
        for field in writable(entry, false).filter(|field| field_of(entry, field).is_some()).take(1) {
            let Some((_, value)) = field_of(entry, field) else { continue };
            step("preview", vec![pair("_field", field.name), pair("value", &value)]);
            step("apply", vec![pair("_field", field.name), pair("value", &value), pair(field.name, &value)]);
        }
        for name in ["edit", "delete", "restore", "apply-delete", "apply-restore"] {
            step(name, Vec::new());
        }
    }
    found
}

fn writable(entry: &Entry, is_new: bool) -> impl Iterator<Item = &'static FieldMeta> {
    let accepts = move |field: &&FieldMeta| match field.access {
        Access::Writable | Access::WriteOnly => true,
        Access::Immutable => is_new,
        _ => false,
    };
    entry.meta.fields.iter().filter(accepts)
}

fn fields(entry: &Entry, is_new: bool) -> Vec<(String, String)> {
    writable(entry, is_new).filter_map(|field| field_of(entry, field)).collect()
}

/// The name and value of the input of a field.
fn field_of(entry: &Entry, field: &FieldMeta) -> Option<(String, String)> {
    let (mut name, mut value) = (field.name.to_string(), "Changed".to_string());
    match field.kind {
        Kind::String { .. } | Kind::Text => {
            value = match field.name {
                "email" => "changed@example.com".into(),
                "url" => "https://example.com/changed".into(),
                "timezone" => "Europe/London".into(),
                "base_currency" => "EUR".into(),
                "entity_type" => "products".into(),
                _ if field.example.is_empty() => value,
                _ => field.example.into(),
            };
        }
        Kind::Integer | Kind::BigInt | Kind::Decimal { .. } => value = "7".into(),
        Kind::Boolean => value = "true".into(),
        Kind::Timestamp { .. } => value = "2030-05-01T10:00".into(),
        Kind::Date => value = "2030-05-01".into(),
        Kind::Time => value = "10:00".into(),
        Kind::Enum { values } => value = values.last()?.to_string(),
        Kind::Code { values } => value = values.last()?.0.to_string(),
        Kind::StringList { .. } if entry.behavior.is_platform => {
            name = format!("{name}[]");
            value = match field.name {
                "events" => "*".into(),
                "columns" => "id".into(),
                _ => field.example.split(',').next().unwrap_or_default().to_string(),
            };
        }
        Kind::StringList { .. } => name = format!("{name}[lines]"),
        Kind::RefList { .. } => (name, value) = (format!("{name}[]"), "1".into()),
        Kind::Ref { .. } | Kind::PolymorphicRef { .. } => value = "1".into(),
        Kind::PolymorphicType { type_names } => value = type_names.first()?.to_string(),
        Kind::Json => (name, value) = (format!("{name}[json]"), "[]".into()),
        _ => return None,
    }
    Some((name, value))
}
