//! Lossless form round trip: an input that is sent with the text that it was rendered with keeps its original value.

use serde_json::Value;

use super::form_snapshot::FormSnapshot;
use super::input;
use crate::panel::format::datetime;
use charter_core::meta::{FieldMeta, Kind, Rule, Widget};

/// The parts of a field that its input depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputSpec {
    pub kind: Kind,
    pub rules: &'static [Rule],
    pub widget: Option<Widget>,
}

impl InputSpec {
    pub(super) fn of(field: &FieldMeta) -> InputSpec {
        InputSpec { kind: field.kind, rules: field.rules, widget: field.widget }
    }

    /// The input of a custom field.
    pub(super) fn of_kind(kind: Kind) -> InputSpec {
        InputSpec { kind, rules: &[], widget: None }
    }

    /// The input in a row of embedded records, which has no widget.
    pub(super) fn in_row(field: &FieldMeta) -> InputSpec {
        InputSpec { widget: None, ..InputSpec::of(field) }
    }
}

/// A text input, by how browsers change its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextInput {
    /// Line endings become CRLF.
    Textarea,
    /// Line breaks are removed.
    SingleLine,
    /// Line breaks and surrounding spaces are removed.
    Email,
    /// As [`TextInput::Email`].
    Url,
}

impl TextInput {
    pub(super) fn of(kind: Kind, rules: &[Rule], widget: Option<Widget>) -> TextInput {
        match kind {
            Kind::Text => TextInput::Textarea,
            Kind::String { .. } if widget == Some(Widget::Textarea) => TextInput::Textarea,
            _ if rules.contains(&Rule::Email) => TextInput::Email,
            _ if rules.contains(&Rule::Url) => TextInput::Url,
            _ => TextInput::SingleLine,
        }
    }

    /// The text that a browser sends, with normalized line endings.
    fn sent_by_browser(self, text: &str) -> String {
        match self {
            TextInput::Textarea => normalize_newlines(text).replace('\r', "\n"),
            TextInput::SingleLine => text.replace(['\r', '\n'], ""),
            TextInput::Email | TextInput::Url => {
                text.replace(['\r', '\n'], "").trim_matches([' ', '\t', '\x0c']).to_string()
            }
        }
    }
}

/// Browsers send CRLF.
pub(super) fn normalize_newlines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The elements of a list from an input with a line for each.
pub(super) fn parse_lines(text: &str) -> Vec<Value> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect()
}

/// Returns true if a value of a form, with normalized line endings, is what a browser sends for an input that was rendered
/// with the original value and not edited.
pub(super) fn is_untouched(input: InputSpec, original: &Value, sent: &Value, snapshot: &FormSnapshot) -> bool {
    match (input.kind, sent) {
        // A declared default is text, and has to be decoded.
        (Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. } | Kind::Json, _)
            if original.is_string() =>
        {
            false
        }
        (Kind::Timestamp { .. }, Value::String(text)) => {
            let original = input::to_text(original);
            original == *text || datetime::is_unchanged(snapshot.zone, &original, text)
        }
        (kind, Value::String(text)) if kind.facts().is_number => {
            input::number_text(kind, original, snapshot.separators.as_ref()) == *text
        }
        // Words that differ only in case select the same option.
        (Kind::Enum { .. } | Kind::Code { .. } | Kind::PolymorphicType { .. } | Kind::Boolean, Value::String(text)) => {
            input::to_text(original).eq_ignore_ascii_case(text)
        }
        (Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. }, Value::Object(map)) => {
            let lines = map.get("lines").and_then(Value::as_str);
            lines.is_some_and(|lines| lines == TextInput::Textarea.sent_by_browser(&input::to_lines(original)))
        }
        // Checkboxes are sent in the order of the page.
        (Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. }, Value::Array(list)) => {
            let sent: Vec<String> = list.iter().map(input::to_text).filter(|text| !text.is_empty()).collect();
            let original: Vec<String> = original.as_array().into_iter().flatten().map(input::to_text).collect();
            original.len() == sent.len() && original.iter().all(|one| sent.contains(one))
        }
        (Kind::Json, Value::Object(map)) => {
            let text = map.get("json").and_then(Value::as_str);
            text.is_some_and(|text| text == input::to_pretty_json(original))
        }
        (_, Value::String(text)) => {
            let kind = TextInput::of(input.kind, input.rules, input.widget);
            kind.sent_by_browser(&input::to_text(original)) == *text
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;
    use serde_json::json;

    use super::*;
    use crate::panel::format::locale::Locale;
    use crate::panel::format::money::NumberFormat;
    use charter_core::custom_field::CustomFieldType;

    const AREA: InputSpec = InputSpec { kind: Kind::Text, rules: &[], widget: None };
    const LINE: InputSpec = InputSpec { kind: Kind::String { max: 255 }, ..AREA };
    const EMAIL: InputSpec = InputSpec { rules: &[Rule::Email], ..LINE };
    const LIST: InputSpec = InputSpec { kind: Kind::StringList { max: 255 }, ..AREA };
    const JSON: InputSpec = InputSpec { kind: Kind::Json, ..AREA };
    const DECIMAL: InputSpec = InputSpec { kind: Kind::Decimal { precision: 12, places: 4 }, ..AREA };
    const ENUM: InputSpec = InputSpec { kind: Kind::Enum { values: &["rental"] }, ..AREA };

    fn is_kept(input: InputSpec, original: &Value, sent: &Value) -> bool {
        let numbers =
            NumberFormat { thousands_separator: ".".into(), decimal_separator: ",".into(), ..NumberFormat::default() };
        let locale = Locale { zone: Tz::Europe__London, numbers };
        is_untouched(input, original, sent, &FormSnapshot::of_locale(&locale))
    }

    #[test]
    fn an_untouched_input_keeps_its_original_value() {
        let time = InputSpec::of_kind(CustomFieldType::Timestamp.kind());
        for (input, original, sent) in [
            (AREA, json!("\r\nOne\rtwo\n"), json!("\nOne\ntwo\n")),
            (LINE, json!("A\r\nB "), json!("AB ")),
            (EMAIL, json!(" a@example.com\n"), json!("a@example.com")),
            (LINE, json!(null), json!("")),
            (time, json!("2026-10-25T01:30:00Z"), json!("2026-10-25T01:30")),
            (time, json!("9999-12-31T23:59:59Z"), json!("9999-12-31T23:59:59")),
            (DECIMAL, json!("1.2210"), json!("1,2210")),
            (DECIMAL, json!(["1.221"]), json!("1.221")),
            (ENUM, json!("Rental"), json!("rental")),
            (LIST, json!(["a\nb", " c ", ""]), json!({ "lines": "a\nb\n c \n" })),
            (LIST, json!(["b", "a"]), json!(["", "a", "b"])),
            (LIST, json!([]), json!([])),
            (JSON, json!({ "a": [1.5, "\n"] }), json!({ "json": "{\n  \"a\": [\n    1.5,\n    \"\\n\"\n  ]\n}" })),
        ] {
            assert!(is_kept(input, &original, &sent), "{original} sent as {sent}");
        }
    }

    #[test]
    fn an_edited_input_has_its_new_value() {
        let time = InputSpec::of_kind(CustomFieldType::Timestamp.kind());
        for (input, original, sent) in [
            (AREA, json!("A\r\nB"), json!("AB")),
            (AREA, json!("A\r\nB"), json!("A\nC")),
            (LINE, json!("A\nB"), json!("A B")),
            (EMAIL, json!(" a"), json!("")),
            (time, json!("2026-10-25T01:30:00Z"), json!("2026-10-25T01:31")),
            (time, json!("2026-10-25T01:30:00Z"), json!("")),
            (DECIMAL, json!("1.2210"), json!("1.2210")),
            (DECIMAL, json!("1.2210"), json!("1,221")),
            (LIST, json!(["a\nb"]), json!({ "lines": "a\nc" })),
            (LIST, json!(["b", "a"]), json!(["a"])),
            (LIST, json!(["b", "a"]), json!(["a", "c"])),
            (JSON, json!({}), json!({ "json": "[]" })),
        ] {
            assert!(!is_kept(input, &original, &sent), "{original} sent as {sent}");
        }
    }
}
