//! Options that no served operation uses: warnings, because application code may use them.

use charter_model::Operation;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Filters, Name, Resource, Schema, Sorts};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    // A singleton refuses these options.
    if resource.singleton {
        return;
    }
    if !resource.serves_any(&[Operation::List]) {
        list_options(schema, resource, problems);
    }
    if !resource.serves_any(&[Operation::List, Operation::Show]) {
        includes(resource, problems);
    }
    if !is_created(schema, resource) {
        immutable_fields(resource, problems);
    }
}

/// Reports options of a list that the resource does not serve. Other resources may still use an index.
fn list_options(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let filters = resource.key_spans.filters.filter(|_| !matches!(resource.filters, Filters::None));
    let allows_none = matches!(&resource.sorts, Sorts::Fields(names) if names.is_empty());
    let sorts = resource.key_spans.sorts.filter(|_| !allows_none);
    let idle = |name: &&Name| !is_shown_elsewhere(schema, resource, name.as_str());
    let search = resource.search.iter().find(idle).map(|name| name.span);
    let ordered = resource.ordered.iter().find(idle).map(|name| name.span);
    for (key, span) in [("filters", filters), ("sorts", sorts), ("search", search), ("ordered", ordered)] {
        let Some(span) = span else { continue };
        let message = format!("`{key}` applies to lists, but `{}` does not serve `list`", resource.name.value);
        let help = format!("serve `list`, or remove `{key}`; `indexes` declares an index for other queries");
        problems.push(Diagnostic::new(Code::Unasked, span, message, "never used").help(help));
    }
}

/// True if another resource shows a field, and so may be filtered by it.
fn is_shown_elsewhere(schema: &Schema, resource: &Resource, field: &str) -> bool {
    let shows = |other: &Resource, shown: &Field| {
        let Some((via, tail)) = shown.kind.derived() else { return false };
        other.refers_by(via.as_str(), resource.name.as_str()) && tail.value == field
    };
    schema.declared().any(|other| other.fields.iter().any(|shown| shows(other, shown)))
}

fn includes(resource: &Resource, problems: &mut Problems) {
    for include in &resource.includes {
        let name = &include.name.value;
        let message = format!("`{name}` is never included: `{}` serves neither `list` nor `show`", resource.name.value);
        let problem = Diagnostic::new(Code::Unasked, include.name.span, message, "never used");
        problems.push(problem.help("serve one of them, or remove the include"));
    }
}

/// True if anything declared creates records: clients, an action, a seed, or a record that embeds these.
fn is_created(schema: &Schema, resource: &Resource) -> bool {
    resource.serves_any(&[Operation::Create])
        || !resource.actions.is_empty()
        || resource.seed.is_some()
        || schema.is_embedded(resource.name.as_str())
}

/// Reports immutable required fields of a resource that nothing creates.
fn immutable_fields(resource: &Resource, problems: &mut Problems) {
    let is_set_once = |field: &&Field| field.is_declared() && field.required && field.access == Access::Immutable;
    let mut reported = "";
    for field in resource.fields.iter().filter(is_set_once) {
        // A polymorphic reference has two columns and one declaration.
        if std::mem::replace(&mut reported, &field.declared) == field.declared {
            continue;
        }
        let message =
            format!("`{}` can be set on create only, but nothing creates a `{}`", field.declared, resource.name.value);
        let span = field.places.access.unwrap_or(field.name.span);
        let help = "serve `create`, or use `access: read_only` with `nullable: true` or a `default` for a value that the application sets";
        problems.push(Diagnostic::new(Code::NeverGiven, span, message, "never set").help(help));
    }
}
