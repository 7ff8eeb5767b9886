//! The characters that a pattern allows, in words: `a to z, digits and _`.

use crate::language::text;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// Characters of a pattern that are described.
const MAX_CHARACTERS: usize = 256;

/// Parts of a description that people still read.
const MAX_PARTS: usize = 8;

/// A description of the characters in a pattern, if the text has another one; `None` if the text breaks the pattern in
/// another way, or the characters are too many to list.
pub(crate) fn allowed_characters(pattern: &str, text: &str) -> Option<String> {
    let mut characters = ClassUnicode::empty();
    collect(&regex_syntax::parse(pattern).ok()?, &mut characters)?;
    let is_allowed = |one: char| characters.iter().any(|range| (range.start()..=range.end()).contains(&one));
    if text.chars().all(is_allowed) {
        return None;
    }
    let all: Vec<char> =
        characters.iter().flat_map(|range| range.start()..=range.end()).take(MAX_CHARACTERS + 1).collect();
    if all.len() > MAX_CHARACTERS {
        return None;
    }
    let is_run = |one: &char, next: &char| {
        group(*one) != Group::Sign && group(*one) == group(*next) && u32::from(*one) + 1 == u32::from(*next)
    };
    let mut runs: Vec<&[char]> = all.chunk_by(is_run).collect();
    runs.sort_by_key(|run| group(run[0]));
    let parts: Vec<String> = runs.into_iter().map(describe).collect();
    match &parts[..] {
        [] => None,
        [alone] => Some(alone.clone()),
        [others @ .., last] => {
            (parts.len() <= MAX_PARTS).then(|| text!("{others} and {last}", others = others.join(", "), last = last))
        }
    }
}

/// Groups of characters, in the order of a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Upper,
    Lower,
    Digit,
    Sign,
}

fn group(one: char) -> Group {
    match one {
        _ if one.is_uppercase() => Group::Upper,
        _ if one.is_alphabetic() => Group::Lower,
        '0'..='9' => Group::Digit,
        _ => Group::Sign,
    }
}

/// Consecutive characters of one group.
fn describe(run: &[char]) -> String {
    match run {
        ['0', .., '9'] => text!("digits"),
        [' '] => text!("spaces"),
        [first, .., last] => text!("{first} to {last}", first = first, last = last),
        _ => run.iter().collect(),
    }
}

/// Adds the characters of an expression; `None` if it has bytes that are no characters.
fn collect(hir: &Hir, characters: &mut ClassUnicode) -> Option<()> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            text.chars().for_each(|one| characters.push(ClassUnicodeRange::new(one, one)));
        }
        HirKind::Class(Class::Unicode(class)) => characters.union(class),
        HirKind::Class(Class::Bytes(class)) => characters.union(&class.to_unicode_class()?),
        HirKind::Repetition(repetition) => collect(&repetition.sub, characters)?,
        HirKind::Capture(capture) => collect(&capture.sub, characters)?,
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().try_for_each(|part| collect(part, characters))?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_characters_of_a_pattern_are_named_if_a_text_has_another() {
        for (pattern, text, words) in [
            ("[a-z][a-z0-9_]*", "Ab", Some("a to z, digits and _")),
            ("[A-Z]{3}", "gbp", Some("A to Z")),
            ("[A-Za-z0-9_+-]*(/[A-Z ]+)?", "ä", Some("A to Z, a to z, digits, spaces, +, -, / and _")),
            ("[0-7]+|x", "9", Some("x and 0 to 7")),
            // Only the order or the number of the characters is wrong.
            ("[A-Z]{3}", "GB", None),
            // Too many characters to list.
            (r"\w+", " ", None),
            (".*", "\n", None),
            ("[", "x", None),
        ] {
            assert_eq!(allowed_characters(pattern, text).as_deref(), words, "{pattern}");
        }
    }
}
