//! Texts against what is said of their form: patterns, compiled as the server compiles them, and well-known formats.

use regex::Regex;

use crate::words::Format;

/// The regular expression behind a pattern, which the whole text must match; or why there is none, and what would help.
pub fn compile(pattern: &str) -> Result<Regex, (String, &'static str)> {
    if pattern.trim().is_empty() {
        return Err(("it is empty".to_owned(), "leave `pattern` out: any text matches an empty one, or none does"));
    }
    // By itself first: its places are then those of the pattern, and not of what stands around it.
    if let Err(found) = regex_syntax::parse(pattern) {
        let reason = match &found {
            regex_syntax::Error::Parse(problem) => problem.kind().to_string(),
            regex_syntax::Error::Translate(problem) => problem.kind().to_string(),
            other => other.to_string(),
        };
        return Err((
            reason,
            "the syntax is that of the Rust crate `regex`; the whole text must match, so `^` and `$` are not needed",
        ));
    }
    Regex::new(&format!("^(?:{pattern})$")).map_err(|found| match found {
        regex::Error::CompiledTooBig(most) => (
            format!("compiled it takes more than {most} bytes"),
            "repeat less: `{1000}` within `{1000}` is a million times",
        ),
        _ => (
            "it cannot stand between `^(?:` and `)$`".to_owned(),
            "the whole text must match, so it is put between them; a comment of `(?x)` would swallow the end",
        ),
    })
}

/// Whether a text has a format, as far as it is the same for every text: the server reads a URL to its end.
pub fn has_format(format: Format, text: &str) -> bool {
    match format {
        Format::Url => {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace))
        }
        Format::Email => {
            let word = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '@');
            let parts = text.rsplit_once('@');
            parts.is_some_and(|(local, domain)| word(local) && domain.split('.').all(word))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_could_not_compile_is_refused() {
        assert!(compile("[A-Z]{3}").unwrap().is_match("GBP"));
        for pattern in ["[A-Z", "(?=a)b", "(a{1000}){1000}", "(?x)[A-Z]{3} # three letters"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn formats_are_those_of_the_server() {
        assert!(has_format(Format::Email, "a.b+c@example.com") && has_format(Format::Url, "https://example.com/x"));
        assert!(!has_format(Format::Email, "nobody") && !has_format(Format::Email, "a@b..c"));
        assert!(!has_format(Format::Url, "example.com") && !has_format(Format::Url, "http:///x"));
    }
}
