//! Rows of the random walk: inserted into the tables, and compared after a migration.

use std::collections::BTreeMap;

use charter_codegen::migration::table::{Column, Table};
use charter_codegen::migration::{Plan, Step};
use charter_codegen::schema_diff::{fields, resources};
use charter_codegen::snapshot::{Default, Field, Snapshot};
use charter_model::Storage;

use crate::database::Database;

/// The walk inserts at most this many rows into a table.
const MAX_ROWS: usize = 5;

/// The values of all columns, by table, column and id. Numbers have one format, whatever their type.
pub type Values = BTreeMap<(String, String, i64), Option<String>>;

/// A migration that was applied.
pub struct AppliedMigration<'w> {
    pub database: &'w Database,
    pub plan: &'w Plan,
    pub before: &'w Snapshot,
    pub after: &'w Snapshot,
    pub what: &'w str,
}

pub async fn values(database: &Database, snapshot: &Snapshot) -> Values {
    let mut found = Values::new();
    for resource in snapshot.resources.values() {
        let table = Table::of(snapshot, resource);
        for column in &table.columns {
            let text = as_text(column, database.is_postgres());
            let query = format!("SELECT id || '|' || coalesce('=' || {text}, '') FROM \"{}\"", table.name);
            for line in database.texts(&query).await {
                let (id, value) = line.split_once('|').unwrap();
                let place = (table.name.clone(), column.name.clone(), id.parse().unwrap());
                found.insert(place, value.strip_prefix('=').map(str::to_owned));
            }
        }
    }
    found
}

fn as_text(column: &Column, postgres: bool) -> String {
    let name = format!("\"{}\"", column.name);
    let unit = match column.storage {
        Storage::Decimal(_, places) => 10i64.pow(places.into()),
        Storage::Id | Storage::Integer | Storage::BigInt => 1,
        Storage::Uuid if !postgres => return format!("CASE WHEN {name} IS NOT NULL THEN hex({name}) END"),
        _ => return format!("CAST({name} AS text)"),
    };
    match postgres {
        true => format!("round({name}::numeric, 4)::text"),
        // printf would format NULL as 0.
        false => format!("CASE WHEN {name} IS NOT NULL THEN printf('%.4f', {name} / {unit}.0) END"),
    }
}

/// Checks that the values of kept columns are unchanged, and that rows without a value got the declared one.
pub fn compare(migration: &AppliedMigration<'_>, old_values: &Values, new_values: &Values) {
    let removed = |table: &str, name: &str| {
        migration
            .plan
            .whole
            .iter()
            .any(|step| matches!(step, Step::Remove { table: of, column } if of == table && column.name == name))
    };
    for pair in resources(migration.before, migration.after) {
        let (Some(old), Some(new)) = (pair.before, pair.after) else { continue };
        let table = Table::of(migration.after, new);
        let is_of = |(table, column, _): &&(String, String, i64)| *table == old.table && column == "id";
        let ids: Vec<i64> = old_values.keys().filter(is_of).map(|(_, _, id)| *id).collect();
        for field in fields(&old.fields, &new.fields) {
            let Some((to, column)) = field.after.and_then(|field| Some((field, table.column(&field.name)?))) else {
                continue;
            };
            let from = field.before.filter(|from| from.is_column() && !removed(&old.table, &from.name));
            for id in &ids {
                let found = new_values.get(&(new.table.clone(), to.name.clone(), *id));
                let value = from.and_then(|from| old_values[&(old.table.clone(), from.name.clone(), *id)].clone());
                let fits = match (&value, from) {
                    (Some(_), _) => found == Some(&value),
                    (None, Some(_)) if to.nullable => found == Some(&None),
                    (None, _) => {
                        found.is_some_and(|found| backfilled(to, column, migration.database).is(found.as_deref()))
                    }
                };
                let what = migration.what;
                assert!(
                    fits,
                    "{}.{} of {id} was {value:?} and is {found:?}, {what}\n{:#?}",
                    table.name, to.name, migration.plan
                );
            }
        }
    }
}

/// The expected value of a row that was inserted without one.
enum Expected {
    Null,
    Text(String),
    /// The current time of the migration or the insert.
    Time,
}

impl Expected {
    fn is(&self, value: Option<&str>) -> bool {
        match self {
            Expected::Null => value.is_none(),
            Expected::Text(text) => value == Some(text),
            Expected::Time => value.is_some(),
        }
    }
}

/// The value of rows that existed before the field, or before it was required.
fn backfilled(field: &Field, column: &Column, database: &Database) -> Expected {
    match &field.backfill {
        Some(Default::Now) => Expected::Time,
        Some(Default::Literal { value }) => Expected::Text(stored(column, value, database.is_postgres())),
        _ => by_default(column, database.is_postgres()),
    }
}

/// The value of a new row that is inserted without the column.
fn by_default(column: &Column, postgres: bool) -> Expected {
    match (&column.default, &column.storage) {
        (Some(value), _) => Expected::Text(stored(column, value, postgres)),
        (None, Storage::Json) if !column.nullable => Expected::Text("{}".to_owned()),
        (None, Storage::List) if !column.nullable => Expected::Text("[]".to_owned()),
        _ => Expected::Null,
    }
}

/// A literal in the format of [`Values`].
fn stored(column: &Column, value: &str, postgres: bool) -> String {
    match column.storage {
        Storage::Boolean if !postgres => if value == "true" { "1" } else { "0" }.to_owned(),
        Storage::Integer | Storage::BigInt | Storage::Decimal(..) => {
            format!("{:.4}", value.parse::<f64>().unwrap())
        }
        _ => value.to_owned(),
    }
}

/// Inserts two rows into each table with fewer than [`MAX_ROWS`]: one with unique values, and one with the required columns
/// only.
pub async fn insert(database: &Database, snapshot: &Snapshot, step: usize, what: &str) {
    let tables: Vec<Table> = snapshot.resources.values().map(|resource| Table::of(snapshot, resource)).collect();
    // A table with a required foreign key waits for rows of the referenced table.
    let mut waiting: Vec<&Table> = tables.iter().collect();
    while !waiting.is_empty() {
        let count = waiting.len();
        let mut later = Vec::new();
        for table in waiting {
            let needs = |column: &Column| column.reference.clone().filter(|_| !column.nullable).map(|to| to.table);
            let mut is_empty = false;
            for needed in table.columns.iter().filter_map(needs) {
                is_empty |= row_count(database, &needed).await == 0;
            }
            if is_empty {
                later.push(table);
                continue;
            }
            for (number, whole) in [(2 * step, true), (2 * step + 1, false)] {
                if row_count(database, &table.name).await < MAX_ROWS {
                    insert_one(database, table, number, whole, what).await;
                }
            }
        }
        assert!(later.len() < count, "{what}: no table can get its first row");
        waiting = later;
    }
}

async fn row_count(database: &Database, table: &str) -> usize {
    database.text(&format!("SELECT CAST(count(*) AS text) FROM \"{table}\"")).await.parse().unwrap()
}

async fn insert_one(database: &Database, table: &Table, number: usize, whole: bool, what: &str) {
    let postgres = database.is_postgres();
    let columns = table.columns.iter().filter(|column| column.name != "id");
    let (given, omitted): (Vec<&Column>, Vec<&Column>) = columns.partition(|column| whole || !column.fills_itself());
    let names: Vec<String> = given.iter().map(|column| format!("\"{}\"", column.name)).collect();
    let values: Vec<String> = given.iter().map(|column| literal(column, number, postgres)).collect();
    let (names, values) = (names.join(", "), values.join(", "));
    let insert = format!("INSERT INTO \"{}\" ({names}) VALUES ({values})", table.name);
    database.run(&insert).await.unwrap_or_else(|problem| panic!("{what}\n{insert}: {problem}"));
    for column in omitted {
        let text = as_text(column, postgres);
        let query = format!("SELECT coalesce('=' || {text}, '') FROM \"{}\" ORDER BY id DESC LIMIT 1", table.name);
        let found = database.text(&query).await;
        let found = found.strip_prefix('=');
        assert!(
            by_default(column, postgres).is(found),
            "{}.{} is {found:?}, {what}\n{column:?}",
            table.name,
            column.name
        );
    }
}

fn literal(column: &Column, number: usize, postgres: bool) -> String {
    if let Some(reference) = &column.reference {
        return format!("(SELECT max(id) FROM \"{}\")", reference.table);
    }
    match &column.storage {
        _ if column.name == "deleted_at" && !number.is_multiple_of(4) => "NULL".to_owned(),
        _ if column.nullable && number.is_multiple_of(3) => "NULL".to_owned(),
        Storage::String(_) | Storage::Text | Storage::Word => format!("'it''s {number} ä'"),
        Storage::Boolean => ["TRUE", "FALSE"][number / 2 % 2].to_owned(),
        // A whole number, which fits every number type.
        Storage::Decimal(_, places) if !postgres => format!("{number} * {}", 10i64.pow((*places).into())),
        Storage::Timestamp => format!("'{}T10:00:00+00:00'", day(number)),
        Storage::Date => format!("'{}'", day(number)),
        Storage::Time => format!("'{:02}:{:02}:{:02}'", number / 3600 % 24, number / 60 % 60, number % 60),
        Storage::Uuid if postgres => format!("'00000000-0000-0000-0000-{number:012}'"),
        Storage::Uuid => format!("X'{number:032}'"),
        Storage::Json => format!("'{{\"step\": {number}}}'"),
        Storage::List => format!("'[\"{number}\"]'"),
        _ => number.to_string(),
    }
}

/// A different day for each number.
fn day(number: usize) -> String {
    format!("{}-{:02}-{:02}", 2000 + number / 300, 1 + number / 25 % 12, 1 + number % 25)
}
