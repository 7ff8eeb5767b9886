//! Cycles of required references, in which the first record could never be created.

use std::collections::BTreeSet;

use crate::check::fields::rules::fits;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Default, Field, Resource, Rule, Schema};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let Some(path) = shortest_cycle(schema, resource) else { return };
    // Reported once, at the first resource of the cycle.
    let first = schema.declared().find(|one| path.iter().any(|(other, _)| std::ptr::eq(*one, *other)));
    if first.is_none_or(|first| !std::ptr::eq(first, resource)) {
        return;
    }
    // A cycle of parents has its own diagnostic.
    let Some((_, field)) = path.iter().find(|(_, field)| field.is_declared()) else { return };
    let steps: Vec<String> =
        path.iter().map(|(resource, field)| format!("`{}.{}`", resource.name.value, field.name.value)).collect();
    let message = format!(
        "the first `{}` can never be created: required references form a cycle, {}",
        resource.name.value,
        steps.join(" and ")
    );
    let problem = Diagnostic::new(Code::EmptyRange, field.name.span, message, "part of a cycle");
    let key = if field.required { "`required: true`" } else { "`default`" };
    problems.push(problem.help(format!("make one of them optional: `nullable: true` in place of {key}")));
}

/// The shortest cycle of required references through a resource, each with the resource that has it.
fn shortest_cycle<'s>(schema: &'s Schema, start: &'s Resource) -> Option<Vec<(&'s Resource, &'s Field)>> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut waiting = vec![(start, Vec::new())];
    while !waiting.is_empty() {
        let mut next = Vec::new();
        for (resource, path) in waiting {
            for (field, target) in required_references(schema, resource) {
                let mut further: Vec<(&Resource, &Field)> = path.clone();
                further.push((resource, field));
                if std::ptr::eq(target, start) {
                    return Some(further);
                }
                if reached.insert(target.name.as_str()) {
                    next.push((target, further));
                }
            }
        }
        waiting = next;
    }
    None
}

/// The required references of a resource: by id, or by a value that `exists` asks for.
fn required_references<'s>(
    schema: &'s Schema,
    resource: &'s Resource,
) -> impl Iterator<Item = (&'s Field, &'s Resource)> {
    let fields = resource.fields.iter().filter(|field| !field.nullable);
    let named = fields.flat_map(|field| {
        let by_id = field.kind.target().filter(|_| field.default == Default::None);
        // A default must exist in the other table too.
        let has_value = match &field.default {
            Default::None => field.required,
            Default::Literal(text) => !text.is_empty() && field.access != Access::ReadOnly,
            _ => false,
        };
        // A rule that does not fit its type has its own diagnostic.
        let by_value =
            field.rules.iter().filter(move |rule| has_value && fits(&rule.value, &field.kind)).filter_map(|rule| {
                match &rule.value {
                    Rule::Exists { resource, .. } => Some(resource),
                    _ => None,
                }
            });
        by_id.into_iter().chain(by_value).map(move |target| (field, target))
    });
    named.filter_map(|(field, target)| {
        Some((field, schema.find(target.as_str()).filter(|found| !found.is_platform() && !found.singleton)?))
    })
}
