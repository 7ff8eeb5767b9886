//! The result of a tool: the JSON of the API for programs and, as text, for models.

use charter_core::error::{Error, Result};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Serialize, ser};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The result of a call. The order of fields and the digits of numbers are those of the API.
#[derive(Debug)]
pub(super) struct ToolResult {
    /// A JSON object.
    json: String,
    pub is_error: bool,
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Text<'t> {
            r#type: &'static str,
            text: &'t str,
        }
        let json: &RawValue = serde_json::from_str(&self.json).map_err(ser::Error::custom)?;
        let mut result = serializer.serialize_struct("ToolResult", 3)?;
        result.serialize_field("content", &[Text { r#type: "text", text: &self.json }])?;
        result.serialize_field("structuredContent", json)?;
        result.serialize_field("isError", &self.is_error)?;
        result.end()
    }
}

impl ToolResult {
    /// The result with the body of a response, and with entries that the body lacks.
    ///
    /// # Errors
    /// An internal error if the body is not a JSON object.
    pub(super) fn of(body: Vec<u8>, more: &[(&str, Value)], is_error: bool) -> Result<ToolResult> {
        let mut json = String::from_utf8(body).map_err(Error::internal)?;
        json.truncate(json.trim_end().len());
        if !json.starts_with('{') || json.pop() != Some('}') {
            return Err(Error::internal("the response to a tool is not an object"));
        }
        let mut is_empty = json[1..].trim().is_empty();
        for (name, value) in more {
            json.push_str(if is_empty { "" } else { "," });
            json.push_str(&format!("{}:{value}", json!(name)));
            is_empty = false;
        }
        json.push('}');
        Ok(ToolResult { json, is_error })
    }

    /// The result of a call that the server refused.
    ///
    /// # Errors
    /// When serialization fails.
    pub(super) fn refused(error: &Error, request_id: &str) -> Result<ToolResult> {
        ToolResult::of(error.body(request_id).to_string().into_bytes(), &[], true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_follow_those_of_the_body_in_their_order() {
        let text = |body: &str, more: &[(&str, Value)]| {
            let result = ToolResult::of(body.as_bytes().to_vec(), more, false).unwrap();
            let sent = serde_json::to_string(&result).unwrap();
            let text = &serde_json::from_str::<Value>(&sent).unwrap()["content"][0]["text"];
            assert_eq!(*text, json!(result.json));
            assert!(sent.contains(&format!(r#""structuredContent":{},"#, result.json)), "{sent}");
            result.json
        };
        assert_eq!(text(r#"{"b":1.50,"a":2}"#, &[("etag", json!("x"))]), r#"{"b":1.50,"a":2,"etag":"x"}"#);
        assert_eq!(text("{}", &[("etag", json!("x"))]), r#"{"etag":"x"}"#);
        assert_eq!(text("{ } ", &[]), "{ }");
        assert!(ToolResult::of(b"[]".to_vec(), &[], false).is_err());
    }
}
