//! Rules of a whole record: `checks`, `frozen`, and the conditions of `unique`.

use std::collections::BTreeMap;

use super::conditions::{self, Names};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Check, Field, Resource, Schema, Shown, UniqueSet};
use crate::source::Span;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for check in &resource.checks {
        one_check(resource, check, problems);
        if let Some(first) = seen.insert(check.that.as_str(), check.that.span) {
            let problem =
                Diagnostic::new(Code::BadCheck, check.that.span, "`checks` has the same condition twice", "again");
            problems.push(problem.related(first, "first here").help("remove one of the two"));
        }
    }
    for set in &resource.unique {
        unique(resource, set, problems);
    }
    frozen(schema, resource, problems);
}

/// Checks what a unique set has besides its fields.
fn unique(resource: &Resource, set: &UniqueSet, problems: &mut Problems) {
    let fields: Vec<&Field> = set.fields.value.iter().filter_map(|name| resource.field(name.as_str())).collect();
    if set.ignore_case && !fields.iter().any(|field| field.kind.is_unknown() || field.kind.facts().is_folded) {
        let message = "`ignore_case` needs a text among the fields of the set";
        let problem = Diagnostic::new(Code::BadUnique, set.fields.span, message, "no text");
        problems.push(problem.help("remove `ignore_case`"));
    }
    let Some(rows) = &set.rows else { return };
    let names = Names::without_request(resource);
    let Some(node) = conditions::condition(rows, &names, problems) else { return };
    let (message, label, help) = if node.fields().is_empty() {
        ("the condition names no field, so that all records count or none", "names no field", "remove `where`")
    } else if !node.is_indexable() {
        let message = "an index cannot have a condition with `round`, `days`, or a date or time that is moved";
        (message, "not in an index", "compare the field with a date, or keep the result in a field of its own")
    } else {
        return;
    };
    problems.push(Diagnostic::new(Code::BadUnique, rows.span, message, label).help(help));
}

fn frozen(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    if let Some(condition) = resource.frozen.as_ref().filter(|_| schema.is_embedded(resource.name.as_str())) {
        let message =
            format!("records of `{}` are embedded, and change with the record that holds them", resource.name.value);
        let problem = Diagnostic::new(Code::BadFrozen, condition.span, message, "has no effect of its own");
        problems.push(problem.help("declare `frozen` at the resource that embeds them"));
        return;
    }
    if let Some(condition) = &resource.frozen
        && conditions::condition(condition, &Names::of_record(resource), problems)
            .is_some_and(|node| node.fields().is_empty())
    {
        let message = "`frozen` names no field, so that it holds for every record or for none";
        let problem = Diagnostic::new(Code::BadFrozen, condition.span, message, "names no field");
        problems.push(problem.help("name a field that a request or an action sets: `frozen: status = closed`"));
    }
}

fn one_check(resource: &Resource, check: &Check, problems: &mut Problems) {
    // A record that was valid stays valid.
    let names = Names::without_request(resource);
    if conditions::condition(&check.that, &names, problems).is_some_and(|node| node.fields().is_empty()) {
        let message = "the check names no field, so that no write can change its result";
        let problem = Diagnostic::new(Code::BadCheck, check.that.span, message, "names no field");
        problems.push(problem.help("compare a field: `that: ends_at > starts_at`"));
    }
    if let Some(message) = check.message.as_ref().filter(|message| message.value.trim().is_empty()) {
        let problem = Diagnostic::new(Code::BadCheck, message.span, "the message of the check is empty", "empty");
        problems.push(problem.help("complete \"this value …\", or remove `message`"));
    }
    let Some(name) = &check.field else { return };
    let fields = || resource.fields.iter().filter(|field| field.is_column() && field.shown != Shown::Never);
    if !fields().any(|field| field.name.value == name.value) {
        let message = format!("there is no field `{}` in a record", name.value);
        let problem = Diagnostic::new(Code::BadCheck, name.span, message, "unknown field");
        problems.push(problem.did_you_mean(name.as_str(), fields().map(|field| field.name.as_str())));
    }
}
