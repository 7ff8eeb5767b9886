//! Names: their form, reserved names, and file names.

pub(super) mod duplicate_names;
pub(super) mod index_names;
pub(super) mod openapi_names;
pub mod paths;
pub(super) mod plurals;

use charter_model::naming::{self, MAX_NAME_LENGTH};
use charter_model::reserved::{
    CUSTOM_FIELD_RELATION, LIST_META, REQUEST_NAMES, SERVER_FIELDS, STATEMENT_PREFIX, SYSTEM_COLUMNS,
};
use charter_model::{Predicate, reserved};

use super::{ScopeOf, actions, scopes};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::emit;
use crate::model::{ActionOutput, Field, IncludeTarget, Name, Resource, Schema};
use crate::platform;
use crate::syntax::spacing::{odd_space, torn_colon};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    file_name(resource, problems);
    resource_names(resource, problems);
    for scope in scopes(resource) {
        for field in scope.fields.iter().filter(|field| field.is_declared()) {
            field_name(resource, field, scope.what, problems);
        }
        // `under` and polymorphic references add fields whose names are longer than their source.
        let derived = |field: &&Field| {
            field.name.value != field.declared && field.declared.len() <= MAX_NAME_LENGTH
                || resource.under.as_ref().is_some_and(|under| under.field == field.name.value && !field.is_declared())
        };
        for field in scope.fields.iter().filter(derived) {
            not_too_long("the field", &field.name, problems);
        }
    }
    for include in &resource.includes {
        include_name(&include.name, problems);
        let is_one = matches!(include.target, IncludeTarget::One { .. });
        if is_one && naming::snake(include.name.as_str()) == resource.name.value {
            let help = "choose another name, such as `parent`: a client that sends the record back would be understood to send only this key";
            problems.push(same_as_resource(&include.name, resource).help(help));
        }
        if is_one && include.name.value == CUSTOM_FIELD_RELATION {
            problems.push(custom_field_relation(&include.name));
        }
    }
    for action in &resource.actions {
        snake_case("an action", &action.name, problems);
        if let ActionOutput::Fields { key, .. } = &action.output {
            snake_case("the key of an answer", key, problems);
        }
        if let Some(event) = &action.event {
            snake_case("an event", event, problems);
        }
    }
    for event in &resource.emits {
        snake_case("an event", event, problems);
    }
    for job in &resource.jobs {
        snake_case("a job", &job.name, problems);
    }
    ambiguous(resource, problems);
}

fn file_name(resource: &Resource, problems: &mut Problems) {
    if resource.is_join {
        return;
    }
    let wanted = format!("{}.yaml", resource.name.value);
    let file = resource.file.as_deref().unwrap_or_default();
    let written = file.rsplit('/').next().unwrap_or(file);
    if written != wanted {
        let message = format!("`{}` is declared in `{written}`", resource.name.value);
        let problem = Diagnostic::new(Code::FileName, resource.name.span, message, "differs from the file name").help(
            match resource.stem == resource.name.value || !naming::is_snake_case(&resource.stem) {
                true => format!("rename the file to `{wanted}`"),
                false => format!("rename the file to `{wanted}`, or the resource to `{}`", resource.stem),
            },
        );
        problems.push(problem);
    }
}

fn resource_names(resource: &Resource, problems: &mut Problems) {
    let name = &resource.name;
    snake_case("a resource", name, problems);
    let others = [
        ("a plural", &resource.plural),
        ("a table", &resource.table),
        ("a path", &resource.path),
        ("an ability", &resource.ability),
    ];
    for (what, other) in others {
        // A name that follows from the resource's name has its form, and can be longer.
        if other.span != name.span {
            snake_case(what, other, problems);
        }
    }
    if resource.plural.span == name.span && name.value.len() <= MAX_NAME_LENGTH {
        not_too_long("the plural", &resource.plural, problems);
    }
    if resource.plural.value == LIST_META && !resource.singleton {
        let message = format!("`{LIST_META}` is reserved: lists have their total and page under this key");
        let problem = Diagnostic::new(Code::ReservedName, resource.plural.span, message, "reserved");
        problems.push(problem.help("choose another: `plural: …`"));
    }
    if resource.table.value.starts_with(STATEMENT_PREFIX) && name.value != emit::RUNTIME {
        statement_prefix(&resource.table, problems);
    }
    if resource.label.value.trim().is_empty() {
        let message = "a label cannot be blank";
        problems.push(Diagnostic::new(Code::BadName, resource.label.span, message, "empty"));
    }
    let reason = if platform::is_served(name.as_str()) {
        "is a resource of the platform"
    } else if name.value == emit::RUNTIME {
        "is the name of a crate that generated code uses"
    } else if reserved::is_keyword(name.as_str()) {
        "is a keyword of Rust and cannot name a module"
    } else if name.value == emit::INDEX {
        "is the name of the generated index"
    } else if name.value == emit::MIGRATIONS {
        "is the name of the generated list of migrations"
    } else {
        return;
    };
    let problem = Diagnostic::new(Code::ReservedName, name.span, format!("`{}` {reason}", name.value), "reserved")
        .help("choose another name");
    problems.push(problem);
}

fn field_name(resource: &Resource, field: &Field, what: ScopeOf, problems: &mut Problems) {
    let name = Name { value: field.declared.clone(), span: field.name.span };
    snake_case("a field", &name, problems);
    if what == ScopeOf::Record && SERVER_FIELDS.contains(&name.as_str()) {
        let message = format!("`{}` is a field that the server maintains", name.value);
        let help = match name.as_str() {
            "deleted_at" => "`delete: soft` adds it",
            "custom_fields" => "`custom_fields: true` at the top level adds it",
            _ => "every record has it; remove the declaration",
        };
        problems.push(Diagnostic::new(Code::ReservedName, name.span, message, "reserved").help(help));
    } else if what == ScopeOf::Record && SYSTEM_COLUMNS.contains(&name.as_str()) {
        let message = format!("`{}` is a system column of PostgreSQL", name.value);
        problems.push(Diagnostic::new(Code::ReservedName, name.span, message, "reserved").help("choose another name"));
    } else if what == ScopeOf::Record && REQUEST_NAMES.contains(&name.as_str()) {
        let message = format!("`{}` has a meaning of its own in expressions", name.value);
        let problem = Diagnostic::new(Code::ReservedName, name.span, message, "reserved");
        problems.push(problem.help("choose another name"));
    } else if what == ScopeOf::Record && name.value.starts_with(STATEMENT_PREFIX) {
        statement_prefix(&name, problems);
    } else if what == ScopeOf::Record && field.name.value == resource.name.value {
        let help =
            "choose another name: a client that sends the record back would be understood to send only this field";
        problems.push(same_as_resource(&name, resource).help(help));
    } else if field.kind.target().is_some() && name.value.trim_end_matches("_id") == CUSTOM_FIELD_RELATION {
        problems.push(custom_field_relation(&name));
    } else if reserved::is_never_a_name(name.as_str()) {
        let message = format!("`{}` cannot name a field in Rust", name.value);
        problems.push(Diagnostic::new(Code::ReservedName, name.span, message, "reserved").help("choose another name"));
    }
}

fn statement_prefix(name: &Name, problems: &mut Problems) {
    let message = format!(
        "`{}` starts with `{STATEMENT_PREFIX}`, the prefix of names that the server adds to statements",
        name.value
    );
    problems.push(Diagnostic::new(Code::ReservedName, name.span, message, "reserved").help("choose another name"));
}

fn custom_field_relation(name: &Name) -> Diagnostic {
    let message = format!(
        "`q[{CUSTOM_FIELD_RELATION}.name_eq]` filters by a custom field, not by a field of the record that `{}` names",
        name.value
    );
    Diagnostic::new(Code::ReservedName, name.span, message, "reserved").help("choose another name")
}

pub fn snake_case(what: &str, name: &Name, problems: &mut Problems) {
    if !naming::is_snake_case(name.as_str()) {
        let message = format!("`{}` is not in snake_case; the name of {what} must be", name.value);
        let problem = Diagnostic::new(Code::BadName, name.span, message, "not in snake_case");
        let better = naming::to_snake_case(name.as_str());
        // A suggestion that is reserved too would not help.
        if !is_free(what, &better) {
            problems.push(problem.help(format!("choose another name: `{better}` is reserved too")));
            return;
        }
        if let Some(odd) = odd_space(name.as_str()) {
            problems
                .push(problem.help(format!("the name contains {odd}: remove it, or put a plain space in its place")));
            return;
        }
        // YAML reads `name:{ type: integer }` as a key up to the next colon with a space.
        if let Some(torn) = torn_colon(name.as_str()) {
            problems.push(problem.help(torn));
            return;
        }
        // Dropping letters that are not ASCII would make another word.
        problems.push(match name.value.is_ascii() && naming::is_snake_case(&better) {
            true => problem.help(format!("write `{better}`")),
            false => problem.help("use lower-case letters, digits and `_` between words, and start with a letter"),
        });
    } else if name.value.len() > MAX_NAME_LENGTH {
        let message = format!("`{}` is longer than {MAX_NAME_LENGTH} characters", name.value);
        let problem = Diagnostic::new(Code::BadName, name.span, message, "too long")
            .help("choose a shorter name: PostgreSQL would truncate it");
        problems.push(problem);
    }
}

/// True if a name is not reserved. `what` is the subject of the diagnostic, such as `a field`.
fn is_free(what: &str, name: &str) -> bool {
    match what {
        "a field" => {
            !reserved::is_never_a_name(name)
                && !SERVER_FIELDS.contains(&name)
                && !SYSTEM_COLUMNS.contains(&name)
                && !REQUEST_NAMES.contains(&name)
        }
        "an action" => actions::reserved(name).is_none(),
        "a resource" => !reserved::is_keyword(name) && !platform::is_served(name),
        _ => true,
    }
}

/// Reports a name that follows from a shorter name, at the place where the shorter name is declared.
fn not_too_long(what: &str, name: &Name, problems: &mut Problems) {
    if name.value.len() > MAX_NAME_LENGTH {
        let message = format!("{what}, `{}`, is longer than {MAX_NAME_LENGTH} characters", name.value);
        let problem = Diagnostic::new(Code::BadName, name.span, message, "leads to a name that is too long");
        problems.push(problem.help("choose a shorter name: PostgreSQL would truncate it"));
    }
}

/// A body may hold the whole record under the name of its resource, so no field can have that name.
fn same_as_resource(name: &Name, resource: &Resource) -> Diagnostic {
    let message = format!(
        "`{}` is reserved: request bodies may nest a whole `{}` under this name",
        name.value, resource.name.value
    );
    Diagnostic::new(Code::ReservedName, name.span, message, "named as its resource")
}

fn include_name(name: &Name, problems: &mut Problems) {
    if !naming::is_camel_case(name.as_str()) {
        let message = format!("`{}` is not in camelCase; the name of an include must be", name.value);
        let snake = naming::to_snake_case(name.as_str());
        let better = naming::lower_camel(&snake);
        let problem = Diagnostic::new(Code::BadName, name.span, message, "not in camelCase");
        problems.push(match better.is_empty() {
            true => problem,
            false => problem.help(format!("write `{better}`; clients may also use `{snake}`")),
        });
    }
}

/// `q` joins a field and a predicate into one word. Two fields must not yield the same word.
fn ambiguous(resource: &Resource, problems: &mut Problems) {
    let find = |name: &str| resource.fields.iter().find(|field| field.name.value == name);
    for field in resource.fields.iter().filter(|field| field.is_declared()) {
        let name = field.name.as_str();
        for (at, _) in name.match_indices('_') {
            let (head, tail) = (&name[..at], &name[at + 1..]);
            let Some(other) = find(head) else { continue };
            // `status_not` with `eq`, or `status` with `not_eq`?
            let clash = Predicate::WORDS.iter().find(|word| {
                word.strip_prefix(tail)
                    .and_then(|rest| rest.strip_prefix('_'))
                    .is_some_and(|rest| Predicate::WORDS.contains(&rest))
            });
            if let Some(word) = clash {
                report_ambiguous(field, other, &format!("{head}_{word}"), problems);
            }
        }
        for (at, or) in name.match_indices("_or_") {
            if let (Some(first), Some(_)) = (find(&name[..at]), find(&name[at + or.len()..])) {
                report_ambiguous(field, first, &format!("{name}_eq"), problems);
            }
        }
    }
}

fn report_ambiguous(field: &Field, other: &Field, key: &str, problems: &mut Problems) {
    let message = format!("`q[{key}]` is ambiguous: it filters by `{}` or by `{}`", field.name.value, other.name.value);
    let mut problem = Diagnostic::new(Code::AmbiguousName, field.name.span, message, "ends like a predicate")
        .help("choose another name for one of the two");
    if other.is_declared() {
        problem = problem.related(other.name.span, "the other field");
    }
    problems.push(problem);
}
