//! The headers of the contract by name, each said once: what requests bring, what answers and deliveries carry.
//!
//! The description of the API (`openapi/header.rs`) says what each one means.

/// The token, as older clients send it.
pub const AUTH_TOKEN: &str = "X-AUTH-TOKEN";
/// The id of a request, which its answer and its log line carry.
pub const REQUEST_ID: &str = "X-Request-Id";

/// The form in which an answer is wanted.
pub const ACCEPT: &str = "Accept";
/// The version of what is answered.
pub const ETAG: &str = "ETag";
pub const IF_MATCH: &str = "If-Match";
pub const IF_NONE_MATCH: &str = "If-None-Match";
/// The path of a new record.
pub const LOCATION: &str = "Location";
/// On what of the request the form of the answer depends.
pub const VARY: &str = "Vary";
/// Where the other pages of a list are.
pub const LINK: &str = "Link";

/// Makes a POST safe to repeat.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// Tells an answer that was kept from one of a request that was carried out.
pub const REPLAYED: &str = "Idempotent-Replayed";

/// Requests a minute, those that are left, and the seconds until the count begins anew.
pub const RATE_LIMIT: &str = "RateLimit-Limit";
pub const RATE_LIMIT_REMAINING: &str = "RateLimit-Remaining";
pub const RATE_LIMIT_RESET: &str = "RateLimit-Reset";

/// What is used is to go: since when it is deprecated, and from when on it may be gone.
pub const DEPRECATION: &str = "Deprecation";
pub const SUNSET: &str = "Sunset";

/// What refusals say further.
pub const ALLOW: &str = "Allow";
pub const RETRY_AFTER: &str = "Retry-After";
pub const AUTHENTICATE: &str = "WWW-Authenticate";

/// Parts of a file, how it is shown, and how it is kept from doing harm.
pub const RANGE: &str = "Range";
pub const IF_RANGE: &str = "If-Range";
pub const ACCEPT_RANGES: &str = "Accept-Ranges";
pub const CONTENT_RANGE: &str = "Content-Range";
pub const DISPOSITION: &str = "Content-Disposition";
pub const CACHE_CONTROL: &str = "Cache-Control";
pub const SECURITY_POLICY: &str = "Content-Security-Policy";
pub const REFERRER_POLICY: &str = "Referrer-Policy";
pub const TYPE_OPTIONS: &str = "X-Content-Type-Options";

/// The header that goes with a code of `error::CODES`, where one does.
pub fn of_code(code: &str) -> Option<&'static str> {
    Some(match code {
        "unauthenticated" | "invalid_token" | "ability_missing" => AUTHENTICATE,
        "method_not_allowed" => ALLOW,
        "range_not_satisfiable" => CONTENT_RANGE,
        "in_progress" | "rate_limited" | "overloaded" | "unavailable" => RETRY_AFTER,
        _ => return None,
    })
}
