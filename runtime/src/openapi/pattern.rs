//! Regular expressions of the document: ECMA-262, and anchored at both ends, because some clients match from the start
//! of a text and others anywhere in it.

use regex_syntax::ast::{self, AssertionKind, Ast, ClassSetItem, ClassUnicodeKind, GroupKind, LiteralKind};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

use charter_core::meta::TimestampForm;

/// A text with a character that is not white space. Spelled out, because regex engines define `\s` and `.` differently.
pub(super) const NOT_BLANK: &str =
    "^[\\s\\S]*[^\\t-\\r \\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000][\\s\\S]*$";
pub(super) const URL: &str = "^[Hh][Tt][Tt][Pp][Ss]?://[A-Za-z0-9].*$";
pub(super) const EMAIL: &str = "^[^\\s@]+@[^\\s@]+$";

/// Maximum length of a translated pattern. Clients would not compile a longer one, such as that of all letters.
const MAX_LENGTH: usize = 4_096;

/// General categories that ECMA-262 names like the crate `regex`.
const CATEGORIES: [&str; 37] = [
    "L", "LC", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Co", "Cn",
];

/// The pattern of a time as the server writes it.
pub(super) fn timestamp(form: TimestampForm) -> String {
    let end = match form {
        TimestampForm::Seconds => "Z",
        TimestampForm::Millis => "\\.[0-9]{3}Z",
        TimestampForm::Offset => "\\+00:00",
    };
    format!("^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}{end}$")
}

/// The pattern of a field, which the server compiles with the crate `regex`, in ECMA-262. `\d`, `\w` and `\b` stay,
/// although they are those of ASCII there: a client refuses more than the server. `None` if the pattern cannot be
/// translated, or only into one that is too long.
pub(super) fn of_rule(pattern: &str) -> Option<String> {
    let tree = ast::parse::Parser::new().parse(pattern).ok()?;
    if is_shared(&tree) {
        return Some(format!("^(?:{pattern})$"));
    }
    let mut out = String::from("^(?:");
    write(&regex_syntax::parse(pattern).ok()?, &mut out)?;
    out.push_str(")$");
    (out.len() <= MAX_LENGTH).then_some(out)
}

/// True if both languages read an expression alike.
fn is_shared(tree: &Ast) -> bool {
    match tree {
        Ast::Empty(_) => true,
        // A dot of ECMA-262 excludes more line ends.
        Ast::Dot(_) | Ast::Flags(_) => false,
        Ast::Literal(literal) => is_shared_literal(literal),
        Ast::Assertion(assertion) => matches!(
            assertion.kind,
            AssertionKind::StartLine
                | AssertionKind::EndLine
                | AssertionKind::WordBoundary
                | AssertionKind::NotWordBoundary
        ),
        Ast::ClassUnicode(class) => is_shared_category(&class.kind),
        Ast::ClassPerl(class) => class.kind != ast::ClassPerlKind::Space,
        Ast::ClassBracketed(class) => matches!(&class.kind, ast::ClassSet::Item(item) if is_shared_item(item)),
        Ast::Repetition(repeated) => is_shared(&repeated.ast),
        Ast::Group(group) => {
            let plain = match &group.kind {
                GroupKind::CaptureIndex(_) => true,
                GroupKind::CaptureName { .. } => false,
                GroupKind::NonCapturing(flags) => flags.items.is_empty(),
            };
            plain && is_shared(&group.ast)
        }
        Ast::Alternation(several) => several.asts.iter().all(is_shared),
        Ast::Concat(several) => several.asts.iter().all(is_shared),
    }
}

/// ECMA-262 with the flag `u` refuses escapes that do nothing, and brackets without an escape.
fn is_shared_literal(literal: &ast::Literal) -> bool {
    match &literal.kind {
        LiteralKind::Verbatim => !"[]{}/".contains(literal.c) && !literal.c.is_control(),
        LiteralKind::Meta => "^$\\.*+?()[]{}|/".contains(literal.c),
        LiteralKind::HexFixed(kind) => *kind != ast::HexLiteralKind::UnicodeLong,
        LiteralKind::Special(kind) => {
            use ast::SpecialLiteralKind::{Bell, Space};
            !matches!(kind, Bell | Space)
        }
        _ => false,
    }
}

fn is_shared_category(kind: &ClassUnicodeKind) -> bool {
    matches!(kind, ClassUnicodeKind::Named(name) if CATEGORIES.contains(&name.as_str()))
}

fn is_shared_item(item: &ClassSetItem) -> bool {
    // A hyphen has an escape of its own in a class.
    let literal = |one: &ast::Literal| is_shared_literal(one) || (one.kind == LiteralKind::Meta && one.c == '-');
    match item {
        ClassSetItem::Empty(_) | ClassSetItem::Ascii(_) | ClassSetItem::Bracketed(_) => false,
        ClassSetItem::Literal(one) => literal(one),
        ClassSetItem::Range(range) => literal(&range.start) && literal(&range.end),
        ClassSetItem::Unicode(class) => is_shared_category(&class.kind),
        ClassSetItem::Perl(class) => class.kind != ast::ClassPerlKind::Space,
        ClassSetItem::Union(union) => union.items.iter().all(is_shared_item),
    }
}

/// Writes an expression; `None` if ECMA-262 has no such expression.
fn write(hir: &Hir, out: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok()?.chars().for_each(|c| character(c, out)),
        HirKind::Class(Class::Unicode(ranges)) => class(ranges, out),
        HirKind::Class(Class::Bytes(ranges)) => class(&ranges.to_unicode_class()?, out),
        HirKind::Look(look) => out.push_str(match look {
            Look::Start => "^",
            Look::End => "$",
            Look::StartLF => "(?<![^\\n])",
            Look::EndLF => "(?![^\\n])",
            Look::StartCRLF => "(?<![^\\r\\n])",
            Look::EndCRLF => "(?![^\\r\\n])",
            Look::WordAscii | Look::WordUnicode => "\\b",
            Look::WordAsciiNegate | Look::WordUnicodeNegate => "\\B",
            Look::WordStartAscii | Look::WordStartUnicode => "\\b(?=\\w)",
            Look::WordEndAscii | Look::WordEndUnicode => "\\b(?<=\\w)",
            _ => return None,
        }),
        HirKind::Repetition(repeated) => {
            grouped(&repeated.sub, out)?;
            match (repeated.min, repeated.max) {
                (0, None) => out.push('*'),
                (1, None) => out.push('+'),
                (0, Some(1)) => out.push('?'),
                (least, None) => out.push_str(&format!("{{{least},}}")),
                (least, Some(most)) if least == most => out.push_str(&format!("{{{least}}}")),
                (least, Some(most)) => out.push_str(&format!("{{{least},{most}}}")),
            }
            if !repeated.greedy {
                out.push('?');
            }
        }
        HirKind::Capture(group) => grouped(&group.sub, out)?,
        HirKind::Concat(parts) => {
            for part in parts {
                match part.kind() {
                    HirKind::Alternation(_) => grouped(part, out)?,
                    _ => write(part, out)?,
                }
            }
        }
        HirKind::Alternation(ways) => {
            for (index, way) in ways.iter().enumerate() {
                if index > 0 {
                    out.push('|');
                }
                write(way, out)?;
            }
        }
    }
    Some(())
}

/// Writes an expression such that a quantifier applies to all of it.
fn grouped(hir: &Hir, out: &mut String) -> Option<()> {
    if let HirKind::Class(_) = hir.kind() {
        return write(hir, out);
    }
    out.push_str("(?:");
    write(hir, out)?;
    out.push(')');
    Some(())
}

fn class(ranges: &ClassUnicode, out: &mut String) {
    let mut others = ranges.clone();
    others.negate();
    let (negated, shown) = match others.ranges().len() < ranges.ranges().len() {
        true => (true, &others),
        false => (false, ranges),
    };
    match (shown.ranges(), negated) {
        ([], true) => return out.push_str("[\\s\\S]"),
        ([], false) => return out.push_str("[^\\s\\S]"),
        _ => out.push_str(if negated { "[^" } else { "[" }),
    }
    let mut end = |range: &ClassUnicodeRange| {
        in_class(range.start(), out);
        if range.end() > range.start() {
            if u32::from(range.end()) > u32::from(range.start()) + 1 {
                out.push('-');
            }
            in_class(range.end(), out);
        }
    };
    shown.ranges().iter().for_each(&mut end);
    out.push(']');
}

fn in_class(c: char, out: &mut String) {
    if c == '-' { out.push_str("\\-") } else { character(c, out) }
}

/// Writes a character, escaped if it is a part of the syntax or cannot be seen.
fn character(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if "^$\\.*+?()[]{}|/".contains(c) => out.extend(['\\', c]),
        ' '..='~' => out.push(c),
        _ if c.is_alphanumeric() => out.push(c),
        '\0'..='\u{ffff}' => out.push_str(&format!("\\u{:04X}", u32::from(c))),
        // With the flag `u`, which JSON Schema recommends (2020-12, section 6.4).
        _ => out.push_str(&format!("\\u{{{:X}}}", u32::from(c))),
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn pattern_of_a_rule_is_ecma_262() {
        for (rust, expected) in [
            ("[A-Z]{3}", "^(?:[A-Z]{3})$"),
            ("a|b+?", "^(?:a|b+?)$"),
            ("\\d{2}-\\w+", "^(?:\\d{2}-\\w+)$"),
            ("[\\p{L} .'\\-]+", "^(?:[\\p{L} .'\\-]+)$"),
            ("(?i)ab", "^(?:[Aa][Bb])$"),
            ("\\A[[:digit:]]+\\z", "^(?:^[0-9]+$)$"),
            ("(?P<year>[0-9]{4})", "^(?:(?:[0-9]{4}))$"),
            ("(?x) a \\  b # two", "^(?:a b)$"),
            ("\\x{41}\\-\\%", "^(?:A-%)$"),
            ("[a-z&&[^aeiou]]", "^(?:[b-df-hj-np-tv-z])$"),
            ("a.b", "^(?:a[^\\n]b)$"),
            ("[^\\s\\S]|[[:space:]]", "^(?:[\\t-\\r ])$"),
            ("(?:ab|c){2,}x*?", "^(?:(?:ab|c){2,}x*?)$"),
            ("\u{1f600}|[\u{1f600}-\u{1f602}]+\\a", "^(?:\\u{1F600}|[\\u{1F600}-\\u{1F602}]+\\u0007)$"),
        ] {
            assert_eq!(of_rule(rust).as_deref(), Some(expected), "{rust}");
        }
        assert_eq!(of_rule("\\pL+"), None, "its translation is too long");
        assert_eq!(of_rule("("), None);
    }

    #[test]
    fn translation_matches_the_same_texts() {
        let texts = ["", "a", "ab", "AB", "a b", "a-%", "2026", "x\n", "äö", "bcd", "1a", "a\u{2028}b", "[x]/{y}"];
        for rust in ["(?i)[a-z]+", "\\A[[:alnum:]]*\\z", "a.b", "[a-z&&[^aeiou]]*", "\\[x\\]/\\{y\\}", "(?s).*", "\\S+"]
        {
            let server = Regex::new(&format!("^(?:{rust})$")).expect("a pattern");
            let translated = of_rule(rust).expect("a translation");
            // This engine knows no escaped slash.
            let client = Regex::new(&translated.replace("\\/", "/")).expect("a pattern");
            for text in texts {
                assert_eq!(client.is_match(text), server.is_match(text), "{rust} as {translated}: {text:?}");
            }
        }
    }

    #[test]
    fn fixed_patterns_match_what_the_server_accepts() {
        let matches = |pattern: &str, text: &str| Regex::new(pattern).expect("a pattern").is_match(text);
        assert!(matches(NOT_BLANK, "a") && matches(NOT_BLANK, " \n a\n\n") && !matches(NOT_BLANK, " \u{3000}\n"));
        assert!(matches(URL, "HTTPS://example.com/x?y") && !matches(URL, "ftp://example.com"));
        assert!(matches(&timestamp(TimestampForm::Millis), "2026-11-28T10:00:00.000Z"));
        assert!(matches(&timestamp(TimestampForm::Offset), "2026-11-28T10:00:00+00:00"));
        assert!(!matches(&timestamp(TimestampForm::Seconds), "2026-11-28T10:00:00.000Z"));
    }
}
