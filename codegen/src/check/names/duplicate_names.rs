//! Duplicate names: of resources, plurals, tables, fields, includes and generated Rust types.

use std::collections::BTreeMap;

use charter_model::{Keyword, naming};

use crate::check::scopes;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{ActionOutput, Field, IncludeTarget, Kind, Name, Resource, Schema, Type};
use crate::platform;
use crate::source::Span;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    between_resources(schema, resource, problems);
    within(resource, problems);
}

/// Compares a resource with the resources before it, so that a clash is reported once, and with the platform's tables.
fn between_resources(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for other in schema.declared().take_while(|other| !std::ptr::eq(*other, resource)) {
        if resource.name.value == other.name.value {
            clash("resource", &resource.name, other.name.span, problems);
            continue;
        }
        if resource.plural.value == other.plural.value {
            clash("plural", &resource.plural, other.plural.span, problems);
        }
        // Equal plurals are reported above and imply equal tables.
        if resource.table.value == other.table.value && resource.plural.value != other.plural.value {
            clash("table", &resource.table, other.table.span, problems);
        }
        if naming::same_type(&resource.type_name, &other.type_name) {
            let message = format!("`{}` and `{}` have the same type name", resource.name.value, other.name.value);
            problems.push(same_type_name(resource, &other.type_name, message).related(other.name.span, "the other"));
        }
    }
    // The check of names refuses a resource that has the name of a platform resource.
    if platform::is_served(resource.name.as_str()) {
        return;
    }
    if let Some(other) = platform::of_type(&resource.type_name) {
        let message = format!("`{}` and the platform's `{other}` have the same type name", resource.name.value);
        problems.push(same_type_name(resource, &naming::upper_camel(other), message));
    }
    let table = (resource.table.value != resource.plural.value).then_some(("table", &resource.table));
    for (what, name) in std::iter::once(("plural", &resource.plural)).chain(table) {
        let is_taken = if what == "plural" {
            platform::has_plural(name.as_str())
        } else {
            platform::TABLES.contains(&name.as_str())
        };
        if is_taken {
            let message = format!("the {what} `{}` is used by the platform", name.value);
            let problem = Diagnostic::new(Code::NameTaken, name.span, message, "reserved");
            problems.push(problem.help(format!("choose another: `{what}: …`")));
        }
    }
    let table = &resource.table;
    if let Some((prefix, whose)) = platform::PREFIXES.iter().find(|(prefix, _)| table.value.starts_with(prefix))
        && !platform::TABLES.contains(&table.as_str())
    {
        let message = format!("the table `{}` starts with `{prefix}`, the prefix of {whose}", table.value);
        let problem = Diagnostic::new(Code::NameTaken, table.span, message, "reserved");
        problems.push(problem.help("choose another: `table: …`"));
    }
}

fn same_type_name(resource: &Resource, other: &str, message: String) -> Diagnostic {
    let problem = Diagnostic::new(Code::NameTaken, resource.name.span, message, resource.type_name.clone());
    let is_alike = resource.type_name != other;
    let help = "type names are compared without regard to case and `_`; rename one of the two";
    if is_alike { problem.help(help) } else { problem }
}

fn clash(what: &str, name: &Name, first: Span, problems: &mut Problems) {
    let message = format!("the {what} `{}` is declared twice", name.value);
    let problem = Diagnostic::new(Code::NameTaken, name.span, message, "again").related(first, "first here");
    problems.push(problem);
}

fn within(resource: &Resource, problems: &mut Problems) {
    for scope in scopes(resource) {
        report_repeated(resource, scope.fields, problems);
    }
    let mut types: BTreeMap<String, &Name> = BTreeMap::new();
    for action in &resource.actions {
        let answers = matches!(action.output, ActionOutput::Fields { .. });
        for (what, end, _) in [("inputs", "Input", !action.input.is_empty()), ("outputs", "Output", answers)]
            .into_iter()
            .filter(|(_, _, has)| *has)
        {
            let type_name = format!("{}{end}", naming::upper_camel(action.name.as_str()));
            if let Some(first) = types.insert(type_name.clone(), &action.name) {
                let message =
                    format!("the {what} of `{}` and `{}` have the same name in Rust", first.value, action.name.value);
                let problem = Diagnostic::new(Code::NameTaken, action.name.span, message, type_name);
                problems.push(problem.related(first.span, "the other").help("choose another name for one of the two"));
                break;
            }
        }
    }
    let fields = resource.fields.iter();
    let taken: BTreeMap<&str, Span> = fields.map(|field| (field.name.as_str(), field.name.span)).collect();
    let mut columns: BTreeMap<String, &Field> = BTreeMap::new();
    for field in resource.fields.iter().filter(|field| field.is_column()) {
        let first = columns.insert(naming::upper_camel(field.name.as_str()), field);
        if let Some(first) = first.filter(|first| first.name.value != field.name.value) {
            let message =
                format!("the columns `{}` and `{}` have the same name in Rust", first.name.value, field.name.value);
            let problem =
                Diagnostic::new(Code::NameTaken, field.name.span, message, naming::upper_camel(&field.name.value));
            problems.push(problem.related(first.name.span, "the other").help("choose another name for one of the two"));
        }
    }
    let mut includes: BTreeMap<String, Span> = BTreeMap::new();
    for include in &resource.includes {
        let snake = naming::snake(include.name.as_str());
        let first = includes.insert(snake.clone(), include.name.span).or_else(|| taken.get(snake.as_str()).copied());
        if let Some(first) = first {
            let message =
                format!("the include `{}` is shown under the key `{snake}`, which is used already", include.name.value);
            let mut problem = Diagnostic::new(Code::NameTaken, include.name.span, message, "already used");
            problem = if first == resource.name.span { problem } else { problem.related(first, "here") };
            let embedded = resource.field(&snake).is_some_and(|field| field.kind.is_embedded());
            if embedded && matches!(include.target, IncludeTarget::Many { .. }) {
                problem = problem.help("embedded records are always shown; remove the include");
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
    let emits = resource.emits.iter().map(|name| ("event", name.as_str(), name.span));
    let mut seen: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for (what, word, span) in hooks.chain(operations).chain(search).chain(ordered).chain(unindexed).chain(emits) {
        if let Some(first) = seen.insert((what, word), span) {
            let message = format!("the {what} `{word}` is listed twice");
            problems.push(Diagnostic::new(Code::NameTaken, span, message, "again").related(first, "first here"));
        }
    }
}

/// Reports two fields of one scope that have the same name.
fn report_repeated(resource: &Resource, fields: &[Field], problems: &mut Problems) {
    let mut taken: BTreeMap<&str, Span> = BTreeMap::new();
    for field in fields {
        // The check of names reports the names of server fields.
        let first = taken.insert(field.name.as_str(), field.name.span).filter(|first| *first != resource.name.span);
        let Some(first) = first.filter(|_| field.name.span != resource.name.span) else { continue };
        let message = format!("the field `{}` is declared twice", field.name.value);
        let mut problem =
            Diagnostic::new(Code::NameTaken, field.name.span, message, "again").related(first, "first here");
        let polymorphic =
            fields.iter().find(|one| one.name.value == field.name.value && one.declared != one.name.value);
        if resource.under.as_ref().is_some_and(|under| under.field == field.name.value) {
            problem = problem.help("`under` adds this field to the resource; remove the declaration");
        } else if let Some(one) = polymorphic {
            let (declared, name) = (&one.declared, &one.name.value);
            problem = problem.help(match one.kind {
                Kind::Known(Type::Links { .. }) => {
                    format!("`{declared}` has the ids of the linked records under `{name}`; remove the declaration")
                }
                _ => format!("`{declared}` refers to several resources and adds `{declared}_type` and `{declared}_id`"),
            });
        }
        problems.push(problem);
    }
}
