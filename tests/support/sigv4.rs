//! Verification of AWS Signature Version 4, written from its documentation and independent of client code.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};

/// Credentials for a bucket.
#[derive(Debug, Clone)]
pub struct Key {
    pub id: String,
    pub secret: String,
    pub region: String,
}

/// Head of a request as it was sent.
#[derive(Debug)]
pub struct Head {
    pub method: String,
    /// As it was sent, percent-encoded.
    pub path: String,
    /// Names and values, decoded.
    pub query: Vec<(String, String)>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
}

/// How a request is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signed {
    /// In its headers, with this SHA-256 of its body, or none.
    Headers(Option<[u8; 32]>),
    /// In its query string: a presigned URL.
    Link,
}

/// Every byte except the unreserved ones is percent-encoded.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

impl Head {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Parses a query string.
    pub fn parameters(query: &str) -> Vec<(String, String)> {
        let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(n, v)| (decode(n), decode(v))).collect()
    }
}

/// Verifies the signature and time of a request. Returns how it is signed, or the error code.
pub fn check(head: &Head, key: &Key, now: DateTime<Utc>) -> Result<Signed, &'static str> {
    if head.parameter("X-Amz-Algorithm").is_some() { check_link(head, key, now) } else { check_headers(head, key, now) }
}

fn check_link(head: &Head, key: &Key, now: DateTime<Utc>) -> Result<Signed, &'static str> {
    const MALFORMED: &str = "AuthorizationQueryParametersError";
    let of = |name: &str| head.parameter(name).ok_or(MALFORMED);
    let date = date(of("X-Amz-Date")?).ok_or(MALFORMED)?;
    let seconds: i64 = of("X-Amz-Expires")?.parse().map_err(|_| MALFORMED)?;
    if of("X-Amz-Algorithm")? != ALGORITHM || !(1..=604_800).contains(&seconds) {
        return Err(MALFORMED);
    }
    let headers: Vec<&str> = of("X-Amz-SignedHeaders")?.split(';').collect();
    let query = head.query.iter().filter(|(name, _)| name != "X-Amz-Signature");
    let scope = scope(of("X-Amz-Credential")?, key, date)?;
    let canonical = canonical(head, query, &headers, UNSIGNED)?;
    verify(&canonical, date, &scope, key, of("X-Amz-Signature")?)?;
    // Only signed headers count.
    if date > now + TimeDelta::minutes(15) || now >= date + TimeDelta::seconds(seconds) {
        return Err("AccessDenied");
    }
    Ok(Signed::Link)
}

fn check_headers(head: &Head, key: &Key, now: DateTime<Utc>) -> Result<Signed, &'static str> {
    let given = head.header("authorization").ok_or("AccessDenied")?;
    let parts = given.strip_prefix(ALGORITHM).ok_or("AuthorizationHeaderMalformed")?;
    let of = |name: &str| {
        let part = parts.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        part.ok_or("AuthorizationHeaderMalformed")
    };
    let date = head.header("x-amz-date").and_then(date).ok_or("AccessDenied")?;
    let headers: Vec<&str> = of("SignedHeaders")?.split(';').collect();
    // Unsigned headers could be added on the way.
    if head.headers.iter().any(|(name, _)| name.starts_with("x-amz-") && !headers.contains(&name.as_str())) {
        return Err("AccessDenied");
    }
    let payload = head.header("x-amz-content-sha256").ok_or("MissingSecurityHeader")?;
    let scope = scope(of("Credential")?, key, date)?;
    verify(&canonical(head, head.query.iter(), &headers, payload)?, date, &scope, key, of("Signature")?)?;
    if (date - now).abs() > TimeDelta::minutes(15) {
        return Err("RequestTimeTooSkewed");
    }
    Ok(Signed::Headers((payload != UNSIGNED).then(|| bytes(payload)).transpose()?))
}

/// `20261121T101500Z`
fn date(text: &str) -> Option<DateTime<Utc>> {
    NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%SZ").ok().map(|time| time.and_utc())
}

fn scope(credential: &str, key: &Key, date: DateTime<Utc>) -> Result<String, &'static str> {
    let (id, scope) = credential.split_once('/').ok_or("AuthorizationHeaderMalformed")?;
    if id != key.id {
        return Err("InvalidAccessKeyId");
    }
    let expected = format!("{}/{}/s3/aws4_request", date.format("%Y%m%d"), key.region);
    if scope == expected { Ok(expected) } else { Err("AuthorizationHeaderMalformed") }
}

fn canonical<'q>(
    head: &Head,
    query: impl Iterator<Item = &'q (String, String)>,
    headers: &[&str],
    payload: &str,
) -> Result<String, &'static str> {
    if !headers.contains(&"host") || !headers.is_sorted() {
        return Err("SignatureDoesNotMatch");
    }
    let encode = |text: &str| utf8_percent_encode(text, STRICT).to_string();
    let mut pairs: Vec<String> = query.map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.sort();
    let mut text = format!("{}\n{}\n{}\n", head.method, head.path, pairs.join("&"));
    for name in headers {
        let values: Vec<&str> = head.headers.iter().filter(|(n, _)| n == name).map(|(_, v)| v.trim()).collect();
        text.push_str(&format!("{name}:{}\n", values.join(",")));
    }
    text.push_str(&format!("\n{}\n{payload}", headers.join(";")));
    Ok(text)
}

fn verify(canonical: &str, date: DateTime<Utc>, scope: &str, key: &Key, signature: &str) -> Result<(), &'static str> {
    let mac = |key: &[u8], text: &str| {
        let mac = Hmac::<Sha256>::new_from_slice(key).expect("any length will do").chain_update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    let to_sign =
        format!("{ALGORITHM}\n{}\n{scope}\n{}", date.format("%Y%m%dT%H%M%SZ"), hex(&Sha256::digest(canonical)));
    // The signing key derives from the date, region, service and terminator in turn.
    let derived = scope.split('/').fold(format!("AWS4{}", key.secret).into_bytes(), |key, part| mac(&key, part));
    if hex(&mac(&derived, &to_sign)) == signature { Ok(()) } else { Err("SignatureDoesNotMatch") }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Result<[u8; 32], &'static str> {
    let byte = |at: usize| hex.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or("InvalidDigest")
}

/// The documentation's example: `GET /test.txt` of `examplebucket`, valid for a day.
#[test]
fn published_signature_is_accepted_and_altered_requests_are_rejected() {
    let key = Key {
        id: "AKIAIOSFODNN7EXAMPLE".into(),
        secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
        region: "us-east-1".into(),
    };
    let query = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3\
                 %2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
                 &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
    let head = |path: &str, query: &str| Head {
        method: "GET".into(),
        path: path.into(),
        query: Head::parameters(query),
        headers: vec![("host".into(), "examplebucket.s3.amazonaws.com".into())],
    };
    let made = date("20130524T000000Z").expect("a date");
    let after = |hours: i64| made + TimeDelta::hours(hours);
    assert_eq!(check(&head("/test.txt", query), &key, after(23)), Ok(Signed::Link));
    assert_eq!(check(&head("/test.txt", query), &key, after(24)), Err("AccessDenied"));
    assert_eq!(check(&head("/other.txt", query), &key, after(1)), Err("SignatureDoesNotMatch"));
    let longer = query.replace("86400", "86401");
    assert_eq!(check(&head("/test.txt", &longer), &key, after(1)), Err("SignatureDoesNotMatch"));
}
