//! The record as a whole: its name, its key, the columns that settings ask for, and that no two fields collide.

use std::collections::HashMap;

use charter_model::naming::upper_camel;
use proc_macro2::Span;

use crate::ast::{Kind, Resource};
use crate::problems::Problems;

pub fn check(resource: &Resource, problems: &mut Problems) {
    if resource.ident != "Model" {
        let message = "SeaORM and the generated code know a resource's struct as `Model`; call it so, in a module named after the resource";
        problems.report(resource.ident.span(), message);
    }
    key(resource, problems);
    collisions(resource, problems);
    let settings = &resource.settings;
    asked_column(resource, settings.custom_fields, "custom_fields", "custom_fields", "Json", problems);
    asked_column(resource, settings.soft_delete, "soft_delete", "deleted_at", "Option<DateTimeUtc>", problems);
}

fn key(resource: &Resource, problems: &mut Problems) {
    match resource.column("id") {
        None => problems.report(resource.ident.span(), "every resource has a key; add `pub id: i64`"),
        Some(id) if id.nullable || !matches!(id.kind, None | Some(Kind::BigInt)) => {
            problems.report(id.ident.span(), "the key is `pub id: i64`");
        }
        Some(_) => {}
    }
}

fn collisions(resource: &Resource, problems: &mut Problems) {
    let mut names: HashMap<&str, Span> = HashMap::new();
    for member in &resource.members {
        let (name, span) = member.name();
        if names.insert(name, span).is_some() {
            problems.report(span, format!("there is a field `{name}` already"));
        }
    }
    let singular = resource.settings.name.as_ref().map(|name| name.text.as_str());
    for (name, span) in resource.members.iter().map(|member| member.name()) {
        if Some(name) == singular {
            problems.report(span, "in a body all fields may stand under the resource's name, which no field can have");
        }
    }
    let mut variants: HashMap<String, &str> = HashMap::new();
    for column in resource.columns() {
        if let Some(other) = variants.insert(upper_camel(&column.name), &column.name)
            && other != column.name
        {
            problems
                .report(column.ident.span(), format!("as a variant of `Column` this reads like `{other}`; rename one"));
        }
    }
}

/// Whether a column is of a kind that a setting asks for: each has a name for it, and no other kind there.
fn is_asked(kind: Option<&Kind>) -> bool {
    matches!(kind, None | Some(Kind::Timestamp { .. } | Kind::CustomFields))
}

/// A setting that asks for a column of a certain name and type, and a name that asks for the setting.
fn asked_column(resource: &Resource, setting: Option<Span>, key: &str, name: &str, ty: &str, problems: &mut Problems) {
    match (setting, resource.column(name)) {
        (Some(span), None) => problems.report(span, format!("`{key}` needs the column `pub {name}: {ty}`")),
        (None, Some(column)) => {
            let message =
                format!("the name `{name}` is reserved for `#[resource({key})]`; say that, or rename the field");
            problems.report(column.ident.span(), message);
        }
        (Some(_), Some(column)) if column.nullable != ty.starts_with("Option") || !is_asked(column.kind.as_ref()) => {
            problems.report(column.ident.span(), format!("this column is `pub {name}: {ty}`"));
        }
        _ => {}
    }
}
