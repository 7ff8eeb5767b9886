//! Names of HTTP headers, and the weights of their elements. `openapi/header.rs` describes each of them.

/// The token of older clients.
pub const AUTH_TOKEN: &str = "X-AUTH-TOKEN";
/// The id of a request.
pub const REQUEST_ID: &str = "X-Request-Id";

pub const ACCEPT: &str = "Accept";
pub const ETAG: &str = "ETag";
pub const IF_MATCH: &str = "If-Match";
pub const IF_NONE_MATCH: &str = "If-None-Match";
pub const LOCATION: &str = "Location";
pub const VARY: &str = "Vary";
pub const LINK: &str = "Link";

pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// `true` on the stored response of an earlier request.
pub const REPLAYED: &str = "Idempotent-Replayed";

pub const RATE_LIMIT: &str = "RateLimit-Limit";
pub const RATE_LIMIT_REMAINING: &str = "RateLimit-Remaining";
pub const RATE_LIMIT_RESET: &str = "RateLimit-Reset";

pub const DEPRECATION: &str = "Deprecation";
pub const SUNSET: &str = "Sunset";

pub const ALLOW: &str = "Allow";
pub const RETRY_AFTER: &str = "Retry-After";
pub const AUTHENTICATE: &str = "WWW-Authenticate";

pub const RANGE: &str = "Range";
pub const IF_RANGE: &str = "If-Range";
pub const ACCEPT_RANGES: &str = "Accept-Ranges";
pub const CONTENT_RANGE: &str = "Content-Range";
pub const DISPOSITION: &str = "Content-Disposition";
pub const CACHE_CONTROL: &str = "Cache-Control";
pub const SECURITY_POLICY: &str = "Content-Security-Policy";
pub const REFERRER_POLICY: &str = "Referrer-Policy";
pub const TYPE_OPTIONS: &str = "X-Content-Type-Options";
pub const TRANSPORT_SECURITY: &str = "Strict-Transport-Security";
/// A year, for the host of the base URL alone.
pub const TRANSPORT_SECURITY_VALUE: &str = "max-age=31536000";
pub const CONNECTION: &str = "Connection";

/// The header of a response with a code of `error::CODES`, if it has one.
pub fn for_error_code(code: &str) -> Option<&'static str> {
    Some(match code {
        "unauthenticated" | "invalid_token" | "ability_missing" => AUTHENTICATE,
        "method_not_allowed" => ALLOW,
        "range_not_satisfiable" => CONTENT_RANGE,
        "in_progress" | "rate_limited" | "overloaded" | "unavailable" => RETRY_AFTER,
        _ => return None,
    })
}

/// The elements of an `Accept` or `Accept-Encoding`, in lower case, each with its weight (RFC 9110, section 12.4.2): 1 if
/// it has none or a malformed one.
pub fn weighted(text: &str) -> impl Iterator<Item = (String, f32)> {
    text.split(',').map(|element| {
        let mut parts = element.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        (name, weight.and_then(|weight| weight.trim().parse().ok()).unwrap_or(1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::weighted;

    #[test]
    fn elements_have_their_weight_or_1() {
        let elements: Vec<(String, f32)> = weighted("GZIP;Q=0, br; level=1; q=0.5, *;q=x").collect();
        let expected = [("gzip", 0.0), ("br", 0.5), ("*", 1.0)].map(|(name, weight)| (name.to_string(), weight));
        assert_eq!(elements, expected);
    }
}
