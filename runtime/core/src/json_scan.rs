//! Single-pass JSON scanner: splits JSON into strings and everything between them, without parsing values.

use rust_decimal::Decimal;
use serde_json::Number;

/// A piece of well-formed JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece<'a> {
    /// A string or a name, with its quotes.
    Text(&'a str),
    /// Everything between two strings: numbers, literals, punctuation and white space.
    Between(&'a str),
}

/// Splits well-formed JSON into pieces. Concatenated, they are the input.
pub fn pieces(json: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = json;
    std::iter::from_fn(move || {
        let is_text = rest.starts_with('"');
        let length = if is_text { text_length(rest) } else { rest.find('"').unwrap_or(rest.len()) };
        let (piece, after) = rest.split_at(length);
        rest = after;
        (!piece.is_empty()).then_some(if is_text { Piece::Text(piece) } else { Piece::Between(piece) })
    })
}

/// Length in bytes of the string at the beginning of `json`, with its quotes.
fn text_length(json: &str) -> usize {
    let mut is_escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(json.len(), |end| end + 2)
}

/// Checks that every number in well-formed JSON keeps its value when it is parsed, as an integer or as `f64`, and
/// written again.
///
/// # Errors
/// The validation message of the first number that does not.
pub fn check_numbers(json: &str) -> Result<(), String> {
    let tokens = pieces(json).filter_map(|piece| match piece {
        Piece::Between(text) => Some(text),
        Piece::Text(_) => None,
    });
    let is_delimiter = |c: char| matches!(c, '[' | ']' | '{' | '}' | ',' | ':') || c.is_ascii_whitespace();
    let tokens = tokens.flat_map(|text| text.split(is_delimiter));
    tokens.filter(|token| token.starts_with(|c: char| c == '-' || c.is_ascii_digit())).try_for_each(check_number)
}

fn check_number(number_text: &str) -> Result<(), String> {
    let exact = |text: &str| Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text)).ok();
    match serde_json::from_str::<Number>(number_text) {
        Ok(number) if exact(number_text).is_none_or(|value| exact(&number.to_string()) != Some(value)) => Err(format!(
            "contains the number {number_text}, which has too many digits to store exactly; send it as a string"
        )),
        Ok(_) => Ok(()),
        Err(_) => Err(format!("contains the number {number_text}, which is too large to store; send it as a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, check_numbers, pieces};

    #[test]
    fn json_is_split_into_strings_and_the_text_between_them() {
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
    fn pieces_of_truncated_json_contain_all_of_it() {
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
    fn inexact_number_is_reported_at_any_depth_but_not_inside_a_string() {
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
