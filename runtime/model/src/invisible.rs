//! Characters that a reader cannot see and that reorder, join or end the text around them.

use std::borrow::Cow;

/// True for `Bidi_Control` (UAX #9, table 4): these characters change the order in which the text around them is shown.
pub const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True for the line and the paragraph separator, which some programs show as a line break.
pub const fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// True for a character that a terminal obeys instead of showing it, or that forges what the terminal shows.
fn is_obeyed(c: char) -> bool {
    c.is_control() || is_bidi_control(c) || is_separator(c)
}

/// A text for one line of a terminal: characters that the terminal would obey are escaped, such as `\u{1b}` and `\n`.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, is_obeyed)
}

/// A text of several lines for a terminal: as [`escape_line`], but line feeds stay.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && is_obeyed(c))
}

/// JSON for a terminal: as [`escape_lines`], in the escapes of JSON. Its serializer escapes no other than C0 controls,
/// and such characters are in its strings alone.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c != '\n' && is_obeyed(c);
    if !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_escaped(c) { out.push_str(&format!("\\u{:04x}", u32::from(c))) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_bidi_control_is_known_and_joiners_are_not() {
        let known: Vec<u32> = (0..=0x10_ffff).filter(|c| char::from_u32(*c).is_some_and(is_bidi_control)).collect();
        let expected = [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
        assert_eq!(known, expected);
    }

    #[test]
    fn characters_that_a_terminal_obeys_are_escaped() {
        for (text, expected) in [
            ("Lamp, größe 👩\u{200d}🚀 می\u{200c}خواهم", "Lamp, größe 👩\u{200d}🚀 می\u{200c}خواهم"),
            ("\u{1b}[2J\u{9b}31m", r"\u{1b}[2J\u{9b}31m"),
            ("a\r\nb\tc\0\u{7f}\u{8}", r"a\r\nb\tc\u{0}\u{7f}\u{8}"),
            ("photo\u{202e}gpj.exe\u{2066}\u{61c}", r"photo\u{202e}gpj.exe\u{2066}\u{61c}"),
            ("a\u{2028}b", r"a\u{2028}b"),
        ] {
            assert_eq!(escape_line(text), expected);
        }
        assert_eq!(escape_lines("a\nb\r\u{1b}"), "a\nb\\r\\u{1b}");
        assert_eq!(escape_json("[\n\"a\u{202e}\u{9b}ö\"]"), "[\n\"a\\u202e\\u009bö\"]");
    }
}
