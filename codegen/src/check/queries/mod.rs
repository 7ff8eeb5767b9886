//! Lists: `filters`, `sorts`, `search`, and `columns` of the panel.

pub(super) mod indexes;
pub(super) mod titles;
pub(super) mod unindexed_filters;

use std::collections::BTreeMap;

use charter_model::{Keyword, Predicate};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Filter, Filters, Kind, Name, Resource, Schema, Shown, Sorts, Type};
use crate::source::Spanned;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    if let Filters::Fields(named) = &resource.filters {
        for (name, filter) in named {
            filtered(schema, resource, name, filter, problems);
        }
    }
    if let Sorts::Fields(named) = &resource.sorts {
        for name in named {
            sorted(resource, "`sorts`", name, problems);
        }
        report_repeated(named, problems);
    }
    let order: Vec<Name> = resource.order.iter().map(|key| key.field.clone()).collect();
    for name in &order {
        sorted(resource, "`order`", name, problems);
    }
    report_repeated(&order, problems);
    columns(resource, problems);
    for name in &resource.search {
        searched(resource, name, problems);
    }
}

/// Checks the columns of the panel's list.
fn columns(resource: &Resource, problems: &mut Problems) {
    if let (true, Some(first)) = (resource.singleton, resource.columns.first()) {
        let problem = Diagnostic::new(Code::Singleton, first.span, "a singleton has no list", "not with `singleton`");
        problems.push(problem.help("remove `columns`"));
    }
    for name in &resource.columns {
        let Some(field) = named(resource, name, "`columns`", problems) else { continue };
        let (message, help) = if field.access == Access::Secret || field.shown == Shown::Never {
            (format!("`{}` is never shown", name.value), "leave it out")
        } else if field.kind == Kind::Known(Type::CustomFields) {
            (format!("`{}` is no single column", name.value), "leave it out: users choose the columns of custom fields")
        } else {
            continue;
        };
        problems.push(Diagnostic::new(Code::NotQueryable, name.span, message, "not a column").help(help));
    }
    report_repeated(&resource.columns, problems);
}

/// The field of a name; an unknown name is reported with the nearest field.
pub fn named<'a>(resource: &'a Resource, name: &Name, what: &str, problems: &mut Problems) -> Option<&'a Field> {
    if let Some(found) = resource.field(name.as_str()) {
        return Some(found);
    }
    let message = format!("{what} names `{}`, which is not a field of `{}`", name.value, resource.name.value);
    let problem = Diagnostic::new(Code::UnknownField, name.span, message, "unknown field");
    let columns: Vec<&str> =
        resource.fields.iter().filter(|field| field.declared == name.value).map(|field| field.name.as_str()).collect();
    problems.push(match columns.is_empty() {
        true => problem.did_you_mean(name.as_str(), resource.fields.iter().map(|field| field.name.as_str())),
        false => problem.help(format!("its columns are {}", columns.join(" and "))),
    });
    None
}

/// True if a list shows a field. A field that a list does not show cannot be queried.
fn is_listed(field: &Field, name: &Name, verb: &str, problems: &mut Problems) -> bool {
    let (message, help) = if field.access == Access::Secret {
        (format!("`{}` is secret and cannot be {verb}", name.value), "leave it out")
    } else if !field.is_listed() {
        (
            format!("`{}` is not in list items and cannot be {verb}", name.value),
            "move the field from `detail` to `fields`",
        )
    } else {
        return true;
    };
    problems.push(Diagnostic::new(Code::NotQueryable, name.span, message, "not in list items").help(help));
    false
}

fn filtered(schema: &Schema, resource: &Resource, name: &Name, filter: &Filter, problems: &mut Problems) {
    let Some(field) = named(resource, name, "`filters`", problems) else { return };
    if !is_listed(field, name, "filtered", problems) {
        return;
    }
    let kind = schema.value_kind(resource, field);
    // The definitions of custom fields, which are data, decide their predicates.
    let fitting = kind.predicates();
    let is_custom = kind == Kind::Known(Type::CustomFields);
    if fitting.is_empty() && !is_custom {
        let message = format!("`{}` is {}, which accepts no predicate", name.value, kind.described());
        let problem =
            Diagnostic::new(Code::NotQueryable, name.span, message, "cannot be filtered").help("leave it out");
        problems.push(problem);
        return;
    }
    let Filter::Only(predicates) = filter else { return };
    let mut seen: BTreeMap<Predicate, &Spanned<Predicate>> = BTreeMap::new();
    for predicate in predicates {
        let word = predicate.value.word();
        if !fitting.contains(&predicate.value) {
            let message = format!("`{word}` does not apply to `{}`, which is {}", name.value, kind.described());
            let known: Vec<&str> = fitting.iter().map(|predicate| predicate.word()).collect();
            let help = match is_custom {
                true => format!("the definition of each custom field decides: write `{}: all`", name.value),
                false => format!("predicates that apply: {}", known.join(", ")),
            };
            let problem = Diagnostic::new(Code::PredicateMisfit, predicate.span, message, "does not apply");
            problems.push(problem.help(help));
        }
        if let Some(first) = seen.insert(predicate.value, predicate) {
            let message = format!("the predicate `{word}` is listed twice");
            let problem = Diagnostic::new(Code::NameTaken, predicate.span, message, "again");
            problems.push(problem.related(first.span, "first here"));
        }
    }
}

fn sorted(resource: &Resource, what: &str, name: &Name, problems: &mut Problems) {
    let Some(field) = named(resource, name, what, problems) else { return };
    if is_listed(field, name, "sorted by", problems) && !field.kind.has_order() {
        let message = format!("`{}` is {}, which has no order", name.value, field.kind.described());
        let problem =
            Diagnostic::new(Code::NotQueryable, name.span, message, "cannot be sorted by").help("leave it out");
        problems.push(problem);
    }
}

/// Reports names that a list has twice.
pub fn report_repeated(names: &[Name], problems: &mut Problems) {
    let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
    for name in names {
        if let Some(first) = seen.insert(name.as_str(), name) {
            let message = format!("`{}` is listed twice", name.value);
            let problem = Diagnostic::new(Code::NameTaken, name.span, message, "again");
            problems.push(problem.related(first.span, "first here"));
        }
    }
}

fn searched(resource: &Resource, name: &Name, problems: &mut Problems) {
    let Some(field) = named(resource, name, "`search`", problems) else { return };
    if field.kind.is_unknown() {
        return;
    }
    let (message, help) = match &field.kind {
        Kind::Known(Type::Derived { .. }) => (
            format!("`{}` is derived and has no column to search", name.value),
            "search the resource that has the column",
        ),
        kind if !kind.is_text() => (
            format!("`{}` is {}, which is not searchable text", name.value, kind.described()),
            "only `string` and `text` fields can be searched",
        ),
        _ if field.access == Access::Secret => {
            (format!("`{}` is secret and cannot be searched", name.value), "leave it out")
        }
        _ => return,
    };
    problems.push(Diagnostic::new(Code::SearchMisfit, name.span, message, "cannot be searched").help(help));
}
