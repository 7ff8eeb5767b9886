//! Evaluation of an expression over the values of one record.
//!
//! NULL follows SQL: an operator with NULL is NULL, `and` and `or` know what the other side decides. Numbers are integers that
//! the checker has scaled to the same number of places, as in SQLite.

use std::cmp::Ordering;

use charter_model::expression::{Arithmetic, Comparison, Field, Function, Logic, Node};
use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc};
use sea_orm::Value;

use super::Request;
use crate::error::Result;
use crate::field_type::order;

/// A value on the way to the result.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Boolean(bool),
    /// Multiplied by 10^places.
    Number(i128),
    Text(String),
    Date(NaiveDate),
    Time(DateTime<Utc>),
    /// A time of day or a UUID.
    Other(Value),
}

type Evaluated = Result<Option<Part>>;

/// Evaluates a condition: true, false, or none for NULL. `current` returns the value of a field.
///
/// # Errors
/// Those of `current`.
pub fn holds(
    node: &Node,
    request: &Request<'_>,
    current: &impl Fn(&Field) -> Result<Option<Value>>,
) -> Result<Option<bool>> {
    Evaluation { request, current }.condition(node)
}

/// Evaluates an expression. A number is the integer that the checker has scaled.
///
/// # Errors
/// Those of `current`.
pub fn value(
    node: &Node,
    request: &Request<'_>,
    current: &impl Fn(&Field) -> Result<Option<Value>>,
) -> Result<Option<Value>> {
    Ok(Evaluation { request, current }.part(node)?.map(|part| match part {
        Part::Boolean(value) => value.into(),
        // The checker has bounded it.
        Part::Number(number) => i64::try_from(number).unwrap_or(i64::MAX).into(),
        Part::Text(text) => text.into(),
        Part::Date(date) => date.into(),
        Part::Time(time) => time.into(),
        Part::Other(value) => value,
    }))
}

struct Evaluation<'a, C> {
    request: &'a Request<'a>,
    current: &'a C,
}

impl<C: Fn(&Field) -> Result<Option<Value>>> Evaluation<'_, C> {
    fn part(&self, node: &Node) -> Evaluated {
        Ok(match node {
            Node::Null => None,
            Node::Boolean(value) => Some(Part::Boolean(*value)),
            Node::Number { scaled, .. } => Some(Part::Number((*scaled).into())),
            Node::Text(text) => Some(Part::Text(text.clone())),
            Node::Date(text) => text.parse().ok().map(Part::Date),
            Node::Field(field) => (self.current)(field)?.map(|value| part_of(value, field.places())),
            Node::Now => Some(Part::Time(self.request.now)),
            Node::Today => Some(Part::Date(self.request.today())),
            Node::CallerId => self.request.caller.user_id.map(|id| Part::Number(id.into())),
            Node::CallerCan(permission) => Some(Part::Boolean(self.request.caller.has_permission(permission))),
            Node::Negate(inner) => self.number(inner)?.map(|number| Part::Number(-number)),
            Node::Widen(inner, more) => {
                self.number(inner)?.map(|number| Part::Number(number.saturating_mul(10_i128.pow(*more))))
            }
            Node::Round(inner, fewer, _) => self.number(inner)?.map(|number| Part::Number(rounded(number, *fewer))),
            Node::ShiftDate(inner, days) => self.moved_date(inner, *days)?,
            Node::ShiftTime(inner, minutes) => self.moved_time(inner, *minutes)?,
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
                (Some(one), Some(two)) => Some(Part::Number(match arithmetic {
                    Arithmetic::Add => one.saturating_add(two),
                    Arithmetic::Subtract => one.saturating_sub(two),
                    Arithmetic::Multiply => one.saturating_mul(two),
                })),
                _ => None,
            },
            Node::Not(_) | Node::Logic(..) | Node::Compare(..) | Node::In(..) | Node::IsNull(_) => {
                self.condition(node)?.map(Part::Boolean)
            }
        })
    }

    fn condition(&self, node: &Node) -> Result<Option<bool>> {
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
                Some(Part::Boolean(value)) => Some(value),
                _ => None,
            },
        })
    }

    fn number(&self, node: &Node) -> Result<Option<i128>> {
        Ok(match self.part(node)? {
            Some(Part::Number(number)) => Some(number),
            _ => None,
        })
    }

    fn membership(&self, one: &Node, others: &[Node]) -> Result<Option<bool>> {
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

    fn moved_date(&self, node: &Node, days: i64) -> Evaluated {
        let Some(Part::Date(date)) = self.part(node)? else { return Ok(None) };
        let moved = TimeDelta::try_days(days).and_then(|delta| date.checked_add_signed(delta));
        Ok(moved.filter(|date| has_four_digits(date.year())).map(Part::Date))
    }

    fn moved_time(&self, node: &Node, minutes: i64) -> Evaluated {
        let Some(Part::Time(time)) = self.part(node)? else { return Ok(None) };
        let moved = TimeDelta::try_minutes(minutes).and_then(|delta| time.checked_add_signed(delta));
        Ok(moved.filter(|time| has_four_digits(time.year())).map(Part::Time))
    }
}

/// Both databases hold these years, and SQLite sorts them as text.
fn has_four_digits(year: i32) -> bool {
    (1..=9999).contains(&year)
}

/// The value of a field whose numbers have that many decimal places.
fn part_of(value: Value, places: u32) -> Part {
    match value {
        Value::Bool(Some(value)) => Part::Boolean(value),
        Value::Int(Some(number)) => Part::Number(number.into()),
        Value::BigInt(Some(number)) => Part::Number(number.into()),
        Value::Decimal(Some(mut number)) => {
            number.rescale(places);
            Part::Number(number.mantissa())
        }
        Value::String(Some(text)) => Part::Text(text.to_string()),
        Value::ChronoDate(Some(date)) => Part::Date(date),
        Value::ChronoDateTimeUtc(Some(time)) => Part::Time(time),
        other => Part::Other(other),
    }
}

fn compared(one: &Part, two: &Part) -> Ordering {
    match (one, two) {
        (Part::Boolean(one), Part::Boolean(two)) => one.cmp(two),
        (Part::Number(one), Part::Number(two)) => one.cmp(two),
        (Part::Text(one), Part::Text(two)) => one.cmp(two),
        (Part::Date(one), Part::Date(two)) => one.cmp(two),
        (Part::Time(one), Part::Time(two)) => one.cmp(two),
        (Part::Other(one), Part::Other(two)) => order(one, two),
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
fn called(function: Function, values: &[Part]) -> Option<Part> {
    Some(match (function, values) {
        (Function::Length, [Part::Text(text)]) => Part::Number(text.chars().count() as i128),
        (Function::Contains, [Part::Text(one), Part::Text(two)]) => Part::Boolean(one.contains(two.as_str())),
        (Function::StartsWith, [Part::Text(one), Part::Text(two)]) => Part::Boolean(one.starts_with(two.as_str())),
        (Function::Abs, [Part::Number(number)]) => Part::Number(number.saturating_abs()),
        (Function::Days, [Part::Date(one), Part::Date(two)]) => Part::Number((*one - *two).num_days().into()),
        (Function::Year, [Part::Date(date)]) => Part::Number(date.year().into()),
        (Function::Month, [Part::Date(date)]) => Part::Number(date.month().into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::condition;
    use crate::meta::{FieldMeta, Kind};
    use crate::principal::Principal;
    use chrono_tz::Tz;
    use rust_decimal::Decimal;

    static FIELDS: [FieldMeta; 7] = [
        FieldMeta::new("quantity", Kind::Integer),
        FieldMeta::new("price", Kind::Decimal { precision: 8, places: 2 }),
        FieldMeta::new("title", Kind::Text),
        FieldMeta::new("status", Kind::Enum { values: &["open", "closed"] }),
        FieldMeta::new("urgent", Kind::Boolean),
        FieldMeta::new("due_on", Kind::Date),
        FieldMeta::new("at", Kind::Timestamp { form: charter_model::TimestampForm::Seconds }),
    ];

    fn record(field: &Field) -> Result<Option<Value>> {
        Ok(match field.name.as_str() {
            "quantity" => Some(3.into()),
            "price" => Some(Decimal::new(250, 2).into()),
            "title" => Some("Zoë".into()),
            "status" => Some("open".into()),
            "due_on" => NaiveDate::from_ymd_opt(2026, 2, 27).map(Value::from),
            "at" => Some(Value::from("2026-02-27T23:00:00Z".parse::<DateTime<Utc>>().unwrap())),
            _ => None,
        })
    }

    fn evaluated(text: &'static str) -> Option<bool> {
        let node = condition(text, &FIELDS).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}"));
        let caller =
            Principal { user_id: Some(7), permissions: ["tickets.all".to_owned()].into(), ..Principal::default() };
        let now = "2026-02-27T23:30:00Z".parse().unwrap();
        let request = Request { caller: &caller, now, zone: Tz::Europe__Berlin };
        holds(node, &request, &record).unwrap()
    }

    #[test]
    fn numbers_are_exact_and_of_one_kind() {
        for text in [
            "quantity * price = 7.5",
            "round(quantity * price * 0.5, 1) = 3.8",
            "round(-price * 1.01, 2) = -2.53",
            "abs(-price) = price",
            "quantity = 3.00",
            "price = 2.500",
            "0.1 + 0.2 = 0.3",
            "-quantity < -2.99",
            "quantity - price > 0",
            "length(title) = 3",
            "contains(title, 'oë') and starts_with(title, 'Z') and not contains(title, 'z')",
        ] {
            assert_eq!(evaluated(text), Some(true), "{text}");
        }
    }

    #[test]
    fn days_and_hours_move_times() {
        for text in [
            "due_on + 2 days = date '2026-03-01'",
            "due_on - 58 days = date '2025-12-31'",
            "at + 61 minutes > at + 1 hour",
            "at + 1 day = at + 24 hours",
            "days(due_on, date '2026-01-01') = 57 and year(due_on) = 2026 and month(due_on) = 2",
        ] {
            assert_eq!(evaluated(text), Some(true), "{text}");
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
            assert_eq!(evaluated(text), expected, "{text}");
        }
    }

    #[test]
    fn the_request_has_a_time_a_day_in_the_zone_and_a_caller() {
        for text in [
            "now > at and now < at + 1 hour",
            "today = date '2026-02-28'",
            "caller.id = 7 and caller.can(tickets.all) and not caller.can(tickets.some)",
        ] {
            assert_eq!(evaluated(text), Some(true), "{text}");
        }
    }

    #[test]
    fn dates_outside_of_four_digit_years_are_null() {
        for text in ["at - 740000 days < at", "due_on - 740000 days < due_on"] {
            assert_eq!(evaluated(text), None, "{text}");
        }
    }

    #[test]
    fn the_condition_of_a_text_is_checked_once() {
        let first = condition("quantity > 1", &FIELDS).unwrap();
        assert!(std::ptr::eq(first, condition("quantity > 1", &FIELDS).unwrap()));
        assert!(condition("quantiti > 1", &FIELDS).is_err());
    }
}
