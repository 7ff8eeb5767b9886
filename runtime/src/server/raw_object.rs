//! JSON object whose entries keep their order and the digits of their numbers.

use charter_core::error::{Error, Result};
use charter_core::ops::Body;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// The entries of an object, each with its JSON.
#[derive(Debug, Default)]
pub(super) struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// Reads an object; no bytes are an empty one.
    ///
    /// # Errors
    /// An internal error if the bytes are not a JSON object.
    pub(super) fn read(json: &[u8]) -> Result<RawObject> {
        let body = Body::read(json, None).map_err(|_| Error::internal("a response is not a JSON object"))?;
        Ok(RawObject(body.fields.into_iter().map(|(name, raw)| (name.into_owned(), raw.to_owned())).collect()))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, raw)| (name.as_str(), raw.as_ref()))
    }

    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        self.iter().find(|(known, _)| *known == name).map(|(_, raw)| raw)
    }

    /// The JSON of an entry; `None` if there is none.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(RawValue::get)
    }

    /// The elements of a list of objects; none if the entry is not one.
    pub(super) fn objects(&self, name: &str) -> Vec<RawObject> {
        let elements: Vec<&RawValue> =
            self.text(name).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        elements.into_iter().filter_map(|raw| RawObject::read(raw.get().as_bytes()).ok()).collect()
    }

    /// Adds an entry, or replaces it in its place.
    ///
    /// # Errors
    /// When serialization fails.
    pub(super) fn set(&mut self, name: &str, value: &impl Serialize) -> Result<()> {
        let raw = to_raw_value(value).map_err(Error::internal)?;
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = raw,
            None => self.0.push((name.to_string(), raw)),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, raw)| map.serialize_entry(name, raw))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_digits_are_kept() {
        let json = br#"{"b":12345678901234567890.10,"a":[{"id":1},{"z":2}],"c":"\u00e9"}"#;
        let mut object = RawObject::read(json).unwrap();
        assert_eq!(serde_json::to_vec(&object).unwrap(), json);
        assert_eq!(object.objects("a").iter().map(|one| one.text("id")).collect::<Vec<_>>(), [Some("1"), None]);
        assert!(object.objects("b").is_empty());
        object.set("a", &true).unwrap();
        object.remove("b");
        object.set("d", &1).unwrap();
        assert_eq!(serde_json::to_string(&object).unwrap(), r#"{"a":true,"c":"\u00e9","d":1}"#);
    }
}
