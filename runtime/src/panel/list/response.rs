//! Body of an API list, deserialized without copying: names and strings borrow from the body.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::server::ApiResponse;
use charter_core::error::{Error, Result};

/// A record as the API returns it.
pub(crate) trait Fields {
    /// The value of a field; null if it is missing.
    fn value(&self, name: &str) -> FieldValue<'_>;
}

/// A borrowed value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FieldValue<'v> {
    Text(&'v str),
    /// Any value but a string.
    Other(&'v Value),
}

/// `{"<plural>": [...], "meta": {...}}`
#[derive(Debug, Default)]
pub(crate) struct ListBody<'b> {
    pub records: Vec<ListRecord<'b>>,
    pub meta: Value,
}

/// A record of a list. Fields are found by linear search, because there are few.
#[derive(Debug)]
pub(crate) struct ListRecord<'b>(Vec<(Cow<'b, str>, OwnedValue<'b>)>);

#[derive(Debug)]
enum OwnedValue<'b> {
    Text(Cow<'b, str>),
    /// Any value but a string.
    Other(Value),
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct FieldName<'b>(#[serde(borrow)] Cow<'b, str>);

impl ApiResponse {
    /// The body of a list.
    ///
    /// # Errors
    /// The API's error, if this is an error response.
    pub(crate) fn list_body(&self) -> Result<ListBody<'_>> {
        if self.is_success() { serde_json::from_slice(&self.body).map_err(Error::internal) } else { Err(self.error()) }
    }
}

impl<'v> From<&'v Value> for FieldValue<'v> {
    fn from(value: &'v Value) -> FieldValue<'v> {
        match value {
            Value::String(text) => FieldValue::Text(text),
            other => FieldValue::Other(other),
        }
    }
}

impl<'v> FieldValue<'v> {
    pub(crate) fn as_str(self) -> Option<&'v str> {
        if let FieldValue::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_i64(self) -> Option<i64> {
        if let FieldValue::Other(value) = self { value.as_i64() } else { None }
    }

    pub(crate) fn as_array(self) -> Option<&'v Vec<Value>> {
        if let FieldValue::Other(value) = self { value.as_array() } else { None }
    }

    /// An entry of an object; null if it is missing.
    pub(crate) fn get(self, name: &str) -> FieldValue<'v> {
        if let FieldValue::Other(value) = self { (&value[name]).into() } else { FieldValue::Other(&Value::Null) }
    }
}

impl Fields for Value {
    fn value(&self, name: &str) -> FieldValue<'_> {
        (&self[name]).into()
    }
}

impl Fields for ListRecord<'_> {
    fn value(&self, name: &str) -> FieldValue<'_> {
        match self.0.iter().find(|(known, _)| known == name) {
            Some((_, OwnedValue::Text(text))) => FieldValue::Text(text),
            Some((_, OwnedValue::Other(value))) => FieldValue::Other(value),
            None => FieldValue::Other(&Value::Null),
        }
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for OwnedValue<'b> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OwnedValue<'b>, D::Error> {
        struct ValueVisitor;
        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = OwnedValue<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<OwnedValue<'de>, E> {
                Ok(OwnedValue::Text(Cow::Borrowed(text)))
            }

            /// A string with escapes cannot be borrowed.
            fn visit_str<E>(self, text: &str) -> Result<OwnedValue<'de>, E> {
                Ok(OwnedValue::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<OwnedValue<'de>, E> {
                Ok(OwnedValue::Other(flag.into()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<OwnedValue<'de>, E> {
                Ok(OwnedValue::Other(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<OwnedValue<'de>, E> {
                Ok(OwnedValue::Other(number.into()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<OwnedValue<'de>, E> {
                Ok(OwnedValue::Other(number.into()))
            }

            fn visit_unit<E>(self) -> Result<OwnedValue<'de>, E> {
                Ok(OwnedValue::Other(Value::Null))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OwnedValue<'de>, A::Error> {
                Value::deserialize(SeqAccessDeserializer::new(list)).map(OwnedValue::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OwnedValue<'de>, A::Error> {
                Value::deserialize(MapAccessDeserializer::new(map)).map(OwnedValue::Other)
            }
        }
        from.deserialize_any(ValueVisitor)
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for ListRecord<'b> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ListRecord<'b>, D::Error> {
        struct RecordVisitor;
        impl<'de> Visitor<'de> for RecordVisitor {
            type Value = ListRecord<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ListRecord<'de>, A::Error> {
                let mut fields = Vec::with_capacity(16);
                while let Some((FieldName(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(ListRecord(fields))
            }
        }
        from.deserialize_map(RecordVisitor)
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for ListBody<'b> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ListBody<'b>, D::Error> {
        struct ListVisitor;
        impl<'de> Visitor<'de> for ListVisitor {
            type Value = ListBody<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of records and its `meta`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ListBody<'de>, A::Error> {
                let mut listing = ListBody::default();
                while let Some(FieldName(name)) = map.next_key()? {
                    match &*name {
                        "meta" => listing.meta = map.next_value()?,
                        _ => listing.records = map.next_value()?,
                    }
                }
                Ok(listing)
            }
        }
        from.deserialize_map(ListVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FieldValue, Fields, ListBody};

    #[test]
    fn a_list_is_deserialized_with_its_records_and_meta() {
        let body = r#"{"lamps":[{"id":7,"na\u006de":"Äpfel","note":"a\nb","custom_fields":{"x":["y"]},"on":true,"at":null,
            "part":-0.5,"list":[-1]},{}],"meta":{"total":2}}"#;
        let listing: ListBody<'_> = serde_json::from_str(body).unwrap();
        assert_eq!(listing.meta["total"], 2);
        let [first, second] = &listing.records[..] else { panic!("{listing:?}") };
        assert_eq!((first.value("id").as_i64(), first.value("name").as_str()), (Some(7), Some("Äpfel")));
        assert_eq!(first.value("note").as_str(), Some("a\nb"));
        assert_eq!(first.value("custom_fields").get("x").as_array().unwrap()[0], "y");
        assert_eq!(first.value("list").as_array().unwrap()[0], -1);
        for (name, expected) in
            [("on", json!(true)), ("at", json!(null)), ("part", json!(-0.5)), ("unknown", json!(null))]
        {
            assert!(matches!(first.value(name), FieldValue::Other(value) if *value == expected), "{name}");
        }
        assert!(matches!(second.value("id"), FieldValue::Other(Value::Null)));
        assert!(matches!(second.value("custom_fields").get("x"), FieldValue::Other(Value::Null)));
    }
}
