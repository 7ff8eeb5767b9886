//! References to other resources: `ref`, `list(ref)` and `exists`.

use std::collections::BTreeSet;

use crate::check::fields::rules::fits;
use crate::check::scopes;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Kind, Name, Resource, Rule, Schema, Shown, Type};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    // The check of the links reports the two ends of pairs.
    if resource.is_join {
        return;
    }
    for scope in scopes(resource) {
        for field in scope.fields.iter().filter(|field| field.is_declared()) {
            match &field.kind {
                Kind::Known(Type::Ref { resource } | Type::RefList { resource }) => refer(schema, resource, problems),
                Kind::Known(Type::PolymorphicType { type_names }) => {
                    let mut seen = BTreeSet::new();
                    for target in type_names {
                        refer(schema, target, problems);
                        if !seen.insert(target.as_str()) {
                            let message = format!("`{}` is listed twice", target.value);
                            problems.push(Diagnostic::new(Code::RefTarget, target.span, message, "again"));
                        }
                    }
                }
                _ => {}
            }
            for rule in &field.rules {
                if let Rule::Exists { resource, field: other } = &rule.value
                    && fits(&rule.value, &field.kind)
                {
                    exists(schema, field, (resource, other), problems);
                }
            }
        }
    }
}

fn refer(schema: &Schema, target: &Name, problems: &mut Problems) {
    if !known(schema, target, problems) {
        return;
    }
    if schema.find(target.as_str()).is_some_and(|found| found.singleton) {
        let message = format!("`{}` is a singleton, which has no ids to refer to", target.value);
        problems.push(Diagnostic::new(Code::RefTarget, target.span, message, "a singleton"));
    }
}

/// True if a resource exists; an unknown one is reported with the nearest name.
pub fn known(schema: &Schema, name: &Name, problems: &mut Problems) -> bool {
    let known = schema.knows(name.as_str());
    if !known {
        let message = format!("unknown resource `{}`", name.value);
        let problem = Diagnostic::new(Code::UnknownResource, name.span, message, "unknown resource")
            .did_you_mean(name.as_str(), schema.resources.iter().map(|resource| resource.name.as_str()));
        problems.push(problem);
    }
    known
}

fn exists(schema: &Schema, field: &Field, (resource, other): (&Name, &Name), problems: &mut Problems) {
    if !known(schema, resource, problems) {
        return;
    }
    let Some(target) = schema.find(resource.as_str()) else { return };
    let shown = |field: &&Field| field.is_column() && field.access != Access::Secret && field.shown != Shown::Never;
    let (name, tail) = (&target.name.value, &other.value);
    let unfit = |message: String, label: &str| {
        Diagnostic::new(Code::ExistsPath, other.span, message, label)
            .did_you_mean(tail, target.fields.iter().filter(shown).map(|field| field.name.as_str()))
    };
    let found = target.field(tail).filter(|found| found.shown != Shown::Never);
    let problem = match found {
        None => unfit(format!("`{name}` has no field `{tail}`"), "unknown field"),
        Some(found) if found.access == Access::Secret => {
            unfit(format!("`{name}.{tail}` is secret; the rule would reveal its values"), "a secret")
        }
        Some(found) if !found.is_column() => {
            let message = format!("`{name}.{tail}` is {}, which has no column", found.kind.described());
            unfit(message, "no column")
        }
        Some(found) if !field.kind.is_comparable_with(&found.kind) => {
            let message = format!("`{}` and `{name}.{tail}` are not comparable", field.declared);
            let label = format!("{}, not {}", found.kind.described(), field.kind.described());
            Diagnostic::new(Code::ExistsPath, other.span, message, label).help("both need the same type")
        }
        Some(_) => return,
    };
    problems.push(problem);
}
