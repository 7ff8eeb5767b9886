//! A statement about rows that it is given, on PostgreSQL: one row with a bound value for each of its cells, or several,
//! with an array for each column. So what several requests want can be one statement.

use std::fmt::Write;
use std::sync::Arc;

use sea_orm::sqlx::Arguments;
use sea_orm::sqlx::postgres::PgArguments;
use sea_orm::sqlx::types::Json;
use sea_orm::{DbErr, QueryResult, Value};

use super::gather::Item;
use super::held::Held;
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
    columns: Vec<&'static str>,
    /// What follows `WITH charter_given AS (...)`. The first values are those of the row.
    pub sql: Sql,
}

impl Default for Given {
    fn default() -> Given {
        Given { columns: Vec::new(), sql: Sql::new(Dialect::Postgres, String::with_capacity(8 << 10)) }
    }
}

impl Given {
    /// Adds a cell to the row: all of them before anything else is bound.
    pub fn cell(&mut self, column: &'static str, value: impl Into<Value>) -> &mut Given {
        debug_assert_eq!(self.columns.len(), self.sql.values.len(), "a cell stands before other values");
        self.columns.push(column);
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
    columns: Vec<&'static str>,
    rest: String,
    beside: Vec<Value>,
}

impl Statement {
    /// What tells it from others, and its rows from rows of other types; nothing where a value cannot stand in an array.
    pub fn kind(&self, row: &[Value]) -> Option<Arc<str>> {
        let mut kind = String::with_capacity(self.rest.len() + 16 * row.len());
        kind.push_str(&self.rest);
        for value in row {
            let _ = write!(kind, " {}", type_of(value)?);
        }
        for value in &self.beside {
            type_of(value)?;
            // Quoted, so that no value looks like two.
            let _ = write!(kind, "\n{value:?}");
        }
        Some(kind.into())
    }

    /// With one row.
    pub fn of_one(&self, row: &[Value]) -> Sql {
        let mut text = format!("WITH \"{GIVEN}\" AS (SELECT ");
        for (index, column) in self.columns.iter().enumerate() {
            let _ = write!(text, "${} AS \"{column}\", ", index + 1);
        }
        let _ = write!(text, "1::bigint AS \"{PLACE}\"){}", self.rest);
        let values = row.iter().chain(&self.beside).cloned().collect();
        Sql { values, ..Sql::new(Dialect::Postgres, text) }
    }

    /// Runs it with each of these rows, and answers what it answers for each.
    pub async fn run(&self, held: &mut Held, rows: &[Arc<[Value]>]) -> Result<Vec<Option<QueryResult>>, DbErr> {
        let mut answers: Vec<Option<QueryResult>> = rows.iter().map(|_| None).collect();
        let found = match rows {
            [row] => held.all(self.of_one(row)).await?,
            _ => {
                let (text, arguments) = self.of_several(rows)?;
                held.all_of(text, arguments, true).await?
            }
        };
        for row in found {
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
        let columns = (0..self.columns.len()).map(|column| Bound::Column(rows, column));
        for bound in columns.chain(self.beside.iter().map(Bound::One)) {
            // Their kind has told that they can.
            bind(&mut arguments, bound).ok_or_else(|| DbErr::Type("values that cannot be bound together".into()))?;
        }
        Ok((text, arguments))
    }
}

/// What is bound: a value, or the values of a column as one array. Nothing where they are not of one type, or of one of
/// which there are no arrays here.
#[derive(Clone, Copy)]
enum Bound<'v> {
    One(&'v Value),
    Column(&'v [Arc<[Value]>], usize),
}

fn bind(arguments: &mut PgArguments, bound: Bound<'_>) -> Option<()> {
    macro_rules! add {
        ($variant:ident, $value:ident => $read:expr) => {
            match bound {
                Bound::One(Value::$variant($value)) => arguments.add($read),
                Bound::One(_) => return None,
                Bound::Column(rows, column) => {
                    let mut array = Vec::with_capacity(rows.len());
                    for row in rows {
                        let Value::$variant($value) = &row[column] else { return None };
                        array.push($read);
                    }
                    arguments.add(array)
                }
            }
        };
    }
    let first = match bound {
        Bound::One(value) => value,
        Bound::Column(rows, column) => &rows.first()?[column],
    };
    let added = match first {
        Value::Bool(_) => add!(Bool, value => *value),
        Value::Int(_) => add!(Int, value => *value),
        Value::BigInt(_) => add!(BigInt, value => *value),
        Value::String(_) => add!(String, value => value.as_deref()),
        Value::Decimal(_) => add!(Decimal, value => *value),
        Value::ChronoDateTimeUtc(_) => add!(ChronoDateTimeUtc, value => *value),
        Value::ChronoDate(_) => add!(ChronoDate, value => *value),
        Value::Uuid(_) => add!(Uuid, value => *value),
        Value::Json(_) => add!(Json, value => value.as_deref().map(Json)),
        _ => return None,
    };
    added.ok()
}

/// The types of which values can be bound together, in a letter each.
fn type_of(value: &Value) -> Option<char> {
    Some(match value {
        Value::Bool(_) => 'b',
        Value::Int(_) => 'i',
        Value::BigInt(_) => 'n',
        Value::String(_) => 's',
        Value::Decimal(_) => 'd',
        Value::ChronoDateTimeUtc(_) => 't',
        Value::ChronoDate(_) => 'a',
        Value::Uuid(_) => 'u',
        Value::Json(_) => 'j',
        _ => return None,
    })
}

impl Item for Arc<[Value]> {
    fn bytes(&self) -> usize {
        let text = |value: &Value| match value {
            Value::String(Some(text)) => text.len(),
            // Most of a record's JSON stands in the body of its event, too.
            _ => size_of::<Value>(),
        };
        self.iter().map(text).sum()
    }
}
