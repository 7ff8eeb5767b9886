//! Spaces that YAML needs, and characters that only look like spaces.

/// The name of a character in a text that looks like a space, or is invisible, and is no space to YAML.
pub fn odd_space(text: &str) -> Option<String> {
    let odd = text
        .chars()
        .find(|&c| !c.is_ascii() && (c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200d}' | '\u{feff}')))?;
    let name = match odd {
        '\u{a0}' | '\u{202f}' => "a no-break space",
        '\u{200b}'..='\u{200d}' | '\u{feff}' => "a zero-width character",
        _ => "a wide or narrow space",
    };
    Some(format!("{name} (U+{:04X})", u32::from(odd)))
}

/// The help for `name:text` and `name:{ … }`, which YAML reads as one word because no space follows the colon.
pub fn torn_colon(text: &str) -> Option<String> {
    let (key, rest) = text.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    // Times and URLs have such a colon too.
    let is_other = rest.starts_with(|c: char| c.is_whitespace() || c.is_ascii_digit() || matches!(c, ':' | '/'));
    (is_key && !rest.is_empty() && !is_other).then(|| match rest.chars().next() {
        Some(bracket @ ('{' | '[')) => format!("add a space after the colon: `{key}: {bracket}…`"),
        _ => format!("add a space after the colon: `{key}: {rest}`"),
    })
}
