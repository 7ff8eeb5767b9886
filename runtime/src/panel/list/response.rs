//! The API's answer to a list, read without a copy of its names and texts: a table needs a few fields of many records, once.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// What has values by name: a record as the API answers it.
pub trait Fields {
    /// The value of a field; null where there is none.
    fn value(&self, name: &str) -> Seen<'_>;
}

/// A value as a page looks at it. The texts of a list stand in the answer itself.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'v> {
    Text(&'v str),
    /// Anything but a text.
    Other(&'v Value),
}

/// `{"<plural>": [...], "meta": {...}}`
#[derive(Debug, Default)]
pub struct Listing<'b> {
    pub records: Vec<Record<'b>>,
    pub meta: Value,
}

/// A record of a list: few enough fields to look through.
#[derive(Debug)]
pub struct Record<'b>(Vec<(Cow<'b, str>, Held<'b>)>);

#[derive(Debug)]
enum Held<'b> {
    Text(Cow<'b, str>),
    /// Anything but a text.
    Other(Value),
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Name<'b>(#[serde(borrow)] Cow<'b, str>);

impl<'v> From<&'v Value> for Seen<'v> {
    fn from(value: &'v Value) -> Seen<'v> {
        match value {
            Value::String(text) => Seen::Text(text),
            other => Seen::Other(other),
        }
    }
}

impl<'v> Seen<'v> {
    pub fn as_str(self) -> Option<&'v str> {
        if let Seen::Text(text) = self { Some(text) } else { None }
    }

    pub fn as_i64(self) -> Option<i64> {
        if let Seen::Other(value) = self { value.as_i64() } else { None }
    }

    pub fn as_array(self) -> Option<&'v Vec<Value>> {
        if let Seen::Other(value) = self { value.as_array() } else { None }
    }

    /// A value of what is an object; null where there is none.
    pub fn of(self, name: &str) -> Seen<'v> {
        if let Seen::Other(value) = self { (&value[name]).into() } else { Seen::Other(&Value::Null) }
    }
}

impl Fields for Value {
    fn value(&self, name: &str) -> Seen<'_> {
        (&self[name]).into()
    }
}

impl Fields for Record<'_> {
    fn value(&self, name: &str) -> Seen<'_> {
        match self.0.iter().find(|(known, _)| known == name) {
            Some((_, Held::Text(text))) => Seen::Text(text),
            Some((_, Held::Other(value))) => Seen::Other(value),
            None => Seen::Other(&Value::Null),
        }
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for Held<'b> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Held<'b>, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
            type Value = Held<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Held<'de>, E> {
                Ok(Held::Text(Cow::Borrowed(text)))
            }

            /// One with escapes, which is written anew.
            fn visit_str<E>(self, text: &str) -> Result<Held<'de>, E> {
                Ok(Held::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Held<'de>, E> {
                Ok(Held::Other(flag.into()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Held<'de>, E> {
                Ok(Held::Other(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Held<'de>, E> {
                Ok(Held::Other(number.into()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Held<'de>, E> {
                Ok(Held::Other(number.into()))
            }

            fn visit_unit<E>(self) -> Result<Held<'de>, E> {
                Ok(Held::Other(Value::Null))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Held<'de>, A::Error> {
                Value::deserialize(SeqAccessDeserializer::new(list)).map(Held::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Held<'de>, A::Error> {
                Value::deserialize(MapAccessDeserializer::new(map)).map(Held::Other)
            }
        }
        from.deserialize_any(Reading)
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for Record<'b> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Record<'b>, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
            type Value = Record<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<'de>, A::Error> {
                let mut fields = Vec::with_capacity(16);
                while let Some((Name(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Record(fields))
            }
        }
        from.deserialize_map(Reading)
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for Listing<'b> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Listing<'b>, D::Error> {
        struct Reading;
        impl<'de> Visitor<'de> for Reading {
            type Value = Listing<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of records and its `meta`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listing<'de>, A::Error> {
                let mut listing = Listing::default();
                while let Some(Name(name)) = map.next_key()? {
                    match &*name {
                        "meta" => listing.meta = map.next_value()?,
                        _ => listing.records = map.next_value()?,
                    }
                }
                Ok(listing)
            }
        }
        from.deserialize_map(Reading)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Fields, Listing, Seen};

    #[test]
    fn a_list_is_read_with_its_records_and_its_meta() {
        let body = r#"{"lamps":[{"id":7,"na\u006de":"Äpfel","note":"a\nb","custom_fields":{"x":["y"]},"on":true,"at":null,
            "part":-0.5,"list":[-1]},{}],"meta":{"total":2}}"#;
        let listing: Listing<'_> = serde_json::from_str(body).unwrap();
        assert_eq!(listing.meta["total"], 2);
        let [first, second] = &listing.records[..] else { panic!("{listing:?}") };
        assert_eq!((first.value("id").as_i64(), first.value("name").as_str()), (Some(7), Some("Äpfel")));
        assert_eq!(first.value("note").as_str(), Some("a\nb"));
        assert_eq!(first.value("custom_fields").of("x").as_array().unwrap()[0], "y");
        assert_eq!(first.value("list").as_array().unwrap()[0], -1);
        for (name, told) in [("on", json!(true)), ("at", json!(null)), ("part", json!(-0.5)), ("unknown", json!(null))]
        {
            assert!(matches!(first.value(name), Seen::Other(value) if *value == told), "{name}");
        }
        assert!(matches!(second.value("id"), Seen::Other(Value::Null)));
        assert!(matches!(second.value("custom_fields").of("x"), Seen::Other(Value::Null)));
    }
}
