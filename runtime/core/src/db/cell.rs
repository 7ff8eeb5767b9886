//! One value of a row, decoded from the driver's or the buffered row without a copy.

use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use sea_orm::QueryResult;
use sea_orm::sqlx::postgres::PgRow;
use sea_orm::sqlx::sqlite::SqliteRow;
use sea_orm::sqlx::{Column, Database, Decode, Postgres, Row, Sqlite, TypeInfo, ValueRef};
use uuid::Uuid;

use super::{BufferedRow, Row as AnyRow, Stored, sqlite_value};
use crate::error::{Error, Result};

/// The value at a position of a row, for both databases.
#[derive(Clone, Copy)]
pub struct Cell<'r> {
    row: RowRef<'r>,
    position: usize,
}

#[derive(Clone, Copy)]
enum RowRef<'r> {
    Postgres(&'r PgRow),
    Sqlite(&'r SqliteRow),
    /// A row of SQLite as well.
    Buffered(BufferedRow<'r>),
}

type Value<T> = Result<Option<T>>;

fn decode<'r, D: Database, T: Decode<'r, D>>(value: Result<D::ValueRef<'r>, sea_orm::SqlxError>) -> Value<T> {
    present::<D>(value)?.map(T::decode).transpose().map_err(Error::internal)
}

/// The driver's value. `None` if it is NULL.
fn present<'r, D: Database>(value: Result<D::ValueRef<'r>, sea_orm::SqlxError>) -> Value<D::ValueRef<'r>> {
    let value = value.map_err(Error::internal)?;
    Ok(if value.is_null() { None } else { Some(value) })
}

impl<'r> Cell<'r> {
    /// # Errors
    /// A row of another database.
    pub fn new(row: impl Into<AnyRow<'r>>, position: usize) -> Result<Cell<'r>> {
        let row = match row.into() {
            AnyRow::Buffered(row) => RowRef::Buffered(row),
            AnyRow::Driver(row) => match (row.try_as_pg_row(), row.try_as_sqlite_row()) {
                (Some(row), _) => RowRef::Postgres(row),
                (_, Some(row)) => RowRef::Sqlite(row),
                _ => return Err(Error::internal("a row of an unknown database")),
            },
        };
        Ok(Cell { row, position })
    }

    /// The value of a column.
    ///
    /// # Errors
    /// A row of another database, or without such a column.
    pub fn named(row: &'r QueryResult, name: &str) -> Result<Cell<'r>> {
        let column = match (row.try_as_pg_row(), row.try_as_sqlite_row()) {
            (Some(row), _) => row.try_column(name).map(Column::ordinal),
            (_, Some(row)) => row.try_column(name).map(Column::ordinal),
            _ => return Err(Error::internal("a row of an unknown database")),
        };
        Cell::new(row, column.map_err(Error::internal)?)
    }

    /// Decodes the value with the driver, or with `stored` for a buffered row.
    pub fn read<T>(&self, stored: impl FnOnce(Stored<'r>) -> Result<T>) -> Value<T>
    where
        T: Decode<'r, Postgres> + Decode<'r, Sqlite>,
    {
        match self.row {
            RowRef::Postgres(row) => decode::<Postgres, T>(row.try_get_raw(self.position)),
            RowRef::Sqlite(row) => decode::<Sqlite, T>(row.try_get_raw(self.position)),
            RowRef::Buffered(row) => match row.value(self.position) {
                None => Err(Error::internal(format!("a row without a column {}", self.position))),
                Some(Stored::Null) => Ok(None),
                Some(value) => stored(value).map(Some),
            },
        }
    }

    pub fn text(&self) -> Value<&'r str> {
        self.read(sqlite_value::text)
    }

    pub fn boolean(&self) -> Value<bool> {
        self.read(|value| Ok(sqlite_value::integer(value)? != 0))
    }

    /// An integer of any width.
    pub fn integer(&self) -> Value<i64> {
        let RowRef::Postgres(row) = self.row else { return self.read(sqlite_value::integer) };
        let Some(value) = present::<Postgres>(row.try_get_raw(self.position))? else { return Ok(None) };
        let wide = match value.type_info().name() {
            "INT4" => <i32 as Decode<'_, Postgres>>::decode(value).map(i64::from),
            "INT2" => <i16 as Decode<'_, Postgres>>::decode(value).map(i64::from),
            _ => <i64 as Decode<'_, Postgres>>::decode(value),
        };
        wide.map(Some).map_err(Error::internal)
    }

    /// A decimal multiplied by 10^places: `numeric` on PostgreSQL, the stored integer on SQLite.
    pub fn scaled(&self, places: u32) -> Value<i64> {
        let RowRef::Postgres(row) = self.row else { return self.read(sqlite_value::integer) };
        let Some(value) = present::<Postgres>(row.try_get_raw(self.position))? else { return Ok(None) };
        let mut decimal = <Decimal as Decode<'_, Postgres>>::decode(value).map_err(Error::internal)?;
        decimal.rescale(places);
        i64::try_from(decimal.mantissa()).map(Some).map_err(Error::internal)
    }

    pub fn time(&self) -> Value<DateTime<Utc>> {
        self.read(sqlite_value::time)
    }

    pub fn date(&self) -> Value<NaiveDate> {
        self.read(sqlite_value::date)
    }

    pub fn uuid(&self) -> Value<Uuid> {
        self.read(sqlite_value::uuid)
    }

    /// The text of a JSON value.
    pub fn json(&self) -> Value<&'r str> {
        let RowRef::Postgres(row) = self.row else { return self.text() };
        let Some(value) = present::<Postgres>(row.try_get_raw(self.position))? else { return Ok(None) };
        let bytes = value.as_bytes().map_err(Error::internal)?;
        // The binary format of jsonb is one version byte before the text.
        let text = bytes.strip_prefix(&[1]).unwrap_or(bytes);
        std::str::from_utf8(text).map(Some).map_err(Error::internal)
    }
}
