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
            let held = kind.dependents();
            held.is_some_and(|(resource, back)| resource.value == target.value && back.value == by.value)
        };
        let same = |other: &&Field| holds(&other.kind);
        let first = resource.fields.iter().find(same);
        if let Some(first) = first.filter(|first| !std::ptr::eq(*first, field)) {
            let message = format!("`{}` and `{}` embed the same records", first.name.value, field.name.value);
            let problem = Diagnostic::new(Code::Embedding, field.name.span, message, "embeds the same records");
            let help = "a write to one would delete the records of the other: remove one, or use two reference fields";
            problems.push(problem.related(first.name.span, "embedded here").help(help));
        }
    }
}

fn refusal(resource: &Resource, target: &Name, found: &Resource) -> Option<Diagnostic> {
    let name = &found.name.value;
    let problem = |message: String, label: &str| Diagnostic::new(Code::Embedding, target.span, message, label);
    if found.is_platform() {
        return Some(problem(
            format!("`{name}` is a platform resource and cannot be embedded"),
            "not a declared resource",
        ));
    }
    if std::ptr::eq(found, resource) {
        let help = format!(
            "use a reference and an include instead: `parent_id: {{ type: ref({name}), nullable: true }}` and `includes: {{ parts: {{ many: {name} }} }}`"
        );
        return Some(problem(format!("`{name}` cannot be embedded in itself"), "the resource itself").help(help));
    }
    if !found.operations.is_empty() {
        let problem = problem(format!("`{name}` has routes and cannot be embedded"), "has routes");
        return Some(problem.related(found.name.span, "declared here").help("add `operations: []`"));
    }
    if let Some(hook) = found.hooks.first() {
        let problem = problem(format!("`{name}` has hooks, which do not run for embedded records"), "has hooks");
        let help = format!(
            "embedded records are written with their parent, whose hooks see them: declare the hook in `{}`",
            resource.name.value
        );
        return Some(problem.related(hook.span, "declared here").help(help));
    }
    if let Some(action) = found.actions.first() {
        let problem = problem(format!("`{name}` has actions, but embedded records have no paths"), "has actions");
        return Some(
            problem
                .related(action.name.span, "declared here")
                .help("move the action to the parent, or do not embed the resource"),
        );
    }
    if let Some(owner) = &found.owner {
        let problem =
            problem(format!("`{name}` has an owner, which is not checked for embedded records"), "has an owner");
        let help =
            format!("the rights to `{}` apply to its embedded records: declare the owner there", resource.name.value);
        return Some(problem.related(owner.span, "declared here").help(help));
    }
    if let Some(rule) = [&found.read_rule, &found.write_rule].into_iter().flatten().next() {
        let problem =
            problem(format!("`{name}` has row rules, which are not checked for embedded records"), "has row rules");
        let help =
            format!("the rules of `{0}` apply to its embedded records: declare `access` there", resource.name.value);
        return Some(problem.related(rule.span, "declared here").help(help));
    }
    if let (true, Some(span)) = (found.events, found.key_spans.events) {
        let problem = problem(format!("`{name}` has events, but embedded records emit none"), "has events");
        let help = format!("a write of `{0}` emits `{0}.updated` with its embedded records", resource.name.value);
        return Some(problem.related(span, "declared here").help(help));
    }
    // An inherited permission is reported at the parent.
    let permissions = [&found.read_permission, &found.write_permission].into_iter().flatten();
    if let Some(permission) = permissions.into_iter().find(|permission| permission.span.file == found.name.span.file) {
        let message = format!("`{name}` has a permission, which is not checked for embedded records");
        let help =
            format!("the permissions of `{0}` apply to its embedded records: declare it in `{0}`", resource.name.value);
        return Some(problem(message, "has a permission").related(permission.span, "declared here").help(help));
    }
    let of_records = [(found.attachments, "attachments"), (found.custom_fields, "custom fields")];
    if let Some((_, what)) = of_records.iter().find(|(has, _)| *has) {
        let problem = problem(format!("`{name}` has {what}, which embedded records cannot have"), "has them");
        let help = format!("remove `{}: true`, or declare it in `{}`", what.replace(' ', "_"), resource.name.value);
        return Some(problem.related(found.name.span, "declared here").help(help));
    }
    if let Some(detail) = found.fields.iter().find(|field| field.is_declared() && field.shown == Shown::Detail) {
        let message = format!("`{name}` has fields under `detail`, which are not shown in embedded records");
        let problem = problem(message, "has `detail`");
        return Some(problem.related(detail.name.span, "declared here").help("move the field to `fields`"));
    }
    let nested = found.fields.iter().find(|field| field.kind.is_embedded());
    nested.map(|nested| {
        problem(format!("`{name}` embeds records itself"), "nested too deep")
            .related(nested.name.span, "embeds records here")
            .help("embedded records cannot embed records themselves")
    })
}

/// The diagnostic of a `by` field that does not refer to this resource.
pub fn not_referring(other: &Resource, by: &str, at: &Name, resource: &Resource) -> Diagnostic {
    let name = resource.name.as_str();
    let message = format!("`{}.{by}` does not refer to `{name}`", other.name.value);
    let referring = other.fields.iter().map(|field| field.name.as_str()).filter(|field| other.refers_by(field, name));
    let referring: Vec<&str> = referring.collect();
    let problem = Diagnostic::new(Code::ByField, at.span, message, "not a reference to this resource");
    match referring.is_empty() {
        true => problem.help(format!("no field of `{}` refers to `{name}`", other.name.value)),
        false => problem.help(format!("fields that refer to it: {}", referring.join(", "))),
    }
}
