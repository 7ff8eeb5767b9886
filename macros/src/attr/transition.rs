//! Reader of `transition(…)` of an action.

use super::entry::Entry;
use super::resource::{inside, needed};
use super::{any_text, flag, once, text, texts, unknown};
use crate::ast::{SetValue, Transition, Word};
use crate::problems::Problems;

const TRANSITION_KEYS: &[&str] = &["field", "from", "to", "guard", "permission", "message", "set"];
const SET_KEYS: &[&str] = &["field", "value", "null", "now", "today", "caller"];

pub fn read(entry: &Entry, problems: &mut Problems) -> Option<Transition> {
    let (mut field, mut from, mut to, mut guard) = (None, Vec::new(), None, None);
    let (mut permission, mut message, mut values) = (None, None, Vec::new());
    for part in inside(entry, "field = \"…\", from(\"…\"), to = \"…\"", problems)? {
        match part.key().as_str() {
            "field" => once(&mut field, text(part, problems), part, problems),
            "from" => from.extend(texts(part, problems)),
            "to" => once(&mut to, text(part, problems), part, problems),
            "guard" => once(&mut guard, text(part, problems), part, problems),
            "permission" => once(&mut permission, text(part, problems), part, problems),
            "message" => once(&mut message, text(part, problems), part, problems),
            "set" => values.extend(set(part, problems)),
            _ => unknown(part, TRANSITION_KEYS, problems),
        }
    }
    let field = needed(field, "field", entry, problems);
    let first = needed(from.first(), "from", entry, problems).is_some();
    let to = needed(to, "to", entry, problems);
    Some(Transition { field: field?, from: first.then_some(from)?, to: to?, guard, permission, message, set: values })
}

/// `set(field = "solved_at", now)`
fn set(entry: &Entry, problems: &mut Problems) -> Option<(Word, SetValue)> {
    let (mut field, mut value) = (None, None);
    for part in inside(entry, "field = \"…\", value = \"…\"", problems)? {
        let word = |value| move |_| value;
        match part.key().as_str() {
            "field" => once(&mut field, text(part, problems), part, problems),
            "value" => once(&mut value, any_text(part, problems).map(SetValue::Literal), part, problems),
            "null" => once(&mut value, flag(part, problems).map(word(SetValue::Null)), part, problems),
            "now" => once(&mut value, flag(part, problems).map(word(SetValue::Now)), part, problems),
            "today" => once(&mut value, flag(part, problems).map(word(SetValue::Today)), part, problems),
            "caller" => once(&mut value, flag(part, problems).map(word(SetValue::Caller)), part, problems),
            _ => unknown(part, SET_KEYS, problems),
        }
    }
    let field = needed(field, "field", entry, problems);
    Some((field?, needed(value, "value", entry, problems)?))
}
