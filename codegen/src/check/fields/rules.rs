//! Rules on values: the types that they fit, and whether any value satisfies them.

use charter_model::field_type::{bigint, decimal, integer};
use charter_model::number::{LEADING_ZERO, without_zeros};
use charter_model::{Number, RuleFacts};

use super::conditions::{self, Names};
use super::{cross_field, ordering_cycles, patterns};
use crate::check::{Scope, scopes};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Kind, Resource, Rule, Schema, Type};
use crate::source::{Span, Spanned};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for scope in scopes(resource) {
        for field in scope.fields.iter().filter(|field| field.is_declared() && field.is_column()) {
            for rule in &field.rules {
                // The two columns of a polymorphic reference share one declaration.
                if matches!(field.kind, Kind::Known(Type::PolymorphicRef { .. })) {
                    continue;
                }
                if !fits(&rule.value, &field.kind) {
                    misfit(field, rule, problems);
                    continue;
                }
                match &rule.value {
                    Rule::Min(text) | Rule::Max(text) | Rule::Above(text) | Rule::Below(text) => {
                        bound(field, text.as_str(), rule.span, problems);
                    }
                    Rule::Pattern(text) => pattern(text.as_str(), rule.span, problems),
                    Rule::RequiredWhen(condition) => {
                        let names = Names { fields: scope.fields, ..Names::without_request(resource) };
                        conditions::required_when(field, condition, &names, problems);
                    }
                    other => {
                        if let Some(other) = other.other_field() {
                            other_field(&scope, field, rule, other, problems);
                        }
                    }
                }
            }
            range(field, problems);
            extremes(field, problems);
            lengths(field, problems);
            forms(field, problems);
        }
        ordering_cycles::check(scope.fields, problems);
        cross_field::check(scope.fields, problems);
    }
}

/// True if a rule fits a type.
pub fn fits(rule: &Rule, kind: &Kind) -> bool {
    kind.is_unknown() || (rule.facts().fits)(kind.facts())
}

fn misfit(field: &Field, rule: &Spanned<Rule>, problems: &mut Problems) {
    let (key, kind) = (rule.value.key(), field.kind.described());
    let message = format!("`{key}` does not apply to `{}`, which is {kind}", field.declared);
    let fitting = RuleFacts::ALL.iter().filter(|facts| (facts.fits)(field.kind.facts()));
    let fitting: Vec<&str> = fitting.map(|facts| facts.key).collect();
    let help = match (&rule.value, &field.kind) {
        (Rule::MaxLength(_), kind) if kind.is_text() => {
            "the type sets the maximum length of text: `string(n)`".to_owned()
        }
        (Rule::Unique, Kind::Known(Type::Text)) => {
            "text of any length has no unique index: make it a `string(n)`".to_owned()
        }
        (_, Kind::Known(Type::PolymorphicType { .. })) => "a `ref` to several resources takes no rules".to_owned(),
        _ if fitting.is_empty() => format!("{kind} takes no rules"),
        _ => format!("rules for {kind}: {}", fitting.join(", ")),
    };
    problems.push(Diagnostic::new(Code::RuleMisfit, rule.span, message, "does not apply").help(help));
}

fn bound(field: &Field, text: &str, span: Span, problems: &mut Problems) {
    let fits = match (&field.kind, Number::read(text)) {
        (Kind::Unknown, _) => true,
        (_, None) => false,
        (Kind::Known(Type::Decimal { precision, places }), Some(number)) => decimal::holds(*precision, *places, number),
        (Kind::Known(Type::Integer), Some(number)) => integer::holds(number),
        (_, Some(number)) => bigint::holds(number),
    };
    if let Some(plain) = without_zeros(text) {
        let problem = Diagnostic::new(Code::BoundMisfit, span, format!("`{text}` {LEADING_ZERO}"), "not a number");
        problems.push(problem.help(format!("write `{plain}`")));
    } else if !fits {
        let message = format!("`{text}` is not a number that `{}` can hold", field.declared);
        let help = match &field.kind {
            Kind::Known(Type::Decimal { precision, places }) => {
                format!("use a number of at most {precision} digits with at most {places} decimal places")
            }
            kind => format!("use a whole number in the range of `{}`", kind.word()),
        };
        problems.push(Diagnostic::new(Code::BoundMisfit, span, message, "out of range").help(help));
    }
}

/// Reports bounds that leave no number with the places of the field.
fn range(field: &Field, problems: &mut Problems) {
    let bounds = |of: fn(&Field, &Rule) -> Option<Number>| {
        field.rules.iter().filter_map(move |rule| Some((of(field, &rule.value)?, rule)))
    };
    for (least, rule) in bounds(lower) {
        for (most, other) in bounds(upper) {
            if least > most {
                let (low, high) = (rule.value.key(), other.value.key());
                empty_range(
                    field,
                    other.span,
                    rule.span,
                    &format!("no number satisfies both `{low}` and `{high}`"),
                    problems,
                );
            }
        }
    }
}

/// The least number that a rule allows.
fn lower(field: &Field, rule: &Rule) -> Option<Number> {
    match rule {
        Rule::Min(text) => Number::read(text.as_str()),
        Rule::Above(text) => Some(Number::read(text.as_str())?.next(places(field), true)),
        _ => None,
    }
}

/// The greatest number that a rule allows.
fn upper(field: &Field, rule: &Rule) -> Option<Number> {
    match rule {
        Rule::Max(text) => Number::read(text.as_str()),
        Rule::Below(text) => Some(Number::read(text.as_str())?.next(places(field), false)),
        _ => None,
    }
}

fn places(field: &Field) -> u32 {
    match field.kind {
        Kind::Known(Type::Decimal { places, .. }) => places.into(),
        _ => 0,
    }
}

/// The least number that all rules of a field allow, with its rule: `min: 10`.
pub fn least(field: &Field) -> Option<(Number, String)> {
    let bounds = field.rules.iter().filter_map(|rule| Some((lower(field, &rule.value)?, shown_rule(&rule.value))));
    bounds.reduce(|one, other| if other.0 > one.0 { other } else { one })
}

/// The greatest number that all rules of a field allow, with its rule.
pub fn most(field: &Field) -> Option<(Number, String)> {
    let bounds = field.rules.iter().filter_map(|rule| Some((upper(field, &rule.value)?, shown_rule(&rule.value))));
    bounds.reduce(|one, other| if other.0 < one.0 { other } else { one })
}

fn shown_rule(rule: &Rule) -> String {
    match rule {
        Rule::Min(_) | Rule::Max(_) | Rule::Above(_) | Rule::Below(_) => format!("{}: {}", rule.key(), rule.written()),
        rule => rule.key().to_owned(),
    }
}

/// Reports an exclusive bound at the end of the type's range.
fn extremes(field: &Field, problems: &mut Problems) {
    let greatest = match field.kind {
        Kind::Known(Type::Integer) => i32::MAX.to_string(),
        Kind::Known(Type::BigInt) => i64::MAX.to_string(),
        Kind::Known(Type::Decimal { precision, places }) => {
            let nines = |digits: u8| "9".repeat(digits.into());
            match (precision - places, places) {
                (whole, 0) => nines(whole),
                (0, behind) => format!("0.{}", nines(behind)),
                (whole, behind) => format!("{}.{}", nines(whole), nines(behind)),
            }
        }
        _ => return,
    };
    // Two's complement has one more value below zero than above.
    let least = match field.kind {
        Kind::Known(Type::Integer) => i32::MIN.to_string(),
        Kind::Known(Type::BigInt) => i64::MIN.to_string(),
        _ => format!("-{greatest}"),
    };
    for rule in &field.rules {
        let (text, end, what) = match &rule.value {
            Rule::Above(text) => (text, &greatest, "greatest"),
            Rule::Below(text) => (text, &least, "least"),
            _ => continue,
        };
        // A bound outside the range has its own diagnostic.
        if Number::read(text.as_str()).is_some_and(|bound| Number::read(end) == Some(bound)) {
            let reason = format!("`{end}` is the {what} number of its type");
            empty_range(field, rule.span, field.places.kind.unwrap_or(rule.span), &reason, problems);
        }
    }
}

fn lengths(field: &Field, problems: &mut Problems) {
    let nothing = field.rules.iter().find(|rule| rule.value == Rule::MaxLength(0));
    if let (Some(rule), Some(required)) = (nothing, field.places.required) {
        empty_range(field, rule.span, required, "it is required, but only the empty list is allowed", problems);
    }
    let Some((least, rule)) = field.rules.iter().find_map(|rule| match rule.value {
        Rule::MinLength(least) => Some((least, rule)),
        _ => None,
    }) else {
        return;
    };
    let most = field.rules.iter().find_map(|rule| match rule.value {
        Rule::MaxLength(most) => Some((most, rule.span)),
        _ => None,
    });
    match (field.kind.max_length(), most) {
        (Some(max), _) if least > max => {
            let kind = field.places.kind.unwrap_or(rule.span);
            empty_range(
                field,
                rule.span,
                kind,
                &format!("the minimum is greater than the maximum length, {max} characters"),
                problems,
            );
        }
        (_, Some((most, span))) if least > most => {
            empty_range(field, span, rule.span, "`min_length` is greater than `max_length`", problems);
        }
        _ => {}
    }
}

/// Reports a pattern or format that no text of an allowed length matches.
fn forms(field: &Field, problems: &mut Problems) {
    let asked = field.rules.iter().find_map(|rule| match rule.value {
        Rule::MinLength(least) => Some((u64::from(least), rule.span)),
        _ => None,
    });
    for rule in field.rules.iter().filter(|_| field.kind.is_text()) {
        let Some((least, most)) = form(&rule.value) else { continue };
        let key = rule.value.key();
        if let Some(max) = field.kind.max_length()
            && least > max.into()
        {
            let reason = format!("a match of `{key}` has at least {least} characters; the maximum length is {max}");
            empty_range(field, rule.span, field.places.kind.unwrap_or(rule.span), &reason, problems);
        }
        let Some(most) = most else { continue };
        if let Some((asked, span)) = asked.filter(|(asked, _)| most < *asked) {
            let reason = format!("a match of `{key}` has at most {most} characters; the minimum length is {asked}");
            empty_range(field, rule.span, span, &reason, problems);
        } else if let (0, Some(required)) = (most, field.places.required) {
            let reason = format!("it is required, but only the empty text matches `{key}`");
            empty_range(field, rule.span, required, &reason, problems);
        }
    }
}

/// The fewest and the most characters of a text that a pattern or format allows.
fn form(rule: &Rule) -> Option<(u64, Option<u64>)> {
    match rule {
        Rule::Pattern(pattern) => patterns::lengths(pattern.as_str()),
        // The shortest ones are `http://a` and `a@b`.
        Rule::Url => Some((8, None)),
        Rule::Email => Some((3, None)),
        _ => None,
    }
}

fn empty_range(field: &Field, span: Span, other: Span, reason: &str, problems: &mut Problems) {
    let message = format!("no value of `{}` can satisfy its rules: {reason}", field.declared);
    let problem = Diagnostic::new(Code::EmptyRange, span, message, "against")
        .related(other, "this")
        .help("change one of the two");
    problems.push(problem);
}

fn pattern(text: &str, span: Span, problems: &mut Problems) {
    let Err((reason, help)) = patterns::compile(text) else { return };
    let message = format!("the regular expression is invalid: {reason}");
    problems.push(Diagnostic::new(Code::BadPattern, span, message, "invalid").help(help));
}

fn other_field(scope: &Scope<'_>, field: &Field, rule: &Spanned<Rule>, other: &str, problems: &mut Problems) {
    let key = rule.value.key();
    let found = scope.field(other);
    let problem = match found {
        None => Diagnostic::new(Code::OtherField, rule.span, format!("unknown field `{other}`"), "unknown field")
            .did_you_mean(other, scope.names().filter(|name| *name != field.name.value)),
        Some(found) if found.name.value == field.name.value => {
            let message = format!("`{}` cannot be compared with itself", field.declared);
            Diagnostic::new(Code::OtherField, rule.span, message, "the same field").help("name another field")
        }
        Some(found) if !found.is_column() || !field.kind.is_comparable_with(&found.kind) => {
            let message = format!("`{key}` compares `{}` with `{other}`, which has another type", field.declared);
            let label = format!("{}, not {}", found.kind.described(), field.kind.described());
            Diagnostic::new(Code::OtherField, rule.span, message, label).help("name a field of the same type")
        }
        Some(_) => return,
    };
    problems.push(problem);
}
