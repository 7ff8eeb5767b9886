//! Error type of requests, with the status, code and message of each error.
//!
//! The body of an error response is `{"message", "code", "errors"?}`. The cause of an [`Error::Internal`] is only logged.

mod cause;
mod database;

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;

pub use cause::Cause;
pub use cause::chain;
pub use database::{
    DatabaseFailure, FOREIGN_KEY_MESSAGE, INDEX_REBUILDING, ROLLUP_RANGE, SEARCH_TABLE_PREFIX, database_failure,
    is_schema_changing, is_stale_statement,
};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Messages by field or parameter, sorted by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldErrors(BTreeMap<String, Vec<String>>);

impl FieldErrors {
    /// Adds a message, unless it is there already. It completes "this value ...": `must be at least 0`.
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        let messages = self.0.entry(field.into()).or_default();
        let message = message.into();
        if !messages.contains(&message) {
            messages.push(message);
        }
    }

    pub fn add_all(&mut self, field: &str, messages: impl IntoIterator<Item = String>) {
        for message in messages {
            self.add(field, message);
        }
    }

    /// The messages of a field as one text.
    pub fn messages(&self, field: &str) -> String {
        self.0.get(field).map(|messages| messages.join("; ")).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    pub fn merge(&mut self, other: FieldErrors) {
        for (field, messages) in other.0 {
            self.add_all(&field, messages);
        }
    }

    /// Collects the messages of an [`Error::Invalid`] and returns `None`, so that the next steps can add theirs.
    ///
    /// # Errors
    /// Any other error.
    pub fn collect<T>(&mut self, step: Result<T>) -> Result<Option<T>> {
        match step {
            Ok(value) => Ok(Some(value)),
            Err(Error::Invalid(errors)) => {
                self.merge(errors);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Prefixes the names: `member_id` becomes `participants.0.member_id`.
    pub fn with_prefix(self, prefix: &str) -> FieldErrors {
        FieldErrors(self.0.into_iter().map(|(field, messages)| (format!("{prefix}.{field}"), messages)).collect())
    }

    /// `Ok` when there are no messages, else the 422.
    pub fn into_result(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::Invalid(self)) }
    }

    /// All messages as one text: `name is required; size must be at least 0`.
    pub fn to_text(&self) -> String {
        self.named().collect::<Vec<_>>().join("; ")
    }

    fn summary(&self) -> String {
        let first = self.named().next().unwrap_or_default();
        match self.0.len() {
            0 | 1 => first,
            count => format!("{first} (and {} more)", count - 1),
        }
    }

    fn named(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(field, messages)| format!("{field} {}", messages.join(", ")))
    }
}

/// Errors of requests. Each code of [`CODES`] has one variant or more.
#[derive(Debug)]
pub enum Error {
    /// 400: the body or the query string is not well-formed.
    Malformed(String),
    /// 401: no credentials.
    Unauthenticated,
    /// 401: the token is unknown, expired or revoked.
    InvalidToken,
    /// 403: the token lacks the ability.
    AbilityMissing(String),
    /// 403: no role of the user grants the ability.
    RoleAbilityMissing(String),
    /// 403: the user lacks the permission.
    PermissionMissing(String),
    /// 403: the user lacks the permission to set these fields.
    FieldsForbidden(FieldErrors),
    /// 403: only an administrator may do this, whatever permissions the user has.
    AdministratorsOnly,
    /// 403: the caller may not do this to this record; the reason as a sentence.
    Forbidden(String),
    /// 403: the user is deactivated.
    UserDeactivated,
    /// 403: the signature of a link is wrong.
    LinkInvalid,
    /// 404: no such path, or no such record that the caller may see.
    NotFound,
    /// 405, with the allowed methods.
    MethodNotAllowed(Vec<&'static str>),
    /// 408: the head or the body did not arrive within the timeout of a request.
    RequestTimeout,
    /// 409: the state of this or another record does not allow it.
    Conflict(String),
    /// 409: the record is frozen: no field changes any more, and it is not deleted; the reason as a sentence.
    Frozen(String),
    /// 409: the state of a record, or its condition, does not allow a transition.
    TransitionRefused { message: String, state: String },
    /// 409: the condition of an action does not hold for the record; the reason as a sentence.
    ActionRefused(String),
    /// 409: a unique index was violated; its name. If the fields of the index are known, the error is [`Error::Invalid`].
    UniqueViolation(String),
    /// 410: a signed link has expired.
    LinkExpired,
    /// 409: another request with the same Idempotency-Key is in progress.
    InProgress,
    /// 412: the version of the record does not satisfy `If-Match` or `If-None-Match`.
    PreconditionFailed,
    /// 413: the body is over the limit, given in bytes.
    PayloadTooLarge(usize),
    /// 413: the file in a body is over its limit, given in bytes.
    FileTooLarge(u64),
    /// 413: the fields of an upload, without its file, are over their limit, given in bytes.
    FieldsTooLarge(u64),
    /// 415: the media type or encoding of the body is not supported; how to send it instead.
    UnsupportedMediaType(&'static str),
    /// 416: the file ends before the requested range; its length in bytes.
    RangeNotSatisfiable(u64),
    /// 422: messages by field or parameter.
    Invalid(FieldErrors),
    /// 429, with the seconds to wait.
    RateLimited(u64),
    /// 503: the database or the file storage is unavailable, the request timed out, or too many exports run.
    Unavailable(String),
    /// 503: the queue of requests is full, or a request waited too long in it.
    Overloaded,
    /// 500: the client gets only the request id.
    Internal(Cause),
}

/// All error codes, with status and meaning.
pub const CODES: &[(&str, u16, &str)] = &[
    (
        "malformed_request",
        400,
        "The body (JSON or a form), the query string, `If-Match` or `If-None-Match` is malformed; an export was requested \
         over HTTP/1.0; or an HTTP/1.1 request has no `Host` header or several.",
    ),
    ("unauthenticated", 401, "No token was sent."),
    ("invalid_token", 401, "The token is unknown, expired or revoked."),
    (
        "ability_missing",
        403,
        "The token lacks the ability that the endpoint requires, or no role of its user grants it.",
    ),
    (
        "permission_missing",
        403,
        "The token's user lacks the permission that the endpoint requires, is not an administrator although only administrators \
         may do this, or may not do this to this record.",
    ),
    ("user_deactivated", 403, "The token's user is deactivated."),
    ("link_invalid", 403, "The signature of the link is wrong. Fetch the record again to get a valid link."),
    ("not_found", 404, "The path or record does not exist, or the caller may not see it."),
    ("method_not_allowed", 405, "The path does not support the method; `Allow` lists the supported ones."),
    ("request_timeout", 408, "The request did not arrive in time. The connection is closed."),
    (
        "conflict",
        409,
        "The state of this or another record does not allow the request, for example because another record still refers to \
         this one; or the response stored under an `Idempotency-Key` cannot be sent again.",
    ),
    (
        "frozen",
        409,
        "The record is in a state in which no field changes any more, and in which it cannot be deleted. The message has the \
         condition.",
    ),
    (
        "transition_refused",
        409,
        "The state of the record or the condition of the transition does not allow it; `state` is the current state.",
    ),
    ("action_refused", 409, "The condition of the action does not hold for the record."),
    ("in_progress", 409, "Another request with the same `Idempotency-Key` is in progress. Retry after `Retry-After`."),
    ("link_expired", 410, "The signed link is more than an hour old. Fetch the record again to get a new link."),
    (
        "precondition_failed",
        412,
        "`If-Match` does not list the version of the record, or `If-None-Match` of a write lists it.",
    ),
    ("payload_too_large", 413, "The body, or the file in it, is larger than the limit."),
    (
        "unsupported_media_type",
        415,
        "The body is neither JSON (`application/json`, `application/vnd.api+json`, or no `Content-Type`) nor a form; the body of \
         an upload is not `multipart/form-data`; or the body is not UTF-8, or is compressed.",
    ),
    ("range_not_satisfiable", 416, "The file ends before the requested range; `Content-Range` has its length."),
    ("validation_failed", 422, "`errors` lists the problems by field or parameter."),
    ("rate_limited", 429, "The rate limit of requests per minute is exceeded. Retry after `Retry-After`."),
    ("internal_error", 500, "The server has failed. The message contains the request id for a report."),
    ("overloaded", 503, "The server has too many requests in flight and in its queue. Retry after `Retry-After`."),
    (
        "unavailable",
        503,
        "The database or the file storage is unavailable, the request timed out, or too many exports run. Retry after \
         `Retry-After`.",
    ),
];

impl Error {
    /// An [`Error::MethodNotAllowed`] with these methods. `GET` implies `HEAD` (RFC 9110, section 10.2.1).
    pub fn method_not_allowed(methods: impl IntoIterator<Item = &'static str>) -> Error {
        let mut allowed = Vec::new();
        for method in methods {
            allowed.push(method);
            if method == "GET" {
                allowed.push("HEAD");
            }
        }
        Error::MethodNotAllowed(allowed)
    }

    /// A 422 with one message.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Error {
        let mut errors = FieldErrors::default();
        errors.add(field, message);
        Error::Invalid(errors)
    }

    /// A 500, with a cause for the log.
    pub fn internal(cause: impl Into<Cause>) -> Error {
        Error::Internal(cause.into())
    }

    /// The error of a request that timed out.
    pub fn too_long() -> Error {
        Error::Unavailable("The request timed out.".into())
    }

    /// The code in the body of the response.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Malformed(_) => "malformed_request",
            Error::Unauthenticated => "unauthenticated",
            Error::InvalidToken => "invalid_token",
            Error::AbilityMissing(_) | Error::RoleAbilityMissing(_) => "ability_missing",
            Error::PermissionMissing(_)
            | Error::FieldsForbidden(_)
            | Error::AdministratorsOnly
            | Error::Forbidden(_) => "permission_missing",
            Error::UserDeactivated => "user_deactivated",
            Error::LinkInvalid => "link_invalid",
            Error::LinkExpired => "link_expired",
            Error::RangeNotSatisfiable(_) => "range_not_satisfiable",
            Error::NotFound => "not_found",
            Error::MethodNotAllowed(_) => "method_not_allowed",
            Error::RequestTimeout => "request_timeout",
            Error::Conflict(_) | Error::UniqueViolation(_) => "conflict",
            Error::Frozen(_) => "frozen",
            Error::TransitionRefused { .. } => "transition_refused",
            Error::ActionRefused(_) => "action_refused",
            Error::InProgress => "in_progress",
            Error::PreconditionFailed => "precondition_failed",
            Error::PayloadTooLarge(_) | Error::FileTooLarge(_) | Error::FieldsTooLarge(_) => "payload_too_large",
            Error::UnsupportedMediaType(_) => "unsupported_media_type",
            Error::Invalid(_) => "validation_failed",
            Error::RateLimited(_) => "rate_limited",
            Error::Overloaded => "overloaded",
            Error::Unavailable(_) => "unavailable",
            Error::Internal(_) => "internal_error",
        }
    }

    /// The status of the code in [`CODES`].
    pub fn status(&self) -> u16 {
        let code = self.code();
        CODES.iter().find(|(known, ..)| *known == code).map_or(500, |(_, status, _)| *status)
    }

    /// The message for people. That of a 500 contains the request id.
    pub fn message(&self, request_id: &str) -> String {
        match self {
            Error::Malformed(what) => what.clone(),
            Error::Unauthenticated => "Send a token: `Authorization: Bearer <token>`.".into(),
            Error::InvalidToken => "The token is unknown, expired or revoked.".into(),
            Error::AbilityMissing(ability) => format!("The token lacks the ability `{ability}`."),
            Error::RoleAbilityMissing(ability) => format!("No role of this user grants the ability `{ability}`."),
            Error::PermissionMissing(permission) => format!("This requires the permission `{permission}`."),
            Error::FieldsForbidden(errors) => format!("The request is not permitted: {}.", errors.summary()),
            Error::AdministratorsOnly => "Only an administrator may do this.".into(),
            Error::UserDeactivated => "The user of this token is deactivated.".into(),
            Error::LinkInvalid => "This link is not valid.".into(),
            Error::LinkExpired => "This link has expired. Fetch the record again to get a new link.".into(),
            Error::RequestTimeout => "The request did not arrive in time.".into(),
            Error::RangeNotSatisfiable(size) => format!("The file has {size} bytes."),
            Error::NotFound => "Not found.".into(),
            Error::MethodNotAllowed(allowed) => format!("This path supports {}.", allowed.join(", ")),
            Error::Forbidden(why) => why.clone(),
            Error::Conflict(what) | Error::Frozen(what) | Error::ActionRefused(what) | Error::Unavailable(what) => {
                what.clone()
            }
            Error::TransitionRefused { message, .. } => message.clone(),
            Error::UniqueViolation(_) => "Another record has the same value.".into(),
            Error::Overloaded => "The server is overloaded. Try again in a moment.".into(),
            Error::InProgress => "Another request with the same Idempotency-Key is in progress.".into(),
            Error::PreconditionFailed => "The record has another version than the request expects.".into(),
            Error::PayloadTooLarge(limit) => format!("The body is larger than {limit} bytes."),
            Error::FileTooLarge(limit) => format!("The file is larger than {limit} bytes."),
            Error::FieldsTooLarge(limit) => format!("The fields of the form are larger than {limit} bytes in all."),
            Error::UnsupportedMediaType(advice) => (*advice).into(),
            Error::RateLimited(seconds) => format!("Too many requests. Try again in {seconds} seconds."),
            Error::Invalid(errors) => {
                let summary = errors.summary();
                format!("The request is not valid: {summary}{}", if summary.ends_with('?') { "" } else { "." })
            }
            Error::Internal(_) => format!("Something went wrong on the server. Request id: {request_id}"),
        }
    }

    /// The body of the response.
    pub fn body(&self, request_id: &str) -> serde_json::Value {
        let mut body = serde_json::json!({ "message": self.message(request_id), "code": self.code() });
        if let Error::Invalid(FieldErrors(errors)) | Error::FieldsForbidden(FieldErrors(errors)) = self {
            body["errors"] = serde_json::json!(errors);
        }
        if let Error::TransitionRefused { state, .. } = self {
            body["state"] = state.as_str().into();
        }
        body
    }
}

impl fmt::Display for Error {
    /// For logs: the code and the message, or the chain of causes of an internal error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Internal(cause) => write!(f, "internal_error: {cause}"),
            other => write!(f, "{}: {}", other.code(), other.message("-")),
        }
    }
}

// thiserror would not help: only one variant has a source, and the message depends on the request id.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Internal(cause) => Some(cause.error()),
            _ => None,
        }
    }
}
