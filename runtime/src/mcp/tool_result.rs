//! The result of a tool: the JSON of the API for programs and, as text, for models.

use charter_core::error::{Error, Result};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The result of a call. The order of fields and the digits of numbers are those of the API.
#[derive(Debug, Serialize)]
pub(super) struct ToolResult {
    content: Value,
    #[serde(rename = "structuredContent")]
    json: Box<RawValue>,
    #[serde(rename = "isError")]
    is_error: bool,
}

impl ToolResult {
    /// The result with the body of a response, and with entries that the body lacks.
    ///
    /// # Errors
    /// An internal error if the body is not a JSON object.
    pub(super) fn of(body: &[u8], more: &[(&str, Value)], is_error: bool) -> Result<ToolResult> {
        let body = std::str::from_utf8(body).map_err(Error::internal)?.trim();
        let entries = body.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let entries = entries.ok_or_else(|| Error::internal("the response to a tool is not an object"))?;
        let mut text = String::with_capacity(body.len() + 64);
        let own = Some(entries).filter(|entries| !entries.trim().is_empty()).map(str::to_string);
        let more = more.iter().map(|(name, value)| format!("{}:{value}", json!(name)));
        for entry in own.into_iter().chain(more) {
            text.push(if text.is_empty() { '{' } else { ',' });
            text.push_str(&entry);
        }
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        let content = json!([{ "type": "text", "text": text }]);
        Ok(ToolResult { content, json: RawValue::from_string(text).map_err(Error::internal)?, is_error })
    }

    /// The result of a call that the server refused.
    ///
    /// # Errors
    /// When serialization fails.
    pub(super) fn refused(error: &Error, request_id: &str) -> Result<ToolResult> {
        ToolResult::of(error.body(request_id).to_string().as_bytes(), &[], true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_follow_those_of_the_body_in_their_order() {
        let text = |body: &str, more: &[(&str, Value)]| {
            let result = ToolResult::of(body.as_bytes(), more, false).unwrap();
            assert_eq!(result.content[0]["text"], result.json.get());
            result.json.get().to_string()
        };
        assert_eq!(text(r#"{"b":1.50,"a":2}"#, &[("etag", json!("x"))]), r#"{"b":1.50,"a":2,"etag":"x"}"#);
        assert_eq!(text("{}", &[("etag", json!("x"))]), r#"{"etag":"x"}"#);
        assert_eq!(text(" { } ", &[]), "{}");
        assert!(ToolResult::of(b"[]", &[], false).is_err());
    }
}
