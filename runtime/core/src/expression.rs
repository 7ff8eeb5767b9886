//! Evaluation of an expression over the values of one record.
//!
//! NULL follows SQL: an operator with NULL is NULL, `and` and `or` know what the other side decides. Numbers are exact. The
//! only failure is a result that no decimal of 28 digits and no date of this calendar can hold.

use std::cmp::Ordering;

use charter_model::expression::{self, Arithmetic, Comparison, Function, Logic, Mistake, Node, Scope, Type, Unit};
use chrono::{NaiveDate, TimeDelta};
use rust_decimal::Decimal;
use sea_orm::Value;

use crate::error::{Error, Result};
use crate::field_type::order;
use crate::memo::Memo;
use crate::meta::FieldMeta;

/// The result of a part: a value, or a number, date or time that is too large.
type Evaluated = Result<Option<Value>, Failure>;

/// The reason why an expression has no value.
#[derive(Debug)]
pub enum Failure {
    /// A number, date or time on the way to the result is too large.
    Overflow,
    /// A value of the record cannot be read.
    Unreadable(Error),
}

/// The fields of a resource, as an expression sees them.
struct Fields(&'static [FieldMeta]);

impl Scope for Fields {
    fn field(&self, name: &str) -> Option<Type> {
        self.0.iter().find(|field| field.name == name && field.is_column()).and_then(|field| Type::of(&field.kind))
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|field| field.name.to_owned()).collect()
    }
}

/// The checked condition of a text in the metadata. Each is checked once and kept for the lifetime of the process.
/// The start checks all of them and fails if one is invalid.
///
/// # Errors
/// The mistake of an invalid text.
pub fn condition(text: &'static str, fields: &'static [FieldMeta]) -> Result<&'static Node, Mistake> {
    /// The text, and the address of the fields, which stands for the resource.
    type Key = (&'static str, usize);
    static CHECKED: Memo<Key, Node> = Memo::new();
    CHECKED.get((text, fields.as_ptr().addr()), || expression::check(text, &Fields(fields)))
}

/// Evaluates a condition: true, false, or none for NULL. `current` returns the value of a field.
///
/// # Errors
/// [`Failure`].
pub fn holds(node: &Node, current: &impl Fn(&str) -> Result<Option<Value>>) -> Result<Option<bool>, Failure> {
    Ok(match value(node, current)? {
        Some(Value::Bool(Some(is_true))) => Some(is_true),
        _ => None,
    })
}

fn value(node: &Node, current: &impl Fn(&str) -> Result<Option<Value>>) -> Evaluated {
    Ok(match node {
        Node::Null => None,
        Node::Boolean(is_true) => Some((*is_true).into()),
        Node::Number(text) => Some(text.parse::<Decimal>().map_err(|_| Failure::Overflow)?.into()),
        Node::Text(text) => Some(text.as_str().into()),
        Node::Date(text) => text.parse::<NaiveDate>().ok().map(Value::from),
        Node::Field(name) => current(name).map_err(Failure::Unreadable)?.map(exact),
        Node::Negate(inner) => number(inner, current)?.map(|number| (-number).into()),
        Node::Not(inner) => holds(inner, current)?.map(|is_true| (!is_true).into()),
        Node::Logic(logic, one, two) => {
            let decisive = *logic == Logic::Or;
            match holds(one, current)? {
                Some(one) if one == decisive => Some(one.into()),
                one => match holds(two, current)? {
                    Some(two) if two == decisive => Some(two.into()),
                    two => one.and(two).map(Value::from),
                },
            }
        }
        Node::Compare(comparison, one, two) => match (value(one, current)?, value(two, current)?) {
            (Some(one), Some(two)) => Some(compares(*comparison, order(&one, &two)).into()),
            _ => None,
        },
        Node::In(one, others) => membership(one, others, current)?,
        Node::IsNull(inner) => Some(value(inner, current)?.is_none().into()),
        Node::Arithmetic(arithmetic, one, two) => match (number(one, current)?, number(two, current)?) {
            (Some(one), Some(two)) => Some(computed(*arithmetic, one, two).ok_or(Failure::Overflow)?.into()),
            _ => None,
        },
        Node::Shift(inner, count, unit) => match value(inner, current)? {
            Some(time) => Some(shifted(&time, *count, *unit).ok_or(Failure::Overflow)?),
            None => None,
        },
        Node::Call(function, arguments) => called(*function, arguments, current)?,
    })
}

/// A value of a field. All numbers become decimals, so that they can be compared with each other.
fn exact(value: Value) -> Value {
    match value {
        Value::Int(Some(number)) => Decimal::from(number).into(),
        Value::BigInt(Some(number)) => Decimal::from(number).into(),
        other => other,
    }
}

fn number(node: &Node, current: &impl Fn(&str) -> Result<Option<Value>>) -> Result<Option<Decimal>, Failure> {
    Ok(match value(node, current)? {
        Some(Value::Decimal(Some(number))) => Some(number),
        _ => None,
    })
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

fn computed(arithmetic: Arithmetic, one: Decimal, two: Decimal) -> Option<Decimal> {
    let result = match arithmetic {
        Arithmetic::Add => one.checked_add(two)?,
        Arithmetic::Subtract => one.checked_sub(two)?,
        Arithmetic::Multiply => one.checked_mul(two)?,
    };
    // A decimal rounds what it cannot hold. The exact result has as many places as this.
    let places = match arithmetic {
        Arithmetic::Add | Arithmetic::Subtract => one.scale().max(two.scale()),
        Arithmetic::Multiply => one.scale() + two.scale(),
    };
    (result.is_zero() || result.scale() >= places).then_some(result)
}

fn shifted(time: &Value, count: i64, unit: Unit) -> Option<Value> {
    let delta = match unit {
        Unit::Days => TimeDelta::try_days(count),
        Unit::Hours => TimeDelta::try_hours(count),
        Unit::Minutes => TimeDelta::try_minutes(count),
    }?;
    match time {
        Value::ChronoDate(Some(date)) => date.checked_add_signed(delta).map(Value::from),
        Value::ChronoDateTimeUtc(Some(time)) => time.checked_add_signed(delta).map(Value::from),
        _ => None,
    }
}

fn membership(one: &Node, others: &[Node], current: &impl Fn(&str) -> Result<Option<Value>>) -> Evaluated {
    let Some(one) = value(one, current)? else { return Ok(None) };
    let mut has_null = false;
    for other in others {
        match value(other, current)? {
            Some(other) if order(&one, &other).is_eq() => return Ok(Some(true.into())),
            Some(_) => {}
            None => has_null = true,
        }
    }
    Ok((!has_null).then(|| false.into()))
}

fn called(function: Function, arguments: &[Node], current: &impl Fn(&str) -> Result<Option<Value>>) -> Evaluated {
    match (function, arguments) {
        (Function::Length, [text]) => Ok(match value(text, current)? {
            Some(Value::String(Some(text))) => Some(Decimal::from(text.chars().count()).into()),
            _ => None,
        }),
        (Function::If, [condition, one, two]) => match holds(condition, current)? {
            Some(true) => value(one, current),
            _ => value(two, current),
        },
        _ => {
            for argument in arguments {
                if let Some(found) = value(argument, current)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::Kind;
    use chrono::{DateTime, Utc};

    static FIELDS: [FieldMeta; 7] = [
        FieldMeta::new("quantity", Kind::Integer),
        FieldMeta::new("price", Kind::Decimal { precision: 18, places: 2 }),
        FieldMeta::new("title", Kind::Text),
        FieldMeta::new("status", Kind::Enum { values: &["open", "closed"] }),
        FieldMeta::new("urgent", Kind::Boolean),
        FieldMeta::new("due_on", Kind::Date),
        FieldMeta::new("at", Kind::Timestamp { form: charter_model::TimestampForm::Seconds }),
    ];

    fn record(name: &str) -> Result<Option<Value>> {
        Ok(match name {
            "quantity" => Some(3.into()),
            "price" => Some(Decimal::new(250, 2).into()),
            "title" => Some("Zoë".into()),
            "status" => Some("open".into()),
            "due_on" => NaiveDate::from_ymd_opt(2026, 2, 27).map(Value::from),
            "at" => Some(Value::from("2026-02-27T23:00:00Z".parse::<DateTime<Utc>>().unwrap())),
            _ => None,
        })
    }

    fn evaluated(text: &'static str) -> Result<Option<bool>, Failure> {
        holds(condition(text, &FIELDS).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}")), &record)
    }

    #[test]
    fn numbers_are_exact_and_of_one_kind() {
        for text in [
            "quantity * price = 7.5",
            "quantity = 3.00",
            "price = 2.500",
            "0.1 + 0.2 = 0.3",
            "-quantity < -2.99",
            "quantity - price > 0",
            "length(title) = 3",
            "9223372036854775807 + 1 = 9223372036854775808",
        ] {
            assert_eq!(evaluated(text).unwrap(), Some(true), "{text}");
        }
    }

    #[test]
    fn days_and_hours_move_times() {
        for text in [
            "due_on + 2 days = date '2026-03-01'",
            "due_on - 58 days = date '2025-12-31'",
            "at + 61 minutes > at + 1 hour",
            "at + 1 day = at + 24 hours",
        ] {
            assert_eq!(evaluated(text).unwrap(), Some(true), "{text}");
        }
    }

    #[test]
    fn null_is_unknown_as_in_sql() {
        for (text, expected) in [
            ("urgent", None),
            ("not urgent", None),
            ("urgent and status = closed", Some(false)),
            ("status = closed and urgent", Some(false)),
            ("urgent and status = open", None),
            ("urgent or status = open", Some(true)),
            ("urgent or status = closed", None),
            ("urgent is null and title is not null", Some(true)),
            ("coalesce(urgent, true)", Some(true)),
            ("if(urgent, 1, 2) = 2", Some(true)),
            ("status in [closed, open]", Some(true)),
            ("title in ['x', if(urgent, 'y', null)]", None),
            ("title not in ['x', 'y']", Some(true)),
        ] {
            assert_eq!(evaluated(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_result_that_nothing_can_hold_is_an_overflow() {
        for text in [
            "9999999999999999999999999999 * 9999999999999999999999999999 > 1",
            "79228162514264337593543950335 + 1 > 1",
            "1.00000000000001 * 1.000000000000001 > 1.0000000000000000000001 * 1.0000001",
            "due_on + 4294967295 days > due_on",
            "at + 4294967295 days > at",
        ] {
            let Ok(node) = condition(text, &FIELDS) else { continue };
            assert!(matches!(holds(node, &record), Err(Failure::Overflow)), "{text}: {:?}", holds(node, &record));
        }
    }

    #[test]
    fn the_condition_of_a_text_is_checked_once() {
        let first = condition("quantity > 1", &FIELDS).unwrap();
        assert!(std::ptr::eq(first, condition("quantity > 1", &FIELDS).unwrap()));
        assert!(condition("quantiti > 1", &FIELDS).is_err());
    }
}
