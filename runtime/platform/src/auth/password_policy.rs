//! Checks of new passwords (NIST SP 800-63B, section 3.1.1.2): length, common passwords, the account's own words.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

/// Minimum and maximum length in characters. There are no composition rules.
pub const LENGTH: std::ops::RangeInclusive<usize> = 12..=200;

/// Letters and digits that a password must have besides the own words of its account.
const MIN_OTHER_CHARACTERS: usize = 8;
/// Shorter words are ignored, because they are parts of many others.
const MIN_OWN_WORD_CHARACTERS: usize = 3;
/// Sequences of the alphabet, the digits and the keyboard.
const SEQUENCES: [&str; 4] =
    ["abcdefghijklmnopqrstuvwxyz", "0123456789", "qwertyuiopasdfghjklzxcvbnm", "azertyuiopqsdfghjklmwxcvbn"];
const MIN_SEQUENCE_CHARACTERS: usize = 6;

static COMMON: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("common_passwords.txt").lines();
    lines.filter(|line| !line.starts_with('#')).collect()
});

/// The form in which a password is hashed: two keyboards may send the same character as different code points. ASCII
/// stays the same. A byte order mark is of the file or the program that the password comes from.
pub(super) fn normalized(password: &str) -> String {
    password.strip_prefix('\u{feff}').unwrap_or(password).nfkc().collect()
}

/// The reason to refuse a normalized password, if there is one. `own` are texts of the account and the application.
pub(super) fn problem(password: &str, own: &[&str]) -> Option<String> {
    let length = password.chars().count();
    let (least, most) = (LENGTH.start(), LENGTH.end());
    if length < *least {
        return Some(format!("must have at least {least} characters"));
    }
    if length > *most {
        return Some(format!("must have at most {most} characters"));
    }
    let folded = password.to_lowercase();
    if is_common(&folded) {
        return Some("is too common: it would be among the first that an attacker tries".into());
    }
    if is_mostly_own_words(&folded, own) {
        return Some("must not consist of the user's name or address, or of the name of this application".into());
    }
    None
}

/// True for a common password, also repeated or with a few digits and signs around it, and for one character, a pair or
/// a sequence of the keyboard or the alphabet that repeats.
fn is_common(folded: &str) -> bool {
    let word = folded.trim_matches(|c: char| !c.is_alphabetic());
    let has_few_others = folded.chars().count() - word.chars().count() < MIN_OTHER_CHARACTERS;
    let whole = [folded, smallest_unit(folded)];
    let parts = [word, smallest_unit(word)];
    let mut candidates = whole.into_iter().chain(parts.into_iter().filter(|_| has_few_others));
    candidates.any(|text| COMMON.contains(text) || is_sequence(text)) || smallest_unit(folded).chars().count() <= 2
}

/// True for a part of a sequence, forward or backward, long enough to be no accident.
fn is_sequence(text: &str) -> bool {
    let reversed: String = text.chars().rev().collect();
    let parts = SEQUENCES.map(|sequence| sequence.repeat(2));
    text.chars().count() >= MIN_SEQUENCE_CHARACTERS
        && parts.iter().any(|sequence| sequence.contains(text) || sequence.contains(&reversed))
}

/// `abc` for `abcabcabc`; the text itself if it does not repeat.
fn smallest_unit(text: &str) -> &str {
    let ends = text.char_indices().map(|(start, _)| start).skip(1);
    let fitting = ends.filter(|end| text.len().is_multiple_of(*end));
    let repeats = |end: &usize| text.as_bytes().chunks(*end).all(|chunk| chunk == &text.as_bytes()[..*end]);
    fitting.into_iter().find(repeats).map_or(text, |end| &text[..end])
}

fn is_mostly_own_words(folded: &str, own: &[&str]) -> bool {
    let own: Vec<String> = own.iter().map(|text| text.to_lowercase()).collect();
    let mut words: Vec<&str> = own.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric())).collect();
    words.retain(|word| word.chars().count() >= MIN_OWN_WORD_CHARACTERS && folded.contains(word));
    if words.is_empty() {
        return false;
    }
    // The longest first, because a word may contain another one.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let rest = words.iter().fold(folded.to_string(), |rest, word| rest.replace(word, " "));
    rest.chars().filter(|c| c.is_alphanumeric()).count() < MIN_OTHER_CHARACTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [&str; 3] = ["Ada Lovelace", "countess@analytical.example", "Charter"];

    #[test]
    fn common_repeated_and_own_passwords_are_refused_and_long_ones_are_not() {
        for (password, part) in [
            ("elevenchars", "at least 12"),
            (&"x".repeat(201), "at most 200"),
            ("administrator", "too common"),
            ("Password2024!", "too common"),
            ("123football!!", "too common"),
            ("passwordpassword", "too common"),
            ("aaaaaaaaaaaa", "too common"),
            ("abababababab", "too common"),
            ("1234567890123", "too common"),
            ("abcdefghijkl", "too common"),
            ("zyxwvutsrqpo", "too common"),
            ("qwertyuiopas", "too common"),
            ("AdaLovelace1815", "name or address"),
            ("countess@analytical.example", "name or address"),
            ("charter-charter-1", "name or address"),
        ] {
            let problem = problem(password, &OWN).unwrap_or_default();
            assert!(problem.contains(part), "{password}: {problem:?}");
        }
        for password in
            ["correct horse battery staple", "lovelace likes long loops", "tr0ub4dor & three", "ÄÖÜ äöü ÄÖÜ 12"]
        {
            assert_eq!(problem(password, &OWN), None, "{password}");
        }
    }

    #[test]
    fn equal_characters_have_one_form_and_ascii_is_unchanged() {
        assert_eq!(normalized("Pa\u{308}sswo\u{301}rd \u{ff11}\u{fb01}"), "P\u{e4}ssw\u{f3}rd 1fi");
        let ascii: String = (' '..='~').collect();
        assert_eq!(normalized(&ascii), ascii);
        assert_eq!(normalized(&format!("\u{feff}{ascii}")), ascii);
    }

    #[test]
    fn list_of_common_passwords_has_thousands_of_lines_in_lower_case() {
        assert!(COMMON.len() > 8_000);
        assert!(COMMON.iter().all(|line| !line.is_empty() && line.to_lowercase() == *line && !line.contains(' ')));
    }
}
