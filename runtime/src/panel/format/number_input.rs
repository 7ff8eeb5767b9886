//! Numbers in inputs: shown with the company's decimal separator, read in the same form, and refused if ambiguous.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::money::NumberFormat;
use crate::language::text;
use charter_core::meta::Kind;

/// The separators of an input. Those of a form are sent back with it, so that a number is read as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Separators {
    decimal: char,
    /// `None` if digits are not grouped.
    thousands: Option<char>,
}

/// The reason why a text is not read as a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// `1.221`, if `.` groups digits: a person may mean 1221, or copied 1.221 from elsewhere. Both, as inputs take them.
    Ambiguous(String, String),
    NotANumber,
}

/// Returns true if both separators are spellings of the same sign.
fn is_same_sign(one: char, other: char) -> bool {
    let is_space = |sign: char| matches!(sign, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}');
    let is_apostrophe = |sign: char| matches!(sign, '\'' | '’');
    one == other || (is_space(one) && is_space(other)) || (is_apostrophe(one) && is_apostrophe(other))
}

impl Separators {
    /// The separators of a number format. A setting that could not be read back (a digit, one sign for both) is replaced.
    pub(crate) fn of(numbers: &NumberFormat) -> Separators {
        let only = |text: &str| {
            let mut signs = text.chars();
            let sign = signs.next().filter(|sign| !sign.is_alphanumeric() && !matches!(sign, '-' | '−' | '+'));
            sign.filter(|_| signs.next().is_none())
        };
        let decimal = only(&numbers.decimal_separator).filter(|sign| !sign.is_whitespace()).unwrap_or('.');
        let thousands = only(&numbers.thousands_separator).filter(|sign| !is_same_sign(*sign, decimal));
        Separators { decimal, thousands }
    }

    /// `1221,50` from `1221.50`. A text that is no number stays as it is.
    pub(crate) fn show(&self, number: &str) -> String {
        match number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')) {
            true => number.replacen('.', &self.decimal.to_string(), 1),
            false => number.to_string(),
        }
    }

    /// `1234,50`: a number as inputs take it.
    pub(crate) fn example(&self) -> String {
        self.show("1234.50")
    }

    /// Returns true if inputs take numbers in another form than the API.
    pub(crate) fn differ_from_api(&self) -> bool {
        self.decimal != '.'
    }

    /// `1221.50` from `1221,50` or `1.221,50`.
    ///
    /// # Errors
    /// [`Unreadable`] if the text is no number, or two.
    pub(crate) fn read(&self, text: &str) -> Result<String, Unreadable> {
        let text = text.trim();
        let (sign, digits) = match text.strip_prefix(['-', '−']) {
            Some(rest) => ("-", rest),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, part) = match digits.split_once(self.decimal) {
            Some((whole, part)) => (whole, Some(part)),
            None => (digits, None),
        };
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let groups: Vec<&str> = whole.split(|sign| self.thousands.is_some_and(|one| is_same_sign(one, sign))).collect();
        let is_whole = match &groups[..] {
            [""] => part.is_some(),
            [digits] => is_digits(digits),
            [first, rest @ ..] => {
                first.len() <= 3 && rest.iter().all(|group| group.len() == 3) && groups.iter().all(|one| is_digits(one))
            }
            [] => false,
        };
        if !is_whole || !part.is_none_or(is_digits) {
            return Err(Unreadable::NotANumber);
        }
        let whole = if whole.is_empty() { "0".to_string() } else { groups.concat() };
        match (part, &groups[..]) {
            (Some(part), _) => Ok(format!("{sign}{whole}.{part}")),
            // `.` and `,` are decimal separators elsewhere. More groups or another sign leave no doubt.
            (None, [first, second]) if matches!(self.thousands, Some('.' | ',')) => {
                let decimal = format!("{sign}{first}{}{second}", self.decimal);
                Err(Unreadable::Ambiguous(format!("{sign}{whole}"), decimal))
            }
            (None, _) => Ok(format!("{sign}{whole}")),
        }
    }
}

/// The value of a text that is not read as a number: a list, which the API refuses for every number, whatever the text
/// is. The form shows the text again as it was entered.
pub(crate) fn unreadable(text: &str) -> Value {
    json!([text])
}

/// The text of an [`unreadable`] value.
pub(crate) fn unreadable_text(kind: Kind, value: &Value) -> Option<&str> {
    match value.as_array().map(Vec::as_slice) {
        Some([Value::String(text)]) if kind.facts().is_number => Some(text),
        _ => None,
    }
}

/// The message for an [`unreadable`] text, as a sentence after the label of its field.
pub(crate) fn describe(separators: &Separators, kind: Kind, text: &str) -> String {
    match (separators.read(text), kind) {
        (Err(Unreadable::Ambiguous(whole, _)), Kind::Integer | Kind::BigInt) => {
            text!("“{entered}” can mean two numbers. Write {whole}.", entered = text, whole = whole)
        }
        (Err(Unreadable::Ambiguous(whole, part)), _) => {
            text!(
                "“{entered}” can mean two numbers. Write {whole} or {part}.",
                entered = text,
                whole = whole,
                part = part
            )
        }
        (_, Kind::Integer | Kind::BigInt) => {
            text!("“{entered}” is not a number. Write digits only, for example 1234.", entered = text)
        }
        _ => text!(
            "“{entered}” is not a number here. Write it like {example}.",
            entered = text,
            example = separators.example()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separators(decimal: &str, thousands: &str) -> Separators {
        let numbers = NumberFormat {
            decimal_separator: decimal.into(),
            thousands_separator: thousands.into(),
            ..NumberFormat::default()
        };
        Separators::of(&numbers)
    }

    #[test]
    fn a_number_is_read_in_the_form_in_which_it_is_shown() {
        for (decimal, thousands) in [(".", ","), (",", "."), (",", " "), (".", "’"), (".", ""), ("٫", "٬")] {
            let separators = separators(decimal, thousands);
            for number in ["0", "-1", "1221", "1.2210", "1221.50", "-0.125", "12345678901234567.8"] {
                assert_eq!(separators.read(&separators.show(number)), Ok(number.into()), "{number} in {separators:?}");
            }
        }
        assert_eq!(separators(",", ".").show("1.2210"), "1,2210");
        assert_eq!(separators(",", ".").show("x.y"), "x.y");
    }

    #[test]
    fn grouped_digits_are_read_if_they_have_one_meaning() {
        let (german, english) = (separators(",", "."), separators(".", ","));
        for (separators, text, number) in [
            (&german, "1.221,50", "1221.50"),
            (&german, "1.234.567", "1234567"),
            (&german, " −1.221,5 ", "-1221.5"),
            (&german, ",5", "0.5"),
            (&english, "1,221.50", "1221.50"),
            (&english, "+1,234,567", "1234567"),
            (&english, ".5", "0.5"),
            (&self::separators(",", " "), "1\u{a0}221", "1221"),
            (&self::separators(".", "’"), "1'221", "1221"),
        ] {
            assert_eq!(separators.read(text), Ok(number.into()), "{text} in {separators:?}");
        }
    }

    #[test]
    fn an_ambiguous_number_is_refused_with_both_meanings() {
        let (german, english) = (separators(",", "."), separators(".", ","));
        for (separators, text, whole, part) in [
            (&german, "1.221", "1221", "1,221"),
            (&german, "-12.000", "-12000", "-12,000"),
            (&english, "1,221", "1221", "1.221"),
        ] {
            assert_eq!(separators.read(text), Err(Unreadable::Ambiguous(whole.into(), part.into())), "{text}");
        }
        let decimal = Kind::Decimal { precision: 12, places: 2 };
        assert_eq!(describe(&german, decimal, "1.221"), "“1.221” can mean two numbers. Write 1221 or 1,221.");
        assert_eq!(describe(&german, Kind::Integer, "1.221"), "“1.221” can mean two numbers. Write 1221.");
    }

    #[test]
    fn a_number_in_another_form_is_refused() {
        let (german, english) = (separators(",", "."), separators(".", ","));
        for (separators, text) in [
            (&german, "1.5"),
            (&german, "1.2210"),
            (&german, "1,221.50"),
            (&german, "1,2,3"),
            (&german, "1234.567"),
            (&german, "1."),
            (&german, "1,"),
            (&german, "."),
            (&german, ".221"),
            (&german, ""),
            (&german, "1 000"),
            (&english, "1,5"),
            (&english, "1.221,50"),
            (&english, "1e3"),
            (&english, "much"),
            (&english, "--1"),
            (&english, "١"),
            (&english, "1,22,333"),
        ] {
            assert_eq!(separators.read(text), Err(Unreadable::NotANumber), "{text} in {separators:?}");
        }
        let decimal = Kind::Decimal { precision: 12, places: 2 };
        assert_eq!(describe(&german, decimal, "1.5"), "“1.5” is not a number here. Write it like 1234,50.");
    }

    #[test]
    fn a_number_format_that_cannot_be_read_back_is_replaced() {
        assert_eq!(separators("1", "2"), separators(".", ""));
        assert_eq!(separators(",", ","), separators(",", ""));
        assert_eq!(separators("", "--"), separators(".", ""));
        assert_eq!(separators("-", " "), separators(".", " "));
    }

    #[test]
    fn an_unreadable_text_is_shown_again_as_it_was_entered() {
        let value = unreadable("1.221");
        assert_eq!(unreadable_text(Kind::Integer, &value), Some("1.221"));
        assert_eq!(unreadable_text(Kind::StringList { max: 255 }, &value), None);
        assert_eq!(unreadable_text(Kind::Integer, &json!("1.221")), None);
    }
}
