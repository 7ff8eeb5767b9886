//! Default checks: whether a default fits its type and the rules of its field.

use std::cmp::Ordering;

use charter_model::field_type::list::elements;
use charter_model::format::is_email;
use charter_model::reserved::USER;
use charter_model::{Hook, Misfit, Number};

use super::rules::fits;
use super::{cross_field, patterns};
use crate::check::{ScopeOf, scopes};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Default, Field, Kind, Name, Resource, Rule, Schema};
use crate::source::Span;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for scope in scopes(resource) {
        for field in scope.fields {
            empty_list_rules(field, problems);
            cross_field_rules(field, scope.fields, problems);
            let Some(span) = field.places.default else { continue };
            let refusal = match &field.default {
                Default::None => None,
                Default::Literal(text) => field.kind.literal("default", text).err(),
                Default::Now if !field.kind.facts().takes_now => {
                    Some(Misfit::new("`now` is a point in time", keyword_help(&field.kind, "now")))
                }
                Default::Caller if !refers_to_user(&field.kind) => {
                    Some(Misfit::new("`caller` is a user", keyword_help(&field.kind, "caller")))
                }
                Default::Hook if scope.what != ScopeOf::Record => {
                    Some(Misfit::new("hooks do not run before an action", "give a value, or `required: true`"))
                }
                // The expression has checks of its own.
                Default::Expression(_) => continue,
                Default::Now | Default::Caller | Default::Hook => None,
            };
            if let Some(Misfit { reason, help }) = refusal {
                let message = format!("the default does not fit `{}`: {reason}", field.declared);
                let label = format!("not {}", field.kind.described());
                problems.push(Diagnostic::new(Code::DefaultMisfit, span, message, label).help(help));
            } else if let Default::Literal(text) = &field.default {
                own_rules(field, "default", text, span, problems);
                unique_value(field, "default", span, problems);
            } else if field.default == Default::Hook && !resource.has_hook(Hook::BeforeSave) {
                let message = format!("`{}` has the default `hook`, but no hook is declared", field.declared);
                let problem = Diagnostic::new(Code::DefaultHook, span, message, "no hook declared")
                    .help("declare it: `hooks: [before_save]`");
                problems.push(problem);
            }
        }
    }
}

/// A new record without either field has both defaults, which a rule between the two fields may refuse.
fn cross_field_rules(field: &Field, all: &[Field], problems: &mut Problems) {
    let Some(span) = field.places.default else { return };
    for rule in &field.rules {
        let Some(other) = rule.value.other_field() else { continue };
        let Some(other) = all.iter().find(|one| one.name.value == other) else { continue };
        let is_satisfied = match (&field.default, &other.default) {
            (Default::Literal(own), Default::Literal(other)) => {
                cross_field::satisfies(&rule.value, &field.kind, own, other)
            }
            (Default::Now, Default::Now) => rule.value.allows(Ordering::Equal),
            _ => true,
        };
        if !is_satisfied {
            let message = format!(
                "the default of `{}` breaks its rule `{}`: `{}` has {}",
                field.declared,
                rule.value.key(),
                other.name.value,
                match &other.default {
                    Default::Literal(text) if other.default != field.default => format!("the default `{text}`"),
                    _ => "the same default".to_owned(),
                },
            );
            let problem = Diagnostic::new(Code::DefaultBreaksRule, span, message, "breaks the rule");
            problems.push(problem.related(rule.span, "by this rule").help("change one of the two defaults"));
        }
    }
}

/// A list that is left out starts empty, which `min_length` may refuse.
fn empty_list_rules(field: &Field, problems: &mut Problems) {
    let has_value = field.required || field.default != Default::None || field.access == Access::ReadOnly;
    if !field.kind.is_list() || has_value {
        return;
    }
    if let Some(rule) = field.rules.iter().find(|rule| matches!(rule.value, Rule::MinLength(least) if least > 0)) {
        let message = format!("`{}` starts empty if it is omitted, which breaks its rule `min_length`", field.declared);
        let problem = Diagnostic::new(Code::DefaultBreaksRule, rule.span, message, "breaks on create");
        problems.push(problem.help("add `required: true`, or remove `min_length`"));
    }
}

pub fn refers_to_user(kind: &Kind) -> bool {
    kind.is_unknown() || kind.target().is_some_and(|target| target.value == USER)
}

fn keyword_help(kind: &Kind, word: &str) -> String {
    match kind.is_text() || kind.words().is_some() {
        true => format!("put text in quotes: `default: \"{word}\"`"),
        false if word == "now" => "only a `timestamp` or a `date` takes it".to_owned(),
        false => "only a `ref(user)` takes it".to_owned(),
    }
}

/// Reports a value that several records would share in a `unique` field.
pub fn unique_value(field: &Field, what: &str, span: Span, problems: &mut Problems) {
    if let Some(rule) = field.rules.iter().find(|rule| rule.value == Rule::Unique) {
        let message = format!(
            "the {} of `{}` breaks its rule `unique`: the second record has the same value",
            if what == "set" { "value" } else { what },
            field.declared
        );
        let help = match what {
            "set" => format!("remove `{}` from `set`", field.declared),
            _ => format!("remove `{what}`; with `nullable: true`, any number of records have no value"),
        };
        let problem = Diagnostic::new(Code::DefaultBreaksRule, span, message, "breaks the rule")
            .related(rule.span, "by this rule")
            .help(help);
        problems.push(problem);
    }
}

/// Reports a value that the field's own rules refuse.
pub fn own_rules(field: &Field, what: &str, text: &str, span: Span, problems: &mut Problems) {
    let value = Number::read(text).filter(|_| field.kind.is_number());
    let length = if field.kind.is_list() { elements(text).count() } else { text.chars().count() };
    for rule in field.rules.iter().filter(|rule| fits(&rule.value, &field.kind)) {
        let bound = |bound: &Name, satisfies: fn(&Number, &Number) -> bool| match (value, Number::read(bound.as_str()))
        {
            (Some(value), Some(bound)) => satisfies(&value, &bound),
            _ => true,
        };
        let is_satisfied = match &rule.value {
            Rule::Min(least) => bound(least, Number::ge),
            Rule::Max(most) => bound(most, Number::le),
            Rule::Above(least) => bound(least, Number::gt),
            Rule::Below(most) => bound(most, Number::lt),
            Rule::MinLength(least) => length >= *least as usize,
            Rule::MaxLength(most) => length <= *most as usize,
            // An invalid regular expression has its own diagnostic.
            Rule::Pattern(pattern) if field.kind.is_text() => {
                patterns::compile(pattern.as_str()).map_or(true, |regex| regex.is_match(text))
            }
            Rule::Url if field.kind.is_text() => patterns::is_url(text),
            Rule::Email if field.kind.is_text() => is_email(text),
            Rule::Pattern(_) | Rule::Url | Rule::Email => true,
            // Rules over other fields or other records.
            Rule::Unique
            | Rule::Exists { .. }
            | Rule::DiffersFrom(_)
            | Rule::MatchesField(_)
            | Rule::After(_)
            | Rule::NotBefore(_)
            | Rule::RequiredWhen(_) => true,
        };
        if !is_satisfied {
            let message = format!("the {what} of `{}` breaks its rule `{}`", field.declared, rule.value.key());
            let problem = Diagnostic::new(Code::DefaultBreaksRule, span, message, "breaks the rule")
                .related(rule.span, "by this rule")
                .help("change one of the two");
            problems.push(problem);
        }
    }
}
