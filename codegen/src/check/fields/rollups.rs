//! Rollups: the other resource and its field, the function, the condition, rights, and uses that a rollup cannot have.

use charter_model::{FieldOption, Keyword, takes_rollup};

use super::conditions::{self, Names};
use crate::check::relations::embedded::not_referring;
use crate::check::relations::references::known;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Name, Resource, Rollup, Rule, Schema, Shown, Type};
use crate::source::Span;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for field in &resource.fields {
        if let Some(rollup) = &field.rollup {
            one(schema, resource, field, rollup, problems);
        }
    }
    let rollup = |name: &str| resource.field(name).filter(|field| field.rollup.is_some());
    let mut refuse = |name: &Name, what: &str, help: &str| {
        let message = format!("{what} `{}`, a rollup, which changes without a write of the record", name.value);
        problems.push(Diagnostic::new(Code::RollupUse, name.span, message, "a rollup").help(help));
    };
    for set in &resource.unique {
        for name in set.fields.value.iter().filter(|name| rollup(name.as_str()).is_some()) {
            refuse(name, "`unique` names", "leave it out: a write of another record could not be refused for it");
        }
    }
    let help = "compare plain fields, or refuse the write of the other records there";
    let names = Names::of_record(resource);
    let mut conditions: Vec<(&Name, &str)> =
        resource.checks.iter().map(|check| (&check.that, "a check names")).collect();
    conditions.extend(resource.unique.iter().filter_map(|set| Some((set.rows.as_ref()?, "`unique` names"))));
    for field in &resource.fields {
        conditions.extend(field.rules.iter().filter_map(|rule| match &rule.value {
            Rule::RequiredWhen(text) => Some((text, "`required_when` names")),
            _ => None,
        }));
    }
    for (text, what) in conditions {
        // A mistake in it is reported elsewhere.
        let Ok(node) = charter_model::expression::check(&text.value, &names) else { continue };
        if let Some(name) = node.fields().into_iter().find(|name| rollup(name).is_some()) {
            refuse(&Name { value: name.to_owned(), span: text.span }, what, help);
        }
    }
}

fn one(schema: &Schema, resource: &Resource, field: &Field, rollup: &Rollup, problems: &mut Problems) {
    if !known(schema, &rollup.resource, problems) {
        return;
    }
    let Some(child) = schema.find(rollup.resource.as_str()) else { return };
    if child.is_platform() {
        let message = format!("`{}` is a platform resource, whose records cannot be counted", child.name.value);
        problems.push(Diagnostic::new(Code::RollupSource, rollup.resource.span, message, "not a declared resource"));
        return;
    }
    if !child.refers_by(rollup.by.as_str(), resource.name.as_str()) {
        problems.push(not_referring(child, rollup.by.as_str(), &rollup.by, resource));
        return;
    }
    let Some(source) = source(child, rollup, problems) else { return };
    fit(field, rollup, source, problems);
    rights(resource, field, child, rollup, source, problems);
}

/// The field with the values, within none for a count. None if it cannot be read, which is reported.
fn source<'a>(child: &'a Resource, rollup: &Rollup, problems: &mut Problems) -> Option<Option<&'a Field>> {
    let Some(name) = &rollup.field else { return Some(None) };
    let readable = |field: &&Field| {
        let is_shown = field.access != Access::Secret && field.shown != Shown::Never;
        field.is_column() && is_shown && field.rollup.is_none()
    };
    let found = child.field(name.as_str()).filter(|field| field.shown != Shown::Never);
    let (message, label) = match found {
        Some(field) if readable(&field) => return Some(Some(field)),
        Some(field) if field.rollup.is_some() => {
            (format!("`{}.{}` is a rollup itself", child.name.value, name.value), "a rollup")
        }
        Some(field) if field.access == Access::Secret => {
            (format!("`{}.{}` is secret, and a rollup would tell of it", child.name.value, name.value), "a secret")
        }
        Some(_) => (format!("`{}.{}` has no column of its own", child.name.value, name.value), "not a column"),
        None => (format!("`{}` has no field `{}`", child.name.value, name.value), "unknown field"),
    };
    let problem = Diagnostic::new(Code::RollupSource, name.span, message, label);
    let others = child.fields.iter().filter(readable).map(|field| field.name.as_str());
    problems.push(match found.is_some_and(|field| field.rollup.is_some()) {
        true => problem.help("name a plain or a computed field: a rollup of rollups would change by two writes"),
        false => problem.did_you_mean(name.as_str(), others),
    });
    None
}

/// Reports a function that does not apply to the field, and a declared type with other decimal places.
fn fit(field: &Field, rollup: &Rollup, source: Option<&Field>, problems: &mut Problems) {
    if source.is_some_and(|source| source.kind.is_unknown()) {
        return;
    }
    let known = source.and_then(|source| source.kind.known());
    let declared = field.kind.known();
    if declared.is_some_and(|declared| takes_rollup(declared, rollup.function, known)) {
        return;
    }
    let word = rollup.function.word();
    let what = source.map_or_else(String::new, |source| source.kind.described());
    let (span, message, help) = match declared {
        // Only a sum has a declared type.
        Some(_) => (
            field.places.kind.unwrap_or(field.name.span),
            match (declared.map(Type::facts), known.map(Type::facts)) {
                (Some(own), Some(other)) if own.word == other.word => {
                    format!("`{}` has other decimal places than `{}`", field.declared, rollup.path())
                }
                _ => format!("the sum of {what} is not {}", field.kind.described()),
            },
            "remove `type`, or give it the decimal places of the field and at most 18 digits",
        ),
        None if word == "sum" => (
            rollup.place(),
            format!("`sum` does not apply to {what}"),
            "it applies to `integer`, `bigint` and `decimal`: use `count`, `min` or `max`",
        ),
        None => (
            rollup.place(),
            format!("`{word}` does not apply to {what}"),
            "it applies to `integer`, `bigint`, `decimal`, `date`, `time` and `timestamp`",
        ),
    };
    problems.push(Diagnostic::new(Code::RollupMisfit, span, message, "does not fit").help(help));
}

/// A right that the reader of a rollup needs, with what it protects, the message without it and its place.
struct Needed<'a> {
    right: &'a str,
    of: String,
    message: String,
    span: Span,
}

/// Reports values that the reader of the rollup may not see in the other records.
fn rights(
    resource: &Resource,
    field: &Field,
    child: &Resource,
    rollup: &Rollup,
    source: Option<&Field>,
    problems: &mut Problems,
) {
    let names = Names::without_request(child);
    let node = rollup.rows.as_ref().and_then(|rows| Some((rows, conditions::condition(rows, &names, problems)?)));
    let mut read: Vec<(&Field, Span)> = source.iter().map(|field| (*field, rollup.place())).collect();
    if let Some((rows, node)) = &node {
        read.extend(node.fields().into_iter().filter_map(|name| Some((child.field(name)?, rows.span))));
    }
    let declared = &field.declared;
    let mut needed: Vec<Needed<'_>> = Vec::new();
    for (other, span) in &read {
        let name = &other.name.value;
        let (message, help) = match other.described.get(FieldOption::Read) {
            _ if other.rollup.is_some() => {
                (format!("`{name}` is a rollup itself"), "compare plain and computed fields")
            }
            _ if other.access == Access::Secret => {
                (format!("`{name}` is secret, and `{declared}` would tell of it"), "compare other fields")
            }
            Some(right) => {
                needed.push(needed_for(child, other, right, declared, *span));
                continue;
            }
            None => continue,
        };
        problems.push(Diagnostic::new(Code::RollupUse, *span, message, "cannot be used").help(help));
    }
    // The number of records that refer to this one tells of their references.
    let reference = child.field(rollup.by.as_str());
    if let Some((other, right)) = reference.and_then(|other| Some((other, other.described.get(FieldOption::Read)?))) {
        needed.push(needed_for(child, other, right, declared, rollup.by.span));
    }
    let is_other = |right: &&Name| resource.read_permission.as_ref().is_none_or(|own| own.value != right.value);
    needed.extend(child.read_permission.as_ref().filter(is_other).map(|right| Needed {
        right: right.as_str(),
        of: child.name.value.clone(),
        message: format!(
            "reading `{}` needs `{}`, and `{declared}` would tell of its records",
            child.name.value, right.value
        ),
        span: rollup.resource.span,
    }));
    report(field, &needed, problems);
}

fn needed_for<'a>(child: &Resource, other: &Field, right: &'a Name, declared: &str, span: Span) -> Needed<'a> {
    let name = &other.name.value;
    let message = format!("reading `{name}` needs `{}`, and `{declared}` would tell of it", right.value);
    Needed { right: right.as_str(), of: format!("{}.{name}", child.name.value), message, span }
}

/// Reports the rights that the field does not need itself.
fn report(field: &Field, needed: &[Needed<'_>], problems: &mut Problems) {
    let own = field.described.get(FieldOption::Read).map(Name::as_str);
    let Some(first) = needed.first() else { return };
    if let Some(second) = needed.iter().find(|other| other.right != first.right) {
        let message = format!(
            "`{}` needs two rights, `{}` for `{}` and `{}` for `{}`, and a field has one",
            field.declared, first.right, first.of, second.right, second.of
        );
        let problem = Diagnostic::new(Code::RollupUse, first.span, message, "cannot be used");
        problems.push(problem.help("leave it out, or give both the same right"));
        return;
    }
    for missing in needed.iter().filter(|needed| own != Some(needed.right)) {
        let problem = Diagnostic::new(Code::RollupUse, missing.span, missing.message.clone(), "needs a permission");
        problems.push(problem.help(format!("add `read: {}`", missing.right)));
    }
}
