//! Numbers and money as people read them, in the way of the company's currency.

use maud::{Markup, html};

use super::words;
use crate::meta::ResourceMeta;
use crate::openapi::prose;

/// How a currency writes amounts.
#[derive(Debug)]
pub struct Amounts {
    pub symbol: String,
    /// Whether the symbol stands before the number.
    pub is_before: bool,
    /// The digits behind the point that an amount of money has at least.
    pub places: usize,
    pub thousands: String,
    pub point: String,
}

impl Default for Amounts {
    fn default() -> Amounts {
        Amounts { symbol: String::new(), is_before: true, places: 0, thousands: ",".into(), point: ".".into() }
    }
}

/// A number in its parts, as it was written; nothing where it is none.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("−", rest));
    let (whole, part) = rest.split_once('.').unwrap_or((rest, ""));
    let is_number = !whole.is_empty() && whole.bytes().chain(part.bytes()).all(|byte| byte.is_ascii_digit());
    is_number.then_some((sign, whole, part))
}

impl Amounts {
    /// `1234567.50` is `1,234,567.50`; what is no number stays as it is.
    pub fn number(&self, text: &str) -> String {
        parts(text).map_or_else(|| text.to_string(), |(sign, whole, part)| self.written(sign, whole, part))
    }

    /// How many there are.
    pub fn count(&self, count: i64) -> String {
        self.number(&count.to_string())
    }

    /// `1 product`, `2 products`.
    pub fn records(&self, meta: &ResourceMeta, count: i64) -> String {
        let noun = if count == 1 { words::singular(meta) } else { prose::records(meta) };
        format!("{} {noun}", self.count(count))
    }

    /// `1 product was`, `2 products were`.
    pub fn records_were(&self, meta: &ResourceMeta, count: i64) -> String {
        format!("{} {}", self.records(meta, count), if count == 1 { "was" } else { "were" })
    }

    /// `1234.50` is `£1,234.50`: with all places of the field, and with those of the currency where it has more.
    pub fn money(&self, text: &str) -> Markup {
        let Some((sign, whole, part)) = parts(text) else { return html! { (text) } };
        let mut part = part.to_string();
        part.extend(std::iter::repeat_n('0', self.places.saturating_sub(part.len())));
        let number = self.written("", whole, &part);
        // A symbol of letters runs into the digits. Each stands in the direction of its own script.
        let gap = if self.is_before && !self.symbol.ends_with(char::is_alphanumeric) { "" } else { "\u{a0}" };
        html! {
            @if self.symbol.is_empty() { (sign) (number) }
            @else if self.is_before { (sign) bdi { (self.symbol) } (gap) (number) }
            @else { (sign) (number) (gap) bdi { (self.symbol) } }
        }
    }

    /// The input of an amount, with the symbol on its side.
    pub fn beside(&self, input: Markup) -> Markup {
        let symbol = html! { span .symbol aria-hidden="true" { (self.symbol) } };
        html! {
            @if self.symbol.is_empty() { (input) }
            @else { span .money { @if self.is_before { (symbol) (input) } @else { (input) (symbol) } } }
        }
    }

    fn written(&self, sign: &str, whole: &str, part: &str) -> String {
        // What belongs to one number is not torn apart at the end of a line.
        let thousands = if self.thousands == " " { "\u{a0}" } else { &self.thousands };
        let mut written = String::from(sign);
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index).is_multiple_of(3) {
                written.push_str(thousands);
            }
            written.push(digit);
        }
        if !part.is_empty() {
            written.push_str(&self.point);
            written.push_str(part);
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(symbol: &str, is_before: bool, places: usize, thousands: &str, point: &str) -> Amounts {
        Amounts { symbol: symbol.into(), is_before, places, thousands: thousands.into(), point: point.into() }
    }

    #[test]
    fn numbers_are_grouped_and_stay_exact() {
        let cases = [
            ("0", "0"),
            ("1234", "1,234"),
            ("-1234567.50", "−1,234,567.50"),
            ("12345678901234567.8", "12,345,678,901,234,567.8"),
            ("x1", "x1"),
            ("1.x", "1.x"),
        ];
        for (text, grouped) in cases {
            assert_eq!(Amounts::default().number(text), grouped);
        }
        assert_eq!(amounts("kr", false, 2, " ", ",").number("-1234.5"), "−1\u{a0}234,5");
    }

    #[test]
    fn money_is_written_as_its_currency_says() {
        let cases = [
            (amounts("£", true, 2, ",", "."), "1234.5000", "<bdi>£</bdi>1,234.5000"),
            (amounts("£", true, 2, ",", "."), "-0.5", "−<bdi>£</bdi>0.50"),
            (amounts("£", true, 2, ",", "."), "0.1250", "<bdi>£</bdi>0.1250"),
            (amounts("€", false, 2, ".", ","), "1234567.50", "1.234.567,50\u{a0}<bdi>€</bdi>"),
            (amounts("¥", true, 0, ",", "."), "1200.00", "<bdi>¥</bdi>1,200.00"),
            (amounts("¥", true, 0, ",", "."), "1200.50", "<bdi>¥</bdi>1,200.50"),
            (amounts("CHF", true, 2, "’", "."), "1200.00", "<bdi>CHF</bdi>\u{a0}1’200.00"),
            (amounts("KD", true, 3, ",", "."), "7", "<bdi>KD</bdi>\u{a0}7.000"),
            (Amounts::default(), "1200.00", "1,200.00"),
            (amounts("£", true, 2, ",", "."), "much", "much"),
        ];
        for (amounts, text, written) in cases {
            assert_eq!(amounts.money(text).into_string(), written, "{text} in {amounts:?}");
        }
    }
}
