//! Validation errors of a form, in the words of its readers.

use serde_json::Value;

use super::input;
use crate::language::{self, text};
use crate::panel::display_name::{self, DisplayNames};
use crate::panel::format::number_input::{self, Separators};
use crate::panel::format::{labels, pattern_words};
use crate::panel::request::PanelRequest;
use charter_core::meta::{FieldMeta, Kind, Rule};
use charter_core::ops::input::rules;

/// The text of an error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FieldError {
    /// Continues the label of the field: `must be at least 0`.
    Predicate(String),
    /// Stands alone: `No product group is called Video 9.`
    Sentence(String),
}

/// A value that the API has refused.
pub(crate) struct RefusedValue<'v> {
    /// The fields of the resource, to which a message may refer.
    pub fields: &'static [FieldMeta],
    /// `None` for a custom field.
    pub field: Option<&'static FieldMeta>,
    pub kind: Kind,
    pub value: &'v Value,
}

impl FieldError {
    /// The error of a field, for the messages of the API. A text in a reference is a title that no single record has, and a
    /// text in a number could not be read; the API only knows that their types are wrong.
    pub(crate) fn of(
        request: &PanelRequest<'_>,
        refused: &RefusedValue<'_>,
        display_names: &DisplayNames,
        messages: &[String],
    ) -> FieldError {
        let separators = Separators::of(&request.locale.numbers);
        if let Some(title) = input::unmatched_name(refused.kind, refused.value) {
            let Some(resource) = refused.kind.referred() else {
                return FieldError::Sentence(text!("No record is called {name}.", name = title));
            };
            let referenced = request.state.catalog.linked(resource);
            let meta = referenced.meta;
            // Nobody has looked for the title.
            if !display_name::is_listable(request, referenced) {
                return FieldError::Predicate(text!("must be an id"));
            }
            return FieldError::Sentence(match display_names.is_shared(resource, title) {
                true => text!(
                    "Several {records} are called {name}. Choose one of the suggestions.",
                    records = labels::plural(meta),
                    name = title
                ),
                false => text!("No {record} is called {name}.", record = labels::singular(meta), name = title),
            });
        }
        if let Some(text) = number_input::unreadable_text(refused.kind, refused.value) {
            return FieldError::Sentence(number_input::describe(&separators, refused.kind, text));
        }
        if let Some(sentence) = refused.broken_pattern(messages) {
            return FieldError::Sentence(sentence);
        }
        let words = messages.iter().map(|message| refused.in_language(message, &separators));
        FieldError::Predicate(words.collect::<Vec<_>>().join("; "))
    }

    /// The error next to its input, which has the label.
    pub(crate) fn at_input(&self, label: &str) -> String {
        match self {
            FieldError::Predicate(text) => format!("{label} {text}"),
            FieldError::Sentence(text) => text.clone(),
        }
    }

    /// The error after the label, in a list of errors.
    pub(crate) fn after_label(&self) -> String {
        match self {
            FieldError::Predicate(text) => format!(" {text}"),
            FieldError::Sentence(text) => format!(": {text}"),
        }
    }
}

impl RefusedValue<'_> {
    /// The error of a text that does not match its pattern: the characters that it may have, or an example.
    fn broken_pattern(&self, messages: &[String]) -> Option<String> {
        let (field, [message]) = (self.field?, messages) else { return None };
        let pattern = field.rules.iter().find_map(|rule| match rule {
            Rule::Pattern(pattern) if *message == rules::pattern_message(pattern) => Some(*pattern),
            _ => None,
        })?;
        let allowed = pattern_words::allowed_characters(pattern, &input::to_text(self.value));
        Some(match (allowed, field.example) {
            (Some(allowed), _) => text!("Only {characters}.", characters = allowed),
            (None, "") => text!("This is not in the expected form."),
            (None, example) => text!("This is not in the expected form, for example {example}.", example = example),
        })
    }

    /// A message in the reader's language.
    fn in_language(&self, message: &str, separators: &Separators) -> String {
        language::message(&self.in_words(message, separators))
    }

    /// A message with the labels of other fields, with numbers as inputs take them, and without code.
    fn in_words(&self, message: &str, separators: &Separators) -> String {
        if message == "must be an integer" {
            return "must be a whole number".into();
        }
        let is_compared = |name: &str| {
            let mut rules = self.field.into_iter().flat_map(|field| field.rules);
            rules.any(|rule| match rule {
                Rule::DiffersFrom(other) | Rule::MatchesField(other) | Rule::After(other) | Rule::NotBefore(other) => {
                    *other == name
                }
                _ => false,
            })
        };
        // A word like `name` is only a field if a rule refers to it.
        let label = |word: &str| {
            let field = self.fields.iter().find(|field| field.name == word)?;
            (word.contains('_') || is_compared(word)).then(|| text!("“{value}”", value = labels::field(field)))
        };
        let in_words = |word: &str| {
            let bare = word.trim_end_matches([',', ';', '.']);
            let end = &word[bare.len()..];
            match label(bare) {
                Some(label) => format!("{label}{end}"),
                None if self.kind.facts().is_number => format!("{}{end}", separators.show(bare)),
                None => word.to_string(),
            }
        };
        message.replace('`', "").split(' ').map(in_words).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::language::Tables;
    use crate::panel::format::money::NumberFormat;

    const FIELDS: &[FieldMeta] = &[
        FieldMeta::new("starts_at", Kind::Text),
        FieldMeta { rules: &[Rule::After("starts_at")], ..FieldMeta::new("ends_at", Kind::Text) },
        FieldMeta { rules: &[Rule::Pattern("[A-Z]{3}")], example: "GBP", ..FieldMeta::new("code", Kind::Text) },
        FieldMeta { rules: &[Rule::DiffersFrom("code")], ..FieldMeta::new("other", Kind::Text) },
        FieldMeta::new("rate", Kind::Decimal { precision: 12, places: 2 }),
    ];

    fn refused(index: usize, value: &Value) -> RefusedValue<'_> {
        RefusedValue { fields: FIELDS, field: Some(&FIELDS[index]), kind: FIELDS[index].kind, value }
    }

    #[test]
    fn a_message_has_labels_and_numbers_as_people_write_them() {
        let german =
            NumberFormat { thousands_separator: ".".into(), decimal_separator: ",".into(), ..NumberFormat::default() };
        let separators = Separators::of(&german);
        for (index, message, words) in [
            (1, "must be after starts_at", "must be after “Starts at”"),
            (3, "must differ from code", "must differ from “Code”"),
            (
                1,
                "is already taken together with starts_at, ends_at",
                "is already taken together with “Starts at”, “Ends at”",
            ),
            (1, "is no code of `x`", "is no code of x"),
            (4, "must be at least 0.5", "must be at least 0,5"),
            (4, "must be an integer", "must be a whole number"),
        ] {
            assert_eq!(refused(index, &Value::Null).in_words(message, &separators), words);
        }
    }

    #[tokio::test]
    async fn a_message_with_a_number_or_the_label_of_another_field_is_in_german() {
        let labels = "labels: { Starts at: Beginn, Code: Kürzel }";
        let german = Tables::new(&[("de", labels)]).expect("tables").find("de").expect("the language");
        let numbers = NumberFormat { decimal_separator: ",".into(), ..NumberFormat::default() };
        let separators = Separators::of(&numbers);
        let check = async {
            for (index, message, words) in [
                (1, "must be after starts_at", "muss nach „Beginn“ liegen"),
                (3, "must differ from code", "muss sich unterscheiden von „Kürzel“"),
                (1, "is already taken together with starts_at", "ist zusammen mit „Beginn“ bereits vergeben"),
                (4, "must be at least 0.5", "muss mindestens 0,5 sein"),
                (4, "must be an integer", "muss eine ganze Zahl sein"),
                (4, "must have at most 2 decimal places", "darf höchstens 2 Nachkommastellen haben"),
                (1, "requires the permission `a.b`", "erfordert die Berechtigung a.b"),
                (1, "is unheard of", "is unheard of"),
            ] {
                assert_eq!(refused(index, &Value::Null).in_language(message, &separators), words);
            }
        };
        german.scope(check).await;
    }

    #[test]
    fn a_broken_pattern_is_explained_by_its_characters_or_an_example() {
        let message = vec![rules::pattern_message("[A-Z]{3}")];
        for (value, words) in [("gbp", "Only A to Z."), ("GB", "This is not in the expected form, for example GBP.")] {
            assert_eq!(refused(2, &json!(value)).broken_pattern(&message).as_deref(), Some(words));
        }
        assert_eq!(refused(2, &json!("x")).broken_pattern(&["is required".to_string()]), None);
        assert_eq!(refused(4, &json!("x")).broken_pattern(&message), None);
    }
}
