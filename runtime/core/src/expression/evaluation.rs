//! Values of expressions at run time, from and to those of the columns.

use charter_model::expression::{self, Field, Node, Scalar, Situation};
use chrono::{DateTime, NaiveDate, NaiveTime, Timelike, Utc};
use sea_orm::Value;

use super::Request;
use crate::error::Result;

const SECOND: i128 = 1_000_000_000;

impl Situation for Request<'_> {
    fn now(&self) -> i128 {
        nanoseconds(self.now)
    }

    fn today(&self) -> i64 {
        days(Request::today(self))
    }

    fn caller_id(&self) -> Option<i64> {
        self.caller.user_id
    }

    fn caller_can(&self, permission: &str) -> bool {
        self.caller.has_permission(permission)
    }
}

/// Evaluates a condition: true, false, or none for NULL. `current` returns the value of a field.
///
/// # Errors
/// Those of `current`.
pub fn holds(
    node: &Node,
    request: &Request<'_>,
    current: &impl Fn(&Field) -> Result<Option<Value>>,
) -> Result<Option<bool>> {
    expression::holds(node, request, &|field| Ok(current(field)?.map(|value| scalar(value, field.places()))))
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
    let found: Result<Option<Scalar>> =
        expression::value(node, request, &|field| Ok(current(field)?.map(|value| scalar(value, field.places()))));
    Ok(found?.and_then(|scalar| match scalar {
        Scalar::Boolean(value) => Some(value.into()),
        // The checker has bounded it.
        Scalar::Number(number) => Some(i64::try_from(number).unwrap_or(i64::MAX).into()),
        Scalar::Text(text) => Some(text.into()),
        Scalar::Date(days) => i32::try_from(days).ok().and_then(NaiveDate::from_epoch_days).map(Value::from),
        Scalar::Timestamp(time) => {
            let seconds = i64::try_from(time.div_euclid(SECOND)).ok();
            let rest = u32::try_from(time.rem_euclid(SECOND)).unwrap_or_default();
            seconds.and_then(|seconds| DateTime::from_timestamp(seconds, rest)).map(Value::from)
        }
        Scalar::Time(time) => {
            let (seconds, rest) = (i128::from(time) / SECOND, i128::from(time) % SECOND);
            let part = |number: i128| u32::try_from(number).unwrap_or_default();
            NaiveTime::from_num_seconds_from_midnight_opt(part(seconds), part(rest)).map(Value::from)
        }
        Scalar::Uuid(bits) => Some(uuid::Uuid::from_u128(bits).into()),
        // No field takes such a value.
        Scalar::Opaque => None,
    }))
}

/// The value of a field whose numbers have that many decimal places.
fn scalar(value: Value, places: u32) -> Scalar {
    match value {
        Value::Bool(Some(value)) => Scalar::Boolean(value),
        Value::Int(Some(number)) => Scalar::Number(number.into()),
        Value::BigInt(Some(number)) => Scalar::Number(number.into()),
        Value::Decimal(Some(mut number)) => {
            number.rescale(places);
            Scalar::Number(number.mantissa())
        }
        Value::String(Some(text)) => Scalar::Text(text.to_string()),
        Value::ChronoDate(Some(date)) => Scalar::Date(days(date)),
        Value::ChronoDateTimeUtc(Some(time)) => Scalar::Timestamp(nanoseconds(time)),
        Value::ChronoTime(Some(time)) => {
            let nanoseconds = i64::from(time.num_seconds_from_midnight()) * 1_000_000_000;
            Scalar::Time(nanoseconds + i64::from(time.nanosecond()))
        }
        Value::Uuid(Some(uuid)) => Scalar::Uuid(uuid.as_u128()),
        _ => Scalar::Opaque,
    }
}

fn days(date: NaiveDate) -> i64 {
    i64::from(date.to_epoch_days())
}

fn nanoseconds(time: DateTime<Utc>) -> i128 {
    i128::from(time.timestamp()) * SECOND + i128::from(time.timestamp_subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::{Names, condition_over_fields};
    use crate::meta::{FieldMeta, Kind};
    use crate::principal::Principal;
    use charter_model::expression::check;
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
        let names = Names { resource: None, fields: &FIELDS, has_request: true, others: None };
        let node = check(text, &names).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}"));
        let caller =
            Principal { user_id: Some(7), permissions: ["tickets.all".to_owned()].into(), ..Principal::default() };
        let now = "2026-02-27T23:30:00Z".parse().unwrap();
        let request = Request { caller: &caller, now, zone: Tz::Europe__Berlin };
        holds(&node, &request, &record).unwrap()
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
        let first = condition_over_fields("quantity > 1", &FIELDS).unwrap();
        assert!(std::ptr::eq(first, condition_over_fields("quantity > 1", &FIELDS).unwrap()));
        assert!(condition_over_fields("quantiti > 1", &FIELDS).is_err());
    }
}
