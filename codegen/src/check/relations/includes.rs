//! Includes: whether the target exists and has the listed fields.

use super::embedded::not_referring;
use super::references::known;
use crate::check::queries::report_repeated;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Include, IncludeTarget, Kind, Name, Resource, Schema, Shown, Type};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for include in &resource.includes {
        let targets = match &include.target {
            IncludeTarget::One { via } => one(resource, via, problems),
            IncludeTarget::Many { resource: other, by } => many(schema, resource, other, by, problems),
            IncludeTarget::CustomFields(span) => {
                if !resource.custom_fields {
                    let message = format!("`{}` has no custom fields", resource.name.value);
                    let problem = Diagnostic::new(Code::IncludeTarget, *span, message, "no custom fields")
                        .help("add `custom_fields: true` at the top level");
                    problems.push(problem);
                }
                Vec::new()
            }
            IncludeTarget::Links { resource, .. } => vec![resource.value.clone()],
            IncludeTarget::AllowedActions => Vec::new(),
        };
        report_repeated(&include.fields, problems);
        for target in targets {
            if let Some(target) = schema.find(&target) {
                limited_to(include, target, problems);
            }
        }
    }
}

/// The names of the resources that a reference field can refer to.
fn one(resource: &Resource, via: &Name, problems: &mut Problems) -> Vec<String> {
    let found = resource.fields.iter().find(|field| field.declared == via.value);
    if found.is_some_and(|field| field.access == Access::Secret) {
        problems.push(secret(resource, via));
        return Vec::new();
    }
    match found.map(|field| &field.kind) {
        Some(Kind::Known(Type::Ref { resource })) => vec![resource.value.clone()],
        Some(Kind::Known(Type::PolymorphicType { type_names })) => {
            type_names.iter().map(|target| target.value.clone()).collect()
        }
        Some(Kind::Unknown) => Vec::new(),
        other => {
            let message = match other {
                Some(kind) => {
                    format!("`{}` is {}, not a reference", via.value, kind.described())
                }
                None => format!("`{}` has no field `{}`", resource.name.value, via.value),
            };
            let label = if other.is_some() { "not a `ref`" } else { "unknown field" };
            let refers = |field: &&Field| field.kind.target().is_some() || field.kind.targets().is_some();
            let references = resource.fields.iter().filter(refers);
            let problem = Diagnostic::new(Code::IncludeTarget, via.span, message, label);
            let by_resource = format!("{}_id", via.value);
            problems.push(match resource.field(&by_resource) {
                Some(_) => problem.help(format!("name the reference field: `{by_resource}`")),
                None => problem.did_you_mean(via.as_str(), references.map(|field| field.declared.as_str())),
            });
            Vec::new()
        }
    }
}

/// The diagnostic of an include by a secret reference.
fn secret(holder: &Resource, field: &Name) -> Diagnostic {
    let message = format!("`{}.{}` is secret; an include by it would reveal its value", holder.name.value, field.value);
    Diagnostic::new(Code::IncludeTarget, field.span, message, "a secret")
        .help("include by a field that clients can read")
}

fn many(schema: &Schema, resource: &Resource, other: &Name, by: &Name, problems: &mut Problems) -> Vec<String> {
    if !known(schema, other, problems) {
        return Vec::new();
    }
    if let Some(found) = schema.find(other.as_str())
        && !found.refers_by(by.as_str(), resource.name.as_str())
    {
        problems.push(not_referring(found, by.as_str(), by, resource));
    } else if let Some(found) = schema.find(other.as_str())
        && found.field(by.as_str()).is_some_and(|field| field.access == Access::Secret)
    {
        problems.push(secret(found, by));
        return Vec::new();
    }
    vec![other.value.clone()]
}

fn limited_to(include: &Include, target: &Resource, problems: &mut Problems) {
    let visible = || {
        let visible =
            target.fields.iter().filter(|field| field.access != Access::Secret && field.shown != Shown::Never);
        visible.map(|field| field.name.as_str())
    };
    for name in include.fields.iter().filter(|name| visible().all(|field| field != name.value)) {
        let is_secret = target.field(name.as_str()).is_some_and(|field| field.access == Access::Secret);
        let (message, label) = match is_secret {
            true => (format!("`{}.{}` is secret and never shown", target.name.value, name.value), "a secret"),
            false => (format!("`{}` has no field `{}`", target.name.value, name.value), "unknown field"),
        };
        let problem =
            Diagnostic::new(Code::IncludeTarget, name.span, message, label).did_you_mean(name.as_str(), visible());
        problems.push(problem);
    }
}
