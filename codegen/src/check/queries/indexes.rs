//! `unique`, `indexes`, `ordered` and `unindexed`: whether the database can index the fields.

use std::collections::BTreeMap;

use super::named;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{
    Field, Filters, Kind, MAX_INDEXED_CHARACTERS, MAX_ORDERED_CHARACTERS, Name, Resource, Rule, Schema, Shown, Sorts,
    Type,
};
use crate::source::{Span, Spanned};

/// The most columns of an index on PostgreSQL.
const MAX_INDEX_COLUMNS: usize = 32;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for field in resource.fields.iter().filter(|field| field.rules.iter().any(|rule| rule.value == Rule::Unique)) {
        text_length(resource, &[&field.name], "`unique`", field.name.span, problems);
    }
    let unique: Vec<_> = resource.unique.iter().map(|set| &set.fields).collect();
    for (what, sets) in [("`unique`", unique), ("`indexes`", resource.indexes.iter().collect())] {
        let mut seen: BTreeMap<Vec<&str>, Span> = BTreeMap::new();
        for set in sets {
            one_set(resource, what, set, problems);
            text_length(resource, &set.value.iter().collect::<Vec<_>>(), what, set.span, problems);
            let mut names: Vec<&str> = set.value.iter().map(Name::as_str).collect();
            // The order of the columns does not matter to uniqueness.
            if what == "`unique`" {
                names.sort_unstable();
            }
            if let Some(first) = seen.insert(names, set.span) {
                let problem =
                    Diagnostic::new(Code::NotIndexable, set.span, format!("{what} has the same set twice"), "again");
                problems.push(problem.related(first, "first here"));
            }
        }
    }
    ordered(resource, problems);
    unindexed(resource, problems);
    let plain = resource.unique.iter().filter(|set| set.is_plain()).map(|set| &set.fields);
    for set in plain.filter(|set| set.value.len() == 1) {
        let name = &set.value[0].value;
        // A column that cannot be indexed is reported elsewhere.
        if resource.field(name).is_some_and(|field| field.shown == Shown::Never || no_index(field).is_some()) {
            continue;
        }
        let message = format!("`unique` at the top level takes several fields; `{name}` is alone");
        let problem = Diagnostic::new(Code::NotIndexable, set.span, message, "one field").help(
            match resource.fields.iter().any(|field| field.declared == *name && field.name.value != *name) {
                true => format!("name both columns: `unique: [[{name}_type, {name}_id]]`"),
                false => format!("add `unique: true` to `{name}`"),
            },
        );
        problems.push(problem);
    }
}

/// Checks `ordered`: each field has an order, and text fits into the index twice.
fn ordered(resource: &Resource, problems: &mut Problems) {
    for name in &resource.ordered {
        let Some(field) = column(resource, name, "`ordered`", problems) else { continue };
        if field.shown == Shown::Never {
            deletion_mark("`ordered`", name, &[], problems);
        }
        if let Some(max) = field.kind.max_length()
            && max > MAX_ORDERED_CHARACTERS
        {
            let message = format!(
                "`{}` may have {max} characters; the maximum of an ordered field is {MAX_ORDERED_CHARACTERS}",
                name.value
            );
            let problem = Diagnostic::new(Code::NotIndexable, name.span, message, "too long for an index");
            problems.push(problem.help(format!("make it a `string({MAX_ORDERED_CHARACTERS})`, or remove it")));
        }
    }
}

/// Checks `unindexed`: each field is named by `filters` or `sorts`, or other resources find records by it.
fn unindexed(resource: &Resource, problems: &mut Problems) {
    let mut asked: Vec<&str> = Vec::new();
    if let Filters::Fields(named) = &resource.filters {
        asked.extend(named.iter().map(|(name, _)| name.as_str()));
    }
    if let Sorts::Fields(named) = &resource.sorts {
        asked.extend(named.iter().map(Name::as_str));
    }
    asked.extend(resource.order.first().map(|key| key.field.as_str()));
    asked.extend(resource.found_by.iter().map(Name::as_str));
    for name in &resource.unindexed {
        if named(resource, name, "`unindexed`", problems).is_some() && !asked.contains(&name.as_str()) {
            let message = format!("`unindexed` names `{}`, which has no index", name.value);
            let problem = Diagnostic::new(Code::NotIndexable, name.span, message, "no index");
            problems.push(problem.help("leave it out"));
        }
    }
}

/// Reports text columns whose longest values do not fit into an index entry together.
fn text_length(resource: &Resource, names: &[&Name], what: &str, span: Span, problems: &mut Problems) {
    let longest = |name: &&Name| resource.field(name.as_str()).and_then(|field| field.kind.max_length()).unwrap_or(0);
    let characters = names.iter().map(longest).fold(0, u32::saturating_add);
    if characters > MAX_INDEXED_CHARACTERS {
        let message =
            format!("{what} indexes text of up to {characters} characters; the maximum is {MAX_INDEXED_CHARACTERS}");
        let problem = Diagnostic::new(Code::NotIndexable, span, message, "too long for an index")
            .help("reduce `string(n)` of the longest field, or remove it");
        problems.push(problem);
    }
}

fn one_set(resource: &Resource, what: &str, set: &Spanned<Vec<Name>>, problems: &mut Problems) {
    if set.value.is_empty() {
        let message = format!("a set of {what} is empty");
        problems.push(Diagnostic::new(Code::NotIndexable, set.span, message, "empty").help("remove it"));
    }
    if set.value.len() > MAX_INDEX_COLUMNS {
        let message = format!("a set of {what} has {} fields; the maximum is {MAX_INDEX_COLUMNS}", set.value.len());
        let problem = Diagnostic::new(Code::NotIndexable, set.span, message, "too many for an index");
        problems.push(problem.help("the first fields find almost every record"));
    }
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for name in &set.value {
        if let Some(first) = seen.insert(name.as_str(), name.span) {
            let message = format!("`{}` is twice in the set", name.value);
            let problem = Diagnostic::new(Code::NotIndexable, name.span, message, "again");
            problems.push(problem.related(first, "first here"));
        }
        if column(resource, name, what, problems).is_some_and(|field| field.shown == Shown::Never) {
            deletion_mark(what, name, &set.value, problems);
        }
    }
}

/// Reports the deletion mark in an index. Indexes of a soft-deleted resource hold only live rows, where the mark is
/// null: it orders nothing, and because nulls are distinct, a unique index over it never refuses a row.
fn deletion_mark(what: &str, name: &Name, set: &[Name], problems: &mut Problems) {
    let others: Vec<&str> = set.iter().map(Name::as_str).filter(|other| *other != name.as_str()).collect();
    let help = match (what, others.as_slice()) {
        (_, []) => "remove it: indexes do not contain deleted records".to_owned(),
        ("`unique`", [alone]) => format!("add `unique: true` to `{alone}`: deleted records do not count"),
        ("`unique`", _) => format!("write `unique: [[{}]]`: deleted records do not count", others.join(", ")),
        _ => "remove it: indexes do not contain deleted records".to_owned(),
    };
    let message = format!("{what} names `{}`, which is null in all indexed records", name.value);
    problems.push(Diagnostic::new(Code::NotIndexable, name.span, message, "always null").help(help));
}

/// The field of a name in a list of indexed fields; a field that cannot be indexed is reported.
fn column<'a>(resource: &'a Resource, name: &Name, what: &str, problems: &mut Problems) -> Option<&'a Field> {
    let field = named(resource, name, what, problems)?;
    let Some((reason, help)) = no_index(field) else { return (!field.kind.is_unknown()).then_some(field) };
    let message = format!("`{}` is {reason}", name.value);
    problems.push(Diagnostic::new(Code::NotIndexable, name.span, message, "cannot be indexed").help(help));
    None
}

/// The reason why a field cannot be indexed, with what to do.
fn no_index(field: &Field) -> Option<(String, &'static str)> {
    match &field.kind {
        Kind::Unknown => None,
        Kind::Known(Type::Text) => Some((
            "a `text`, which is too long for an index".to_owned(),
            "make it a `string(n)`, or use `search` for substrings",
        )),
        kind if !field.is_column() => {
            Some((format!("{}, which has no column", kind.word()), "index the column that it is derived from"))
        }
        kind if !kind.has_order() => Some((format!("{}, which has no order", kind.described()), "leave it out")),
        _ => None,
    }
}
