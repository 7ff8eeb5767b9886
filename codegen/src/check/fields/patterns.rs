//! Patterns and URLs: regular expressions compiled as the server compiles them, and the form of a URL.

use std::net::{Ipv4Addr, Ipv6Addr};

use regex::Regex;
use regex_syntax::hir::{Hir, HirKind};

/// The regular expression of a pattern, which must match the whole text; or the reason why there is none, and what
/// would help.
pub fn compile(pattern: &str) -> Result<Regex, (String, &'static str)> {
    if pattern.trim().is_empty() {
        return Err(("it is empty".to_owned(), "remove `pattern`"));
    }
    // The pattern is parsed alone first, so that positions in the message are those of the pattern.
    if let Err(found) = regex_syntax::parse(pattern) {
        let reason = match &found {
            regex_syntax::Error::Parse(problem) => problem.kind().to_string(),
            regex_syntax::Error::Translate(problem) => problem.kind().to_string(),
            other => other.to_string(),
        };
        return Err((
            reason,
            "the syntax is that of the Rust crate `regex`; the whole text must match, without `^` and `$`",
        ));
    }
    Regex::new(&format!("^(?:{pattern})$")).map_err(|found| match found {
        regex::Error::CompiledTooBig(most) => (
            format!("its compiled form exceeds {most} bytes"),
            "repeat less: `{1000}` within `{1000}` is a million repetitions",
        ),
        _ => (
            "it is not valid between `^(?:` and `)$`".to_owned(),
            "the server puts the pattern between them, so that the whole text must match; a comment of `(?x)` hides the end",
        ),
    })
}

/// The fewest and the most characters of a text that matches a pattern. Some lengths between the two may match nothing.
/// None for a pattern that does not compile.
pub fn lengths(pattern: &str) -> Option<(u64, Option<u64>)> {
    compile(pattern).ok()?;
    regex_syntax::parse(pattern).ok().map(|hir| characters(&hir))
}

fn characters(hir: &Hir) -> (u64, Option<u64>) {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let count = String::from_utf8_lossy(&literal.0).chars().count() as u64;
            (count, Some(count))
        }
        HirKind::Class(_) => (1, Some(1)),
        HirKind::Empty | HirKind::Look(_) => (0, Some(0)),
        HirKind::Capture(group) => characters(&group.sub),
        HirKind::Repetition(repeated) => {
            let (least, most) = characters(&repeated.sub);
            let times = |length: u64, times: u32| length.saturating_mul(times.into());
            let no_end = if most == Some(0) { Some(0) } else { None };
            (times(least, repeated.min), repeated.max.map_or(no_end, |max| most.map(|most| times(most, max))))
        }
        HirKind::Concat(parts) => parts.iter().map(characters).fold((0, Some(0)), |(least, most), part| {
            let sum = |most: u64| part.1.map(|other| most.saturating_add(other));
            (least.saturating_add(part.0), most.and_then(sum))
        }),
        HirKind::Alternation(ways) => {
            let ways: Vec<_> = ways.iter().map(characters).collect();
            let least = ways.iter().map(|path| path.0).min().unwrap_or(0);
            let most = ways.iter().map(|path| path.1).collect::<Option<Vec<u64>>>();
            (least, most.and_then(|most| most.into_iter().max()))
        }
    }
}

/// True if a text looks like an http or https URL. The server also parses it to its end.
pub fn is_url(text: &str) -> bool {
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let is_web = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    is_web && !rest.contains(is_blank) && has_host(rest)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// True if the text after `https://` begins with a valid host and port.
fn has_host(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let (is_host, behind) = match place.strip_prefix('[').and_then(|place| place.split_once(']')) {
        Some((address, behind)) => (address.parse::<Ipv6Addr>().is_ok(), behind),
        None => {
            let (host, _) = place.split_once(':').unwrap_or((place, ""));
            let is_address = host.split('.').all(|part| part.parse::<u64>().is_ok());
            let fits = !host.is_empty() && !host.contains(|c: char| c.is_control() || "<>[]^|%".contains(c));
            (
                fits && (!is_address || host.split('.').count() != 4 || host.parse::<Ipv4Addr>().is_ok()),
                &place[host.len()..],
            )
        }
    };
    let port = behind.strip_prefix(':').unwrap_or(behind);
    is_host && (behind.is_empty() || behind.starts_with(':')) && (port.is_empty() || port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_too_large_for_the_server_are_rejected() {
        assert!(compile("[A-Z]{3}").unwrap().is_match("GBP"));
        for pattern in ["[A-Z", "(?=a)b", "(a{1000}){1000}", "(?x)[A-Z]{3} # three letters"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_implies_the_length_of_its_matches() {
        let lengths = |pattern| lengths(pattern).unwrap();
        assert_eq!(lengths("[A-Z]{3}"), (3, Some(3)));
        assert_eq!(lengths("(ä|über)?x{2,}"), (2, None));
        assert_eq!(lengths("^(?:ab|c.{1,3})$"), (2, Some(4)));
        assert_eq!(lengths("(?:\\b)*"), (0, Some(0)));
        assert_eq!(lengths("(?i)straße"), (6, Some(6)));
    }
}
