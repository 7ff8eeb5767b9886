//! Types of the values in an expression, and the largest number that each part can have.

use crate::{FieldType, Notation, Rule};

/// The type of a value in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Boolean,
    /// A number, or an id.
    Number(Digits),
    Text,
    /// Text that is one of these words.
    Word(Vec<String>),
    Date,
    Time,
    Timestamp,
    Uuid,
    /// Only tested for null: a list, or JSON.
    Opaque,
}

/// The numbers that a part can have: an integer of at most this magnitude, divided by 10^places.
///
/// The bound is known before any record is, so that no number can be too large when the expression is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digits {
    pub places: u32,
    /// The largest magnitude of the integer. It saturates.
    pub largest: i128,
}

impl Digits {
    /// The largest integer that both databases compute with exactly: SQLite's are of 64 bits.
    pub const LIMIT: i128 = i64::MAX as i128;
    pub const ID: Digits = Digits::whole(Digits::LIMIT);

    pub const fn whole(largest: i128) -> Digits {
        Digits { places: 0, largest }
    }

    /// The same numbers with more decimal places.
    pub fn with_places(self, places: u32) -> Digits {
        Digits { places, largest: self.largest.saturating_mul(power_of_ten(places - self.places)) }
    }

    /// Digits of the largest number, places included.
    pub fn count(self) -> u32 {
        self.largest.checked_ilog10().unwrap_or_default() + 1
    }

    /// Numbers that reach beyond an `integer` although their bound is [`LEAST_INTEGER`].
    fn of_larger_type(self) -> Digits {
        Digits { largest: self.largest + i128::from(self.largest == LEAST_INTEGER), ..self }
    }

    /// The numbers of a field, within its bounds.
    fn of_rules<'r, N: Notation>(self, rules: impl Iterator<Item = &'r Rule<N>>) -> Digits {
        let bound = |text: &N::Name| scaled(N::text(text), self.places).map(|number| number.saturating_abs());
        let (mut least, mut most) = (None, None);
        for rule in rules {
            match rule {
                Rule::Min(text) | Rule::Above(text) => least = bound(text),
                Rule::Max(text) | Rule::Below(text) => most = bound(text),
                _ => {}
            }
        }
        match (least, most) {
            (Some(least), Some(most)) => Digits { largest: self.largest.min(least.max(most)), ..self },
            _ => self,
        }
    }
}

/// The magnitude of the least `integer`, which the largest does not have. Only the values of integers have this bound, so that they
/// are known to fit another `integer`.
pub const LEAST_INTEGER: i128 = 1 << 31;

/// 10^exponent, or the largest number.
pub fn power_of_ten(exponent: u32) -> i128 {
    10_i128.checked_pow(exponent).unwrap_or(i128::MAX)
}

/// A decimal text multiplied by 10^places, without the digits after that.
fn scaled(text: &str, places: u32) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(places as usize).collect();
    format!("{whole}{fraction}").parse().ok()
}

impl Type {
    /// The type of a field's values, of which its rules may bound the numbers; none for a field without a column.
    pub fn of<'r, N: Notation>(kind: &FieldType<N>, rules: impl IntoIterator<Item = &'r Rule<N>>) -> Option<Type> {
        let rules = rules.into_iter();
        Some(match kind {
            FieldType::String { .. } | FieldType::Text => Type::Text,
            FieldType::Integer => Type::Number(Digits::whole(LEAST_INTEGER).of_rules(rules)),
            FieldType::Code { .. } => Type::Number(Digits::whole(LEAST_INTEGER)),
            FieldType::BigInt => Type::Number(Digits::ID.of_rules(rules).of_larger_type()),
            FieldType::Decimal { precision, places } => {
                let all = Digits { places: (*places).into(), largest: power_of_ten((*precision).into()) - 1 };
                Type::Number(all.of_rules(rules).of_larger_type())
            }
            FieldType::Ref { .. } => Type::Number(Digits::ID),
            FieldType::Boolean => Type::Boolean,
            FieldType::Timestamp { .. } => Type::Timestamp,
            FieldType::Date => Type::Date,
            FieldType::Time => Type::Time,
            FieldType::Enum { values } => Type::Word(N::texts(values).into_iter().map(str::to_owned).collect()),
            FieldType::Uuid => Type::Uuid,
            FieldType::Derived { .. }
            | FieldType::Embedded { .. }
            | FieldType::Links { .. }
            | FieldType::Computed { .. } => return None,
            _ => Type::Opaque,
        })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Type::Boolean => "a condition",
            Type::Number(_) => "a number",
            Type::Text => "a text",
            Type::Word(_) => "a word of an enum",
            Type::Date => "a date",
            Type::Time => "a time of day",
            Type::Timestamp => "a timestamp",
            Type::Uuid => "a UUID",
            Type::Opaque => "a list or JSON",
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Type::Text | Type::Word(_))
    }

    pub(super) fn has_order(&self) -> bool {
        matches!(self, Type::Number(_) | Type::Date | Type::Time | Type::Timestamp)
    }

    /// True if values of both types can be equal.
    pub(super) fn is_like(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Number(_), Type::Number(_)) => true,
            (Type::Opaque, _) => false,
            (one, other) => one == other || one.is_text() && other.is_text(),
        }
    }
}
