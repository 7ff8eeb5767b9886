//! Defaults: whether one fits its type and its own rules.

use super::beside;
use super::examples::elements;
use super::rules::fits;
use super::{ScopeOf, patterns, scopes};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Default, Field, Kind, Resource, Rule, Schema};
use crate::number::{LEADING_ZERO, Number, without_zeros};
use crate::source::Span;
use crate::words::Hook;

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for scope in scopes(resource) {
        for field in scope.fields {
            begins_too_short(field, problems);
            beside_others(field, scope.fields, problems);
            let Some(span) = field.places.default else { continue };
            let refusal = match &field.default {
                Default::None => None,
                Default::Literal(text) => literal(&field.kind, "default", text).err(),
                Default::Now if !matches!(field.kind, Kind::Timestamp(_) | Kind::Date | Kind::Unknown) => {
                    Some(("`now` is a point in time".to_owned(), keyword_help(&field.kind, "now")))
                }
                Default::Caller if !refers_to_user(&field.kind) => {
                    Some(("`caller` is a user".to_owned(), keyword_help(&field.kind, "caller")))
                }
                Default::Hook if scope.what != ScopeOf::Record => {
                    Some(("no hook runs before an action".to_owned(), "say a value, or `required: true`".to_owned()))
                }
                Default::Now | Default::Caller | Default::Hook => None,
            };
            if let Some((reason, help)) = refusal {
                let message = format!("the default does not fit `{}`: {reason}", field.declared);
                let label = format!("not {}", field.kind.described());
                problems.push(Diagnostic::new(Code::DefaultMisfit, span, message, label).help(help));
            } else if let Default::Literal(text) = &field.default {
                own_rules(field, "default", text, span, problems);
                unlike_others(field, "default", span, problems);
            } else if field.default == Default::Hook && !resource.has_hook(Hook::BeforeSave) {
                let message = format!("`{}` is left to a hook that is not declared", field.declared);
                let problem = Diagnostic::new(Code::DefaultHook, span, message, "which hook?")
                    .help("declare it: `hooks: [before_save]`");
                problems.push(problem);
            }
        }
    }
}

/// A record that is given neither of two fields begins with both defaults, which a rule between them may refuse.
fn beside_others(field: &Field, all: &[Field], problems: &mut Problems) {
    let Some(span) = field.places.default else { return };
    for rule in &field.rules {
        let Some(other) = beside::other(&rule.value) else { continue };
        let Some(other) = all.iter().find(|one| one.name.value == other) else { continue };
        let kept = match (&field.default, &other.default) {
            (Default::Literal(own), Default::Literal(other)) => beside::keeps(&rule.value, &field.kind, own, other),
            (Default::Now, Default::Now) => matches!(rule.value, Rule::NotBefore(_)),
            _ => true,
        };
        if !kept {
            let message = format!(
                "the default of `{}` breaks its own rule `{}`: `{}` begins with {}",
                field.declared,
                rule.value.key(),
                other.name.value,
                match &other.default {
                    Default::Literal(text) if other.default != field.default => format!("`{text}`"),
                    _ => "the same".to_owned(),
                },
            );
            let problem = Diagnostic::new(Code::DefaultBreaksRule, span, message, "not allowed");
            problems.push(problem.related(rule.span, "by this rule").help("change one of the two defaults"));
        }
    }
}

/// A list that may be left out is empty then, which its own rule refuses.
fn begins_too_short(field: &Field, problems: &mut Problems) {
    let is_given = field.required || field.default != Default::None || field.access == Access::ReadOnly;
    if !field.kind.is_list() || is_given {
        return;
    }
    if let Some(rule) = field.rules.iter().find(|rule| matches!(rule.value, Rule::MinLength(least) if least > 0)) {
        let message =
            format!("`{}` is empty when it is left out, and breaks its own rule `min_length`", field.declared);
        let problem = Diagnostic::new(Code::DefaultBreaksRule, rule.span, message, "not allowed");
        problems.push(problem.help("say `required: true`, or leave `min_length` out"));
    }
}

fn refers_to_user(kind: &Kind) -> bool {
    match kind {
        Kind::Ref(target) => target.value == "user",
        kind => *kind == Kind::Unknown,
    }
}

fn keyword_help(kind: &Kind, word: &str) -> String {
    match kind.is_text() || matches!(kind, Kind::Enum(_)) {
        true => format!("the text is written in quotes: `default: \"{word}\"`"),
        false if word == "now" => "only a `timestamp` or a `date` can have it".to_owned(),
        false => "only a `ref(user)` can have it".to_owned(),
    }
}

/// Why a literal is not what a kind can begin with, and what would be. `what` is the key that says it.
pub fn literal(kind: &Kind, what: &str, text: &str) -> Result<(), (String, String)> {
    let number = Number::read(text);
    let refuse = |reason: String, help: &str| Err((reason, help.to_owned()));
    if text.contains('\0') {
        return refuse("it has a NUL, which PostgreSQL keeps in no text".to_owned(), "leave the NUL out");
    }
    if let Some(plain) = without_zeros(text).filter(|_| kind.is_number()) {
        return refuse(format!("`{text}` {LEADING_ZERO}"), &format!("write `{plain}`"));
    }
    match kind {
        Kind::String { max } => {
            let length = text.chars().count();
            match u32::try_from(length).is_ok_and(|length| length <= *max) {
                true => Ok(()),
                false => refuse(format!("it has {length} characters and {max} are allowed"), "shorten it"),
            }
        }
        Kind::Text | Kind::Unknown => Ok(()),
        // That there are none is told where they are missing.
        Kind::Enum(words) if words.is_empty() => Ok(()),
        Kind::Code(codes) if codes.is_empty() => Ok(()),
        Kind::Boolean => match matches!(text, "true" | "false") {
            true => Ok(()),
            false => refuse(format!("`{text}` is neither true nor false"), "`true` or `false`"),
        },
        Kind::Integer | Kind::BigInt => match number.filter(|number| is_whole(kind, *number)) {
            Some(_) => Ok(()),
            None => refuse(format!("`{text}` is not a whole number in its range"), "for example `0`"),
        },
        Kind::Decimal { precision, places } => match number.filter(|number| is_decimal(*precision, *places, *number)) {
            Some(_) => Ok(()),
            None => refuse(
                format!("`{text}` is not a number of at most {precision} digits with at most {places} places"),
                "for example `0`",
            ),
        },
        Kind::Timestamp(_) | Kind::Date => refuse(format!("a fixed time is no {what}"), "`now`"),
        Kind::Enum(words) => match words.iter().any(|word| word.value == text) {
            true => Ok(()),
            false => {
                let known: Vec<&str> = words.iter().map(|word| word.as_str()).collect();
                let other_case = known.iter().find(|word| word.to_lowercase() == text.to_lowercase());
                let help = match other_case {
                    Some(word) => format!("did you mean `{word}`?"),
                    None => format!("one of: {}", known.join(", ")),
                };
                refuse(format!("`{text}` is not among its values"), &help)
            }
        },
        Kind::Code(codes) => match codes.iter().any(|code| code.number.value.to_string() == text) {
            true => Ok(()),
            false => {
                let known: Vec<String> = codes.iter().map(|code| code.number.value.to_string()).collect();
                refuse(format!("`{text}` is not among its numbers"), &format!("one of: {}", known.join(", ")))
            }
        },
        Kind::Uuid => refuse("no two records have the same".to_owned(), "leave it to a hook: `default: hook`"),
        Kind::Ref(_) => refuse("no record is there from the start".to_owned(), "only `ref(user)` has one: `caller`"),
        Kind::PolymorphicType(_) | Kind::PolymorphicId { .. } => {
            refuse("no record is there from the start".to_owned(), &format!("remove `{what}`"))
        }
        Kind::StringList { .. } | Kind::RefList(_) => {
            refuse("a list begins empty".to_owned(), &format!("remove `{what}`"))
        }
        Kind::Json | Kind::CustomFields => refuse("an object begins empty".to_owned(), &format!("remove `{what}`")),
        // That it has a default at all is told where keys contradict each other.
        Kind::Derived(_) | Kind::Embedded { .. } => Ok(()),
    }
}

/// Whether a number is one of the values of a kind of whole numbers.
pub fn is_whole(kind: &Kind, number: Number) -> bool {
    let within = match kind {
        Kind::Integer => number.is_within(i32::MIN.into(), i32::MAX.into()),
        _ => number.is_within(i64::MIN.into(), i64::MAX.into()),
    };
    number.places == 0 && within
}

/// Whether a number has a place in a `decimal(precision, places)`.
pub fn is_decimal(precision: u8, places: u8, number: Number) -> bool {
    number.places <= places.into() && number.fits_digits((precision - places).into())
}

/// A value that several records would have, of which no two may have the same.
pub fn unlike_others(field: &Field, what: &str, span: Span, problems: &mut Problems) {
    if let Some(rule) = field.rules.iter().find(|rule| rule.value == Rule::Unique) {
        let message =
            format!("the {what} of `{}` breaks its own rule `unique`: the second record has it too", field.declared);
        let problem = Diagnostic::new(Code::DefaultBreaksRule, span, message, "not allowed")
            .related(rule.span, "by this rule")
            .help(format!("leave `{what}` out; with `nullable: true`, any number of records have no value"));
        problems.push(problem);
    }
}

/// A value that its field's own rules refuse, which a client could not send.
pub fn own_rules(field: &Field, what: &str, text: &str, span: Span, problems: &mut Problems) {
    let value = Number::read(text).filter(|_| field.kind.is_number());
    let length = if field.kind.is_list() { elements(text).count() } else { text.chars().count() };
    for rule in field.rules.iter().filter(|rule| fits(&rule.value, &field.kind)) {
        let bound = |bound: &str, keeps: fn(&Number, &Number) -> bool| match (value, Number::read(bound)) {
            (Some(value), Some(bound)) => keeps(&value, &bound),
            _ => true,
        };
        let kept = match &rule.value {
            Rule::Min(least) => bound(least, Number::ge),
            Rule::Max(most) => bound(most, Number::le),
            Rule::Above(least) => bound(least, Number::gt),
            Rule::Below(most) => bound(most, Number::lt),
            Rule::MinLength(least) => length >= *least as usize,
            Rule::MaxLength(most) => length <= *most as usize,
            // One that is no regular expression is reported as such.
            Rule::Pattern(pattern) if field.kind.is_text() => {
                patterns::compile(pattern).map_or(true, |regex| regex.is_match(text))
            }
            Rule::Format(format) if field.kind.is_text() => patterns::has_format(*format, text),
            _ => true,
        };
        if !kept {
            let message = format!("the {what} of `{}` breaks its own rule `{}`", field.declared, rule.value.key());
            let problem = Diagnostic::new(Code::DefaultBreaksRule, span, message, "not allowed")
                .related(rule.span, "by this rule")
                .help("change one of the two");
            problems.push(problem);
        }
    }
}
