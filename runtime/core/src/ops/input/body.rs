//! Request bodies: a JSON object as field names and raw values, which preserves the digits of every number.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Error, Result};

/// Maximum fields of one object: more than any resource has, and few enough for a linear search.
pub const MAX_FIELDS: usize = 1_000;

/// Error for a string with an unpaired surrogate, the only well-formed JSON string that is not text.
pub const UNPAIRED_SURROGATE: &str = "must not contain an unpaired surrogate";

/// A JSON object.
#[derive(Debug, Default)]
pub struct Body<'b> {
    /// In the order of the body.
    pub fields: Vec<(Cow<'b, str>, &'b RawValue)>,
    /// The names of fields next to the singular key, where the fields are nested under it.
    pub outside: Vec<Cow<'b, str>>,
}

/// One raw value. A number stays text, so that it is not rounded.
#[derive(Debug, Clone)]
pub enum RawJson<'b> {
    Null,
    Bool(bool),
    Number(&'b str),
    Text(Cow<'b, str>),
    /// The JSON of a list or an object.
    Nested(&'b str),
}

impl<'b> Body<'b> {
    /// Reads a body: fields at the top level, or nested under `key` if it is present. No field has the name of that
    /// key.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is not a JSON object. An empty body has no fields.
    pub fn read(bytes: &'b [u8], key: Option<&str>) -> Result<Body<'b>> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Body::default());
        }
        let flat: Body<'b> = serde_json::from_slice(bytes).map_err(|e| malformed(&e))?;
        let is_wrapper = |name: &str, value: &RawValue| key == Some(name) && value.get().starts_with('{');
        let Some(position) = flat.fields.iter().position(|(name, value)| is_wrapper(name, value)) else {
            return Ok(flat);
        };
        let mut body: Body<'b> = serde_json::from_str(flat.fields[position].1.get()).map_err(|e| malformed(&e))?;
        body.outside = flat.fields.into_iter().map(|(name, _)| name).filter(|name| key != Some(name)).collect();
        Ok(body)
    }

    /// Reads a nested object.
    ///
    /// # Errors
    /// The validation message.
    pub fn nested(json: &'b str) -> Result<Body<'b>, String> {
        if !json.starts_with('{') {
            return Err("must be an object".into());
        }
        serde_json::from_str(json).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => format!("must have at most {MAX_FIELDS} fields"),
            // The JSON is well-formed: a name contains an unpaired surrogate.
            _ => UNPAIRED_SURROGATE.into(),
        })
    }
}

fn malformed(error: &serde_json::Error) -> Error {
    Error::Malformed(match error.classify() {
        serde_json::error::Category::Data => format!("The body must be a JSON object of at most {MAX_FIELDS} fields."),
        _ => format!("The body is not well-formed JSON, at line {} column {}.", error.line(), error.column()),
    })
}

impl<'b> RawJson<'b> {
    pub fn read(raw: &'b RawValue) -> RawJson<'b> {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'n') => RawJson::Null,
            Some(b't') => RawJson::Bool(true),
            Some(b'f') => RawJson::Bool(false),
            Some(b'"') => match serde_json::from_str::<Text<'b>>(text) {
                Ok(Text(text)) => RawJson::Text(text),
                // Only an unpaired surrogate makes a well-formed string fail.
                Err(_) => RawJson::Nested(text),
            },
            Some(b'[' | b'{') => RawJson::Nested(text),
            _ => RawJson::Number(text),
        }
    }

    /// The text of a value that is not null, a list or an object.
    pub fn scalar(&self) -> Result<&str, String> {
        match self {
            RawJson::Bool(true) => Ok("true"),
            RawJson::Bool(false) => Ok("false"),
            RawJson::Number(text) => Ok(text),
            RawJson::Text(text) => Ok(text),
            RawJson::Null => Err("must not be null".into()),
            RawJson::Nested(text) if text.starts_with('"') => Err(self.not_text().into()),
            RawJson::Nested(_) => Err("must be a single value".into()),
        }
    }

    /// The validation message for a value that is not text.
    pub fn not_text(&self) -> &'static str {
        match self {
            RawJson::Nested(text) if text.starts_with('"') => UNPAIRED_SURROGATE,
            _ => "must be a string",
        }
    }
}

/// Text, borrowed if it has no escapes.
#[derive(Deserialize)]
struct Text<'b>(#[serde(borrow)] Cow<'b, str>);

impl<'de> Deserialize<'de> for Body<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Body<'de>, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Body<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body<'de>, A::Error> {
                let mut fields: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some((Text(name), value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    if fields.len() == MAX_FIELDS {
                        return Err(serde::de::Error::custom("too many fields"));
                    }
                    // The last of repeated names wins, as in most JSON parsers.
                    fields.retain(|(known, _)| *known != name);
                    fields.push((name, value));
                }
                Ok(Body { fields, outside: Vec::new() })
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_can_be_at_the_top_level_or_under_the_singular_key() {
        for json in [r#"{"name":"Lamp","rate":1.10}"#, r#"{"product":{"name":"Lamp","rate":1.10}}"#] {
            let body = Body::read(json.as_bytes(), Some("product")).unwrap();
            assert_eq!(body.fields.len(), 2);
            assert!(matches!(RawJson::read(body.fields[1].1), RawJson::Number("1.10")));
        }
        let body = Body::read(br#"{"id":1,"product":{"name":"Lamp"},"rate":2}"#, Some("product")).unwrap();
        assert_eq!((body.fields.len(), body.outside), (1, vec!["id".into(), "rate".into()]));
        let body = Body::read(br#"{"product":{"a":1}}"#, None).unwrap();
        assert_eq!(body.fields[0].0, "product");
    }

    #[test]
    fn body_that_is_not_an_object_is_malformed() {
        for json in ["[]", "1", "\"x\"", "{", "{\"a\":}", "{\"a\":1}x", "\u{feff}{}"] {
            assert!(matches!(Body::read(json.as_bytes(), Some("product")), Err(Error::Malformed(_))), "{json}");
        }
    }
}
