//! Derived fields: whether the path leads to a value that can be shown.

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Kind, Name, Resource, Schema, Shown, Type};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for field in &resource.fields {
        if let Some((via, shown)) = field.kind.derived() {
            follow(schema, resource, via, shown, problems);
        }
    }
}

fn follow(schema: &Schema, resource: &Resource, via: &Name, shown: &Name, problems: &mut Problems) {
    let (head, head_span) = (via.as_str(), via.span);
    let mut refuse = |problem: Diagnostic| problems.push(problem);
    let Some(via) = resource.fields.iter().find(|field| field.name.value == head || field.declared == head) else {
        let message = format!("`{}` has no field `{head}`", resource.name.value);
        let leads = |field: &&Field| field.kind.target().is_some() || field.kind.codes().is_some();
        let leading = resource.fields.iter().filter(leads);
        let candidates: Vec<&str> = leading.map(|field| field.name.as_str()).collect();
        let problem = Diagnostic::new(Code::DerivedPath, head_span, message, "unknown field");
        // People often write the name of the resource in place of the field: `product_group.name`.
        let by_resource = format!("{head}_id");
        return refuse(match candidates.contains(&by_resource.as_str()) {
            true => problem.help(format!("name the reference field: `{by_resource}.{}`", shown.value)),
            false => problem.did_you_mean(head, candidates),
        });
    };
    if via.access == Access::Secret {
        let message = format!("`{head}` is secret; a field derived from it would reveal its value");
        let problem = Diagnostic::new(Code::DerivedPath, head_span, message, "a secret");
        return refuse(problem.help("derive from a field that clients can read"));
    }
    match &via.kind {
        Kind::Unknown => {}
        Kind::Known(Type::Code { .. }) if shown.value == "label" => {}
        Kind::Known(Type::Code { .. }) => {
            let message = format!("`{head}` is a `code`: only its `label` can be derived");
            let problem = Diagnostic::new(Code::DerivedPath, shown.span, message, "not the label");
            refuse(problem.help(format!("write `{head}.label`")));
        }
        Kind::Known(Type::Ref { resource: target }) => {
            // An unknown target is reported where the reference is declared.
            if let Some(target) = schema.find(target.as_str()) {
                show(target, shown, problems);
            }
        }
        Kind::Known(Type::PolymorphicType { .. } | Type::PolymorphicRef { .. }) => {
            let message = format!("`{head}` refers to several resources, which have no field in common");
            let problem = Diagnostic::new(Code::DerivedPath, head_span, message, "several resources");
            refuse(problem.help("use an include to show the record: `includes: { … }`"));
        }
        other => {
            let message = format!("`{head}` is {}, not a reference", other.described());
            let problem = Diagnostic::new(Code::DerivedPath, head_span, message, "neither `ref` nor `code`");
            refuse(problem.help(
                "derive from a `ref` field and a field of the other resource, or from a `code` field and its `label`",
            ));
        }
    }
}

/// Reports a field of another resource that cannot be shown here: it must be a column that clients may read.
fn show(target: &Resource, shown: &Name, problems: &mut Problems) {
    let showable = |field: &&Field| {
        field.is_column() && field.kind.has_order() && field.access != Access::Secret && field.shown != Shown::Never
    };
    let tail = shown.as_str();
    if target.fields.iter().filter(showable).any(|field| field.name.value == tail) {
        return;
    }
    let (message, label) = match target.field(tail).filter(|field| field.shown != Shown::Never) {
        Some(found) if found.access == Access::Secret => {
            (format!("`{}.{tail}` is secret and never shown", target.name.value), "a secret")
        }
        Some(found) => (
            format!("`{}.{tail}` is {}, which a derived field cannot show", target.name.value, found.kind.described()),
            "not a single value",
        ),
        None => (format!("`{}` has no field `{tail}`", target.name.value), "unknown field"),
    };
    let problem = Diagnostic::new(Code::DerivedPath, shown.span, message, label)
        .did_you_mean(tail, target.fields.iter().filter(showable).map(|field| field.name.as_str()));
    problems.push(problem);
}
