//! Action checks: reserved names, empty outputs, events, `until`, and the input of a `get`.

use charter_model::{ActionMethod, ActionOn, Hook, Operation, reserved};

use super::queries;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Action, ActionOutput, Field, Kind, Name, Resource, Schema, Shown, Type};

/// The events of the plain operations.
const STANDARD_EVENTS: &[&str] = &["created", "updated", "deleted"];

/// The name of `update` in the OpenAPI document where its method is `PATCH_OPERATION`.
pub const PATCH_OPERATION: &str = "patch";

/// The event of restoring a soft-deleted record.
const RESTORED_EVENT: &str = "restored";

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    emits(resource, problems);
    for action in &resource.actions {
        check_name(action, problems);
        for field in action.input.iter().filter(|field| field.name.value == action.name.value) {
            let message = format!(
                "`{}` is reserved: request bodies may nest the whole input under the name of the action",
                field.name.value
            );
            let problem = Diagnostic::new(Code::ReservedName, field.name.span, message, "named as its action");
            problems.push(problem.help("choose another name for the field"));
        }
        if let ActionOutput::Fields { key, fields } = &action.output
            && fields.is_empty()
        {
            let message = format!("`{}` has the key `{}`, but no output", action.name.value, key.value);
            let problem = Diagnostic::new(Code::ActionAnswer, key.span, message, "no `output`")
                .help("declare the output: `output: { … }`");
            problems.push(problem);
        }
        event(resource, action, problems);
        until(resource, action, problems);
        query_input(action, problems);
        confirm(action, problems);
        external(action, problems);
        if action.method == ActionMethod::Get && matches!(action.output, ActionOutput::Record | ActionOutput::Created) {
            let what =
                if matches!(action.output, ActionOutput::Record) { "changes the record" } else { "creates a record" };
            let message = format!("`{}` is a `get` that {what}", action.name.value);
            let problem = Diagnostic::new(Code::ActionAnswer, action.name.span, message, "no `answer`")
                .help("add `answer` and `output`, or remove `method: get`");
            problems.push(problem);
        }
    }
}

/// The panel runs a `get` without a question.
fn confirm(action: &Action, problems: &mut Problems) {
    let Some(confirm) = action.confirm.as_ref().filter(|_| action.method == ActionMethod::Get) else { return };
    let message = format!("`{}` is a `get`, which changes nothing that `confirm` could ask about", action.name.value);
    let problem = Diagnostic::new(Code::Contradiction, confirm.span, message, "not asked before a `get`");
    problems.push(problem.help("remove `method: get` or `confirm`"));
}

/// A `get` takes its input from the query string, which cannot hold JSON.
fn query_input(action: &Action, problems: &mut Problems) {
    if action.method != ActionMethod::Get {
        return;
    }
    for field in action.input.iter().filter(|field| field.kind == Kind::Known(Type::Json)) {
        let message = format!("`{}` is json, which the query string of a `get` cannot hold", field.name.value);
        let problem = Diagnostic::new(Code::Contradiction, field.name.span, message, "not in a query string");
        problems.push(problem.help("remove `method: get`, or declare a parameter for each part"));
    }
}

/// `event` names the event of a changed record, so the action must change one and the resource must emit events.
fn event(resource: &Resource, action: &Action, problems: &mut Problems) {
    let Some(event) = &action.event else { return };
    let (message, help) = if !resource.events {
        (format!("`{}` has no events", resource.name.value), "add `events: true`, or remove `event`")
    } else if matches!(action.output, ActionOutput::Created) {
        (format!("`{}` creates a record, and always emits `created`", action.name.value), "drop the `event`")
    } else if matches!(action.output, ActionOutput::Fields { .. }) {
        (format!("`{}` returns an output and changes no record", action.name.value), "drop the `event`")
    } else if is_standard(resource, event) {
        (format!("`{}` is the event of a standard operation", event.value), "choose another name, or remove `event`")
    } else {
        return;
    };
    problems.push(Diagnostic::new(Code::ActionEvent, event.span, message, "not allowed here").help(help));
}

/// `emits` names events of a resource with events, which no standard operation emits.
fn emits(resource: &Resource, problems: &mut Problems) {
    for event in &resource.emits {
        let (message, help) = if !resource.events {
            (format!("`{}` has no events", resource.name.value), "add `events: true`, or remove `emits`")
        } else if is_standard(resource, event) {
            (format!("`{}` is the event of a standard operation", event.value), "choose another name, or remove it")
        } else {
            continue;
        };
        problems.push(Diagnostic::new(Code::ActionEvent, event.span, message, "not allowed here").help(help));
    }
}

/// True for the event of a standard operation.
fn is_standard(resource: &Resource, event: &Name) -> bool {
    STANDARD_EVENTS.contains(&event.as_str()) || (resource.soft_delete && event.as_str() == RESTORED_EVENT)
}

/// An external action runs without a transaction, and changes no record itself.
fn external(action: &Action, problems: &mut Problems) {
    let returns_a_record = !matches!(action.output, ActionOutput::Fields { .. } | ActionOutput::Unknown);
    let Some(external) = action.external.filter(|_| returns_a_record) else { return };
    let message = format!("`{}` is external, and its response is a record", action.name.value);
    let problem = Diagnostic::new(Code::ExternalAction, external, message, "runs without a transaction");
    problems.push(
        problem.help("add `answer` and `output`; the function opens a transaction for the changes that it makes"),
    );
}

/// `until` names a shown field that can be empty, on an action that runs on a record.
fn until(resource: &Resource, action: &Action, problems: &mut Problems) {
    let Some(until) = &action.until else { return };
    let field = until.value.strip_prefix("not ").unwrap_or(&until.value);
    let name = Name { value: field.to_owned(), ..until.clone() };
    let Some(field) = queries::named(resource, &name, "`until`", problems) else { return };
    let (message, help) = if action.on == ActionOn::Collection {
        (
            format!("`until` needs an action on a record, and `{}` is on the collection", action.name.value),
            "remove `until`",
        )
    } else if field.access == Access::Secret || field.shown == Shown::Never {
        (
            format!("`{}` is never shown, so `until` cannot tell if `{}` is done", name.value, action.name.value),
            "name another field",
        )
    } else if always_has_value(field) {
        let so = if until.value == name.value { "done from the start and never offered" } else { "never done" };
        (
            format!("`{}` always has a value, so `{}` is {so}", name.value, action.name.value),
            "name a `boolean`, or a field with `nullable: true`",
        )
    } else {
        return;
    };
    problems.push(Diagnostic::new(Code::ActionAnswer, until.span, message, "not usable here").help(help));
}

/// True if every record has a value in the field. Text that is not required may be empty.
fn always_has_value(field: &Field) -> bool {
    match &field.kind {
        Kind::Unknown | Kind::Known(Type::Boolean | Type::Derived { .. } | Type::Embedded { .. }) => false,
        kind if kind.is_list() => false,
        kind if kind.is_text() => field.required,
        _ => !field.nullable,
    }
}

/// The reason why an action cannot have a name; none if the name is free.
pub fn reserved(name: &str) -> Option<&'static str> {
    if Operation::WORDS.contains(&name) {
        Some("is one of the standard operations")
    } else if name == PATCH_OPERATION {
        Some("is the operation id of `update` with the method PATCH")
    } else if Hook::WORDS.contains(&name) {
        Some("is the name of a hook")
    } else {
        reserved::is_keyword(name).then_some("is a keyword of Rust and cannot name a function")
    }
}

fn check_name(action: &Action, problems: &mut Problems) {
    let name = action.name.as_str();
    let Some(reason) = reserved(name) else { return };
    let problem = Diagnostic::new(Code::ActionName, action.name.span, format!("`{name}` {reason}"), "reserved")
        .help("choose another name for the action");
    problems.push(problem);
}
