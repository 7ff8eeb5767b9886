//! Columns as SQL text, and the conversion of stored values when the definition of a column changes.

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::sea_query::{self, Alias, PostgresQueryBuilder, Query, SqliteQueryBuilder};

use super::{Column, Kind};

impl Column {
    /// The definition as in the `CREATE TABLE` statement of `table`.
    pub(crate) fn definition_text(&self, table: &str, database: DbBackend) -> String {
        let mut definition = self.definition(table, database);
        let statement = sea_query::Table::create().table(Alias::new("t")).col(&mut definition).to_owned();
        let text = match database {
            DbBackend::Sqlite => statement.to_string(SqliteQueryBuilder),
            _ => statement.to_string(PostgresQueryBuilder),
        };
        let inner = text.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
        inner.map_or("", |(inner, _)| inner).trim().to_owned()
    }

    /// The SQL type on PostgreSQL.
    pub(crate) fn sql_type(&self) -> String {
        let bare = Column { nullable: true, default: None, references: None, ..self.clone() };
        let text = bare.definition_text("t", DbBackend::Postgres);
        let sql_type_and_null = text.strip_prefix(&format!("\"{}\" ", self.name)).unwrap_or(&text);
        sql_type_and_null.strip_suffix(" NULL").unwrap_or(sql_type_and_null).to_owned()
    }

    /// The default as SQL.
    pub(crate) fn default_sql(&self, database: DbBackend) -> Option<String> {
        let value = match (&self.default, self.kind) {
            (Some(literal), _) => self.stored_value(literal, database),
            (None, Kind::Json { empty }) if !self.nullable => sea_query::Expr::val(empty),
            _ => return None,
        };
        let statement = Query::select().expr(value).to_owned();
        let text = match database {
            DbBackend::Sqlite => statement.to_string(SqliteQueryBuilder),
            _ => statement.to_string(PostgresQueryBuilder),
        };
        Some(text.trim_start_matches("SELECT ").to_owned())
    }

    pub(crate) fn is_nullable(&self) -> bool {
        self.nullable
    }

    pub(crate) fn is_date(&self) -> bool {
        matches!(self.kind, Kind::Date)
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::String(_) | Kind::Text)
    }

    /// Returns true if every stored text of `from` fits this column unchanged.
    pub(crate) fn is_widening_of(&self, from: &Column) -> bool {
        match (from.kind, self.kind) {
            (Kind::String(old), Kind::String(new)) => old <= new,
            (Kind::String(_) | Kind::Text, Kind::Text) => true,
            _ => false,
        }
    }

    /// The referenced table, and the action of `ON DELETE`.
    pub(crate) fn reference(&self) -> Option<(String, &'static str)> {
        let reference = self.references.as_ref()?;
        Some((reference.table.clone(), if reference.cascade { "CASCADE" } else { "RESTRICT" }))
    }

    /// The condition for rows whose value in `from` does not fit this column. Values that the database itself rejects
    /// are not part of it.
    pub(crate) fn misfit_condition(&self, from: &Column, database: DbBackend) -> Option<String> {
        let name = format!("\"{}\"", self.name);
        let sqlite = database == DbBackend::Sqlite;
        match (from.kind, self.kind) {
            (Kind::String(old), Kind::String(max)) if old <= max => None,
            (Kind::String(_) | Kind::Text, Kind::String(max)) => Some(format!("length({name}) > {max}")),
            (Kind::BigInt, Kind::Integer) => Some(format!("{name} NOT BETWEEN {} AND {}", i32::MIN, i32::MAX)),
            (Kind::Integer | Kind::BigInt, Kind::Decimal { precision, places }) => {
                let limit = 10i64.pow(precision - places);
                Some(format!("{name} <= -{limit} OR {name} >= {limit}"))
            }
            (Kind::Decimal { places, .. }, Kind::Integer | Kind::BigInt) => {
                let unit = if sqlite { 10i64.pow(places) } else { 1 };
                let (min, max) = match self.kind {
                    Kind::Integer => (i32::MIN.into(), i32::MAX.into()),
                    _ => (i64::MIN, i64::MAX),
                };
                let (min, max) = (i128::from(min) * i128::from(unit), i128::from(max) * i128::from(unit));
                let too_precise = self.too_precise(places, 0, sqlite);
                // A limit above 64 bits is exceeded by no row.
                match i64::try_from(max) {
                    Ok(_) => Some(format!("{name} < {min} OR {name} > {max} OR {too_precise}")),
                    Err(_) => Some(too_precise),
                }
            }
            (Kind::Decimal { precision: old, places: old_places }, Kind::Decimal { precision, places }) => {
                // SQLite stores the number scaled by the decimal places of `from`.
                let unit = if sqlite { 10i64.pow(old_places) } else { 1 };
                let limit = i128::from(10i64.pow(precision - places)) * i128::from(unit);
                let too_large =
                    (old - old_places > precision - places).then(|| format!("{name} <= -{limit} OR {name} >= {limit}"));
                let too_precise = (old_places > places).then(|| self.too_precise(old_places, places, sqlite));
                let conditions: Vec<String> = too_large.into_iter().chain(too_precise).collect();
                (!conditions.is_empty()).then(|| conditions.join(" OR "))
            }
            _ => None,
        }
    }

    /// The condition for rows with more than `new` decimal places.
    fn too_precise(&self, old: u32, new: u32, sqlite: bool) -> String {
        let name = &self.name;
        match sqlite {
            true => format!("\"{name}\" % {} <> 0", 10i64.pow(old - new)),
            false => format!("\"{name}\" <> round(\"{name}\", {new})"),
        }
    }

    /// The value that every row of SQLite is updated with before the definition changes: the converted value, or the current
    /// one if the default changes. A row that is older than the column does not store a value; it reads the default from
    /// the definition, and would read the new one.
    pub(crate) fn rewritten_value_on_sqlite(&self, from: &Column) -> Option<String> {
        let default = |column: &Column| column.default_sql(DbBackend::Sqlite);
        let unchanged_value = || (default(from) != default(self)).then(|| format!("\"{}\"", self.name));
        self.converted_value_on_sqlite(from).or_else(unchanged_value)
    }

    /// The expression that converts the stored values of `from` on SQLite, if they are stored differently.
    fn converted_value_on_sqlite(&self, from: &Column) -> Option<String> {
        let name = format!("\"{}\"", self.name);
        match (from.kind, self.kind) {
            (Kind::Integer | Kind::BigInt, Kind::Decimal { places, .. }) if places > 0 => {
                Some(format!("{name} * {}", 10i64.pow(places)))
            }
            (Kind::Decimal { places: old, .. }, Kind::Decimal { places: new, .. }) if old < new => {
                Some(format!("{name} * {}", 10i64.pow(new - old)))
            }
            (Kind::Decimal { places: old, .. }, Kind::Decimal { places: new, .. }) if old > new => {
                Some(format!("{name} / {}", 10i64.pow(old - new)))
            }
            (Kind::Decimal { places, .. }, Kind::Integer | Kind::BigInt) if places > 0 => {
                Some(format!("{name} / {}", 10i64.pow(places)))
            }
            _ => None,
        }
    }
}
