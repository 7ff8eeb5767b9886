//! Snapshot of a form: the values that its inputs were rendered with, the time zone and the separators of numbers.
//!
//! The form sends it back, so that the server knows which inputs were edited, and reads the others as they were shown. It
//! is not signed: a forged snapshot only selects which of the sent values are written.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use maud::{Markup, html};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use crate::language::text;
use crate::panel::format::locale::Locale;
use crate::panel::format::number_input::Separators;
use crate::panel::request::form_value;
use charter_core::error::{Error, Result};
use charter_core::query::Pair;

/// Name of the hidden input.
pub(crate) const INPUT: &str = "_shown";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FormSnapshot {
    #[serde(serialize_with = "zone_name", deserialize_with = "zone_by_name")]
    pub zone: Tz,
    /// `None` if numbers have the form of the API, as in a request that no page of the panel has made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separators: Option<Separators>,
    /// The values of the inputs, as the API returned them; those that a create form was rendered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Map<String, Value>>,
    /// The fields that the user and somebody else changed, by their name in the API's errors, with the value before both
    /// changes. The list is empty if that value is not known, otherwise it has one element.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conflicts: BTreeMap<String, Vec<Value>>,
}

impl FormSnapshot {
    /// The snapshot of a form that shows values in this locale.
    pub(crate) fn of_locale(locale: &Locale) -> FormSnapshot {
        let separators = Some(Separators::of(&locale.numbers));
        FormSnapshot { zone: locale.zone, separators, record: None, conflicts: BTreeMap::new() }
    }

    /// The snapshot in a form. Without one, times are in the company's time zone, and numbers have the form of the API.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the form has an invalid one.
    pub(crate) fn parse(form: &[Pair], locale: &Locale) -> Result<FormSnapshot> {
        match form_value(form, INPUT) {
            None => Ok(FormSnapshot { separators: None, ..FormSnapshot::of_locale(locale) }),
            Some(text) => serde_json::from_str(text)
                .map_err(|_| Error::Malformed(text!("A hidden field of the form is invalid. Reload the page."))),
        }
    }

    /// The same values, shown in this locale.
    pub(crate) fn in_locale(self, locale: &Locale) -> FormSnapshot {
        let FormSnapshot { record, conflicts, .. } = self;
        FormSnapshot { record, conflicts, ..FormSnapshot::of_locale(locale) }
    }

    /// The hidden input. JSON text has no line breaks, which a browser would change.
    pub(crate) fn render(&self) -> Markup {
        let text = serde_json::to_string(self).unwrap_or_default();
        html! { input type="hidden" name=(INPUT) value=(text); }
    }

    /// The value that a field was rendered with: `weight`, `custom_fields.power`.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        let record = self.record.as_ref()?;
        match name.split_once('.') {
            Some((field, inner)) => record.get(field)?.get(inner),
            None => record.get(name),
        }
    }
}

fn zone_name<S: Serializer>(zone: &Tz, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(zone.name())
}

fn zone_by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tz, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_survives_the_round_trip_through_a_form() {
        let locale = Locale { zone: Tz::Europe__Berlin, ..Locale::default() };
        let record = serde_json::json!({ "name": "A\nB", "custom_fields": { "power": null } });
        let snapshot = FormSnapshot {
            record: record.as_object().cloned(),
            conflicts: BTreeMap::from([("name".into(), vec![Value::Null])]),
            ..FormSnapshot::of_locale(&locale)
        };
        let sent = Pair { name: INPUT.into(), value: serde_json::to_string(&snapshot).unwrap() };
        let read = FormSnapshot::parse(&[sent], &Locale::default()).unwrap();
        assert_eq!((read.zone, &read.separators), (Tz::Europe__Berlin, &snapshot.separators));
        assert_eq!((&read.record, &read.conflicts), (&snapshot.record, &snapshot.conflicts));
        assert_eq!(read.value("custom_fields.power"), Some(&Value::Null));
        assert_eq!((read.value("name"), read.value("sku")), (record.get("name"), None));
    }

    #[test]
    fn an_invalid_snapshot_is_rejected() {
        for text in ["", "{}", "x", r#"{"zone":"Moon"}"#, r#"{"zone":"UTC","record":1}"#] {
            let sent = [Pair { name: INPUT.into(), value: text.into() }];
            let error = FormSnapshot::parse(&sent, &Locale::default()).unwrap_err();
            assert!(error.message("").contains("Reload the page"), "{text}");
        }
        assert_eq!(FormSnapshot::parse(&[], &Locale::default()).unwrap().separators, None);
    }
}
