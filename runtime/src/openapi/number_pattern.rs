//! Regular expressions for numbers as text, within the bounds of a field.

use charter_core::meta::{FieldMeta, Kind, Rule};
use charter_core::number::{self, Scaled};

/// Smallest and largest number, scaled by 10^places; `None` if only the kind limits it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub least: Option<i64>,
    pub most: Option<i64>,
}

/// The bounds by the rules of a field.
pub(super) fn bounds(field: &FieldMeta) -> Bounds {
    let places = if let Kind::Decimal { places, .. } = field.kind { u32::from(places) } else { 0 };
    let scaled = |text: &str| match number::scale(text, places) {
        Some(Scaled::Exact(number)) => Some(number),
        _ => None,
    };
    let lower = |one: Option<i64>, other: Option<i64>| one.into_iter().chain(other).min();
    let mut bounds = Bounds::default();
    for rule in field.rules {
        match rule {
            Rule::Min(text) => bounds.least = scaled(text).max(bounds.least),
            Rule::Above(text) => bounds.least = scaled(text).map(|number| number + 1).max(bounds.least),
            Rule::Max(text) => bounds.most = lower(bounds.most, scaled(text)),
            Rule::Below(text) => bounds.most = lower(bounds.most, scaled(text).map(|number| number - 1)),
            _ => {}
        }
    }
    bounds
}

/// The largest number of a kind, scaled like the bounds.
pub(super) fn limit(kind: Kind) -> i64 {
    match kind {
        Kind::Decimal { precision, .. } => 10_i64.pow(u32::from(precision)) - 1,
        Kind::Integer => i64::from(i32::MAX),
        _ => i64::MAX,
    }
}

/// The pattern of numbers within the bounds of a field; `None` if there is no short pattern.
pub(super) fn pattern(field: &FieldMeta) -> Option<String> {
    let (digits, places) = match field.kind {
        Kind::Integer => (9, 0),
        Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => (18, 0),
        Kind::Decimal { precision, places } => (usize::from(precision - places), usize::from(places)),
        _ => return None,
    };
    let fraction = if places == 0 { String::new() } else { format!("(\\.[0-9]{{1,{places}}})?") };
    // Without digits before the point, there is a zero.
    let whole = if digits == 0 { "0+".to_string() } else { format!("0*[0-9]{{1,{digits}}}") };
    let unit = 10_i64.pow(u32::try_from(places).unwrap_or(0));
    match bounds(field) {
        Bounds { least: None, most: None } => Some(format!("^-?{whole}{fraction}$")),
        Bounds { least: Some(0), most: None } => Some(format!("^{whole}{fraction}$")),
        // At least one digit is not zero.
        Bounds { least: Some(1), most: None } => Some(format!("^(?=.*[1-9]){whole}{fraction}$")),
        Bounds { least: Some(least), most: Some(most) }
            if least >= 0 && least % unit == 0 && most % unit == 0 && most <= limit(field.kind) =>
        {
            let (least, most) = ((least / unit).unsigned_abs(), (most / unit).unsigned_abs());
            Some(match places {
                0 => format!("^0*({})$", range(least, most)),
                _ if most > least => {
                    format!("^0*(({}){fraction}|{most}(\\.0{{1,{places}}})?)$", range(least, most - 1))
                }
                _ => format!("^0*{most}(\\.0{{1,{places}}})?$"),
            })
        }
        _ => None,
    }
}

/// A pattern for the integers from `least` to `most`.
fn range(least: u64, most: u64) -> String {
    let mut parts = Vec::new();
    let mut from = least;
    loop {
        let length = u32::try_from(from.to_string().len()).unwrap_or(1);
        // The largest number with this many digits.
        let to = 10_u64.checked_pow(length).map_or(u64::MAX, |next| next - 1).min(most);
        parts.extend(same_length(&from.to_string(), &to.to_string()));
        if to >= most {
            return parts.join("|");
        }
        from = to + 1;
    }
}

/// Alternatives for the integers between two of the same length.
fn same_length(from: &str, to: &str) -> Vec<String> {
    let (Some(first), Some(last)) = (from.chars().next(), to.chars().next()) else { return vec![String::new()] };
    let rest = from.len() - 1;
    if rest == 0 {
        return vec![class(first, last)];
    }
    let prefixed = |digit: char, from: &str, to: &str| -> Vec<String> {
        same_length(from, to).into_iter().map(|tail| format!("{digit}{tail}")).collect()
    };
    let (nines, zeros) = ("9".repeat(rest), "0".repeat(rest));
    if from[1..] == zeros && to[1..] == nines {
        let any = if rest == 1 { "[0-9]".into() } else { format!("[0-9]{{{rest}}}") };
        return vec![class(first, last) + &any];
    }
    if first == last {
        return prefixed(first, &from[1..], &to[1..]);
    }
    let mut parts = prefixed(first, &from[1..], &nines);
    let next = |digit: char, by: i8| char::from((digit as u8).wrapping_add_signed(by));
    let (low, high) = (next(first, 1), next(last, -1));
    if low <= high {
        parts.extend(same_length(&format!("{low}{zeros}"), &format!("{high}{nines}")));
    }
    parts.extend(prefixed(last, &zeros, &to[1..]));
    parts
}

fn class(first: char, last: char) -> String {
    if first == last { first.to_string() } else { format!("[{first}-{last}]") }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn matches(kind: Kind, rules: &'static [Rule], text: &str) -> bool {
        let field = FieldMeta { rules, ..FieldMeta::new("n", kind) };
        // This engine has no lookahead, which is checked here instead.
        let pattern = pattern(&field).unwrap();
        let plain = pattern.replace("(?=.*[1-9])", "");
        let ahead = plain == pattern || text.contains(|digit| ('1'..='9').contains(&digit));
        ahead && Regex::new(&plain).unwrap().is_match(text)
    }

    #[test]
    fn pattern_of_a_range_matches_exactly_its_integers() {
        for (least, most) in [(0, 4), (1, 100), (0, 100), (7, 7), (9, 12), (123, 4567), (100, 999), (0, 255)] {
            let regex = Regex::new(&format!("^({})$", range(least, most))).unwrap();
            for number in 0..5000 {
                assert_eq!(
                    regex.is_match(&number.to_string()),
                    (least..=most).contains(&number),
                    "{least} {most} {number}"
                );
            }
        }
    }

    #[test]
    fn narrower_of_two_bounds_counts() {
        for rules in [
            &[Rule::Max("5"), Rule::Below("100"), Rule::Min("2"), Rule::Above("1")],
            &[Rule::Below("100"), Rule::Max("5"), Rule::Above("1"), Rule::Min("2")],
        ] {
            let field = FieldMeta { rules, ..FieldMeta::new("n", Kind::Integer) };
            assert_eq!(bounds(&field), Bounds { least: Some(2), most: Some(5) });
        }
    }

    #[test]
    fn pattern_of_a_field_respects_its_bounds() {
        let money = Kind::Decimal { precision: 6, places: 2 };
        const PERCENT: &[Rule] = &[Rule::Min("0"), Rule::Max("100")];
        for good in ["0", "7.5", "99.99", "100", "100.00", "007"] {
            assert!(matches(money, PERCENT, good), "{good}");
        }
        for bad in ["-1", "100.01", "101", "1.234", "", "x"] {
            assert!(!matches(money, PERCENT, bad), "{bad}");
        }
        assert!(matches(money, &[], "-9999.99") && !matches(money, &[], "10000"));
        assert!(matches(money, &[Rule::Above("0")], "0.01") && !matches(money, &[Rule::Above("0")], "0.00"));
        // All digits are after the point.
        let share = Kind::Decimal { precision: 2, places: 2 };
        const POSITIVE: &[Rule] = &[Rule::Above("0")];
        for good in ["0", "0.99", "-0.5", "00.10"] {
            assert!(matches(share, &[], good), "{good}");
        }
        for bad in ["1", "1.00", "0.123", "", "-", ".5"] {
            assert!(!matches(share, &[], bad), "{bad}");
        }
        assert!(matches(share, POSITIVE, "0.01") && !matches(share, POSITIVE, "0.00"));
        assert!(matches(share, &[Rule::Min("0")], "0.99") && !matches(share, &[Rule::Min("0")], "-0.99"));
        assert!(matches(Kind::Integer, &[Rule::Min("0"), Rule::Max("4")], "4"));
        assert!(!matches(Kind::Integer, &[Rule::Min("0"), Rule::Max("4")], "5"));
    }
}
