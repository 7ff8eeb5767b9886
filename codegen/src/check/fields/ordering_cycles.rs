//! Cycles of `after` and `not_before` rules, which no values can satisfy.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Rule};
use crate::source::Span;

/// Reports each cycle once, at its first `after`. A cycle of `not_before` alone allows equal values.
pub fn check(fields: &[Field], problems: &mut Problems) {
    let mut reported: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for field in fields {
        for rule in &field.rules {
            let Rule::After(other) = &rule.value else { continue };
            // A field that is compared with itself has its own diagnostic.
            if other.value == field.name.value {
                continue;
            }
            let Some(path) = path(fields, other.as_str(), field.name.as_str()) else { continue };
            let others = path.iter().map(|(name, _)| *name);
            let names: Vec<&str> = std::iter::once(field.name.as_str()).chain(others).collect();
            if !reported.insert(names.iter().copied().collect()) {
                continue;
            }
            let message =
                format!("no values of `{}` can satisfy their rules: the rules form a cycle", names.join("` and `"));
            let mut problem = Diagnostic::new(Code::EmptyRange, rule.span, message, "against");
            for (_, span) in &path {
                problem = problem.related(*span, "this");
            }
            problems.push(problem.help("remove one of the rules"));
        }
    }
}

/// The fields from one to another along `after` and `not_before` rules, each with the place of its rule.
fn path<'f>(fields: &'f [Field], from: &'f str, to: &str) -> Option<Vec<(&'f str, Span)>> {
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut waiting = vec![(from, Vec::new())];
    while let Some((name, path)) = waiting.pop() {
        if name == to {
            return Some(path);
        }
        let Some(field) = fields.iter().find(|field| field.name.value == name) else { continue };
        if !reached.insert(name) {
            continue;
        }
        for rule in &field.rules {
            if let Rule::After(other) | Rule::NotBefore(other) = &rule.value {
                let mut further: Vec<(&str, Span)> = path.clone();
                further.push((name, rule.span));
                waiting.push((other.as_str(), further));
            }
        }
    }
    None
}
