//! Numbers and amounts of money, in the number format of the company's currency.

use maud::{Markup, html};

use super::labels;
use charter_core::meta::ResourceMeta;

/// Separators and currency symbol.
#[derive(Debug, Clone)]
pub(crate) struct NumberFormat {
    pub symbol: String,
    /// True if the symbol precedes the number.
    pub is_symbol_first: bool,
    /// Least number of decimal places of an amount of money.
    pub min_decimals: usize,
    pub thousands_separator: String,
    pub decimal_separator: String,
}

impl Default for NumberFormat {
    fn default() -> NumberFormat {
        NumberFormat {
            symbol: String::new(),
            is_symbol_first: true,
            min_decimals: 0,
            thousands_separator: ",".into(),
            decimal_separator: ".".into(),
        }
    }
}

/// Sign, integer digits and decimal digits; `None` if the text is no number.
fn split_number(text: &str) -> Option<(&str, &str, &str)> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("−", rest));
    let (whole, part) = rest.split_once('.').unwrap_or((rest, ""));
    let is_number = !whole.is_empty() && whole.bytes().chain(part.bytes()).all(|byte| byte.is_ascii_digit());
    is_number.then_some((sign, whole, part))
}

impl NumberFormat {
    /// `1,234,567.50` from `1234567.50`. A text that is no number stays as it is.
    pub(crate) fn number(&self, text: &str) -> String {
        split_number(text).map_or_else(|| text.to_string(), |(sign, whole, part)| self.group_digits(sign, whole, part))
    }

    pub(crate) fn count(&self, count: i64) -> String {
        self.number(&count.to_string())
    }

    /// `1 product`, `2 products`
    pub(crate) fn records(&self, meta: &ResourceMeta, count: i64) -> String {
        let noun = if count == 1 { labels::singular(meta) } else { labels::records(meta) };
        format!("{} {noun}", self.count(count))
    }

    /// `£1,234.50` from `1234.50`: with all decimal places of the text, and at least those of the currency.
    pub(crate) fn money(&self, text: &str) -> Markup {
        let Some((sign, whole, part)) = split_number(text) else { return html! { (text) } };
        let mut part = part.to_string();
        part.extend(std::iter::repeat_n('0', self.min_decimals.saturating_sub(part.len())));
        let number = self.group_digits("", whole, &part);
        // A symbol of letters is separated from the digits. `bdi` keeps the text direction of its script.
        let gap = if self.is_symbol_first && !self.symbol.ends_with(char::is_alphanumeric) { "" } else { "\u{a0}" };
        html! {
            @if self.symbol.is_empty() { (sign) (number) }
            @else if self.is_symbol_first { (sign) bdi { (self.symbol) } (gap) (number) }
            @else { (sign) (number) (gap) bdi { (self.symbol) } }
        }
    }

    /// An input of an amount of money, with the currency symbol next to it.
    pub(crate) fn money_input(&self, input: Markup) -> Markup {
        let symbol = html! { span .symbol aria-hidden="true" { (self.symbol) } };
        html! {
            @if self.symbol.is_empty() { (input) }
            @else { span .money { @if self.is_symbol_first { (symbol) (input) } @else { (input) (symbol) } } }
        }
    }

    fn group_digits(&self, sign: &str, whole: &str, part: &str) -> String {
        // A no-break space keeps the number on one line.
        let separator = if self.thousands_separator == " " { "\u{a0}" } else { &self.thousands_separator };
        let mut number = String::from(sign);
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index).is_multiple_of(3) {
                number.push_str(separator);
            }
            number.push(digit);
        }
        if !part.is_empty() {
            number.push_str(&self.decimal_separator);
            number.push_str(part);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(
        symbol: &str,
        is_symbol_first: bool,
        min_decimals: usize,
        thousands: &str,
        decimal: &str,
    ) -> NumberFormat {
        NumberFormat {
            symbol: symbol.into(),
            is_symbol_first,
            min_decimals,
            thousands_separator: thousands.into(),
            decimal_separator: decimal.into(),
        }
    }

    #[test]
    fn grouping_digits_keeps_a_number_exact() {
        let cases = [
            ("0", "0"),
            ("1234", "1,234"),
            ("-1234567.50", "−1,234,567.50"),
            ("12345678901234567.8", "12,345,678,901,234,567.8"),
            ("x1", "x1"),
            ("1.x", "1.x"),
        ];
        for (text, grouped) in cases {
            assert_eq!(NumberFormat::default().number(text), grouped);
        }
        assert_eq!(format("kr", false, 2, " ", ",").number("-1234.5"), "−1\u{a0}234,5");
    }

    #[test]
    fn money_is_formatted_with_symbol_separators_and_decimals_of_its_currency() {
        let cases = [
            (format("£", true, 2, ",", "."), "1234.5000", "<bdi>£</bdi>1,234.5000"),
            (format("£", true, 2, ",", "."), "-0.5", "−<bdi>£</bdi>0.50"),
            (format("£", true, 2, ",", "."), "0.1250", "<bdi>£</bdi>0.1250"),
            (format("€", false, 2, ".", ","), "1234567.50", "1.234.567,50\u{a0}<bdi>€</bdi>"),
            (format("¥", true, 0, ",", "."), "1200.00", "<bdi>¥</bdi>1,200.00"),
            (format("¥", true, 0, ",", "."), "1200.50", "<bdi>¥</bdi>1,200.50"),
            (format("CHF", true, 2, "’", "."), "1200.00", "<bdi>CHF</bdi>\u{a0}1’200.00"),
            (format("KD", true, 3, ",", "."), "7", "<bdi>KD</bdi>\u{a0}7.000"),
            (NumberFormat::default(), "1200.00", "1,200.00"),
            (format("£", true, 2, ",", "."), "much", "much"),
        ];
        for (format, text, expected) in cases {
            assert_eq!(format.money(text).into_string(), expected, "{text} in {format:?}");
        }
    }
}
