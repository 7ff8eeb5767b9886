//! `public`: fields that callers without a token may send, and those that they leave without a value.

use charter_model::rate::Rate;
use charter_model::{FieldOption, FieldType, Operation};

use super::queries::{named, report_repeated};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Default, Field, Kind, Name, Public, Resource, Rule, Schema};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    let Some(public) = &resource.public else { return };
    resource_fits(resource, public, problems);
    if let Some(limit) = &public.limit
        && let Err(help) = Rate::read(&limit.value)
    {
        let message = format!("`{}` is not a limit", limit.value);
        problems.push(Diagnostic::new(Code::BadPublic, limit.span, message, "not a limit").help(help));
    }
    for name in &public.create {
        let Some(field) = named(resource, name, "`public`", problems) else { continue };
        if let Some((message, help)) = unfit(resource, field, name) {
            problems.push(Diagnostic::new(Code::BadPublic, name.span, message, "cannot be public").help(help));
        }
    }
    report_repeated(&public.create, problems);
    for field in &resource.fields {
        let is_sent = public.create.iter().any(|name| name.value == field.name.value);
        if let Some(message) = missing(field).filter(|_| !is_sent) {
            let problem = Diagnostic::new(Code::BadPublic, field.name.span, message, "no value");
            let help = "add it to `create` of `public`, or give it a `default` or `nullable: true`";
            problems.push(problem.help(help).related(public.span, "anybody may create records here"));
        }
    }
}

fn resource_fits(resource: &Resource, public: &Public, problems: &mut Problems) {
    let name = &resource.name.value;
    let (message, help) = if resource.singleton {
        (format!("`{name}` is a singleton, which nobody creates"), "remove `public`")
    } else if resource.under.is_some() {
        let message = format!("records of `{name}` have a parent, and an answer would tell which parents exist");
        (message, "remove `public`, or declare a resource without `under`")
    } else if !resource.serves_any(&[Operation::Create]) {
        (format!("`{name}` does not serve `create`"), "add `create` to `operations`, or remove `public`")
    } else if public.create.is_empty() {
        ("`create` lists no field".to_owned(), "list the fields that anybody may send")
    } else {
        return;
    };
    problems.push(Diagnostic::new(Code::BadPublic, public.span, message, "not possible").help(help));
}

/// The reason why anybody may not send a field, with help.
fn unfit(resource: &Resource, field: &Field, name: &Name) -> Option<(String, &'static str)> {
    let name = &name.value;
    let right = [FieldOption::Write, FieldOption::Read].into_iter().find_map(|one| field.described.get(one));
    let is_unique = field.rules.iter().any(|rule| rule.value == Rule::Unique)
        || resource.unique.iter().any(|set| set.fields.value.iter().any(|one| one.value == field.name.value));
    let refers = field.rules.iter().any(|rule| matches!(rule.value, Rule::Exists { .. }))
        || matches!(
            &field.kind,
            Kind::Known(
                FieldType::Ref { .. }
                    | FieldType::RefList { .. }
                    | FieldType::PolymorphicRef { .. }
                    | FieldType::PolymorphicType { .. }
            )
        );
    Some(if field.kind.is_unknown() {
        return None;
    } else if !field.is_column() || field.kind == Kind::Known(FieldType::CustomFields) {
        (format!("`{name}` is no plain field of the record"), "list plain fields")
    } else if !matches!(field.access, Access::Writable | Access::Immutable) {
        (format!("clients do not write `{name}`, or it is secret"), "leave it out")
    } else if let Some(right) = right {
        (
            format!("setting `{name}` needs `{}`, which a caller without a token does not have", right.value),
            "leave it out",
        )
    } else if is_unique {
        (format!("`{name}` is unique, and a refusal would tell which values exist"), "leave it out")
    } else if refers {
        (format!("`{name}` refers to other records, and a refusal would tell which exist"), "leave it out")
    } else {
        return None;
    })
}

/// The reason why a new record has no value of a field that the request does not send.
fn missing(field: &Field) -> Option<String> {
    let name = &field.declared;
    if field.value().is_some() || field.places.incomplete || !field.is_declared() {
        return None;
    }
    match field.default {
        Default::Caller if !field.nullable => {
            Some(format!("the default of `{name}` is the caller, and a caller without a token is no user"))
        }
        Default::None if field.required => {
            Some(format!("`{name}` is required, and a caller without a token cannot send it"))
        }
        _ => None,
    }
}
