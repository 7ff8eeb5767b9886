//! Lossless form round trip: the original of a value that a browser would change is kept in a hidden input.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;

use super::input;
use crate::panel::format::datetime;
use charter_core::query::Pair;

/// Name prefix of the hidden inputs.
const ORIGINAL_PREFIX: &str = "_was.";

/// An input, by how browsers change its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputKind {
    /// Line endings become CRLF.
    Textarea,
    /// Line breaks are removed.
    SingleLine,
    /// Line breaks and surrounding spaces are removed: email address, URL.
    Trimmed,
    /// A textarea with a list element on each line.
    Lines,
    /// A local time without an offset, which may be ambiguous.
    Timestamp,
    /// A list as checkboxes, sent in the order of the page.
    Checkboxes,
}

impl InputKind {
    const ALL: [InputKind; 6] = [
        InputKind::Textarea,
        InputKind::SingleLine,
        InputKind::Trimmed,
        InputKind::Lines,
        InputKind::Timestamp,
        InputKind::Checkboxes,
    ];

    fn name(self) -> &'static str {
        match self {
            InputKind::Textarea => "area",
            InputKind::SingleLine => "line",
            InputKind::Trimmed => "bare",
            InputKind::Lines => "list",
            InputKind::Timestamp => "time",
            InputKind::Checkboxes => "boxes",
        }
    }

    /// The text that a browser sends, with normalized line endings.
    fn sent_by_browser(self, text: &str) -> String {
        match self {
            InputKind::Textarea | InputKind::Lines | InputKind::Timestamp | InputKind::Checkboxes => {
                normalize_newlines(text).replace('\r', "\n")
            }
            InputKind::SingleLine => text.replace(['\r', '\n'], ""),
            InputKind::Trimmed => text.replace(['\r', '\n'], "").trim_matches([' ', '\t', '\x0c']).to_string(),
        }
    }
}

/// Browsers send CRLF.
fn normalize_newlines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The elements of a list from an input with a line for each.
pub(super) fn parse_lines(text: &str) -> Vec<Value> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect()
}

/// The hidden input with the original value as JSON, if the browser would change the value. JSON has no line breaks
/// that a browser could change.
pub(super) fn original_input(kind: InputKind, name: &str, value: &Value) -> Markup {
    let is_changed = match (kind, value) {
        (InputKind::Timestamp, Value::String(text)) => !text.is_empty(),
        (InputKind::Lines, Value::Array(list)) => parse_lines(&kind.sent_by_browser(&input::to_lines(value))) != *list,
        (InputKind::Checkboxes, Value::Array(list)) => list.len() > 1,
        (InputKind::Lines | InputKind::Checkboxes, _) => false,
        (_, Value::String(text)) => kind.sent_by_browser(text) != *text,
        _ => false,
    };
    html! { @if is_changed { input type="hidden" name={ (ORIGINAL_PREFIX) (kind.name()) "." (name) } value=(value); } }
}

/// The original values in a form, by the names of their inputs.
pub(super) fn originals(form: &[Pair]) -> HashMap<&str, (InputKind, Value)> {
    let mut originals = HashMap::new();
    for pair in form {
        let Some((kind, name)) = pair.name.strip_prefix(ORIGINAL_PREFIX).and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        let kind = InputKind::ALL.into_iter().find(|known| known.name() == kind);
        if let Some((kind, value)) = kind.zip(serde_json::from_str(&pair.value).ok()) {
            originals.insert(name, (kind, value));
        }
    }
    originals
}

/// A pair of a form, with the original value if the input was not touched.
pub(super) fn restore_untouched(original: Option<&(InputKind, Value)>, pair: &Pair, zone: chrono_tz::Tz) -> Pair {
    let (name, value) = (pair.name.clone(), normalize_newlines(&pair.value));
    match original {
        Some((InputKind::Lines, original)) if InputKind::Lines.sent_by_browser(&input::to_lines(original)) == value => {
            Pair { name: name.replace("[lines]", "[json]"), value: original.to_string() }
        }
        Some((InputKind::Timestamp, Value::String(original))) if datetime::is_unchanged(zone, original, &value) => {
            Pair { name, value: original.clone() }
        }
        Some((kind @ (InputKind::Textarea | InputKind::SingleLine | InputKind::Trimmed), Value::String(original)))
            if kind.sent_by_browser(original) == value =>
        {
            Pair { name, value: original.clone() }
        }
        _ => Pair { name, value },
    }
}

/// The list of checked checkboxes, in its original order if the same ones are checked.
pub(super) fn restore_order(original: Option<&(InputKind, Value)>, checked: Value) -> Value {
    match (original, &checked) {
        (Some((InputKind::Checkboxes, Value::Array(original))), Value::Array(now))
            if original.len() == now.len() && original.iter().all(|one| now.contains(one)) =>
        {
            original.clone().into()
        }
        _ => checked,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Sends a value through a form. Returns true if the original value is kept, and the decoded pair.
    fn round_trip(kind: InputKind, name: &str, value: &Value, sent: &str) -> (bool, Pair) {
        let field = original_input(kind, name, value).into_string();
        let is_kept = !field.is_empty();
        let input = Pair { name: name.into(), value: sent.into() };
        let original = Pair { name: format!("_was.{}.{name}", kind.name()), value: value.to_string() };
        let form: Vec<Pair> = if is_kept { vec![original, input.clone()] } else { vec![input.clone()] };
        (is_kept, restore_untouched(originals(&form).get(name), &input, chrono_tz::Tz::Europe__London))
    }

    #[test]
    fn an_untouched_input_keeps_its_original_value() {
        for (kind, original, sent) in [
            (InputKind::Textarea, "\r\nOne\rtwo\n", "\r\nOne\r\ntwo\r\n"),
            (InputKind::SingleLine, "A\r\nB ", "AB "),
            (InputKind::Trimmed, " a@example.com\n", "a@example.com"),
            (InputKind::Timestamp, "2026-10-25T01:30:00Z", "2026-10-25T01:30"),
            (InputKind::Timestamp, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59"),
        ] {
            let (is_kept, pair) = round_trip(kind, "a", &json!(original), sent);
            assert!(is_kept, "{original:?}");
            assert_eq!((pair.name.as_str(), pair.value.as_str()), ("a", original));
        }
        let list = json!(["a\nb", " c ", ""]);
        let (is_kept, pair) = round_trip(InputKind::Lines, "a[lines]", &list, "a\r\nb\r\n c \r\n");
        assert!(is_kept);
        assert_eq!((pair.name.as_str(), pair.value), ("a[json]", list.to_string()));
    }

    #[test]
    fn a_changed_input_has_its_new_value() {
        for (kind, original, sent, expected) in [
            (InputKind::Textarea, "A\r\nB", "AB", "AB"),
            (InputKind::Textarea, "A\r\nB", "A\r\nC", "A\nC"),
            (InputKind::SingleLine, "A\nB", "A B", "A B"),
            (InputKind::Trimmed, " a", "", ""),
            (InputKind::Timestamp, "2026-10-25T01:30:00Z", "2026-10-25T01:31", "2026-10-25T01:31"),
        ] {
            assert_eq!(round_trip(kind, "a", &json!(original), sent).1.value, expected, "{original:?}");
        }
        let (_, pair) = round_trip(InputKind::Lines, "a[lines]", &json!(["a\nb"]), "a\r\nc");
        assert_eq!((pair.name.as_str(), pair.value.as_str()), ("a[lines]", "a\nc"));
    }

    #[test]
    fn unchanged_checkboxes_keep_the_original_order() {
        let original = (InputKind::Checkboxes, json!(["b", "a"]));
        for (checked, expected) in [
            (json!(["a", "b"]), json!(["b", "a"])),
            (json!(["a"]), json!(["a"])),
            (json!(["a", "c"]), json!(["a", "c"])),
            (json!(["a", "b", "c"]), json!(["a", "b", "c"])),
            (json!([]), json!([])),
        ] {
            assert_eq!(restore_order(Some(&original), checked.clone()), expected);
            assert_eq!(restore_order(None, checked.clone()), checked);
        }
    }

    #[test]
    fn a_value_that_browsers_preserve_is_not_kept() {
        for (kind, value) in [
            (InputKind::Textarea, json!("\nOne\n\ntwo ")),
            (InputKind::SingleLine, json!(" Spaces ")),
            (InputKind::Trimmed, json!("a@example.com")),
            (InputKind::Lines, json!(["a", "b c"])),
            (InputKind::Lines, json!("typed")),
            (InputKind::Timestamp, json!("")),
            (InputKind::Checkboxes, json!(["a"])),
            (InputKind::SingleLine, json!(1)),
        ] {
            assert_eq!(original_input(kind, "a", &value).into_string(), "", "{value}");
        }
        // Malformed hidden inputs are ignored.
        let malformed = [("_was.line", "\"x\""), ("_was.other.a", "\"x\""), ("_was.line.a", "x")];
        let malformed = malformed.map(|(name, value)| Pair { name: name.into(), value: value.into() });
        assert!(originals(&malformed).is_empty());
    }
}
