//! Checks of the record as a whole: its name, its key, the columns that settings require, and name collisions.

use std::collections::HashMap;

use charter_model::naming::upper_camel;
use proc_macro2::Span;

use crate::ast::{Kind, Resource};
use crate::problems::Problems;

pub fn check(resource: &Resource, problems: &mut Problems) {
    if resource.ident != "Model" {
        let message = "the struct of a resource must be called `Model`, in a module named after the resource";
        problems.report(resource.ident.span(), message);
    }
    key(resource, problems);
    collisions(resource, problems);
    let settings = &resource.settings;
    required_column(resource, settings.custom_fields, "custom_fields", "custom_fields", "Json", problems);
    required_column(resource, settings.soft_delete, "soft_delete", "deleted_at", "Option<DateTimeUtc>", problems);
}

fn key(resource: &Resource, problems: &mut Problems) {
    match resource.column("id") {
        None => problems.report(resource.ident.span(), "the key is missing; add `pub id: i64`"),
        Some(id) if id.nullable || !matches!(id.kind, None | Some(Kind::BigInt)) => {
            problems.report(id.ident.span(), "the key must be `pub id: i64`");
        }
        Some(_) => {}
    }
}

fn collisions(resource: &Resource, problems: &mut Problems) {
    let mut names: HashMap<&str, Span> = HashMap::new();
    for member in &resource.members {
        let (name, span) = member.name();
        if names.insert(name, span).is_some() {
            problems.report(span, format!("the field `{name}` is declared twice"));
        }
    }
    let singular = resource.settings.name.as_ref().map(|name| name.text.as_str());
    for (name, span) in resource.members.iter().map(|member| member.name()) {
        if Some(name) == singular {
            problems.report(
                span,
                "a field cannot have the name of its resource: request bodies may nest all fields under that name",
            );
        }
    }
    let mut variants: HashMap<String, &str> = HashMap::new();
    for column in resource.columns() {
        if let Some(other) = variants.insert(upper_camel(&column.name), &column.name)
            && other != column.name
        {
            problems.report(
                column.ident.span(),
                format!("this name and `{other}` are the same variant of `Column`; rename one"),
            );
        }
    }
}

/// True for a kind that a setting requires: each has a column name, and no other kind there.
fn has_required_kind(kind: Option<&Kind>) -> bool {
    matches!(kind, None | Some(Kind::Timestamp { .. } | Kind::CustomFields))
}

/// Checks a setting that requires a column of a name and type, and a column whose name requires the setting.
fn required_column(
    resource: &Resource,
    setting: Option<Span>,
    key: &str,
    name: &str,
    ty: &str,
    problems: &mut Problems,
) {
    match (setting, resource.column(name)) {
        (Some(span), None) => problems.report(span, format!("`{key}` requires the column `pub {name}: {ty}`")),
        (None, Some(column)) => {
            let message =
                format!("the name `{name}` is reserved for `#[resource({key})]`; add it, or rename the field");
            problems.report(column.ident.span(), message);
        }
        (Some(_), Some(column))
            if column.nullable != ty.starts_with("Option") || !has_required_kind(column.kind.as_ref()) =>
        {
            problems.report(column.ident.span(), format!("this column must be `pub {name}: {ty}`"));
        }
        _ => {}
    }
}
