//! Reader of the field type in `#[field(…)]`.

use charter_model::field_type::decimal::MAX_DIGITS;
use charter_model::{Arguments, Keyword, Parameters, TimestampForm, TypeFacts};

use super::entry::{Entry, Value};
use super::resource::inside;
use super::{flag, once, text, texts, unknown};
use crate::ast::{Kind, Tokens, Word};
use crate::problems::Problems;

/// The types that have an attribute.
pub fn attributes() -> impl Iterator<Item = &'static TypeFacts> {
    TypeFacts::COLUMNS.iter().copied().filter(|facts| !facts.attribute.is_empty())
}

/// Reads a type and reports misuses.
pub fn read(facts: &'static TypeFacts, entry: &Entry, problems: &mut Problems) -> Option<Kind> {
    let arguments = match facts.parameters {
        Parameters::None => flag(entry, problems).map(|_| Arguments::None),
        Parameters::Length => length(entry, facts.usage, problems).map(Arguments::Length),
        Parameters::Digits => digits(entry, facts.usage, problems),
        Parameters::Form => form(entry, problems).map(Arguments::Form),
        Parameters::Words => some(texts(entry, problems)).map(Arguments::Words),
        Parameters::Codes => codes(entry, facts.usage, problems).map(Arguments::Codes),
        Parameters::Resource => one(entry, facts.usage, problems).map(Arguments::Resource),
        Parameters::Targets => some(texts(entry, problems)).map(Arguments::Targets),
        Parameters::TypeField => type_field(entry, facts.usage, problems).map(Arguments::TypeField),
    };
    Kind::read(facts, arguments?)
}

fn some(words: Vec<Word>) -> Option<Vec<Word>> {
    (!words.is_empty()).then_some(words)
}

/// `string(255)`.
fn length(entry: &Entry, usage: &str, problems: &mut Problems) -> Option<u32> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Literal(Value::Number(number))] = inside.as_slice()
        && let Ok(length @ 1..) = u32::try_from(number.value)
    {
        return Some(length);
    }
    problems.report(entry.span(), format!("the maximum length is missing: `{usage}`"));
    None
}

/// `reference("product_group")`.
fn one(entry: &Entry, usage: &str, problems: &mut Problems) -> Option<Word> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Literal(Value::Text(word))] = inside.as_slice()
    {
        return Some(word.clone());
    }
    problems.report(entry.span(), format!("the name of the other resource is missing: `{usage}`"));
    None
}

fn digits(entry: &Entry, usage: &str, problems: &mut Problems) -> Option<Arguments<Tokens>> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Literal(Value::Number(precision)), Entry::Literal(Value::Number(places))] = inside.as_slice()
    {
        if !(1..=i64::from(MAX_DIGITS)).contains(&precision.value) {
            problems.report(precision.span, format!("a decimal has 1 to {MAX_DIGITS} digits"));
            return None;
        }
        if !(0..=precision.value).contains(&places.value) {
            problems.report(
                places.span,
                format!("the decimal places must be from 0 to {}, the number of digits", precision.value),
            );
            return None;
        }
        return Some(Arguments::Digits { precision: precision.value as u8, places: places.value as u8 });
    }
    problems.report(entry.span(), format!("a decimal takes its digits and its decimal places: `{usage}`"));
    None
}

fn form(entry: &Entry, problems: &mut Problems) -> Option<TimestampForm> {
    if let Entry::List(_, inside) = entry
        && let [Entry::Word(form)] = inside.as_slice()
        && let Some(form) = TimestampForm::read(&form.to_string())
    {
        return Some(form);
    }
    let forms: Vec<String> = TimestampForm::WORDS.iter().map(|word| format!("`{}({word})`", entry.key())).collect();
    let (last, others) = forms.split_last().expect("there are forms");
    problems.report(entry.span(), format!("write {} or {last}", others.join(", ")));
    None
}

fn codes(entry: &Entry, usage: &str, problems: &mut Problems) -> Option<Vec<(i32, Word)>> {
    let mut values: Vec<(i32, Word)> = Vec::new();
    if let Entry::List(_, inside) = entry {
        for item in inside {
            match item {
                Entry::Labelled(number, label) => match i32::try_from(number.value) {
                    Ok(value) if values.iter().any(|(known, _)| *known == value) => {
                        problems.report(number.span, format!("the code {value} is given twice"));
                    }
                    Ok(value) => values.push((value, label.clone())),
                    Err(_) => problems.report(number.span, "a code must be a 32-bit integer"),
                },
                other => problems.report(other.span(), format!("each code needs a label: `{usage}`")),
            }
        }
        if !inside.is_empty() {
            return (!values.is_empty()).then_some(values);
        }
    }
    problems.report(entry.span(), format!("the codes are missing: `{usage}`"));
    None
}

fn type_field(entry: &Entry, usage: &str, problems: &mut Problems) -> Option<Word> {
    let mut type_field = None;
    for part in inside(entry, "type_field = \"…\"", problems)? {
        match part.key().as_str() {
            "type_field" => once(&mut type_field, text(part, problems), part, problems),
            _ => unknown(part, &["type_field"], problems),
        }
    }
    if type_field.is_none() {
        problems.report(entry.span(), format!("the name of the type field is missing: `{usage}`"));
    }
    type_field
}
