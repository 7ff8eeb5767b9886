//! Parts of an answer that differ in every run, such as times, tokens and ids that are random.

use std::sync::LazyLock;

use regex::Regex;

/// Pattern, and the text that stands for it in a comparison.
static VARYING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?", "<time>"),
        (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", "<time>"),
        // The date in the name of a migration.
        (r"\bm\d{8}_", "m<date>_"),
        (r"\b01[0-9A-HJKMNP-TV-Z]{24}\b", "<ulid>"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uuid>"),
        // A tag of a record, also in two parts, or a signature.
        (r"\b[0-9a-f]{32,}(?:\.[0-9a-f]+)?(?:-gzip)?\b", "<digest>"),
        (r#""duration_ms": \d+"#, "<duration>"),
        (r#""next_cursor": "[^"]+""#, "<cursor>"),
        (r"(?i)(ratelimit-remaining|ratelimit-reset): \d+", "<rate>"),
    ];
    patterns.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name)).into()
});

static SECRET: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(chr_|whsec_|invitation/)[A-Za-z0-9+/=_-]{16,}").unwrap());

/// The text with names for the parts that differ in every run.
pub fn without_varying(text: &str) -> String {
    VARYING.iter().fold(text.trim().to_string(), |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned())
}

/// The text in which a token, a secret of a webhook or the secret of an invitation is only its prefix and three dots.
pub fn without_secrets(text: &str) -> String {
    SECRET.replace_all(text, "${1}...").into_owned()
}

#[test]
fn times_and_tags_are_equal_and_names_are_not() {
    let one = r#"{ "name": "Lamp", "at": "2026-11-28T10:00:00Z", "etag": "08d1af2e7da77c46277b49fb7cf7969c" }"#;
    let other = r#"{ "name": "Lamp", "at": "2026-12-01T11:30:00.120Z", "etag": "18d1af2e7da77c46277b49fb7cf7969c" }"#;
    assert_eq!(without_varying(one), without_varying(other));
    assert_ne!(without_varying(one), without_varying(&other.replace("Lamp", "Stand")));
    assert_eq!(without_secrets("chr_WEHtsvk6smSHXirdG726e1LTYSjrmGkl4BXUrD"), "chr_...");
}
