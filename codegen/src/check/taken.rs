//! Names that are given twice: to two resources, to two fields, to two includes.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, IncludeTarget, Kind, Name, Resource, Schema};
use crate::names;
use crate::platform;
use crate::source::Span;
use crate::words::Word;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    between_resources(schema, resource, problems);
    within(resource, problems);
}

/// Each resource is compared with those before it and the platform's, so that a clash is told once.
fn between_resources(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let earlier = schema.resources.iter().take_while(|other| !std::ptr::eq(*other, resource));
    let others = earlier.chain(schema.resources.iter().filter(|other| other.is_platform()));
    for other in others {
        if resource.name.value == other.name.value {
            // A name of the platform is not free at all, which the check of names says.
            if !other.is_platform() {
                clash("resource", &resource.name, other.name.span, problems);
            }
            continue;
        }
        if resource.plural.value == other.plural.value {
            clash_of("plural", &resource.plural, &other.plural, other, problems);
        }
        if resource.table.value == other.table.value && resource.table.value != resource.plural.value {
            clash_of("table", &resource.table, &other.table, other, problems);
        }
        let parent = |resource: &Resource| resource.under.as_ref().map(|under| under.resource.value.clone());
        let same_place = resource.path.value == other.path.value && parent(resource) == parent(other);
        if same_place && resource.path.value != resource.plural.value {
            clash_of("path", &resource.path, &other.path, other, problems);
        }
        if resource.type_name == other.type_name {
            let message = format!("`{}` and `{}` make the same type name", resource.name.value, other.name.value);
            problems.push(Diagnostic::new(Code::NameTaken, resource.name.span, message, resource.type_name.clone()));
        }
    }
    for reserved in platform::RESERVED {
        let plural = names::plural(reserved);
        for (what, name) in [("plural", &resource.plural), ("table", &resource.table)] {
            if name.value == plural && (resource.name.value != *reserved || what == "table" && *reserved == "event") {
                let message = format!("the {what} `{plural}` belongs to the platform");
                problems.push(Diagnostic::new(Code::NameTaken, name.span, message, "not free"));
            }
        }
    }
}

fn clash_of(what: &str, name: &Name, other_name: &Name, other: &Resource, problems: &mut Problems) {
    if other.is_platform() {
        let message = format!("the {what} `{}` belongs to the platform's `{}`", name.value, other.name.value);
        let problem =
            Diagnostic::new(Code::NameTaken, name.span, message, "not free").help(format!("say another: `{what}: …`"));
        problems.push(problem);
    } else {
        clash(what, name, other_name.span, problems);
    }
}

fn clash(what: &str, name: &Name, first: Span, problems: &mut Problems) {
    let message = format!("the {what} `{}` is there twice", name.value);
    let problem = Diagnostic::new(Code::NameTaken, name.span, message, "again").related(first, "first here");
    problems.push(problem);
}

fn within(resource: &Resource, problems: &mut Problems) {
    let mut taken: BTreeMap<&str, Span> = BTreeMap::new();
    for field in &resource.fields {
        // The server's own names are not free at all, which the check of names says.
        let first = taken.insert(field.name.as_str(), field.name.span).filter(|first| *first != resource.name.span);
        if let Some(first) = first.filter(|_| field.name.span != resource.name.span) {
            let message = format!("the field `{}` is there twice", field.name.value);
            let mut problem =
                Diagnostic::new(Code::NameTaken, field.name.span, message, "again").related(first, "first here");
            if resource.under.as_ref().is_some_and(|under| under.field == field.name.value) {
                problem = problem.help("`under` gives the resource this field; leave it out");
            } else if field.declared != field.name.value {
                let help = format!(
                    "`{0}` refers to several resources and makes the fields `{0}_type` and `{0}_id`",
                    field.declared
                );
                problem = problem.help(help);
            }
            problems.push(problem);
        }
    }
    let mut columns: BTreeMap<String, &Field> = BTreeMap::new();
    for field in resource.fields.iter().filter(|field| field.is_column()) {
        let first = columns.insert(names::upper_camel(field.name.as_str()), field);
        if let Some(first) = first.filter(|first| first.name.value != field.name.value) {
            let message =
                format!("as columns in Rust, `{}` and `{}` have one name", first.name.value, field.name.value);
            let problem =
                Diagnostic::new(Code::NameTaken, field.name.span, message, names::upper_camel(&field.name.value));
            problems.push(problem.related(first.name.span, "the other").help("choose another name for one of the two"));
        }
    }
    let mut includes: BTreeMap<String, Span> = BTreeMap::new();
    for include in &resource.includes {
        let snake = names::snake(include.name.as_str());
        let first = includes.insert(snake.clone(), include.name.span).or_else(|| taken.get(snake.as_str()).copied());
        if let Some(first) = first {
            let message =
                format!("the include `{}` is written as `{snake}`, which is there already", include.name.value);
            let mut problem = Diagnostic::new(Code::NameTaken, include.name.span, message, "not free");
            problem = if first == resource.name.span { problem } else { problem.related(first, "here") };
            let embedded = resource.field(&snake).is_some_and(|field| matches!(field.kind, Kind::Embedded { .. }));
            if embedded && matches!(include.target, IncludeTarget::Many { .. }) {
                problem = problem.help("embedded records are always written; leave the include out");
            }
            problems.push(problem);
        }
    }
    let hooks = resource.hooks.iter().map(|point| ("hook", point.hook.word(), point.span));
    let operations = resource.operations.iter();
    let operations = operations.map(|operation| ("operation", operation.value.word(), operation.span));
    let search = resource.search.iter().map(|name| ("search field", name.as_str(), name.span));
    let ordered = resource.ordered.iter().map(|name| ("ordered field", name.as_str(), name.span));
    let unindexed = resource.unindexed.iter().map(|name| ("unindexed field", name.as_str(), name.span));
    let mut seen: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for (what, word, span) in hooks.chain(operations).chain(search).chain(ordered).chain(unindexed) {
        if let Some(first) = seen.insert((what, word), span) {
            let message = format!("the {what} `{word}` is there twice");
            problems.push(Diagnostic::new(Code::NameTaken, span, message, "again").related(first, "first here"));
        }
    }
}
