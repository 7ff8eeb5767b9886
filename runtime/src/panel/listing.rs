//! The API's answer to a list, read without a copy of its names: a table needs a few fields of many records, once.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// What has values by name: a record as the API answers it.
pub trait Fields {
    /// The value of a field; null where there is none.
    fn value(&self, name: &str) -> &Value;
}

/// `{"<plural>": [...], "meta": {...}}`
#[derive(Debug, Default)]
pub struct Listing<'b> {
    pub records: Vec<Record<'b>>,
    pub meta: Value,
}

/// A record of a list: few enough fields to look through.
#[derive(Debug)]
pub struct Record<'b>(Vec<(Cow<'b, str>, Value)>);

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Name<'b>(#[serde(borrow)] Cow<'b, str>);

impl Fields for Value {
    fn value(&self, name: &str) -> &Value {
        &self[name]
    }
}

impl Fields for Record<'_> {
    fn value(&self, name: &str) -> &Value {
        self.0.iter().find(|(known, _)| known == name).map_or(&Value::Null, |(_, value)| value)
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
    use super::{Fields, Listing};

    #[test]
    fn a_list_is_read_with_its_records_and_its_meta() {
        let body = r#"{"lamps":[{"id":7,"na\u006de":"Äpfel","custom_fields":{"x":[1]}},{}],"meta":{"total":2}}"#;
        let listing: Listing<'_> = serde_json::from_str(body).unwrap();
        assert_eq!(listing.meta["total"], 2);
        let [first, second] = &listing.records[..] else { panic!("{listing:?}") };
        assert_eq!((first.value("id").as_i64(), first.value("name").as_str()), (Some(7), Some("Äpfel")));
        assert_eq!(first.value("custom_fields")["x"][0], 1);
        assert!(first.value("unknown").is_null() && second.value("id").is_null());
    }
}
