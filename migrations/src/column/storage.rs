//! What a column is in words of SQL, and what becomes of its values when it becomes another.

use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::sea_query::{self, Alias, PostgresQueryBuilder, Query, SqliteQueryBuilder};

use super::{Column, Kind};

impl Column {
    /// The definition as it stands in the text of `table`.
    pub(crate) fn text(&self, table: &str, database: DbBackend) -> String {
        let mut definition = self.definition(table, database);
        let statement = sea_query::Table::create().table(Alias::new("t")).col(&mut definition).to_owned();
        let text = match database {
            DbBackend::Sqlite => statement.to_string(SqliteQueryBuilder),
            _ => statement.to_string(PostgresQueryBuilder),
        };
        let inner = text.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
        inner.map_or("", |(inner, _)| inner).trim().to_owned()
    }

    /// The type on PostgreSQL.
    pub(crate) fn type_text(&self) -> String {
        let bare = Column { nullable: true, default: None, references: None, ..self.clone() };
        let text = bare.text("t", DbBackend::Postgres);
        let behind = text.strip_prefix(&format!("\"{}\" ", self.name)).unwrap_or(&text);
        behind.strip_suffix(" NULL").unwrap_or(behind).to_owned()
    }

    /// The default as a database stores it, if there is one.
    pub(crate) fn default_text(&self, database: DbBackend) -> Option<String> {
        let value = match (&self.default, self.kind) {
            (Some(literal), _) => self.stored(literal, database),
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

    /// Whether it takes every text that `from` took, as that one stored it.
    pub(crate) fn lengthens(&self, from: &Column) -> bool {
        match (from.kind, self.kind) {
            (Kind::String(then), Kind::String(now)) => then <= now,
            (Kind::String(_) | Kind::Text, Kind::Text) => true,
            _ => false,
        }
    }

    /// The table that it refers to, and what a deletion there does.
    pub(crate) fn reference(&self) -> Option<(String, &'static str)> {
        let reference = self.references.as_ref()?;
        Some((reference.table.clone(), if reference.cascade { "CASCADE" } else { "RESTRICT" }))
    }

    /// Which rows hold a value that this column cannot, when it was `from` before. What the database itself refuses is
    /// left to it.
    pub(crate) fn misfits(&self, from: &Column, database: DbBackend) -> Option<String> {
        let name = format!("\"{}\"", self.name);
        let sqlite = database == DbBackend::Sqlite;
        match (from.kind, self.kind) {
            (Kind::String(then), Kind::String(max)) if then <= max => None,
            (Kind::String(_) | Kind::Text, Kind::String(max)) => Some(format!("length({name}) > {max}")),
            (Kind::BigInt, Kind::Integer) => Some(format!("{name} NOT BETWEEN {} AND {}", i32::MIN, i32::MAX)),
            (Kind::Integer | Kind::BigInt, Kind::Decimal { precision, places }) => {
                let most = 10i64.pow(precision - places);
                Some(format!("{name} <= -{most} OR {name} >= {most}"))
            }
            (Kind::Decimal { places, .. }, Kind::Integer | Kind::BigInt) => {
                let unit = if sqlite { 10i64.pow(places) } else { 1 };
                let (least, most) = match self.kind {
                    Kind::Integer => (i32::MIN.into(), i32::MAX.into()),
                    _ => (i64::MIN, i64::MAX),
                };
                let (least, most) = (i128::from(least) * i128::from(unit), i128::from(most) * i128::from(unit));
                let finer = self.finer(places, 0, sqlite);
                // What does not fit 64 bits is in no row either.
                match i64::try_from(most) {
                    Ok(_) => Some(format!("{name} < {least} OR {name} > {most} OR {finer}")),
                    Err(_) => Some(finer),
                }
            }
            (Kind::Decimal { precision: then, places: then_places }, Kind::Decimal { precision, places }) => {
                // On SQLite the number stands scaled by the places that it had.
                let unit = if sqlite { 10i64.pow(then_places) } else { 1 };
                let most = i128::from(10i64.pow(precision - places)) * i128::from(unit);
                let larger =
                    (then - then_places > precision - places).then(|| format!("{name} <= -{most} OR {name} >= {most}"));
                let finer = (then_places > places).then(|| self.finer(then_places, places, sqlite));
                let conditions: Vec<String> = larger.into_iter().chain(finer).collect();
                (!conditions.is_empty()).then(|| conditions.join(" OR "))
            }
            _ => None,
        }
    }

    /// Which rows hold more places than the column will have.
    fn finer(&self, then: u32, now: u32, sqlite: bool) -> String {
        let name = &self.name;
        match sqlite {
            true => format!("\"{name}\" % {} <> 0", 10i64.pow(then - now)),
            false => format!("\"{name}\" <> round(\"{name}\", {now})"),
        }
    }

    /// What each row of SQLite is written with before the column stops being `from`: the value as it is stored from now on,
    /// or the value that the row has. One that is older than the column does not hold it, and reads the default instead,
    /// which would be another as soon as the default is.
    pub(crate) fn written_on_sqlite(&self, from: &Column) -> Option<String> {
        let default = |column: &Column| column.default_text(DbBackend::Sqlite);
        let another = || (default(from) != default(self)).then(|| format!("\"{}\"", self.name));
        self.converted_on_sqlite(from).or_else(another)
    }

    /// The values of a column on SQLite that was `from` before, where they are stored in another way.
    fn converted_on_sqlite(&self, from: &Column) -> Option<String> {
        let name = format!("\"{}\"", self.name);
        match (from.kind, self.kind) {
            (Kind::Integer | Kind::BigInt, Kind::Decimal { places, .. }) if places > 0 => {
                Some(format!("{name} * {}", 10i64.pow(places)))
            }
            (Kind::Decimal { places: then, .. }, Kind::Decimal { places: now, .. }) if then < now => {
                Some(format!("{name} * {}", 10i64.pow(now - then)))
            }
            (Kind::Decimal { places: then, .. }, Kind::Decimal { places: now, .. }) if then > now => {
                Some(format!("{name} / {}", 10i64.pow(then - now)))
            }
            (Kind::Decimal { places, .. }, Kind::Integer | Kind::BigInt) if places > 0 => {
                Some(format!("{name} / {}", 10i64.pow(places)))
            }
            _ => None,
        }
    }
}
