//! The one error type of a request: what went wrong, its status and code, and what the client is told.
//!
//! Every answer that is not a success is `{"message", "code", "errors"?}`. What the client may know is in the variant;
//! what only the log may know is in [`Error::Internal`] and is never shown.

mod cause;
mod database;

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;

use salvo::http::StatusCode;

pub use cause::Cause;
pub(crate) use cause::chain;
pub(crate) use database::{INDEXED_ANEW, REFERRED_TO, SEARCH, is_changing, is_outdated};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The problems of a request, by field or parameter, in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldErrors(BTreeMap<String, Vec<String>>);

impl FieldErrors {
    /// Adds a problem. The message completes "this value ...": `must be at least 0`.
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

    /// What is wrong with one field, in one text.
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

    /// What a step came to; its problems are kept where it has any, so that those of the next ones are found too.
    ///
    /// # Errors
    /// What is not for the client to put right.
    pub fn note<T>(&mut self, step: Result<T>) -> Result<Option<T>> {
        match step {
            Ok(value) => Ok(Some(value)),
            Err(Error::Invalid(errors)) => {
                self.merge(errors);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The same problems, each under a longer name: `member_id` is `participants.0.member_id`.
    pub fn under(self, prefix: &str) -> FieldErrors {
        FieldErrors(self.0.into_iter().map(|(field, messages)| (format!("{prefix}.{field}"), messages)).collect())
    }

    /// `Ok` when nothing was added, else the 422.
    pub fn into_result(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::Invalid(self)) }
    }

    /// All of them in one text: `name is required; size must be at least 0`.
    pub fn all(&self) -> String {
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

/// Everything that can end a request early. One variant for each code of the contract.
#[derive(Debug)]
pub enum Error {
    /// 400: the body or the query string is not well-formed.
    Malformed(String),
    /// 401: no credentials.
    Unauthenticated,
    /// 401: a token that is unknown, expired or revoked.
    InvalidToken,
    /// 403: the token lacks the ability.
    AbilityMissing(String),
    /// 403: the user lacks the permission.
    PermissionMissing(String),
    /// 403: only an administrator may do this, whatever permissions the user has.
    AdministratorsOnly,
    /// 403: the caller may not do this to this record, and why, in a sentence.
    Forbidden(String),
    /// 403: the user was deactivated.
    UserDeactivated,
    /// 403: a signed link that was changed, or never made here.
    LinkInvalid,
    /// 404: no such path, or no such record that the caller may see.
    NotFound,
    /// 405, with the methods that the path has.
    MethodNotAllowed(Vec<&'static str>),
    /// 409: the state of this or another record does not allow it.
    Conflict(String),
    /// 409: a unique index was reached first; its name. Where the fields are known that it is over, it is [`Error::Invalid`].
    Taken(String),
    /// 410: a signed link whose time is over.
    LinkExpired,
    /// 409: another request with the same Idempotency-Key is under way.
    InProgress,
    /// 412: the record is not in the version that `If-Match` or `If-None-Match` asks for.
    PreconditionFailed,
    /// 413: the body is over the limit, given in bytes.
    PayloadTooLarge(usize),
    /// 415: the body cannot be read as what it is said to be; what to do about it.
    UnsupportedMediaType(&'static str),
    /// 416: a file of so many bytes, which ends before the part that was asked for.
    RangeNotSatisfiable(u64),
    /// 422: problems by field or parameter.
    Invalid(FieldErrors),
    /// 429, with the seconds to wait.
    RateLimited(u64),
    /// 503: the database or the file storage is away, this took too long, or exports have no room.
    Unavailable(String),
    /// 503: as many requests are worked on, and wait, as may.
    Overloaded,
    /// 500: the client learns the request id and nothing else.
    Internal(Cause),
}

/// A row of the table of codes: code, status, meaning. `docs/errors.md` is generated from it.
pub const CODES: &[(&str, u16, &str)] = &[
    (
        "malformed_request",
        400,
        "The body (JSON or a form), the query string, `If-Match` or `If-None-Match` cannot be read; an export was asked \
         for over HTTP/1.0; or a request of HTTP/1.1 has no `Host`, or several.",
    ),
    ("unauthenticated", 401, "No token was sent."),
    ("invalid_token", 401, "The token is unknown, expired or revoked."),
    ("ability_missing", 403, "The token lacks the ability that the endpoint needs."),
    (
        "permission_missing",
        403,
        "The token's user lacks the permission that the endpoint needs, is no administrator where only administrators \
         may do this, or may not do it to this record.",
    ),
    ("user_deactivated", 403, "The token's user was deactivated."),
    ("link_invalid", 403, "The signed link was changed; ask for the record again to get a good one."),
    ("not_found", 404, "There is no such path or record, or the caller may not see it."),
    ("method_not_allowed", 405, "The path has no such method; `Allow` lists those it has."),
    (
        "conflict",
        409,
        "The state of this or another record does not allow it, for example a record that still refers to this \
         one; or the answer kept under an `Idempotency-Key` cannot be given again.",
    ),
    (
        "in_progress",
        409,
        "A request with the same `Idempotency-Key` is still under way; try again after `Retry-After`.",
    ),
    ("link_expired", 410, "The signed link is over an hour old; ask for the record again to get a new one."),
    (
        "precondition_failed",
        412,
        "The record is not in a version that `If-Match` names, or a write finds it in one that `If-None-Match` names.",
    ),
    ("payload_too_large", 413, "The body, or the file in it, is larger than the limit."),
    (
        "unsupported_media_type",
        415,
        "The body is neither JSON (`application/json`, `application/vnd.api+json`, or no `Content-Type`) nor a form, or that of \
         an upload not `multipart/form-data`; or it is in another encoding than UTF-8, or compressed.",
    ),
    (
        "range_not_satisfiable",
        416,
        "The file ends before the range that was asked for; `Content-Range` tells its length.",
    ),
    ("validation_failed", 422, "`errors` holds the problems by field or parameter."),
    ("rate_limited", 429, "More requests in a minute than the limit; try again after `Retry-After`."),
    ("internal_error", 500, "A fault of the server; the message holds the request id to report."),
    ("overloaded", 503, "The server has as many requests as it can work on; try again after `Retry-After`."),
    (
        "unavailable",
        503,
        "The database or the file storage is away, the request took too long, or two exports run already; try \
         again after `Retry-After`.",
    ),
];

impl Error {
    /// [`Error::MethodNotAllowed`] on a path with these methods, where `HEAD` is answered beside `GET` (RFC 9110, 10.2.1).
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

    /// A 422 with one problem.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Error {
        let mut errors = FieldErrors::default();
        errors.add(field, message);
        Error::Invalid(errors)
    }

    /// A fault of the server, for the log alone.
    pub fn internal(cause: impl Into<Cause>) -> Error {
        Error::Internal(cause.into())
    }

    /// What took longer than a request may.
    pub fn too_long() -> Error {
        Error::Unavailable("The request took too long.".into())
    }

    /// The stable, machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Malformed(_) => "malformed_request",
            Error::Unauthenticated => "unauthenticated",
            Error::InvalidToken => "invalid_token",
            Error::AbilityMissing(_) => "ability_missing",
            Error::PermissionMissing(_) | Error::AdministratorsOnly | Error::Forbidden(_) => "permission_missing",
            Error::UserDeactivated => "user_deactivated",
            Error::LinkInvalid => "link_invalid",
            Error::LinkExpired => "link_expired",
            Error::RangeNotSatisfiable(_) => "range_not_satisfiable",
            Error::NotFound => "not_found",
            Error::MethodNotAllowed(_) => "method_not_allowed",
            Error::Conflict(_) | Error::Taken(_) => "conflict",
            Error::InProgress => "in_progress",
            Error::PreconditionFailed => "precondition_failed",
            Error::PayloadTooLarge(_) => "payload_too_large",
            Error::UnsupportedMediaType(_) => "unsupported_media_type",
            Error::Invalid(_) => "validation_failed",
            Error::RateLimited(_) => "rate_limited",
            Error::Overloaded => "overloaded",
            Error::Unavailable(_) => "unavailable",
            Error::Internal(_) => "internal_error",
        }
    }

    /// The status that the table of codes gives.
    pub fn status(&self) -> StatusCode {
        let code = self.code();
        let status = CODES.iter().find(|(known, ..)| *known == code).map_or(500, |(_, status, _)| *status);
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The sentence for a person. `request_id` appears in that of a 500.
    pub fn message(&self, request_id: &str) -> String {
        match self {
            Error::Malformed(what) => what.clone(),
            Error::Unauthenticated => "Send a token: `Authorization: Bearer <token>`.".into(),
            Error::InvalidToken => "The token is unknown, expired or revoked.".into(),
            Error::AbilityMissing(ability) => format!("The token lacks the ability `{ability}`."),
            Error::PermissionMissing(permission) => format!("This needs the permission `{permission}`."),
            Error::AdministratorsOnly => "Only an administrator may do this.".into(),
            Error::UserDeactivated => "The user of this token was deactivated.".into(),
            Error::LinkInvalid => "This link is not valid.".into(),
            Error::LinkExpired => "This link is no longer valid. Ask for the record again to get a new one.".into(),
            Error::RangeNotSatisfiable(size) => format!("The file has {size} bytes."),
            Error::NotFound => "There is nothing here.".into(),
            Error::MethodNotAllowed(allowed) => format!("This path answers {}.", allowed.join(", ")),
            Error::Forbidden(why) => why.clone(),
            Error::Conflict(what) | Error::Unavailable(what) => what.clone(),
            Error::Taken(_) => "Another record has the same value.".into(),
            Error::Overloaded => "The server has too much to do. Try again in a moment.".into(),
            Error::InProgress => "A request with the same Idempotency-Key is still under way.".into(),
            Error::PreconditionFailed => "The record is not in the version that the request is meant for.".into(),
            Error::PayloadTooLarge(limit) => format!("The body is larger than {limit} bytes."),
            Error::UnsupportedMediaType(told) => (*told).into(),
            Error::RateLimited(seconds) => format!("Too many requests. Try again in {seconds} seconds."),
            Error::Invalid(errors) => {
                let summary = errors.summary();
                format!("The request is not valid: {summary}{}", if summary.ends_with('?') { "" } else { "." })
            }
            Error::Internal(_) => format!("Something went wrong on the server. Request id: {request_id}"),
        }
    }

    /// The body of the answer.
    pub fn body(&self, request_id: &str) -> serde_json::Value {
        let mut body = serde_json::json!({ "message": self.message(request_id), "code": self.code() });
        if let Error::Invalid(FieldErrors(errors)) = self {
            body["errors"] = serde_json::json!(errors);
        }
        body
    }
}

impl fmt::Display for Error {
    /// For logs: the code and, for an internal error, its chain of causes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Internal(cause) => write!(f, "internal_error: {cause}"),
            other => write!(f, "{}: {}", other.code(), other.message("-")),
        }
    }
}

// Not derived by thiserror: there is one source, and both texts of an error are methods, one of which takes the request id.
impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Internal(cause) => Some(cause.error()),
            _ => None,
        }
    }
}
