//! Tables with random columns and rows, of the values that databases treat differently.

use charter_runtime::db::Dialect;
use charter_runtime::expression::{self, Names, Node, Type};
use charter_runtime::meta::{FieldMeta, Kind, Rule, TimestampForm};
use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, TimeDelta, Utc};
use rust_decimal::Decimal;
use sea_orm::Value;

use super::{Cell, Random, leaked};
use crate::support::Server;

/// A column of a random type.
pub struct Column {
    pub field: FieldMeta,
    /// The largest magnitude of its numbers, multiplied by 10^places.
    largest: i64,
}

/// Texts in which scripts, quotes and lengths in bytes and characters differ.
const TEXTS: [&str; 12] = ["", " ", "a", "A", "ab", "Zoë", "Zoe\u{308}", "ß", "日本語", "it's", "%_\\", "👩‍👧 x"];

/// Parts of the messages about formulas that are right and too large.
const REFUSALS: [&str; 3] = ["digits", "moved only once", "more than 200"];

/// Bounds of the columns with `min` and `max`.
static SMALL: [Rule; 2] = [Rule::Min("-999"), Rule::Max("999")];

fn column(random: &mut Random, index: usize) -> Column {
    let name = |kind: &str| -> &'static str { Box::leak(format!("{kind}_{index}").into_boxed_str()) };
    let plain = |kind: &str, of: Kind| Column { field: FieldMeta::new(name(kind), of), largest: 0 };
    match index % 11 {
        0 => Column { largest: i32::MAX.into(), ..plain("integer", Kind::Integer) },
        1 => {
            let field = FieldMeta { rules: &SMALL, ..FieldMeta::new(name("small"), Kind::Integer) };
            Column { field, largest: 999 }
        }
        2 => Column { largest: i64::MAX, ..plain("bigint", Kind::BigInt) },
        3 | 4 | 10 => {
            let precision = random.between(2, 9);
            let places = random.between(0, precision - 1);
            let kind = Kind::Decimal { precision: precision as u8, places: places as u8 };
            Column { largest: 10_i64.pow(precision as u32) - 1, ..plain("decimal", kind) }
        }
        5 => plain("text", if random.once_in(2) { Kind::Text } else { Kind::String { max: 40 } }),
        6 => plain("word", Kind::Enum { values: &["open", "solved", "closed"] }),
        7 => plain("flag", Kind::Boolean),
        8 => plain("day", Kind::Date),
        _ => match random.below(4) {
            0 => plain("clock", Kind::Time),
            1 => plain("uuid", Kind::Uuid),
            _ => plain("time", Kind::Timestamp { form: TimestampForm::Millis }),
        },
    }
}

impl Column {
    /// Its type in SQL.
    fn sql_type(&self, dialect: Dialect) -> String {
        let storage = self.field.kind.storage().expect("it is a column");
        let facts = storage.facts();
        let text = if dialect == Dialect::Postgres { facts.postgres } else { facts.sqlite };
        text.replace("{}", &storage.arguments())
    }

    fn places(&self) -> u32 {
        if let Kind::Decimal { places, .. } = self.field.kind { places.into() } else { 0 }
    }

    /// A value, often NULL, zero or an extreme.
    fn value(&self, random: &mut Random) -> Cell {
        if random.once_in(6) {
            return None;
        }
        let number = |random: &mut Random| match random.below(6) {
            0 => 0,
            1 => self.largest,
            2 => -self.largest,
            3 => random.between(-self.largest, self.largest),
            _ => random.between((-12).max(-self.largest), 12.min(self.largest)),
        };
        Some(match self.field.kind {
            Kind::Integer => Value::from(number(random) as i32),
            Kind::BigInt => number(random).into(),
            Kind::Decimal { .. } => Decimal::new(number(random), self.places()).into(),
            Kind::Text | Kind::String { .. } => (*random.choose(&TEXTS)).into(),
            Kind::Enum { values } => (*random.choose(values)).into(),
            Kind::Boolean => random.once_in(2).into(),
            Kind::Date => day(random).into(),
            Kind::Time => NaiveTime::from_num_seconds_from_midnight_opt(random.below(86_400) as u32, 0).into(),
            Kind::Uuid => sea_orm::prelude::Uuid::from_u128(random.below(4).into()).into(),
            _ => time(random).into(),
        })
    }
}

/// A day, often at an end of the calendar, of a month or of a year.
fn day(random: &mut Random) -> NaiveDate {
    let day = |year, month, day| NaiveDate::from_ymd_opt(year, month, day).expect("a day");
    match random.below(7) {
        0 => day(1, 1, 1),
        1 => day(9999, 12, 31),
        2 => day(2024, 2, 29),
        3 => day(1900, 2, 28),
        _ => day(2026, 1, 1) + TimeDelta::days(random.between(-800, 800)),
    }
}

/// A time, often with milliseconds, or when a clock changes in Europe.
fn time(random: &mut Random) -> DateTime<Utc> {
    let time = |text: &str| text.parse::<DateTime<Utc>>().expect("a time");
    match random.below(7) {
        0 => time("0001-01-01T00:00:00Z"),
        1 => time("9999-12-31T23:59:59.999Z"),
        2 => time("2026-03-29T01:00:00Z"),
        3 => time("2026-02-28T23:30:00.250Z"),
        _ => time("2026-02-28T00:00:00Z") + TimeDelta::milliseconds(random.between(-90_000_000, 90_000_000) * 500),
    }
}

/// A table, and its rows as Rust sees them.
pub struct Rows {
    table: String,
    columns: &'static [FieldMeta],
    values: Vec<Vec<Cell>>,
}

impl Rows {
    pub async fn create(server: &Server, table: &str, random: &mut Random, count: usize) -> Rows {
        let columns: Vec<Column> = (0..22).map(|index| column(random, index)).collect();
        let dialect = server.state.db.dialect();
        let types = columns.iter().map(|column| format!("\"{}\" {}", column.field.name, column.sql_type(dialect)));
        let types: Vec<String> = types.collect();
        server.sql(&format!("CREATE TABLE \"{table}\" (id integer PRIMARY KEY, {})", types.join(", "))).await;
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(columns.iter().map(|column| column.value(random)).collect::<Vec<Cell>>());
        }
        for (first, rows) in values.chunks(250).enumerate() {
            let rows = rows.iter().enumerate().map(|(index, row)| {
                let cells = row.iter().zip(&columns).map(|(cell, column)| literal(dialect, column, cell.as_ref()));
                format!("({}, {})", first * 250 + index + 1, cells.collect::<Vec<_>>().join(", "))
            });
            let rows: Vec<String> = rows.collect();
            server.sql(&format!("INSERT INTO \"{table}\" VALUES {}", rows.join(", "))).await;
        }
        Rows { table: table.to_owned(), columns: leaked(&columns), values }
    }

    pub fn table(&self) -> &str {
        &self.table
    }

    pub fn columns(&self) -> &'static [FieldMeta] {
        self.columns
    }

    pub fn value(&self, row: usize, name: &str) -> Cell {
        let column = self.columns.iter().position(|column| column.name == name)?;
        self.values[row][column].clone()
    }

    /// The checked expression with its type.
    pub fn check(&self, text: &str) -> Option<(Node, Type)> {
        let names = Names { resource: None, fields: self.columns, has_request: true, others: None };
        match expression::check_value(text, &names, None) {
            Ok(checked) => Some(checked),
            Err(mistake) if REFUSALS.iter().any(|refusal| mistake.message.contains(refusal)) => None,
            Err(mistake) => panic!("{text}: {mistake:?}"),
        }
    }
}

/// A value in SQL, as the server stores it.
fn literal(dialect: Dialect, column: &Column, cell: Option<&Value>) -> String {
    let Some(value) = cell else { return "NULL".to_owned() };
    match value {
        Value::Decimal(Some(number)) if dialect == Dialect::Sqlite => number.mantissa().to_string(),
        Value::Decimal(Some(number)) => number.to_string(),
        Value::Int(Some(_)) | Value::BigInt(Some(_)) | Value::Bool(Some(_)) => text(value),
        Value::ChronoDateTimeUtc(Some(time)) => format!("'{}'", time.to_rfc3339()),
        _ if column.field.kind.storage().is_some() => format!("'{}'", text(value).replace('\'', "''")),
        _ => unreachable!("a column"),
    }
}

/// The text of a value, the same for both databases and for Rust.
pub fn text(value: &Value) -> String {
    match value {
        Value::Bool(Some(value)) => value.to_string(),
        Value::Int(Some(number)) => number.to_string(),
        Value::BigInt(Some(number)) => number.to_string(),
        Value::String(Some(text)) => text.to_string(),
        Value::ChronoDate(Some(date)) => date.to_string(),
        Value::ChronoTime(Some(time)) => time.to_string(),
        Value::ChronoDateTimeUtc(Some(time)) => time.to_rfc3339_opts(SecondsFormat::Millis, true),
        Value::Uuid(Some(uuid)) => uuid.to_string(),
        other => unreachable!("{other:?}"),
    }
}

/// The SQL around an expression that makes it such a text.
pub fn as_text(dialect: Dialect, kind: &Type) -> (String, String) {
    let (before, after) = match (dialect, kind) {
        (Dialect::Sqlite, Type::Number(_)) => ("CAST(".to_owned(), " AS TEXT)".to_owned()),
        (Dialect::Postgres, Type::Number(digits)) => {
            ("trim_scale(((".to_owned(), format!(")::numeric * 1e{}))::text", digits.places))
        }
        (Dialect::Sqlite, Type::Boolean) => {
            ("CASE (".to_owned(), ") WHEN 1 THEN 'true' WHEN 0 THEN 'false' END".to_owned())
        }
        (Dialect::Sqlite, Type::Timestamp) => ("strftime('%Y-%m-%dT%H:%M:%fZ', ".to_owned(), ")".to_owned()),
        (Dialect::Postgres, Type::Timestamp) => {
            ("to_char((".to_owned(), ") AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')".to_owned())
        }
        (Dialect::Postgres, Type::Date) => ("to_char((".to_owned(), "), 'YYYY-MM-DD')".to_owned()),
        (Dialect::Postgres, _) => ("(".to_owned(), ")::text".to_owned()),
        (Dialect::Sqlite, _) => (String::new(), String::new()),
    };
    (before, after)
}
