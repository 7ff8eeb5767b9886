//! SQL of the steps, as `charter_migrations::Table` runs them, to read before a migration is run.
//!
//! On SQLite a column is changed in the text of its table in `sqlite_schema`, as SQLite's documentation of `ALTER
//! TABLE` recommends for changes that leave the rows alone: no row is copied, and indexes and references stay. The
//! queries that a migration runs first (values that do not fit, rows without a value) are in
//! [`checks`](super::checks::checks).

use charter_model::Storage;

use super::step::{Step, Value};
use super::storage;
use super::table::{Column, Index, IndexKind, Table, foreign_key, owned};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

use Dialect::{Postgres, Sqlite};

/// The statements of a step. `online`: on PostgreSQL without locking out writers.
pub fn statements(step: &Step, dialect: Dialect, online: bool) -> Vec<String> {
    match step {
        Step::Create(table) => vec![create(table, dialect)],
        Step::Drop(table) => {
            // SQLite deletes the rows first, one by one, and refuses a row that another refers to.
            let own = table.columns.iter().filter(|column| dialect == Sqlite && column.refers_to(&table.name));
            let released = own.flat_map(|column| rewrite(&table.name, column, &column.released()));
            released.chain([format!("DROP TABLE \"{}\"", table.name)]).collect()
        }
        Step::RenameTable { .. } | Step::RenameColumn { .. } => rename(step, dialect),
        Step::RenameIndex { table, index, from, to } => match dialect {
            Postgres => vec![format!("ALTER INDEX \"{from}\" RENAME TO \"{to}\"")],
            Sqlite => {
                let new = add_index(table, index, to, dialect, false);
                new.map(|new| vec![format!("DROP INDEX \"{from}\""), new]).unwrap_or_default()
            }
        },
        Step::Add { table, column } => {
            vec![format!("ALTER TABLE \"{table}\" ADD COLUMN {}", definition(table, column, dialect))]
        }
        Step::Remove { table, column } => {
            let mut statements = Vec::new();
            if dialect == Sqlite && column.reference.is_some() {
                statements.extend(rewrite(table, column, &column.released()));
            }
            statements.push(format!("ALTER TABLE \"{table}\" DROP COLUMN \"{}\"", column.name));
            statements
        }
        Step::Change { table, from, to } => match dialect {
            Postgres => change_on_postgres(table, from, to),
            Sqlite => change_on_sqlite(table, from, to),
        },
        Step::Fill { table, column, value } => {
            let name = &column.name;
            let value = match (value, column.storage, dialect) {
                // A bare TRUE would be a column of that name.
                (Value::Literal(value), Storage::Boolean, Sqlite) => u8::from(value == "true").to_string(),
                _ => storage::sql(column.storage, value, dialect),
            };
            vec![format!("UPDATE \"{table}\" SET \"{name}\" = {value} WHERE \"{name}\" IS NULL")]
        }
        Step::Compute { table, column, sqlite, postgres } => {
            let value = if dialect == Sqlite { sqlite } else { postgres };
            vec![format!("UPDATE \"{table}\" SET \"{column}\" = {value}")]
        }
        Step::Require { table, column } => require(table, column, dialect),
        Step::CheckUnique { .. } => Vec::new(),
        Step::Verify { table, sqlite, postgres, .. } => {
            let broken = if dialect == Sqlite { sqlite } else { postgres };
            vec![format!("SELECT count(*), min(\"id\") FROM \"{table}\" WHERE {broken}")]
        }
        Step::AddIndex { table, index } => {
            add_index(table, index, &index.name(table), dialect, online).into_iter().collect()
        }
        Step::DropIndex { table, index } => {
            let concurrently = if online && dialect == Postgres { "CONCURRENTLY " } else { "" };
            match dialect == Postgres || index.is_everywhere() {
                true => vec![format!("DROP INDEX {concurrently}IF EXISTS \"{}\"", index.name(table))],
                false => Vec::new(),
            }
        }
    }
}

/// Renames a table or a column, with the constraints named after it.
fn rename(step: &Step, dialect: Dialect) -> Vec<String> {
    let (first, table, mut named) = match step {
        Step::RenameTable { from, to, singleton, referring } => {
            let key = |column: &String| (foreign_key(from, column), foreign_key(to, column));
            let mut named: Vec<(String, String)> = referring.iter().map(key).collect();
            if *singleton {
                named.push((owned(from, "_id_check"), owned(to, "_id_check")));
            }
            if dialect == Postgres {
                named.push((owned(from, "_pkey"), owned(to, "_pkey")));
            }
            (format!("ALTER TABLE \"{from}\" RENAME TO \"{to}\""), to, named)
        }
        Step::RenameColumn { table, from, to, refers } => {
            let key = refers.then(|| (foreign_key(table, from), foreign_key(table, to)));
            let first = format!("ALTER TABLE \"{table}\" RENAME COLUMN \"{from}\" TO \"{to}\"");
            (first, table, key.into_iter().collect())
        }
        _ => return Vec::new(),
    };
    named.sort();
    let mut statements = vec![first];
    for (from, to) in named.into_iter().filter(|(from, to)| from != to) {
        match dialect {
            Postgres => {
                statements.push(format!("ALTER TABLE \"{table}\" RENAME CONSTRAINT \"{from}\" TO \"{to}\""));
            }
            Sqlite => {
                let constraint = |name: &str| format!("CONSTRAINT \"{name}\"");
                statements.extend(edit(table, &constraint(&from), &constraint(&to)));
            }
        }
    }
    if let (Step::RenameTable { from, to, singleton: false, .. }, Postgres) = (step, dialect) {
        let (from, to) = (owned(from, "_id_seq"), owned(to, "_id_seq"));
        statements.extend((from != to).then(|| format!("ALTER SEQUENCE \"{from}\" RENAME TO \"{to}\"")));
    }
    statements
}

fn create(table: &Table, dialect: Dialect) -> String {
    let columns = table.columns.iter().map(|column| definition(&table.name, column, dialect));
    // Free space in each page, for updates of rows (HOT).
    let changes = dialect == Postgres && table.column("updated_at").is_some();
    let room = if changes { " WITH (fillfactor = 90)" } else { "" };
    format!("CREATE TABLE \"{}\" ( {} ){room}", table.name, columns.collect::<Vec<_>>().join(", "))
}

fn add_index(table: &str, index: &Index, name: &str, dialect: Dialect, online: bool) -> Option<String> {
    if dialect == Sqlite && !index.is_everywhere() {
        return None;
    }
    let concurrently = if online && dialect == Postgres { "CONCURRENTLY " } else { "" };
    let columns = index.columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
    let conditions = index.conditions(dialect);
    let live = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    Some(match index.kind {
        IndexKind::Plain => format!("CREATE INDEX {concurrently}\"{name}\" ON \"{table}\" ({columns}){live}"),
        IndexKind::Unique => {
            let key = |column: &String| match (index.folded.contains(column), dialect) {
                (true, Sqlite) => format!("\"{column}\" COLLATE NOCASE"),
                (true, Postgres) => format!("charter_fold(\"{column}\")"),
                (false, _) => format!("\"{column}\""),
            };
            let keys = index.columns.iter().map(key).collect::<Vec<_>>().join(", ");
            format!("CREATE UNIQUE INDEX {concurrently}\"{name}\" ON \"{table}\" ({keys}){live}")
        }
        IndexKind::Order { text, nullable } => {
            let nulls = if nullable && dialect == Postgres { " NULLS FIRST" } else { "" };
            let keys = if text {
                format!("charter_fold({columns}){nulls}, {columns}{nulls}")
            } else {
                format!("{columns}{nulls}")
            };
            format!("CREATE INDEX {concurrently}\"{name}\" ON \"{table}\" ({keys}, \"id\"){live}")
        }
        IndexKind::Search => format!(
            "CREATE INDEX {concurrently}\"{name}\" ON \"{table}\" USING gin (charter_fold({columns}) gin_trgm_ops)"
        ),
    })
}

/// The definition of a column.
fn definition(table: &str, column: &Column, dialect: Dialect) -> String {
    match (column.storage, dialect) {
        (Storage::Id, Sqlite) => return "\"id\" integer NOT NULL PRIMARY KEY AUTOINCREMENT".to_owned(),
        (Storage::Id, Postgres) => {
            return "\"id\" bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL PRIMARY KEY".to_owned();
        }
        (Storage::SingletonId, dialect) => {
            let kind = if dialect == Sqlite { "integer" } else { "bigint" };
            let check = format!("CONSTRAINT \"{}\" CHECK (\"id\" = 1)", owned(table, "_id_check"));
            return format!("\"id\" {kind} NOT NULL DEFAULT 1 PRIMARY KEY {check}");
        }
        _ => {}
    }
    let null = if column.nullable { "NULL" } else { "NOT NULL" };
    let mut text = format!("\"{}\" {} {null}", column.name, storage::type_name(column.storage, dialect));
    if let Some(default) = default(column, dialect) {
        text.push_str(&format!(" DEFAULT {default}"));
    }
    if let Some(reference) = references(table, column) {
        text.push_str(&format!(" {reference}"));
    }
    text
}

fn references(table: &str, column: &Column) -> Option<String> {
    let reference = column.reference.as_ref()?;
    let action = if reference.cascade { "CASCADE" } else { "RESTRICT" };
    let (key, other) = (foreign_key(table, &column.name), &reference.table);
    Some(format!("CONSTRAINT \"{key}\" REFERENCES \"{other}\" (\"id\") ON DELETE {action}"))
}

fn default(column: &Column, dialect: Dialect) -> Option<String> {
    if let Some(default) = &column.default {
        return Some(storage::sql(column.storage, &Value::Literal(default.clone()), dialect));
    }
    column.storage.empty_json().filter(|_| !column.nullable).map(|json| format!("'{json}'"))
}

fn require(table: &str, column: &Column, dialect: Dialect) -> Vec<String> {
    let name = &column.name;
    match dialect {
        Sqlite => change_on_sqlite(table, &column.nullable(), column),
        Postgres => vec![
            format!(
                "ALTER TABLE \"{table}\" ADD CONSTRAINT \"charter_required\" CHECK (\"{name}\" IS NOT NULL) NOT VALID"
            ),
            format!("ALTER TABLE \"{table}\" VALIDATE CONSTRAINT \"charter_required\""),
            format!("ALTER TABLE \"{table}\" ALTER COLUMN \"{name}\" SET NOT NULL"),
            format!("ALTER TABLE \"{table}\" DROP CONSTRAINT \"charter_required\""),
        ],
    }
    .into_iter()
    .chain(empty_default(table, column, dialect))
    .collect()
}

/// The default of a list or an object that is not null.
fn empty_default(table: &str, column: &Column, dialect: Dialect) -> Option<String> {
    let default = default(column, dialect).filter(|_| dialect == Postgres && column.default.is_none())?;
    Some(format!("ALTER TABLE \"{table}\" ALTER COLUMN \"{}\" SET DEFAULT {default}", column.name))
}

fn change_on_postgres(table: &str, from: &Column, to: &Column) -> Vec<String> {
    let name = &to.name;
    let alter = |what: String| format!("ALTER TABLE \"{table}\" {what}");
    let mut statements = Vec::new();
    if from.reference.is_some() && from.reference != to.reference {
        statements.push(alter(format!("DROP CONSTRAINT IF EXISTS \"{}\"", foreign_key(table, name))));
    }
    let (then, now) = (default(from, Postgres), default(to, Postgres));
    let another = from.storage != to.storage || then != now;
    if then.is_some() && another {
        statements.push(alter(format!("ALTER COLUMN \"{name}\" DROP DEFAULT")));
    }
    if from.storage != to.storage {
        let name_of_type = storage::type_name(to.storage, Postgres);
        // A cast to a shorter text truncates, an assignment fails: so the value goes through text. A longer one needs
        // no expression, with which PostgreSQL would rewrite the table.
        let through =
            to.storage.max_length().is_some_and(|now| from.storage.max_length().is_none_or(|then| then > now));
        let using = if through { format!(" USING \"{name}\"::text") } else { String::new() };
        statements.push(alter(format!("ALTER COLUMN \"{name}\" TYPE {name_of_type}{using}")));
    }
    if let Some(now) = now.filter(|_| another) {
        statements.push(alter(format!("ALTER COLUMN \"{name}\" SET DEFAULT {now}")));
    }
    if from.nullable != to.nullable {
        let verb = if to.nullable { "DROP" } else { "SET" };
        statements.push(alter(format!("ALTER COLUMN \"{name}\" {verb} NOT NULL")));
    }
    if let Some(reference) = to.reference.as_ref().filter(|_| from.reference != to.reference) {
        let action = if reference.cascade { "CASCADE" } else { "RESTRICT" };
        let key = foreign_key(table, name);
        let leads = format!("REFERENCES \"{}\" (\"id\") ON DELETE {action}", reference.table);
        statements.push(alter(format!("ADD CONSTRAINT \"{key}\" FOREIGN KEY (\"{name}\") {leads} NOT VALID")));
        statements.push(alter(format!("VALIDATE CONSTRAINT \"{key}\"")));
    }
    statements
}

/// Rows are updated before the text: a row older than the column does not store it, and takes its value from the text.
fn change_on_sqlite(table: &str, from: &Column, to: &Column) -> Vec<String> {
    let mut statements = Vec::new();
    let name = &to.name;
    let factor = match (from.storage, to.storage) {
        (Storage::Integer | Storage::BigInt, Storage::Decimal(_, places)) => i32::from(places),
        (Storage::Decimal(_, then), Storage::Decimal(_, now)) => i32::from(now) - i32::from(then),
        (Storage::Decimal(_, places), _) => -i32::from(places),
        _ => 0,
    };
    if factor != 0 {
        let (sign, power) = (if factor > 0 { '*' } else { '/' }, 10i64.pow(factor.unsigned_abs()));
        statements.push(format!("UPDATE \"{table}\" SET \"{name}\" = \"{name}\" {sign} {power}"));
    } else if default(from, Sqlite) != default(to, Sqlite) {
        statements.push(format!("UPDATE \"{table}\" SET \"{name}\" = \"{name}\""));
    }
    statements.extend(rewrite(table, from, to));
    statements
}

/// Replaces the definition of a column.
fn rewrite(table: &str, from: &Column, to: &Column) -> Vec<String> {
    let (from, to) = (definition(table, from, Sqlite), definition(table, to, Sqlite));
    if from == to { Vec::new() } else { edit(table, &from, &to).into() }
}

/// Replaces a part of a table's text.
fn edit(table: &str, from: &str, to: &str) -> [String; 3] {
    let (from, to) = (from.replace('\'', "''"), to.replace('\'', "''"));
    [
        "PRAGMA writable_schema = ON".to_owned(),
        format!(
            "UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE type = 'table' AND name = '{table}'"
        ),
        "PRAGMA writable_schema = RESET".to_owned(),
    ]
}
