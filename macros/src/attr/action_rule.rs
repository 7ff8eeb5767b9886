//! Readers of `transition(…)` and `rule(…)` of an action.

use super::entry::Entry;
use super::resource::{inside, needed};
use super::{any_text, flag, once, text, texts, unknown};
use crate::ast::{ActionRule, SetValue, StateChange, Word};
use crate::problems::Problems;

const TRANSITION_KEYS: &[&str] = &["field", "from", "to", "guard", "permission", "message", "set"];
const RULE_KEYS: &[&str] = &["guard", "permission", "message", "set"];
const SET_KEYS: &[&str] = &["field", "value", "null", "now", "today", "caller", "expression"];

/// Reads `transition(…)`.
pub fn transition(entry: &Entry, problems: &mut Problems) -> Option<ActionRule> {
    let (mut field, mut from, mut to) = (None, Vec::new(), None);
    let mut rule = Parts::default();
    for part in inside(entry, "field = \"…\", from(\"…\"), to = \"…\"", problems)? {
        match part.key().as_str() {
            "field" => once(&mut field, text(part, problems), part, problems),
            "from" => from.extend(texts(part, problems)),
            "to" => once(&mut to, text(part, problems), part, problems),
            _ if rule.read(part, problems) => {}
            _ => unknown(part, TRANSITION_KEYS, problems),
        }
    }
    let field = needed(field, "field", entry, problems);
    let first = needed(from.first(), "from", entry, problems).is_some();
    let to = needed(to, "to", entry, problems);
    let change = StateChange { field: field?, from: first.then_some(from)?, to: to? };
    Some(rule.with(Some(change)))
}

/// Reads `rule(…)` of an action that is no transition.
pub fn rule(entry: &Entry, problems: &mut Problems) -> Option<ActionRule> {
    let mut rule = Parts::default();
    for part in inside(entry, "guard = \"…\", set(field = \"…\", now)", problems)? {
        if !rule.read(part, problems) {
            unknown(part, RULE_KEYS, problems);
        }
    }
    Some(rule.with(None))
}

/// The parts that every rule can have.
#[derive(Default)]
struct Parts {
    guard: Option<Word>,
    permission: Option<Word>,
    message: Option<Word>,
    set: Vec<(Word, SetValue)>,
}

impl Parts {
    /// Reads a part. False if it is another key.
    fn read(&mut self, part: &Entry, problems: &mut Problems) -> bool {
        match part.key().as_str() {
            "guard" => once(&mut self.guard, text(part, problems), part, problems),
            "permission" => once(&mut self.permission, text(part, problems), part, problems),
            "message" => once(&mut self.message, text(part, problems), part, problems),
            "set" => self.set.extend(set(part, problems)),
            _ => return false,
        }
        true
    }

    fn with(self, change: Option<StateChange>) -> ActionRule {
        let Parts { guard, permission, message, set } = self;
        ActionRule { change, guard, permission, message, set }
    }
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
            "expression" => once(&mut value, text(part, problems).map(SetValue::Expression), part, problems),
            "caller" => once(&mut value, flag(part, problems).map(word(SetValue::Caller)), part, problems),
            _ => unknown(part, SET_KEYS, problems),
        }
    }
    let field = needed(field, "field", entry, problems);
    Some((field?, needed(value, "value", entry, problems)?))
}
