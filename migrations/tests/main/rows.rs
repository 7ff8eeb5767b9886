//! The rows of the random walk: what is put into the tables, and what a migration is to leave there.

use std::collections::BTreeMap;

use charter_codegen::diff::{fields, resources};
use charter_codegen::migration::table::{Column, ColumnKind, Table};
use charter_codegen::migration::{Plan, Step};
use charter_codegen::snapshot::{Default, Field, Snapshot};

use crate::database::Database;

/// The most rows that the walk puts into a table.
const ROWS: usize = 5;

/// The values of all columns, by table, column and id; numbers in one form, whatever their type.
pub type Values = BTreeMap<(String, String, i64), Option<String>>;

/// A migration that was taken.
pub struct Way<'w> {
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
    let unit = match column.kind {
        ColumnKind::Decimal(_, places) => 10i64.pow(places.into()),
        ColumnKind::Id | ColumnKind::Integer | ColumnKind::BigInt => 1,
        ColumnKind::Uuid if !postgres => return format!("CASE WHEN {name} IS NOT NULL THEN hex({name}) END"),
        _ => return format!("CAST({name} AS text)"),
    };
    match postgres {
        true => format!("round({name}::numeric, 4)::text"),
        // Null stays null, which printf would make a 0.
        false => format!("CASE WHEN {name} IS NOT NULL THEN printf('%.4f', {name} / {unit}.0) END"),
    }
}

/// Every value of a column that goes on is what it was, and what had none has what is declared for it.
pub fn compare(way: &Way<'_>, then: &Values, now: &Values) {
    let removed = |table: &str, name: &str| {
        way.plan
            .whole
            .iter()
            .any(|step| matches!(step, Step::Remove { table: of, column } if of == table && column.name == name))
    };
    for pair in resources(way.before, way.after) {
        let (Some(old), Some(new)) = (pair.before, pair.after) else { continue };
        let table = Table::of(way.after, new);
        let is_of = |(table, column, _): &&(String, String, i64)| *table == old.table && column == "id";
        let ids: Vec<i64> = then.keys().filter(is_of).map(|(_, _, id)| *id).collect();
        for field in fields(&old.fields, &new.fields) {
            let Some((to, column)) = field.after.and_then(|field| Some((field, table.column(&field.name)?))) else {
                continue;
            };
            let from = field.before.filter(|from| from.is_column() && !removed(&old.table, &from.name));
            for id in &ids {
                let arrived = now.get(&(new.table.clone(), to.name.clone(), *id));
                let value = from.and_then(|from| then[&(old.table.clone(), from.name.clone(), *id)].clone());
                let fits = match (&value, from) {
                    (Some(_), _) => arrived == Some(&value),
                    (None, Some(_)) if to.nullable => arrived == Some(&None),
                    (None, _) => arrived.is_some_and(|arrived| given(to, column, way.database).is(arrived.as_deref())),
                };
                let what = way.what;
                assert!(
                    fits,
                    "{}.{} of {id} was {value:?} and is {arrived:?}, {what}\n{:#?}",
                    table.name, to.name, way.plan
                );
            }
        }
    }
}

/// What a row has that was given no value.
enum Given {
    Null,
    Text(String),
    /// The time at which it was given.
    Time,
}

impl Given {
    fn is(&self, value: Option<&str>) -> bool {
        match self {
            Given::Null => value.is_none(),
            Given::Text(text) => value == Some(text),
            Given::Time => value.is_some(),
        }
    }
}

/// What rows get that were there before the field, or before it had to be given.
fn given(field: &Field, column: &Column, database: &Database) -> Given {
    match &field.backfill {
        Some(Default::Now) => Given::Time,
        Some(Default::Literal { value }) => Given::Text(stored(column, value, database.is_postgres())),
        _ => by_default(column, database.is_postgres()),
    }
}

/// What a new row gets that does not give the column.
fn by_default(column: &Column, postgres: bool) -> Given {
    match (&column.default, &column.kind) {
        (Some(value), _) => Given::Text(stored(column, value, postgres)),
        (None, ColumnKind::Json) if !column.nullable => Given::Text("{}".to_owned()),
        (None, ColumnKind::List) if !column.nullable => Given::Text("[]".to_owned()),
        _ => Given::Null,
    }
}

/// A literal in the form in which values are compared.
fn stored(column: &Column, value: &str, postgres: bool) -> String {
    match column.kind {
        ColumnKind::Boolean if !postgres => if value == "true" { "1" } else { "0" }.to_owned(),
        ColumnKind::Integer | ColumnKind::BigInt | ColumnKind::Decimal(..) => {
            format!("{:.4}", value.parse::<f64>().unwrap())
        }
        _ => value.to_owned(),
    }
}

/// Two rows more in each table that has room: one with values that no other row of it has, and one that gives no more than
/// it must.
pub async fn insert(database: &Database, snapshot: &Snapshot, step: usize, what: &str) {
    let tables: Vec<Table> = snapshot.resources.values().map(|resource| Table::of(snapshot, resource)).collect();
    // What is referred to comes first: rows that must refer wait for it.
    let mut waiting: Vec<&Table> = tables.iter().collect();
    while !waiting.is_empty() {
        let count = waiting.len();
        let mut later = Vec::new();
        for table in waiting {
            let needs = |column: &Column| column.reference.clone().filter(|_| !column.nullable).map(|to| to.table);
            let mut lacks = false;
            for needed in table.columns.iter().filter_map(needs) {
                lacks |= rows(database, &needed).await == 0;
            }
            if lacks {
                later.push(table);
                continue;
            }
            for (number, whole) in [(2 * step, true), (2 * step + 1, false)] {
                if rows(database, &table.name).await < ROWS {
                    insert_one(database, table, number, whole, what).await;
                }
            }
        }
        assert!(later.len() < count, "{what}: nobody can make the first record");
        waiting = later;
    }
}

async fn rows(database: &Database, table: &str) -> usize {
    database.text(&format!("SELECT CAST(count(*) AS text) FROM \"{table}\"")).await.parse().unwrap()
}

async fn insert_one(database: &Database, table: &Table, number: usize, whole: bool, what: &str) {
    let postgres = database.is_postgres();
    let columns = table.columns.iter().filter(|column| column.name != "id");
    let (given, left): (Vec<&Column>, Vec<&Column>) = columns.partition(|column| whole || !column.fills_itself());
    let names: Vec<String> = given.iter().map(|column| format!("\"{}\"", column.name)).collect();
    let values: Vec<String> = given.iter().map(|column| literal(column, number, postgres)).collect();
    let (names, values) = (names.join(", "), values.join(", "));
    let insert = format!("INSERT INTO \"{}\" ({names}) VALUES ({values})", table.name);
    database.run(&insert).await.unwrap_or_else(|problem| panic!("{what}\n{insert}: {problem}"));
    for column in left {
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
    match &column.kind {
        _ if column.name == "deleted_at" && !number.is_multiple_of(4) => "NULL".to_owned(),
        _ if column.nullable && number.is_multiple_of(3) => "NULL".to_owned(),
        ColumnKind::String(_) | ColumnKind::Text | ColumnKind::Word => format!("'it''s {number} ä'"),
        ColumnKind::Boolean => ["TRUE", "FALSE"][number / 2 % 2].to_owned(),
        // Whole, so that one with other places or none can hold it.
        ColumnKind::Decimal(_, places) if !postgres => format!("{number} * {}", 10i64.pow((*places).into())),
        ColumnKind::Timestamp => format!("'{}T10:00:00+00:00'", day(number)),
        ColumnKind::Date => format!("'{}'", day(number)),
        ColumnKind::Uuid if postgres => format!("'00000000-0000-0000-0000-{number:012}'"),
        ColumnKind::Uuid => format!("X'{number:032}'"),
        ColumnKind::Json => format!("'{{\"step\": {number}}}'"),
        ColumnKind::List => format!("'[\"{number}\"]'"),
        _ => number.to_string(),
    }
}

/// A day of its own for each number.
fn day(number: usize) -> String {
    format!("{}-{:02}-{:02}", 2000 + number / 300, 1 + number / 25 % 12, 1 + number % 25)
}
