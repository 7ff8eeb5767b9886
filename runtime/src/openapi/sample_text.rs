//! Example texts of a given length and format: words, URLs, e-mail addresses, and matches of regular expressions.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::english;
use charter_core::meta::{FieldMeta, Rule};

/// Example URLs, the most readable first.
const URLS: [&str; 5] =
    ["https://example.com/hook", "https://example.com", "https://a.example", "http://a.eu", "http://a"];
const EMAILS: [&str; 4] = ["ada@example.com", "ada@a.example", "a@b.eu", "a@b"];

/// Maximum of additional characters for a match of a pattern.
const MAX_EXTRA_CHARACTERS: usize = 64;

/// Allowed length in characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub least: usize,
    pub most: usize,
}

impl Length {
    /// The length by the rules of a field and the maximum of its type.
    pub(super) fn of(field: &FieldMeta, max: Option<u32>) -> Length {
        let least = field.rules.iter().filter_map(|rule| match rule {
            Rule::MinLength(least) => Some(*least as usize),
            _ => None,
        });
        Length { least: least.max().unwrap_or(0), most: max.map_or(usize::MAX, |max| max as usize) }
    }

    fn holds(self, text: &str) -> bool {
        (self.least..=self.most).contains(&text.chars().count())
    }
}

/// A text, truncated or repeated to the allowed length.
pub(super) fn words(text: &str, length: Length) -> String {
    let mut found = english::capitalize(text);
    while found.chars().count() < length.least {
        found.push(' ');
        found.push_str(text);
    }
    let mut found: String = found.chars().take(length.most).collect();
    found.truncate(found.trim_end().len());
    // Without the trailing space it is too short.
    if !length.holds(&found) {
        found.push('s');
    }
    found
}

/// An http or https URL.
pub(super) fn url(length: Length) -> String {
    let fitting = URLS.iter().find(|url| url.chars().count() <= length.most).unwrap_or(&URLS[URLS.len() - 1]);
    let more = length.least.saturating_sub(fitting.len());
    // A URL without a path needs a slash first.
    let path = if fitting.matches('/').count() > 2 || more == 0 {
        "a".repeat(more)
    } else {
        format!("/{}", "a".repeat(more - 1))
    };
    format!("{fitting}{path}")
}

/// An e-mail address.
pub(super) fn email(length: Length) -> String {
    let fitting = EMAILS.iter().find(|email| email.chars().count() <= length.most).unwrap_or(&EMAILS[EMAILS.len() - 1]);
    format!("{}{fitting}", "a".repeat(length.least.saturating_sub(fitting.len())))
}

/// A match of a regular expression, of an allowed length if possible.
pub(super) fn matching(pattern: &str, length: Length) -> String {
    let Ok(hir) = regex_syntax::parse(pattern) else { return String::new() };
    let shortest = of_length(&hir, 0);
    let fits = |text: &String| length.holds(text);
    let longer = (length.least..=length.most.min(length.least.saturating_add(MAX_EXTRA_CHARACTERS)))
        .map(|least| of_length(&hir, least));
    std::iter::once(shortest.clone()).chain(longer).find(fits).unwrap_or(shortest)
}

/// A match with this many characters, or as many as possible.
fn of_length(hir: &Hir, wanted: usize) -> String {
    let mut text = String::new();
    let mut missing = wanted.saturating_sub(least(hir));
    write(hir, &mut text, &mut missing);
    text
}

/// Smallest number of characters of a match.
fn least(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0).chars().count(),
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => least(&repetition.sub).saturating_mul(repetition.min as usize),
        HirKind::Capture(capture) => least(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(least).fold(0, usize::saturating_add),
        HirKind::Alternation(parts) => parts.iter().map(least).min().unwrap_or(0),
    }
}

/// Largest number of characters of a match.
fn most(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Class(_) => least(hir),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.map_or(usize::MAX, |max| max as usize);
            most(&repetition.sub).saturating_mul(times)
        }
        HirKind::Capture(capture) => most(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(most).fold(0, usize::saturating_add),
        HirKind::Alternation(parts) => parts.iter().map(most).max().unwrap_or(0),
    }
}

/// Appends a match, which is extended while characters are missing.
fn write(hir: &Hir, text: &mut String, missing: &mut usize) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(character(class)),
        HirKind::Repetition(repetition) => {
            (0..repetition.min).for_each(|_| write(&repetition.sub, text, missing));
            let mut times = repetition.min;
            while *missing > 0 && repetition.max.is_none_or(|max| times < max) && most(&repetition.sub) > 0 {
                times += 1;
                let shorter = least(&repetition.sub);
                *missing = missing.saturating_sub(shorter);
                let (before, longer) = (text.len(), *missing);
                write(&repetition.sub, text, missing);
                if text.len() == before && *missing == longer {
                    return;
                }
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, text, missing),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, text, missing)),
        HirKind::Alternation(parts) => {
            let shortest = least(hir);
            let reaches = |part: &&Hir| most(part) >= shortest.saturating_add(*missing);
            // If no part is long enough, the following ones may be extended.
            let longest = || parts.iter().rev().max_by_key(|part| most(part));
            let part = if *missing == 0 { parts.first() } else { parts.iter().find(reaches).or_else(longest) };
            if let Some(part) = part {
                *missing = missing.saturating_sub(least(part) - shortest);
                write(part, text, missing);
            }
        }
    }
}

/// A readable character of a class, if it has one: a letter or digit, else a visible character, else a space.
fn character(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    };
    let first = ranges.first()?.0;
    let has = |wanted: &char| ranges.iter().any(|(from, to)| (from..=to).contains(&wanted));
    let plain = Some(first).filter(char::is_ascii_alphanumeric);
    let common = || ['a', 'A', '0'].into_iter().find(has);
    let visible = || ('!'..='~').find(has);
    let printable = || ranges.iter().map(|(from, _)| *from).find(|from| !from.is_control());
    plain.or_else(common).or_else(visible).or_else(|| Some(' ').filter(has)).or_else(printable).or(Some(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Length = Length { least: 0, most: usize::MAX };

    #[test]
    fn example_matches_its_pattern_and_length() {
        let cases = [
            ("[A-Z]{3}", ANY),
            ("[0-9]{13}", ANY),
            ("[a-z][a-z0-9_]*", Length { least: 40, most: 40 }),
            ("(red|blue)-[0-9]+", Length { least: 12, most: 20 }),
            ("[A-Za-z][A-Za-z0-9_+-]*(/x)*", ANY),
            (r"\d{3}-(foo|bar)?", Length { least: 7, most: 9 }),
            (r"(ab|c)+x?", Length { least: 4, most: 4 }),
            (r"(a?){3}(bc|def)", Length { least: 5, most: 5 }),
            ("[^a-z0-9A-Z]{2,3}", ANY),
            (".+", Length { least: 2, most: 9 }),
            ("(b*)*c", Length { least: 5, most: 9 }),
        ];
        for (pattern, length) in cases {
            let text = matching(pattern, length);
            assert!(regex::Regex::new(&format!("^(?:{pattern})$")).unwrap().is_match(&text), "{pattern}: {text}");
            assert!(length.holds(&text), "{pattern}: {text}");
            assert!(!text.contains(char::is_control), "{pattern}: {text:?}");
        }
    }

    #[test]
    fn example_has_an_allowed_length() {
        for (least, most) in [(0, usize::MAX), (0, 3), (8, 12), (39, 60), (300, 300), (12, 12), (5, 5), (6, 6)] {
            let length = Length { least, most };
            let text = words("the words", length);
            assert!(length.holds(&text) && text.trim() == text, "{least} to {most}: {text:?}");
        }
        for (least, most) in [(0, 8), (0, 12), (20, 30), (60, 60), (23, 24), (12, 12)] {
            let length = Length { least, most };
            assert!(length.holds(&url(length)), "{least} to {most}: {}", url(length));
        }
        for (least, most) in [(0, 3), (0, 4), (0, 12), (30, 40), (5, 5)] {
            let length = Length { least, most };
            assert!(length.holds(&email(length)), "{least} to {most}: {}", email(length));
        }
    }
}
