//! Checks of `#[resource(…)]`: its words, and the fields that it names.

use std::collections::HashSet;

use charter_model::date::is_day;
use charter_model::naming::is_snake_case;
use charter_model::{ActionMethod, ActionOn, Deprecated, Operation};

use crate::ast::{Field, Kind, Resource, Target, Word};
use crate::names::suggestion;
use crate::problems::Problems;

pub fn check(resource: &Resource, problems: &mut Problems) {
    let settings = &resource.settings;
    match &settings.name {
        None if settings.malformed => {}
        None => problems.report(
            resource.ident.span(),
            "the name is missing, the singular in snake_case: `#[resource(name = \"note\")]`",
        ),
        Some(name) => snake_case(name, problems),
    }
    for name in [&settings.plural, &settings.table].into_iter().flatten() {
        snake_case(name, problems);
    }
    for operation in settings.operations.iter().flatten() {
        known(operation, Operation::WORDS, "operation", problems);
    }
    unrepeated(settings.operations.iter().flatten(), "operation", problems);
    references(resource, problems);
    for set in settings.unique.iter().map(|set| &set.fields).chain(&settings.indexes) {
        for name in set {
            find_column(resource, name, problems);
        }
        unrepeated(set.iter(), "column", problems);
    }
    for name in settings.checks.iter().filter_map(|check| check.field.as_ref()) {
        find_column(resource, name, problems);
    }
    for name in &settings.search {
        if let Some(field) = find_column(resource, name, problems)
            && field.kind.as_ref().is_some_and(|kind| !kind.facts().is_text)
        {
            problems.report(name.span, "`search` takes fields of type `string` or `text` only");
        }
    }
    unrepeated(settings.search.iter(), "column", problems);
    for name in &settings.ordered {
        find_column(resource, name, problems);
    }
    unrepeated(settings.ordered.iter(), "column", problems);
    actions(resource, problems);
    deprecations(resource, problems);
}

/// Deprecated parts exist and dates are valid. A deprecated filter is a field and a predicate, which the runtime
/// checks.
fn deprecations(resource: &Resource, problems: &mut Problems) {
    let fields: Vec<&str> = resource.members.iter().map(|member| member.name().0).collect();
    let actions: Vec<&str> = resource.settings.actions.iter().map(|action| action.name.text.as_str()).collect();
    for deprecation in &resource.settings.deprecated {
        for name in std::iter::once(&deprecation.name).chain(&deprecation.instead) {
            match deprecation.of {
                Deprecated::Field => known(name, &fields, "field", problems),
                Deprecated::Action => known(name, &actions, "action", problems),
                Deprecated::Filter => {}
            }
        }
        for day in std::iter::once(&deprecation.since).chain(&deprecation.sunset) {
            if !is_day(&day.text) {
                problems.report(day.span, "a date must have the form `2026-03-21`");
            }
        }
    }
}

/// `under`, `owner` and the includes name reference fields of this struct.
fn references(resource: &Resource, problems: &mut Problems) {
    let settings = &resource.settings;
    if let Some(under) = &settings.under
        && let Some(field) = find_column(resource, &under.field, problems)
        && field.kind.as_ref().is_some_and(|kind| *kind != Kind::Ref { resource: under.resource.clone() })
    {
        let message = format!("the parent field must be a `reference(\"{}\")`", under.resource.text);
        problems.report(under.field.span, message);
    }
    if let Some(owner) = &settings.owner
        && let Some(field) = find_column(resource, owner, problems)
        && !matches!(field.kind, None | Some(Kind::Ref { .. }))
    {
        problems.report(owner.span, "the owner must be a `reference(\"user\")`");
    }
    for include in &settings.includes {
        match &include.target {
            Target::One { via } => {
                if let Some(field) = find_column(resource, via, problems)
                    && !matches!(field.kind, None | Some(Kind::Ref { .. } | Kind::PolymorphicRef { .. }))
                {
                    problems.report(via.span, "an include needs a reference field");
                }
            }
            Target::CustomFieldValues if settings.custom_fields.is_none() => {
                problems.report(include.name.span, "the include needs `#[resource(custom_fields)]`");
            }
            // The catalog links them at start.
            Target::Many { .. } | Target::Links { .. } | Target::CustomFieldValues | Target::AllowedActions => {}
        }
    }
    unrepeated(settings.includes.iter().map(|include| &include.name), "include", problems);
}

fn actions(resource: &Resource, problems: &mut Problems) {
    for action in &resource.settings.actions {
        snake_case(&action.name, problems);
        known(&action.on, ActionOn::WORDS, "action target", problems);
        if let Some(method) = &action.method {
            known(method, ActionMethod::WORDS, "method", problems);
        }
        match (&action.output, &action.key) {
            (Some(_), None) | (None, Some(_)) => {
                problems.report(
                    action.name.span,
                    "`output` needs `key`, and `key` needs `output`: the key under which the response has the output",
                );
            }
            (Some(_), Some(_)) if action.creates.is_some() => {
                problems.report(action.name.span, "`creates` and `output` exclude each other");
            }
            (None, None) if action.on.text == "collection" => {
                problems.report(
                    action.name.span,
                    "an action on the collection has no record to return; add `output` and `key`",
                );
            }
            (None, _) if action.external.is_some() => {
                problems.report(
                    action.name.span,
                    "`external` needs `output`: an action that changes its record runs in a transaction",
                );
            }
            _ => {}
        }
        if let Some(span) = action.needs_write
            && action.method.as_ref().is_none_or(|method| method.text != "get")
        {
            problems.report(span, "`needs_write` applies to `get` only: other methods need the write ability anyway");
        }
        if let Some(confirm) = &action.confirm
            && action.method.as_ref().is_some_and(|method| method.text == "get")
        {
            problems.report(confirm.span, "`confirm` does not apply to `get`, which changes nothing");
        }
        if let Some((name, _)) = action.reveals.first()
            && (action.output.is_some() || action.creates.is_some())
        {
            problems.report(name.span, "`reveal` applies only to an action that returns its record");
        }
        if let Some(until) = &action.until {
            let field = until.text.strip_prefix("not ").unwrap_or(&until.text);
            if action.on.text == "collection" {
                problems.report(until.span, "`until` applies only to an action on a record");
            } else if !resource.members.iter().any(|member| member.name().0 == field) {
                let names = resource.members.iter().map(|member| member.name().0);
                problems.report(until.span, format!("unknown field `{field}`{}", suggestion(field, names)));
            }
        }
        if let Some(rule) = &action.rule {
            let state = rule.change.iter().map(|change| &change.field);
            for name in state.chain(rule.set.iter().map(|(name, _)| name)) {
                find_column(resource, name, problems);
            }
        }
        if let Some(event) = &action.event {
            snake_case(event, problems);
            if action.output.is_some() || action.creates.is_some() {
                problems.report(event.span, "`event` applies only to an action that changes its record");
            }
        }
    }
    unrepeated(resource.settings.actions.iter().map(|action| &action.name), "action", problems);
}

/// Finds a column by name; reports one that does not exist.
pub fn find_column<'r>(resource: &'r Resource, name: &Word, problems: &mut Problems) -> Option<&'r Field> {
    let found = resource.column(&name.text);
    if found.is_none() {
        let names = resource.columns().map(|column| column.name.as_str());
        problems.report(name.span, format!("unknown column `{}`{}", name.text, suggestion(&name.text, names)));
    }
    found
}

fn known(word: &Word, known: &[&str], what: &str, problems: &mut Problems) {
    if !known.contains(&word.text.as_str()) {
        let help = suggestion(&word.text, known.iter().copied());
        problems.report(word.span, format!("unknown {what} `{}`{help}", word.text));
    }
}

fn unrepeated<'w>(words: impl Iterator<Item = &'w Word>, what: &str, problems: &mut Problems) {
    let mut seen = HashSet::new();
    for word in words {
        if !seen.insert(&word.text) {
            problems.report(word.span, format!("the {what} `{}` is given twice", word.text));
        }
    }
}

fn snake_case(word: &Word, problems: &mut Problems) {
    if !is_snake_case(&word.text) {
        problems.report(word.span, format!("`{}` is not in snake_case: lower-case letters, digits and `_`", word.text));
    }
}
