//! `on_delete` of references: whether its effect is possible, and whether deletions end.

use charter_model::{FieldOption, Keyword, OnDelete};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Kind, Name, Resource, Schema, Type};
use crate::platform;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    // The check of the links reports the two ends of pairs.
    for field in resource.fields.iter().filter(|_| !resource.is_join) {
        let Some((word, effect)) = on_delete(field) else { continue };
        // The other column of a polymorphic reference, and a type that is reported already.
        if field.kind.is_unknown()
            || matches!(field.kind, Kind::Known(Type::PolymorphicRef { .. }))
            || !field.is_column()
        {
            continue;
        }
        if let Some(problem) = misfit(schema, resource, field, word, effect) {
            problems.push(problem);
        }
    }
    cycle(schema, resource, problems);
}

fn on_delete(field: &Field) -> Option<(&Name, OnDelete)> {
    let word = field.described.get(FieldOption::OnDelete)?;
    Some((word, OnDelete::read(word.as_str())?))
}

fn misfit(schema: &Schema, resource: &Resource, field: &Field, word: &Name, effect: OnDelete) -> Option<Diagnostic> {
    let problem = |message: String, label: &str| Diagnostic::new(Code::OnDelete, word.span, message, label);
    let (name, field_name) = (resource.name.as_str(), field.declared.as_str());
    let Some(target) = field.kind.target() else {
        let message = format!("`{field_name}` is {}, and not a `ref` to one resource", described(&field.kind));
        return Some(problem(message, "no single reference").help("remove `on_delete`"));
    };
    let target = schema.find(target.as_str())?;
    let embeds = |held: &Field| {
        let embedded = held.kind.dependents();
        embedded.is_some_and(|(other, by)| other.value == name && by.value == field.name.value)
    };
    if target.fields.iter().any(embeds) {
        let message =
            format!("the records of `{name}` are embedded in those of `{}` by `{field_name}`", target.name.value);
        let problem = problem(message, "embedded records");
        return Some(problem.help("remove `on_delete`: embedded records are always deleted with their parent"));
    }
    let is_embedded = |other: &Resource| {
        other.fields.iter().any(|held| held.kind.dependents().is_some_and(|(of, _)| of.value == target.name.value))
    };
    if schema.declared().any(is_embedded) {
        let message = format!("the records of `{}` are embedded, and are deleted with their parent", target.name.value);
        return Some(problem(message, "has no effect").help("remove `on_delete`, or do not embed them"));
    }
    match effect {
        OnDelete::Clear if !field.nullable => {
            let problem = problem(format!("`{field_name}` cannot be null, and so cannot be cleared"), "cannot be null");
            Some(problem.help("add `nullable: true`, or use `restrict` or `cascade`"))
        }
        OnDelete::Cascade if resource.soft_delete && !target.soft_delete => {
            let of = &target.name.value;
            let message = format!("a deleted `{name}` stays in the table and would refer to a `{of}` that is gone");
            let help = match platform::is_served(of) {
                true => "use `restrict` or `clear`".to_owned(),
                false => format!("add `delete: soft` to `{of}`, remove it from `{name}`, or use `restrict`"),
            };
            Some(problem(message, "soft-deleted records keep their reference").help(help))
        }
        _ => None,
    }
}

/// A polymorphic reference has two columns with types of their own.
fn described(kind: &Kind) -> String {
    if kind.targets().is_some() { "a `ref` to several resources".to_owned() } else { kind.described() }
}

/// Reports a cycle of `cascade` through several resources once, at the first resource of it. A resource may refer to
/// itself, as the records of a tree do.
fn cycle(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let Some(path) = shortest_cycle(schema, resource) else { return };
    let first = schema.declared().find(|one| path.iter().any(|(other, ..)| std::ptr::eq(*one, *other)));
    if first.is_none_or(|first| !std::ptr::eq(first, resource)) {
        return;
    }
    let steps: Vec<String> =
        path.iter().map(|(resource, field, _)| format!("`{}.{}`", resource.name.value, field.name.value)).collect();
    let Some((.., word)) = path.first() else { return };
    let message = format!("`on_delete: cascade` forms a cycle: {}", steps.join(" and "));
    let problem = Diagnostic::new(Code::CascadeCycle, word.span, message, "part of a cycle");
    problems.push(problem.help("use `restrict` or `clear` for one of them"));
}

type Step<'s> = (&'s Resource, &'s Field, &'s Name);

/// The shortest path of cascading references from a resource through others and back.
fn shortest_cycle<'s>(schema: &'s Schema, start: &'s Resource) -> Option<Vec<Step<'s>>> {
    let mut reached = vec![start.name.as_str()];
    let mut waiting = vec![(start, Vec::new())];
    while !waiting.is_empty() {
        let mut next = Vec::new();
        for (resource, path) in waiting {
            for (field, word) in cascading(resource) {
                let target = field.kind.target().and_then(|target| schema.find(target.as_str()));
                let Some(target) = target.filter(|target| !std::ptr::eq(*target, resource)) else { continue };
                let mut further: Vec<Step<'_>> = path.clone();
                further.push((resource, field, word));
                if std::ptr::eq(target, start) {
                    return Some(further);
                }
                if !reached.contains(&target.name.as_str()) {
                    reached.push(target.name.as_str());
                    next.push((target, further));
                }
            }
        }
        waiting = next;
    }
    None
}

fn cascading(resource: &Resource) -> impl Iterator<Item = (&Field, &Name)> {
    let fields = resource.fields.iter();
    fields.filter_map(|field| Some((field, on_delete(field).filter(|(_, effect)| *effect == OnDelete::Cascade)?.0)))
}
