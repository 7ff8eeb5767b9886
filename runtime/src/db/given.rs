//! A statement about rows that it is given, on PostgreSQL: one row with a bound value for each of its cells, or several,
//! with an array for each column. So what several requests want can be one statement.

use std::fmt::Write;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use sea_orm::sqlx::postgres::{PgArguments, PgPool};
use sea_orm::sqlx::types::Json;
use sea_orm::sqlx::{Arguments, AssertSqlSafe, IntoArguments, Postgres, query_with};
use sea_orm::{DbErr, QueryResult, RuntimeErr, Value};
use sea_query_sqlx::SqlxValues;
use uuid::Uuid;

use super::{Dialect, Sql};

/// What the rows are called in the statement.
pub const GIVEN: &str = "charter_given";
/// The column that says which of them something is about. The statement answers it, in a row for each that it did.
pub const PLACE: &str = "charter_place";

/// A statement and one row for it.
///
/// Statements with the same text and the same values beside their rows are one when they go together.
#[derive(Debug)]
pub struct Given {
    columns: Vec<String>,
    /// What follows `WITH charter_given AS (...)`. The first values are those of the row.
    pub sql: Sql,
}

impl Default for Given {
    fn default() -> Given {
        Given { columns: Vec::new(), sql: Sql::new(Dialect::Postgres, String::with_capacity(2048)) }
    }
}

impl Given {
    /// Adds a cell to the row: all of them before anything else is bound.
    pub fn cell(&mut self, column: &str, value: impl Into<Value>) -> &mut Given {
        debug_assert_eq!(self.columns.len(), self.sql.values.len(), "a cell stands before other values");
        self.columns.push(column.to_string());
        self.sql.values.push(value.into());
        self
    }

    /// The statement, and its row.
    pub(super) fn split(self) -> (Statement, Arc<[Value]>) {
        let Given { columns, mut sql } = self;
        let beside = sql.values.split_off(columns.len());
        (Statement { columns, rest: sql.text, beside }, sql.values.into())
    }
}

/// A statement without its rows.
#[derive(Debug)]
pub(super) struct Statement {
    columns: Vec<String>,
    rest: String,
    beside: Vec<Value>,
}

impl Statement {
    /// What tells it from others.
    pub fn kind(&self) -> Arc<str> {
        let mut kind = self.rest.clone();
        for value in &self.beside {
            // Quoted, so that no value looks like two.
            let _ = write!(kind, "\n{value:?}");
        }
        kind.into()
    }

    /// With one row.
    pub fn of_one(&self, row: &[Value]) -> Sql {
        let mut text = format!("WITH \"{GIVEN}\" AS (SELECT ");
        for (index, column) in self.columns.iter().enumerate() {
            let _ = write!(text, "${} AS \"{column}\", ", index + 1);
        }
        let _ = write!(text, "1::bigint AS \"{PLACE}\"){}", self.rest);
        let values = row.iter().chain(&self.beside).cloned().collect();
        Sql { dialect: Dialect::Postgres, text, values }
    }

    /// Runs it with each of these rows, and answers what it answers for each.
    pub async fn run(&self, pool: &PgPool, rows: &[Arc<[Value]>]) -> Result<Vec<Option<QueryResult>>, DbErr> {
        let mut answers: Vec<Option<QueryResult>> = rows.iter().map(|_| None).collect();
        let (text, arguments) = match rows {
            [row] => {
                let sql = self.of_one(row);
                (sql.text, sqlx(sql.values))
            }
            _ => self.of_several(rows)?,
        };
        let found = query_with::<Postgres, _>(AssertSqlSafe(text), arguments).fetch_all(pool).await.map_err(failed)?;
        for row in found {
            let row = QueryResult::from(row);
            let place: i64 = row.try_get("", PLACE)?;
            if let Some(answer) = usize::try_from(place - 1).ok().and_then(|place| answers.get_mut(place)) {
                *answer = Some(row);
            }
        }
        Ok(answers)
    }

    fn of_several(&self, rows: &[Arc<[Value]>]) -> Result<(String, PgArguments), DbErr> {
        let numbers: Vec<String> = (1..=self.columns.len()).map(|number| format!("${number}")).collect();
        let text = format!(
            "WITH \"{GIVEN}\" AS (SELECT * FROM unnest({}) WITH ORDINALITY AS g (\"{}\", \"{PLACE}\")){}",
            numbers.join(", "),
            self.columns.join("\", \""),
            self.rest
        );
        let mut arguments = PgArguments::default();
        for column in 0..self.columns.len() {
            bind(&mut arguments, rows.iter().map(|row| &row[column]))
                .ok_or_else(|| DbErr::Type(format!("`{}` is not of one type", self.columns[column])))?;
        }
        for value in &self.beside {
            bind_one(&mut arguments, value)
                .ok_or_else(|| DbErr::Type("a value of a type that is not bound".to_string()))?;
        }
        Ok((text, arguments))
    }
}

fn sqlx(values: Vec<Value>) -> PgArguments {
    IntoArguments::<Postgres>::into_arguments(SqlxValues(sea_orm::Values(values)))
}

fn failed(error: sea_orm::SqlxError) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}

/// Binds the values of a column as one array; nothing where they are not of one type.
fn bind<'v>(arguments: &mut PgArguments, values: impl Iterator<Item = &'v Value> + Clone) -> Option<()> {
    macro_rules! array {
        ($variant:ident, $read:expr) => {{
            let read = |value: &'v Value| match value {
                Value::$variant(value) => Some($read(value)),
                _ => None,
            };
            let array: Option<Vec<_>> = values.map(read).collect();
            arguments.add(array?).ok()
        }};
    }
    match values.clone().next()? {
        Value::Bool(_) => array!(Bool, |value: &Option<bool>| *value),
        Value::Int(_) => array!(Int, |value: &Option<i32>| *value),
        Value::BigInt(_) => array!(BigInt, |value: &Option<i64>| *value),
        Value::String(_) => array!(String, Option::<String>::as_deref),
        Value::Decimal(_) => array!(Decimal, |value: &Option<Decimal>| *value),
        Value::ChronoDateTimeUtc(_) => array!(ChronoDateTimeUtc, |value: &Option<DateTime<Utc>>| *value),
        Value::ChronoDate(_) => array!(ChronoDate, |value: &Option<NaiveDate>| *value),
        Value::Uuid(_) => array!(Uuid, |value: &Option<Uuid>| *value),
        Value::Json(_) => array!(Json, |value: &'v Option<Box<serde_json::Value>>| value.as_deref().map(Json)),
        _ => None,
    }
}

/// Binds a value beside the rows.
fn bind_one(arguments: &mut PgArguments, value: &Value) -> Option<()> {
    match value {
        Value::Bool(value) => arguments.add(value).ok(),
        Value::Int(value) => arguments.add(value).ok(),
        Value::BigInt(value) => arguments.add(value).ok(),
        Value::String(value) => arguments.add(value).ok(),
        _ => None,
    }
}
