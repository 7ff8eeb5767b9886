//! Embedded records: whether the other resource can be read and written as part of this one.

use super::references::known;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Kind, Name, Resource, Schema, Shown};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for field in &resource.fields {
        let Some((target, by)) = field.kind.embedded() else { continue };
        if !known(schema, target, problems) {
            continue;
        }
        let Some(found) = schema.find(target.as_str()) else { continue };
        if let Some(problem) = refusal(resource, target, found) {
            problems.push(problem);
            continue;
        }
        if !found.refers_by(by.as_str(), resource.name.as_str()) {
            problems.push(not_referring(found, by.as_str(), target, resource));
        }
        let holds = |kind: &Kind| {
            let held = kind.embedded();
            held.is_some_and(|(resource, back)| resource.value == target.value && back.value == by.value)
        };
        let same = |other: &&Field| holds(&other.kind);
        let first = resource.fields.iter().find(same);
        if let Some(first) = first.filter(|first| !std::ptr::eq(*first, field)) {
            let message = format!("`{}` and `{}` hold the same records", first.name.value, field.name.value);
            let problem = Diagnostic::new(Code::Embedding, field.name.span, message, "the same once more");
            let help = "writing one would delete what the other holds: leave one out, or refer back by two fields";
            problems.push(problem.related(first.name.span, "held here").help(help));
        }
    }
}

fn refusal(resource: &Resource, target: &Name, found: &Resource) -> Option<Diagnostic> {
    let name = &found.name.value;
    let problem = |message: String, label: &str| Diagnostic::new(Code::Embedding, target.span, message, label);
    if found.is_platform() {
        return Some(problem(format!("`{name}` is the platform's, and cannot be embedded"), "not a declared resource"));
    }
    if std::ptr::eq(found, resource) {
        let help = format!(
            "refer to it, `parent_id: {{ type: ref({name}), nullable: true }}`, and show those that refer here by \
             `includes: {{ parts: {{ many: {name} }} }}`"
        );
        return Some(problem(format!("`{name}` cannot be embedded in itself"), "the resource itself").help(help));
    }
    if !found.operations.is_empty() {
        let problem = problem(format!("`{name}` has routes of its own, and cannot be embedded"), "has routes");
        return Some(problem.related(found.name.span, "declared here").help("give it `operations: []`"));
    }
    if let Some(hook) = found.hooks.first() {
        let problem = problem(format!("`{name}` has hooks, which do not run for embedded records"), "has hooks");
        let help = format!(
            "records are written with the one that holds them: its hooks see them, so let `{}` have the hook",
            resource.name.value
        );
        return Some(problem.related(hook.span, "this one").help(help));
    }
    if let Some(action) = found.actions.first() {
        let problem = problem(format!("`{name}` has actions, and no path to call them at"), "has actions");
        return Some(problem.related(action.name.span, "this one").help("embedded records have no routes at all"));
    }
    if let Some(owner) = &found.owner {
        let problem = problem(format!("`{name}` has an owner, who is not asked for embedded records"), "has an owner");
        let help = format!("who sees `{}` sees what it holds: let that have the owner", resource.name.value);
        return Some(problem.related(owner.span, "this one").help(help));
    }
    if let (true, Some(span)) = (found.events, found.key_spans.events) {
        let problem = problem(format!("`{name}` has events, and embedded records emit none"), "has events");
        let help = format!("writing `{0}` emits `{0}.updated`, with what it holds", resource.name.value);
        return Some(problem.related(span, "said here").help(help));
    }
    // An inherited permission is reported at the parent.
    let permissions = [&found.read_permission, &found.write_permission].into_iter().flatten();
    if let Some(permission) = permissions.into_iter().find(|said| said.span.file == found.name.span.file) {
        let message = format!("`{name}` has a permission, which nobody is asked for embedded records");
        let help =
            format!("who reads or writes `{0}` does so with what it holds: let `{0}` ask for it", resource.name.value);
        return Some(problem(message, "has a permission").related(permission.span, "this one").help(help));
    }
    let of_records = [(found.attachments, "attachments"), (found.custom_fields, "custom fields")];
    if let Some((_, what)) = of_records.iter().find(|(has, _)| *has) {
        let problem = problem(format!("`{name}` has {what}, which embedded records do not"), "has them");
        let help = format!("drop `{}: true`, or let `{}` have it", what.replace(' ', "_"), resource.name.value);
        return Some(problem.related(found.name.span, "declared here").help(help));
    }
    if let Some(detail) = found.fields.iter().find(|field| field.is_declared() && field.shown == Shown::Detail) {
        let message = format!("`{name}` has fields under `detail`, which embedded records do not show");
        let problem = problem(message, "has `detail`");
        return Some(problem.related(detail.name.span, "this one").help("move it to `fields`"));
    }
    let nested = found.fields.iter().find(|field| field.kind.is_embedded());
    nested.map(|nested| {
        problem(format!("`{name}` embeds records itself"), "one step is the most")
            .related(nested.name.span, "embedded there")
            .help("embedded records hold no embedded records")
    })
}

/// The diagnostic of a `by` field that does not refer to this resource.
pub fn not_referring(other: &Resource, by: &str, at: &Name, resource: &Resource) -> Diagnostic {
    let name = resource.name.as_str();
    let message = format!("`{}.{by}` does not refer to `{name}`", other.name.value);
    let referring = other.fields.iter().map(|field| field.name.as_str()).filter(|field| other.refers_by(field, name));
    let referring: Vec<&str> = referring.collect();
    let problem = Diagnostic::new(Code::ByField, at.span, message, "does not lead back here");
    match referring.is_empty() {
        true => problem.help(format!("no field of `{}` refers to `{name}`", other.name.value)),
        false => problem.help(format!("fields that do: {}", referring.join(", "))),
    }
}
