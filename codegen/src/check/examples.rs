//! Values that somebody gives: examples, and the rows of seeds. They are what a client could send.

use super::defaults::{is_whole, literal, own_rules};
use super::scopes;
use crate::date;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Kind, Resource, Schema};
use crate::names;
use crate::number::Number;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for scope in scopes(resource) {
        for field in scope.fields {
            let Some(example) = &field.described.example else { continue };
            let kind = schema.value_kind(resource, field);
            if let Err((reason, help)) = value(&kind, example.as_str()) {
                let message = format!("the example does not fit `{}`: {reason}", field.declared);
                let label = format!("not {}", kind.described());
                problems.push(Diagnostic::new(Code::DefaultMisfit, example.span, message, label).help(help));
            } else {
                own_rules(field, "example", example.as_str(), example.span, problems);
            }
        }
    }
}

/// The elements of a list that stands in one text: `stage, light`.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(move |_| !text.is_empty())
}

/// Why a text is not an element of a list of a kind: it is a value, and a text more than white space.
pub fn element(kind: &Kind, text: &str) -> Result<(), (String, String)> {
    if matches!(kind, Kind::String { .. }) && text.trim().is_empty() {
        return Err(("an element is blank".to_owned(), "leave it out".to_owned()));
    }
    value(kind, text)
}

/// Why a text is not a value of a kind, and what would be one.
pub fn value(kind: &Kind, text: &str) -> Result<(), (String, String)> {
    let (fits, reason, help) = match kind {
        // Words are read without regard to case, as by the server, where they are not the default itself.
        Kind::Enum(words) if words.iter().any(|word| word.value.to_lowercase() == text.to_lowercase()) => {
            return Ok(());
        }
        Kind::Timestamp(_) => (date::is_instant(text), "a point in time", "2026-03-21T10:00:00Z"),
        Kind::Date => (date::is_day(text), "a day that there is", "2026-03-21"),
        Kind::Uuid => {
            let groups: Vec<&str> = text.split('-').collect();
            let fits = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) || text.len() == 32;
            let digits = groups.concat().len() == 32 && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit());
            (fits && digits, "a UUID", "0f8fad5b-d9cb-469f-a165-70867728950e")
        }
        Kind::Ref(_) | Kind::PolymorphicId { .. } => {
            let id = Number::read(text).filter(|number| is_whole(&Kind::BigInt, *number));
            (id.is_some(), "the id of a record", "1")
        }
        Kind::PolymorphicType(targets) => {
            let known: Vec<String> = targets.iter().map(|target| names::upper_camel(target.as_str())).collect();
            if !known.iter().any(|name| name == text) {
                return Err((format!("`{text}` is none of its types"), format!("one of: {}", known.join(", "))));
            }
            return Ok(());
        }
        Kind::StringList { max } => {
            let one = Kind::String { max: *max };
            let of = |element: &str, (reason, help): (String, String)| (format!("of `{element}`, {reason}"), help);
            return elements(text).try_for_each(|text| element(&one, text).map_err(|refusal| of(text, refusal)));
        }
        Kind::RefList(target) => {
            let one = Kind::Ref(target.clone());
            return elements(text).try_for_each(|element| value(&one, element));
        }
        Kind::Json => {
            let read = serde_json::from_str::<serde_json::Value>(text);
            (read.is_ok_and(|json| json.is_object() || json.is_array()), "an object or a list of JSON", "{\"lamp\": 2}")
        }
        Kind::CustomFields => return Ok(()),
        _ => return literal(kind, "example", text),
    };
    if fits { Ok(()) } else { Err((format!("`{text}` is not {reason}"), format!("for example `{help}`"))) }
}
