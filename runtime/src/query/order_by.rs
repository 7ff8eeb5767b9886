//! The order of a list as SQL, and what comes after a place in it.
//!
//! Text is ordered without regard to case, then by code point; NULL is the smallest value; the id comes last.

use sea_orm::Value;

use super::condition::{Condition, CustomKind, Target};
use super::custom_field_sql;
use super::plan::Order;
use crate::catalog::Source;
use crate::db::{Dialect, Sql};
use crate::meta::Kind;
use crate::record::RECORD;

/// An order that ends in the id: what stands behind the id never decides.
#[derive(Debug, Clone, Copy)]
pub struct OrderBy<'p> {
    keys: &'p [Order],
    /// The id descends; it does only where it is asked for itself.
    backwards: bool,
}

/// The values of one record by which it is ordered: those of the keys, where NULL is `None`, and the id.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    pub values: Vec<Option<Value>>,
    pub id: i64,
}

/// A part of what comes after a position, which one statement reads in order. Those of a position follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysetRange {
    /// So many keys are as they are there.
    same: usize,
    then: RangeEnd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RangeEnd {
    /// These keys, all of which have one direction, are beyond those there. The one behind all others is the id.
    Beyond(std::ops::Range<usize>),
    /// The next key is NULL.
    Null,
    /// The next key is not NULL.
    NotNull,
}

/// How a value of a key is read, bound, and kept in a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    Text,
    Integer,
    Boolean,
    /// A decimal with these places, kept as the integer that it is without its point.
    Decimal(u8),
    /// A number in JSON, of any places: text on PostgreSQL, an integer on SQLite.
    Number,
    Time,
    Date,
    Uuid,
}

/// One key as SQL.
struct Key {
    /// The value.
    value: String,
    /// What is compared, one after the other: of text it is the folded text first.
    compared: Vec<String>,
}

impl<'p> OrderBy<'p> {
    pub fn of(order: &'p [Order]) -> OrderBy<'p> {
        let id = order.iter().position(|key| matches!(&key.target, Target::Column(source) if source.is_own("id")));
        OrderBy { keys: &order[..id.unwrap_or(order.len())], backwards: id.is_some_and(|id| order[id].descending) }
    }

    /// The forms of the keys' values, that of the id left out.
    pub fn key_types(self) -> impl Iterator<Item = KeyType> {
        self.keys.iter().map(key_type)
    }

    /// Writes `, <value> AS "charter_key_0"`, ...: the values by which a row is ordered.
    pub fn write_values(self, sql: &mut Sql) {
        for (index, order) in self.keys.iter().enumerate() {
            let Key { value, .. } = key(sql, order);
            let cast =
                if key_type(order) == KeyType::Number && sql.dialect == Dialect::Postgres { "::text" } else { "" };
            sql.push(", ").push(&value).push(cast).push(&format!(" AS \"charter_key_{index}\""));
        }
    }

    /// Writes ` ORDER BY ...`. `condition` is that of the statement.
    pub fn write(self, sql: &mut Sql, condition: &Condition) {
        sql.push(" ORDER BY ");
        for order in self.keys {
            let nulls = match (is_nullable(order) && sql.dialect == Dialect::Postgres, order.descending) {
                (false, _) => "",
                (true, true) => " NULLS LAST",
                (true, false) => " NULLS FIRST",
            };
            for compared in key(sql, order).compared {
                sql.push(&compared).push(if order.descending { " DESC" } else { "" }).push(nulls).push(", ");
            }
        }
        // SQLite would rather walk all ids, hoping to meet a page of records soon, than sort those that the index of a
        // custom field finds: of a rare value that is every record. The sign hides that the ids are in order already.
        let hidden = sql.dialect == Dialect::Sqlite && self.keys.is_empty() && condition.is_index_range();
        sql.push(if hidden { "+t.\"id\"" } else { "t.\"id\"" }).push(if self.backwards { " DESC" } else { "" });
    }

    /// What comes after a position, in its order. The bounds of each stretch are ones that an index on the keys finds:
    /// equal values, and then one comparison, of a row of values where keys have the same direction.
    pub fn after(self, position: &Position) -> Vec<KeysetRange> {
        let id = self.keys.len();
        let descends = |at: usize| if at == id { self.backwards } else { self.keys[at].descending };
        // NULL breaks the comparison of rows: upwards only where it is the value there, downwards wherever it may be.
        let alone = |at: usize| match at == id {
            true => false,
            // Clients may make up a cursor with NULL where there is none.
            false => position.values[at].is_none() || descends(at) && is_nullable(&self.keys[at]),
        };
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for at in 0..=id {
            match runs.last_mut() {
                Some(run) if !alone(at) && !alone(run.start) && descends(at) == descends(run.start) => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        let mut stretches = Vec::new();
        for run in runs.into_iter().rev() {
            let (same, is_null) = (run.start, run.start < id && position.values[run.start].is_none());
            let mut add = |then| stretches.push(KeysetRange { same, then });
            match (alone(same), descends(same), is_null) {
                (false, ..) => add(RangeEnd::Beyond(run)),
                (true, false, _) => add(RangeEnd::NotNull),
                // Nothing is below NULL.
                (true, true, true) => {}
                (true, true, false) => {
                    add(RangeEnd::Beyond(run));
                    add(RangeEnd::Null);
                }
            }
        }
        stretches
    }

    /// Writes ` AND ...`: the bounds of a stretch after a position.
    pub fn write_range(self, sql: &mut Sql, position: &Position, stretch: &KeysetRange) {
        for (order, value) in self.keys.iter().zip(&position.values).take(stretch.same) {
            let compared = key(sql, order).compared;
            match value {
                None => drop(sql.push(" AND ").push(&compared[0]).push(" IS NULL")),
                Some(value) => {
                    for (index, left) in compared.iter().enumerate() {
                        sql.push(" AND ").push(left).push(" = ");
                        write_bound(sql, order, value, index + 1 < compared.len());
                    }
                }
            }
        }
        let null = |sql: &mut Sql, test: &str| {
            let left = key(sql, &self.keys[stretch.same]).compared.swap_remove(0);
            sql.push(" AND ").push(&left).push(test);
        };
        match &stretch.then {
            RangeEnd::Null => null(sql, " IS NULL"),
            RangeEnd::NotNull => null(sql, " IS NOT NULL"),
            RangeEnd::Beyond(run) => self.write_after(sql, position, run.clone()),
        }
    }

    fn write_after(self, sql: &mut Sql, position: &Position, run: std::ops::Range<usize>) {
        let id = self.keys.len();
        let with_id = run.end > id;
        let down = if run.start == id { self.backwards } else { self.keys[run.start].descending };
        let keys = run.start..run.end.min(id);
        let mut left: Vec<String> = Vec::new();
        for order in &self.keys[keys.clone()] {
            left.extend(key(sql, order).compared);
        }
        left.extend(with_id.then(|| "t.\"id\"".to_string()));
        // SQLite finds where a row of values begins in an index if a column is the first of them, and not if an expression
        // is. It finds that by itself.
        if let (Dialect::Sqlite, Some(order), [first, _, ..]) = (sql.dialect, self.keys.get(run.start), left.as_slice())
            && is_expression(order)
            && let Some(value) = &position.values[run.start]
        {
            sql.push(" AND ").push(first).push(if down { " <= " } else { " >= " });
            write_bound(sql, order, value, key_count(order) > 1);
        }
        sql.push(" AND (").push(&left.join(", ")).push(if down { ") < (" } else { ") > (" });
        let mut first = true;
        for (order, value) in self.keys[keys.clone()].iter().zip(&position.values[keys]) {
            let count = key_count(order);
            // A run has no NULL.
            for (index, value) in value.iter().flat_map(|value| std::iter::repeat_n(value, count)).enumerate() {
                sql.push(if first { "" } else { ", " });
                first = false;
                write_bound(sql, order, value, index + 1 < count);
            }
        }
        if with_id {
            sql.push(if first { "" } else { ", " }).bind(position.id);
        }
        sql.push(")");
    }
}

/// Binds a value of a key; `folded` as it is compared first.
fn write_bound(sql: &mut Sql, order: &Order, value: &Value, folded: bool) {
    sql.push(if folded { "charter_fold(" } else { "" }).bind(value.clone()).push(if folded { ")" } else { "" });
    if key_type(order) == KeyType::Number && sql.dialect == Dialect::Postgres {
        sql.push("::numeric");
    }
}

fn key(sql: &mut Sql, order: &Order) -> Key {
    let value = match &order.target {
        Target::Custom { name, kind } => custom_field_sql::key(sql.dialect, "t.", name, *kind),
        Target::Column(source) => {
            let mut column = String::new();
            source.write(&mut column, RECORD);
            match source.labels {
                Some(labels) => label(sql, &column, labels),
                None => column,
            }
        }
    };
    // "C" is the order of code points; SQLite has no other.
    let collation = if sql.dialect == Dialect::Postgres { " COLLATE \"C\"" } else { "" };
    let compared = match key_count(order) {
        1 => vec![value.clone()],
        _ => vec![format!("charter_fold({value}){collation}"), format!("{value}{collation}")],
    };
    Key { value, compared }
}

/// How many expressions a key compares.
fn key_count(order: &Order) -> usize {
    let text = match &order.target {
        Target::Custom { kind, .. } => kind.is_text(),
        Target::Column(_) => key_type(order) == KeyType::Text,
    };
    if text { 2 } else { 1 }
}

/// Whether what is compared first is more than a column.
fn is_expression(order: &Order) -> bool {
    key_count(order) > 1 || matches!(&order.target, Target::Custom { .. })
}

fn is_nullable(order: &Order) -> bool {
    match &order.target {
        Target::Custom { .. } => true,
        // A code that the database holds may have no label.
        Target::Column(source) => source.field.nullable || source.join.is_some() || source.labels.is_some(),
    }
}

/// The label of a code, for the order. Labels come from metadata and are bound like any value.
fn label(sql: &mut Sql, code: &str, labels: &[(i32, &'static str)]) -> String {
    let mut text = format!("(CASE {code}");
    for (value, label) in labels {
        sql.values.push(Value::from(*label));
        text.push_str(&format!(" WHEN {value} THEN ${}", sql.values.len()));
    }
    text.push_str(" END)");
    text
}

/// Whether values of a kind have an order: documents have none, also where they are shown of a related record.
pub fn is_ordered(kind: Kind) -> bool {
    !matches!(kind, Kind::StringList { .. } | Kind::RefList { .. } | Kind::Json | Kind::CustomFields)
}

fn key_type(order: &Order) -> KeyType {
    let source: &Source = match &order.target {
        Target::Custom { kind, .. } => {
            return match kind {
                CustomKind::Text | CustomKind::Choice | CustomKind::LongText | CustomKind::Time => KeyType::Text,
                CustomKind::Integer | CustomKind::Decimal => KeyType::Number,
                CustomKind::Boolean => KeyType::Boolean,
            };
        }
        Target::Column(source) => source,
    };
    match source.field.kind {
        Kind::Code { .. } if source.labels.is_some() => KeyType::Text,
        Kind::Integer | Kind::BigInt | Kind::Code { .. } | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => {
            KeyType::Integer
        }
        Kind::Boolean => KeyType::Boolean,
        Kind::Decimal { places, .. } => KeyType::Decimal(places),
        Kind::Timestamp { .. } => KeyType::Time,
        Kind::Date => KeyType::Date,
        Kind::Uuid => KeyType::Uuid,
        // What else has an order is text.
        _ => KeyType::Text,
    }
}
