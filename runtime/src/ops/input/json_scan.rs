//! JSON as its texts and what stands between them, in one pass: for what is asked of JSON without reading it into values.

use rust_decimal::Decimal;
use serde_json::Number;

/// A stretch of well-formed JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece<'a> {
    /// A text with its quotes, or a name.
    Text(&'a str),
    /// What stands between two texts: numbers, words, brackets and space.
    Between(&'a str),
}

/// The pieces of well-formed JSON, from the first to the last; together they are all of it.
pub fn pieces(json: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = json;
    std::iter::from_fn(move || {
        let is_text = rest.starts_with('"');
        let length = if is_text { text_length(rest) } else { rest.find('"').unwrap_or(rest.len()) };
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        (!piece.is_empty()).then_some(if is_text { Piece::Text(piece) } else { Piece::Between(piece) })
    })
}

/// The length of the text that `json` begins with, in bytes, with its quotes.
fn text_length(json: &str) -> usize {
    let mut is_escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 2)
}

/// Whether every number in well-formed JSON is kept as it is: what is read as a binary fraction must come out again.
///
/// # Errors
/// Of the first number that is not, what is wrong with it.
pub fn check_numbers(json: &str) -> Result<(), String> {
    let between = pieces(json).filter_map(|piece| match piece {
        Piece::Between(between) => Some(between),
        Piece::Text(_) => None,
    });
    let is_mark = |c: char| matches!(c, '[' | ']' | '{' | '}' | ',' | ':') || c.is_ascii_whitespace();
    let words = between.flat_map(|between| between.split(is_mark));
    words.filter(|word| word.starts_with(|c: char| c == '-' || c.is_ascii_digit())).try_for_each(check_number)
}

fn check_number(given: &str) -> Result<(), String> {
    let exact = |text: &str| Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text)).ok();
    match serde_json::from_str::<Number>(given) {
        Ok(number) if exact(given).is_none_or(|value| exact(&number.to_string()) != Some(value)) => {
            Err(format!("holds the number {given}, which has too many digits to be kept exactly; send it as text"))
        }
        Ok(_) => Ok(()),
        Err(_) => Err(format!("holds the number {given}, which is too large to be kept; send it as text")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, check_numbers, pieces};

    #[test]
    fn texts_are_told_from_what_stands_between_them() {
        let json = r#" {"a\"b": [1, "\\"], "": null}"#;
        let expected = [
            Piece::Between(" {"),
            Piece::Text(r#""a\"b""#),
            Piece::Between(": [1, "),
            Piece::Text(r#""\\""#),
            Piece::Between("], "),
            Piece::Text(r#""""#),
            Piece::Between(": null}"),
        ];
        assert_eq!(pieces(json).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn all_of_the_text_is_in_the_pieces_wherever_it_is_cut() {
        let json = r#"{"ä\\\"ö":[-1.5e3,"x"],"":"\\"}"#;
        for (end, _) in json.char_indices() {
            let cut = &json[..end];
            let whole = pieces(cut).map(|piece| match piece {
                Piece::Text(text) | Piece::Between(text) => text,
            });
            assert_eq!(whole.collect::<String>(), cut);
        }
    }

    #[test]
    fn a_number_that_would_come_out_as_another_is_named_wherever_it_stands() {
        for json in ["1234567890.12345679", "[1,\n1234567890.12345679]", r#"{"a":{"b":[true,1234567890.12345679 ]}}"#] {
            assert!(
                check_numbers(json).is_err_and(|problem| problem.contains("number 1234567890.12345679,")),
                "{json}"
            );
        }
        for json in [
            "0.1",
            "-1.5e3",
            "[]",
            "null",
            r#""1234567890.12345679""#,
            r#"{"1234567890.12345679":"\",9.00000000000000000001"}"#,
        ] {
            assert_eq!(check_numbers(json), Ok(()), "{json}");
        }
    }
}
