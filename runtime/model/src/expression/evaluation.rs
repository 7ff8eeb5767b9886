//! Evaluation of an expression over the values of one record.
//!
//! NULL follows SQL: an operator with NULL is NULL, `and` and `or` know what the other side decides. Numbers are integers that
//! the checker has scaled to the same number of places, as in SQLite.

use std::cmp::Ordering;

use super::{Arithmetic, Comparison, Field, Function, Logic, Node};
use crate::date::{civil_day, clock_seconds, days, has_four_digit_year, seconds};
use crate::{FieldType, Notation, Number};

/// Nanoseconds of a day.
const DAY: i128 = 86_400 * SECOND;
const MINUTE: i128 = 60 * SECOND;
const SECOND: i128 = 1_000_000_000;

/// A value on the way to the result.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Boolean(bool),
    /// Multiplied by 10^places.
    Number(i128),
    Text(String),
    /// Days since 1970-01-01.
    Date(i64),
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    Timestamp(i128),
    /// Nanoseconds since midnight.
    Time(i64),
    Uuid(u128),
    /// A list or JSON, which is only tested for null.
    Opaque,
}

impl Scalar {
    /// The value of a field from its text in YAML; none for a text with another form, which the server may read all the same.
    pub fn read<N: Notation>(kind: &FieldType<N>, text: &str) -> Option<Scalar> {
        let number = |places| Number::read(text)?.scaled_to(places).map(Scalar::Number);
        match kind {
            FieldType::String { .. } | FieldType::Text | FieldType::Enum { .. } => Some(Scalar::Text(text.to_owned())),
            FieldType::Integer | FieldType::BigInt | FieldType::Code { .. } | FieldType::Ref { .. } => number(0),
            FieldType::Decimal { places, .. } => number((*places).into()),
            FieldType::Boolean => text.parse().ok().map(Scalar::Boolean),
            FieldType::Date => days(text).map(Scalar::Date),
            FieldType::Time => clock_seconds(text).map(|seconds| Scalar::Time(seconds * 1_000_000_000)),
            FieldType::Timestamp { .. } => seconds(text).map(|seconds| Scalar::Timestamp(i128::from(seconds) * SECOND)),
            FieldType::Uuid => {
                let digits = text.replace('-', "");
                let bits = u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32);
                bits.map(Scalar::Uuid)
            }
            _ => None,
        }
    }
}

/// The time and the caller of the request that an expression is evaluated for.
pub trait Situation {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    fn now(&self) -> i128;

    /// Days from 1970-01-01 to the day of the request in the company's time zone.
    fn today(&self) -> i64;

    fn caller_id(&self) -> Option<i64>;

    fn caller_can(&self, permission: &str) -> bool;
}

type Evaluated<E> = Result<Option<Scalar>, E>;

/// Evaluates a condition: true, false, or none for NULL. `current` returns the value of a field.
///
/// # Errors
/// Those of `current`.
pub fn holds<E>(
    node: &Node,
    situation: &impl Situation,
    current: &impl Fn(&Field) -> Evaluated<E>,
) -> Result<Option<bool>, E> {
    Evaluation { situation, current }.condition(node)
}

/// Evaluates an expression. A number is the integer that the checker has scaled.
///
/// # Errors
/// Those of `current`.
pub fn value<E>(node: &Node, situation: &impl Situation, current: &impl Fn(&Field) -> Evaluated<E>) -> Evaluated<E> {
    Evaluation { situation, current }.part(node)
}

struct Evaluation<'a, S, C> {
    situation: &'a S,
    current: &'a C,
}

impl<E, S: Situation, C: Fn(&Field) -> Evaluated<E>> Evaluation<'_, S, C> {
    fn part(&self, node: &Node) -> Evaluated<E> {
        Ok(match node {
            Node::Null => None,
            Node::Boolean(value) => Some(Scalar::Boolean(*value)),
            Node::Number { scaled, .. } => Some(Scalar::Number((*scaled).into())),
            Node::Text(text) => Some(Scalar::Text(text.clone())),
            Node::Date(text) => days(text).map(Scalar::Date),
            Node::Field(field) => (self.current)(field)?,
            Node::Now => Some(Scalar::Timestamp(self.situation.now())),
            Node::Today => Some(Scalar::Date(self.situation.today())),
            Node::CallerId => self.situation.caller_id().map(|id| Scalar::Number(id.into())),
            Node::CallerCan(permission) => Some(Scalar::Boolean(self.situation.caller_can(permission))),
            Node::Negate(inner) => self.number(inner)?.map(|number| Scalar::Number(-number)),
            Node::Widen(inner, more) => {
                self.number(inner)?.map(|number| Scalar::Number(number.saturating_mul(10_i128.pow(*more))))
            }
            Node::Round(inner, fewer, _) => self.number(inner)?.map(|number| Scalar::Number(rounded(number, *fewer))),
            Node::ShiftDate(inner, by) => match self.part(inner)? {
                Some(Scalar::Date(date)) => {
                    date.checked_add(*by).filter(|date| has_four_digit_year(*date)).map(Scalar::Date)
                }
                _ => None,
            },
            Node::ShiftTime(inner, minutes) => match self.part(inner)? {
                Some(Scalar::Timestamp(time)) => {
                    let moved = time.saturating_add(i128::from(*minutes).saturating_mul(MINUTE));
                    let day = i64::try_from(moved.div_euclid(DAY)).ok();
                    day.filter(|day| has_four_digit_year(*day)).map(|_| Scalar::Timestamp(moved))
                }
                _ => None,
            },
            Node::Call(Function::Coalesce, arguments) => {
                for argument in arguments {
                    if let Some(found) = self.part(argument)? {
                        return Ok(Some(found));
                    }
                }
                None
            }
            Node::Call(Function::If, arguments) => {
                let [condition, one, two] = arguments.as_slice() else { return Ok(None) };
                let chosen = if self.condition(condition)? == Some(true) { one } else { two };
                return self.part(chosen);
            }
            Node::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let Some(value) = self.part(argument)? else { return Ok(None) };
                    values.push(value);
                }
                called(*function, &values)
            }
            Node::Arithmetic(arithmetic, one, two) => match (self.number(one)?, self.number(two)?) {
                (Some(one), Some(two)) => Some(Scalar::Number(match arithmetic {
                    Arithmetic::Add => one.saturating_add(two),
                    Arithmetic::Subtract => one.saturating_sub(two),
                    Arithmetic::Multiply => one.saturating_mul(two),
                })),
                _ => None,
            },
            Node::Not(_) | Node::Logic(..) | Node::Compare(..) | Node::In(..) | Node::IsNull(_) => {
                self.condition(node)?.map(Scalar::Boolean)
            }
        })
    }

    fn condition(&self, node: &Node) -> Result<Option<bool>, E> {
        Ok(match node {
            Node::Not(inner) => self.condition(inner)?.map(|holds| !holds),
            Node::Logic(logic, one, two) => {
                let decisive = *logic == Logic::Or;
                match self.condition(one)? {
                    Some(one) if one == decisive => Some(one),
                    one => match self.condition(two)? {
                        Some(two) if two == decisive => Some(two),
                        two => one.and(two),
                    },
                }
            }
            Node::Compare(comparison, one, two) => match (self.part(one)?, self.part(two)?) {
                (Some(one), Some(two)) => Some(compares(*comparison, compared(&one, &two))),
                _ => None,
            },
            Node::In(one, others) => self.membership(one, others)?,
            Node::IsNull(inner) => Some(self.part(inner)?.is_none()),
            other => match self.part(other)? {
                Some(Scalar::Boolean(value)) => Some(value),
                _ => None,
            },
        })
    }

    fn number(&self, node: &Node) -> Result<Option<i128>, E> {
        Ok(match self.part(node)? {
            Some(Scalar::Number(number)) => Some(number),
            _ => None,
        })
    }

    fn membership(&self, one: &Node, others: &[Node]) -> Result<Option<bool>, E> {
        let Some(one) = self.part(one)? else { return Ok(None) };
        let mut has_null = false;
        for other in others {
            match self.part(other)? {
                Some(other) if compared(&one, &other).is_eq() => return Ok(Some(true)),
                Some(_) => {}
                None => has_null = true,
            }
        }
        Ok((!has_null).then_some(false))
    }
}

fn compared(one: &Scalar, two: &Scalar) -> Ordering {
    match (one, two) {
        (Scalar::Boolean(one), Scalar::Boolean(two)) => one.cmp(two),
        (Scalar::Number(one), Scalar::Number(two)) | (Scalar::Timestamp(one), Scalar::Timestamp(two)) => one.cmp(two),
        (Scalar::Text(one), Scalar::Text(two)) => one.cmp(two),
        (Scalar::Date(one), Scalar::Date(two)) | (Scalar::Time(one), Scalar::Time(two)) => one.cmp(two),
        (Scalar::Uuid(one), Scalar::Uuid(two)) => one.cmp(two),
        // The checker compares values of one type.
        _ => Ordering::Less,
    }
}

fn compares(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::Different => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::More => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
    }
}

/// Half is rounded away from zero.
fn rounded(number: i128, fewer: u32) -> i128 {
    let unit = 10_i128.pow(fewer);
    let half = if number < 0 { -unit / 2 } else { unit / 2 };
    number.saturating_add(half) / unit
}

/// The result of a function of values that are not NULL.
fn called(function: Function, values: &[Scalar]) -> Option<Scalar> {
    Some(match (function, values) {
        (Function::Length, [Scalar::Text(text)]) => Scalar::Number(text.chars().count() as i128),
        (Function::Contains, [Scalar::Text(one), Scalar::Text(two)]) => Scalar::Boolean(one.contains(two.as_str())),
        (Function::StartsWith, [Scalar::Text(one), Scalar::Text(two)]) => {
            Scalar::Boolean(one.starts_with(two.as_str()))
        }
        (Function::Abs, [Scalar::Number(number)]) => Scalar::Number(number.saturating_abs()),
        (Function::Days, [Scalar::Date(one), Scalar::Date(two)]) => Scalar::Number((one - two).into()),
        (Function::Year, [Scalar::Date(date)]) => Scalar::Number(civil_day(*date).0.into()),
        (Function::Month, [Scalar::Date(date)]) => Scalar::Number(civil_day(*date).1.into()),
        _ => return None,
    })
}
