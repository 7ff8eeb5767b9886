//! Words, numbers, texts and signs of an expression, with their places.

use std::ops::Range;

use super::Mistake;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A name, a keyword or a word of an enum.
    Word(String),
    /// Digits, with a fraction or without.
    Number(String),
    /// The content of a text in single quotes.
    Text(String),
    Sign(&'static str),
}

/// Signs, longer ones first.
const SIGNS: [&str; 17] = ["!=", "<=", ">=", "<>", "==", "=", "<", ">", "+", "-", "*", "(", ")", "[", "]", ",", "."];

/// The tokens of a text.
///
/// # Errors
/// The first character that begins no token.
pub fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Mistake> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Word(rest[..length].to_owned()), length)
        } else if first.is_ascii_digit() {
            number(rest, at)?
        } else if first == '\'' {
            quoted(rest, at)?
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let unknown = || unknown(first, at);
            let sign = *sign.ok_or_else(unknown)?;
            if let Some(correct) = [("<>", "!="), ("==", "=")].iter().find(|(wrong, _)| *wrong == sign) {
                let message = format!("`{sign}` is not an operator");
                return Err(Mistake::new(at..at + 2, message).help(format!("write `{}`", correct.1)));
            }
            (Token::Sign(sign), sign.len())
        };
        found.push((token, at..at + length));
        at += length;
    }
    Ok(found)
}

fn number(rest: &str, at: usize) -> Result<(Token, usize), Mistake> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut length = digits(rest);
    if let Some(fraction) = rest[length..].strip_prefix('.') {
        let places = digits(fraction);
        if places == 0 {
            return Err(Mistake::new(at..at + length + 1, "a number needs digits after its point"));
        }
        length += 1 + places;
    }
    // More digits than any field holds.
    if length > 29 {
        return Err(Mistake::new(at..at + length, "the number has more than 28 digits"));
    }
    Ok((Token::Number(rest[..length].to_owned()), length))
}

/// A text in single quotes; a quote within it is doubled.
fn quoted(rest: &str, at: usize) -> Result<(Token, usize), Mistake> {
    let mut content = String::new();
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((index, character)) = characters.next() {
        if character != '\'' {
            content.push(character);
        } else if characters.next_if(|(_, next)| *next == '\'').is_some() {
            content.push('\'');
        } else {
            return Ok((Token::Text(content), index + 1));
        }
    }
    Err(Mistake::new(at..at + rest.len(), "the text has no closing quote")
        .help("write `'` after it; YAML reads ` #` as a comment unless the whole expression is in double quotes"))
}

fn unknown(character: char, at: usize) -> Mistake {
    let mistake = Mistake::new(at..at + character.len_utf8(), format!("`{character}` has no meaning here"));
    match character {
        '"' => mistake.help("write texts in single quotes"),
        '/' | '%' => mistake.help("there is no division, because it could fail; compare products instead"),
        '&' => mistake.help("write `and`"),
        '|' => mistake.help("write `or`"),
        '!' => mistake.help("write `not`"),
        _ => mistake,
    }
}
