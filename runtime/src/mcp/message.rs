//! Messages of JSON-RPC 2.0, in which MCP is written: requests, notifications, results and errors.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::tool_result::ToolResult;
use crate::openapi::node::Node;

/// Error codes of JSON-RPC 2.0, section 5.1.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const INTERNAL_ERROR: i32 = -32603;

/// An error of the protocol. A refusal by the API is a result of the tool instead, so that the model reads it.
#[derive(Debug, Serialize)]
pub(super) struct RpcError {
    pub code: i32,
    pub message: String,
}

impl RpcError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> RpcError {
        RpcError::new(INVALID_PARAMS, message)
    }
}

/// The response to a request. The id is null if it could not be read.
#[derive(Debug, Serialize)]
pub(super) struct Reply<'r> {
    pub jsonrpc: &'static str,
    pub id: &'r Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

impl Reply<'_> {
    pub(super) fn new(id: &Value, outcome: Result<Answer, RpcError>) -> Reply<'_> {
        let (result, error) = match outcome {
            Ok(answer) => (Some(answer), None),
            Err(error) => (None, Some(error)),
        };
        Reply { jsonrpc: "2.0", id, result, error }
    }
}

/// The result of a method, serialized once, as a part of the reply.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Json(Value),
    Tools(Node),
    Call(ToolResult),
}

/// A message that the client sent.
#[derive(Debug)]
pub(super) enum Message {
    Request {
        id: Value,
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// A notification, or a response: the server answers neither.
    Unanswered,
}

#[derive(Deserialize)]
struct RawMessage {
    jsonrpc: Option<Value>,
    /// Null is not the same as a missing id.
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Message {
    /// Reads a body with one message. The revision 2025-06-18 has no batches.
    ///
    /// # Errors
    /// [`PARSE_ERROR`] if it is not JSON, [`INVALID_REQUEST`] if it is not a message; with its id, if it has a valid one.
    pub(super) fn read(body: &[u8]) -> Result<Message, (Value, RpcError)> {
        let raw = RawMessage::read(body).map_err(|error| (Value::Null, error))?;
        let id = raw.id.clone().filter(is_id).unwrap_or_default();
        raw.message().map_err(|message| (id, RpcError::new(INVALID_REQUEST, message)))
    }

    /// The id of a request, otherwise null.
    pub(super) fn id(&self) -> Value {
        match self {
            Message::Request { id, .. } => id.clone(),
            Message::Unanswered => Value::Null,
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_number()
}

impl RawMessage {
    fn read(body: &[u8]) -> Result<RawMessage, RpcError> {
        let invalid = |message: &str| RpcError::new(INVALID_REQUEST, message);
        let json: &RawValue =
            serde_json::from_slice(body).map_err(|error| RpcError::new(PARSE_ERROR, format!("Not JSON: {error}")))?;
        match json.get().as_bytes().first() {
            Some(b'{') => {}
            Some(b'[') => return Err(invalid("Send one message in a request: batches are not supported.")),
            _ => return Err(invalid("A message is a JSON object.")),
        }
        serde_json::from_str(json.get()).map_err(|error| invalid(&error.to_string()))
    }

    fn message(self) -> Result<Message, &'static str> {
        if self.jsonrpc != Some("2.0".into()) {
            return Err("`jsonrpc` must be \"2.0\".");
        }
        let method = match self.method {
            Some(Value::String(method)) => method,
            Some(_) => return Err("`method` must be text."),
            None if self.result.is_some() || self.error.is_some() => return Ok(Message::Unanswered),
            None => return Err("`method` is missing."),
        };
        match self.id {
            None => Ok(Message::Unanswered),
            Some(id) if is_id(&id) => Ok(Message::Request { id, method, params: self.params }),
            Some(_) => Err("`id` must be text or a number."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_an_id_and_notifications_have_none() {
        let request = Message::read(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
        assert!(matches!(request, Ok(Message::Request { id, method, .. }) if id == "a" && method == "ping"));
        for unanswered in [r#"{"jsonrpc":"2.0","method":"x"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#] {
            assert!(matches!(Message::read(unanswered.as_bytes()), Ok(Message::Unanswered)), "{unanswered}");
        }
    }

    #[test]
    fn malformed_messages_have_the_codes_of_json_rpc() {
        for (body, code) in [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("\u{0}", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, INVALID_REQUEST),
            ("7", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, INVALID_REQUEST),
        ] {
            assert_eq!(Message::read(body.as_bytes()).map(drop).map_err(|(_, error)| error.code), Err(code), "{body}");
        }
    }

    #[test]
    fn error_has_the_id_of_the_message_if_it_is_valid() {
        for (body, id) in [
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 1.into()),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, "a".into()),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Value::Null),
            ("{", Value::Null),
        ] {
            assert_eq!(Message::read(body.as_bytes()).map(drop).map_err(|(id, _)| id), Err(id), "{body}");
        }
    }
}
