//! `unique` and `indexes`: sets of fields of which the database can keep an order.

use std::collections::BTreeMap;

use super::queries::named;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Kind, Name, Resource, Schema};
use crate::source::{Span, Spanned};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for (what, sets) in [("`unique`", &resource.unique), ("`indexes`", &resource.indexes)] {
        let mut seen: BTreeMap<Vec<&str>, Span> = BTreeMap::new();
        for set in sets {
            one_set(resource, what, set, problems);
            let names: Vec<&str> = set.value.iter().map(Name::as_str).collect();
            if let Some(first) = seen.insert(names, set.span) {
                let problem =
                    Diagnostic::new(Code::NotIndexable, set.span, format!("{what} has this set twice"), "again");
                problems.push(problem.related(first, "first here"));
            }
        }
    }
    for set in resource.unique.iter().filter(|set| set.value.len() == 1) {
        let name = &set.value[0].value;
        let message = format!("`unique` is for several fields together, and `{name}` stands alone");
        let problem = Diagnostic::new(Code::NotIndexable, set.span, message, "one field")
            .help(format!("say `unique: true` at `{name}`"));
        problems.push(problem);
    }
}

fn one_set(resource: &Resource, what: &str, set: &Spanned<Vec<Name>>, problems: &mut Problems) {
    if set.value.is_empty() {
        let message = format!("a set of {what} names no field");
        problems.push(Diagnostic::new(Code::NotIndexable, set.span, message, "empty").help("remove it"));
    }
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for name in &set.value {
        if let Some(first) = seen.insert(name.as_str(), name.span) {
            let message = format!("`{}` is in the set twice", name.value);
            let problem = Diagnostic::new(Code::NotIndexable, name.span, message, "again");
            problems.push(problem.related(first, "first here"));
        }
        let Some(field) = named(resource, name, what, problems) else { continue };
        let (message, help) = match &field.kind {
            Kind::Unknown => continue,
            Kind::Text => (
                format!("`{}` is a `text`, which is too long for an index", name.value),
                "make it a `string(n)`; for substrings there is `search`",
            ),
            kind if !field.is_column() => (
                format!("`{}` is {}, and has no column of its own", name.value, kind.word()),
                "index the field behind it",
            ),
            kind if !kind.has_order() => {
                (format!("`{}` is {}, which has no order", name.value, kind.described()), "leave it out")
            }
            _ => continue,
        };
        problems.push(Diagnostic::new(Code::NotIndexable, name.span, message, "cannot be indexed").help(help));
    }
}
