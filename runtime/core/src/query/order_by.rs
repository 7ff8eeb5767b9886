//! `ORDER BY` of a list and the keyset range after a position in it.
//!
//! Text is ordered case-insensitively, then by code point. NULL is the smallest value. The id is the last key.

use charter_model::Storage;
use sea_orm::Value;

use super::condition::{Condition, MatchPosition, Target, Test};
use super::custom_field_sql;
use super::plan::Order;
use super::sql::write_test;
use crate::custom_field::CustomKind;
use crate::db::{Dialect, Sql};
use crate::field_type::codec;
use crate::meta::Kind;
use crate::record::RECORD;
use crate::record::Source;

/// An order that ends in the id, which makes it total.
#[derive(Debug, Clone, Copy)]
pub struct OrderBy<'p> {
    keys: &'p [Order],
    /// True if the id descends, which it does only if the request sorts by it.
    id_descending: bool,
}

/// Order key values of one record, where NULL is `None`, and its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    pub values: Vec<Option<Value>>,
    pub id: i64,
}

/// A part of the rows after a position that one statement reads in order. The parts of a position follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysetRange {
    /// The first `equal_keys` keys equal those of the position.
    equal_keys: usize,
    end: RangeEnd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RangeEnd {
    /// The keys in this range, which share one direction, sort after those of the position. The key past the last is
    /// the id.
    After(std::ops::Range<usize>),
    /// The next key is NULL.
    Null,
    /// The next key is not NULL.
    NotNull,
}

/// The records whose text begins with the prefix of the order, or the others, after an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixSide {
    begins: bool,
    after: Option<i64>,
}

/// Rank of a text that begins with the prefix.
const PREFIX_RANK: i64 = 0;

/// Type of a key's value for reading, binding and encoding in a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    Text,
    Integer,
    Boolean,
    /// A decimal with this scale, as its unscaled integer.
    Decimal(u8),
    /// A JSON number of any scale: text on PostgreSQL, an integer on SQLite.
    Number,
    Time,
    /// A value with a codec other than a time.
    Coded(Storage),
}

/// SQL of one key.
struct Key {
    /// The value.
    value: String,
    /// The expressions to compare, in order. For text, the case-folded text comes first.
    compared: Vec<String>,
}

impl<'p> OrderBy<'p> {
    pub fn of(order: &'p [Order]) -> OrderBy<'p> {
        let id = order.iter().position(|key| matches!(&key.target, Target::Column(source) if source.is_own("id")));
        OrderBy { keys: &order[..id.unwrap_or(order.len())], id_descending: id.is_some_and(|id| order[id].descending) }
    }

    /// The types of the keys, without that of the id.
    pub fn key_types(self) -> impl Iterator<Item = KeyType> {
        self.keys.iter().map(key_type)
    }

    /// Writes `, <value> AS "charter_key_0"`, ...: the order key values of a row.
    pub fn write_values(self, sql: &mut Sql) {
        for (index, order) in self.keys.iter().enumerate() {
            let Key { value, .. } = key(sql, order);
            let cast =
                if key_type(order) == KeyType::Number && sql.dialect == Dialect::Postgres { "::text" } else { "" };
            sql.push(", ").push(&value).push(cast).push(&format!(" AS \"charter_key_{index}\""));
        }
    }

    /// Writes ` ORDER BY ...`. `condition` is the WHERE condition of the statement.
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
        // If the condition is a range of a custom field's index, SQLite would rather scan all ids than sort the
        // matches. For a rare value, that scan reads the whole table. The unary plus keeps SQLite from using the id
        // index.
        let hidden = sql.dialect == Dialect::Sqlite && self.keys.is_empty() && condition.is_index_range();
        sql.push(if hidden { "+t.\"id\"" } else { "t.\"id\"" }).push(if self.id_descending { " DESC" } else { "" });
    }

    /// True if the order is that of a search: records whose text begins with a prefix, then the others, each by id.
    pub fn is_prefix_first(self) -> bool {
        matches!(self.keys, [Order { prefix: Some(_), .. }])
    }

    /// The sides of a prefix that follow a position, each with the id after which it begins.
    pub fn sides_after(self, position: Option<&Position>) -> Vec<PrefixSide> {
        let side = |begins, after| PrefixSide { begins, after };
        match position {
            None => vec![side(true, None), side(false, None)],
            Some(Position { values, id }) if values.first() == Some(&Some(PREFIX_RANK.into())) => {
                vec![side(true, Some(*id)), side(false, None)]
            }
            Some(Position { id, .. }) => vec![side(false, Some(*id))],
        }
    }

    /// Writes ` AND ... ORDER BY` the id: one side of a prefix. Unlike the order by rank, it ends once a page is full.
    pub fn write_side(self, sql: &mut Sql, side: PrefixSide, condition: &Condition) {
        for order in self.keys {
            if let Some(prefix) = &order.prefix {
                let value = value_expression(sql, &order.target);
                sql.push(" AND (");
                write_test(sql, &value, &begins_with(prefix));
                sql.push(if side.begins { ")" } else { ") IS NOT TRUE" });
            }
        }
        if let Some(id) = side.after {
            sql.push(" AND t.\"id\" > ").bind(id);
        }
        OrderBy { keys: &[], id_descending: false }.write(sql, condition);
    }

    /// Splits the rows after a position into ranges that an index on the keys serves: equality on the first keys,
    /// then one comparison, which is a row comparison where keys share a direction.
    pub fn after(self, position: &Position) -> Vec<KeysetRange> {
        let id = self.keys.len();
        let descends = |at: usize| if at == id { self.id_descending } else { self.keys[at].descending };
        // NULL breaks a row comparison: ascending if the position has NULL, descending if the column is nullable.
        let alone = |at: usize| match at == id {
            true => false,
            // A forged cursor can have NULL for a column that is not nullable.
            false => position.values[at].is_none() || descends(at) && is_nullable(&self.keys[at]),
        };
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for at in 0..=id {
            match runs.last_mut() {
                Some(run) if !alone(at) && !alone(run.start) && descends(at) == descends(run.start) => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        let mut ranges = Vec::new();
        for run in runs.into_iter().rev() {
            let (equal_keys, is_null) = (run.start, run.start < id && position.values[run.start].is_none());
            let mut add = |end| ranges.push(KeysetRange { equal_keys, end });
            match (alone(equal_keys), descends(equal_keys), is_null) {
                (false, ..) => add(RangeEnd::After(run)),
                (true, false, _) => add(RangeEnd::NotNull),
                // No value sorts below NULL.
                (true, true, true) => {}
                (true, true, false) => {
                    add(RangeEnd::After(run));
                    add(RangeEnd::Null);
                }
            }
        }
        ranges
    }

    /// Writes ` AND ...`: the bounds of one range after a position.
    pub fn write_range(self, sql: &mut Sql, position: &Position, range: &KeysetRange) {
        for (order, value) in self.keys.iter().zip(&position.values).take(range.equal_keys) {
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
            let left = key(sql, &self.keys[range.equal_keys]).compared.swap_remove(0);
            sql.push(" AND ").push(&left).push(test);
        };
        match &range.end {
            RangeEnd::Null => null(sql, " IS NULL"),
            RangeEnd::NotNull => null(sql, " IS NOT NULL"),
            RangeEnd::After(run) => self.write_after(sql, position, run.clone()),
        }
    }

    fn write_after(self, sql: &mut Sql, position: &Position, run: std::ops::Range<usize>) {
        let id = self.keys.len();
        let with_id = run.end > id;
        let down = if run.start == id { self.id_descending } else { self.keys[run.start].descending };
        let keys = run.start..run.end.min(id);
        let mut left: Vec<String> = Vec::new();
        for order in &self.keys[keys.clone()] {
            left.extend(key(sql, order).compared);
        }
        left.extend(with_id.then(|| "t.\"id\"".to_string()));
        // SQLite seeks in an index by a row comparison only if its first element is a column. For an expression, a
        // separate comparison of the first element makes it seek.
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

/// Binds a value of a key, case-folded if `folded`.
fn write_bound(sql: &mut Sql, order: &Order, value: &Value, folded: bool) {
    sql.push(if folded { "charter_fold(" } else { "" }).bind(value.clone()).push(if folded { ")" } else { "" });
    if key_type(order) == KeyType::Number && sql.dialect == Dialect::Postgres {
        sql.push("::numeric");
    }
}

fn key(sql: &mut Sql, order: &Order) -> Key {
    let value = match &order.prefix {
        Some(prefix) => prefix_rank(sql, &order.target, prefix),
        None => value_expression(sql, &order.target),
    };
    let compared = compared(sql.dialect, order, &value);
    Key { value, compared }
}

/// The expression of a target's value.
pub(super) fn value_expression(sql: &mut Sql, target: &Target) -> String {
    match target {
        Target::Custom { name, kind } => custom_field_sql::key(sql.dialect, "t.", name, *kind),
        Target::Column(source) => {
            let mut column = String::new();
            source.write(&mut column, RECORD);
            match source.labels {
                Some(labels) => label(sql, &column, labels),
                None => column,
            }
        }
    }
}

/// The rank of a text by its prefix: [`PREFIX_RANK`] if it begins with this folded text, else 1.
fn prefix_rank(sql: &mut Sql, target: &Target, prefix: &str) -> String {
    let value = value_expression(sql, target);
    let statement = std::mem::replace(&mut sql.text, "(CASE WHEN ".into());
    write_test(sql, &value, &begins_with(prefix));
    sql.push(&format!(" THEN {PREFIX_RANK} ELSE 1 END)"));
    std::mem::replace(&mut sql.text, statement)
}

fn begins_with(prefix: &str) -> Test {
    Test::Like { position: MatchPosition::Start, needle: prefix.to_string(), negated: false }
}

/// The expressions that order by an expression of the key's value.
pub(super) fn compared(dialect: Dialect, order: &Order, value: &str) -> Vec<String> {
    // "C" sorts by code point, as SQLite does.
    let collation = if dialect == Dialect::Postgres { " COLLATE \"C\"" } else { "" };
    match key_count(order) {
        1 => vec![value.to_string()],
        _ => vec![format!("charter_fold({value}){collation}"), format!("{value}{collation}")],
    }
}

/// Number of expressions that a key compares.
fn key_count(order: &Order) -> usize {
    let text = match &order.target {
        _ if order.prefix.is_some() => false,
        Target::Custom { kind, .. } => kind.is_text(),
        Target::Column(_) => key_type(order) == KeyType::Text,
    };
    if text { 2 } else { 1 }
}

/// True if the first compared expression is not a plain column.
fn is_expression(order: &Order) -> bool {
    key_count(order) > 1 || order.prefix.is_some() || matches!(&order.target, Target::Custom { .. })
}

fn is_nullable(order: &Order) -> bool {
    match &order.target {
        _ if order.prefix.is_some() => false,
        Target::Custom { .. } => true,
        // The database can hold a code without a label.
        Target::Column(source) => source.field.nullable || source.join.is_some() || source.labels.is_some(),
    }
}

/// The label of a code as a CASE expression. Labels come from metadata and are bound like any value.
fn label(sql: &mut Sql, code: &str, labels: &[(i32, &'static str)]) -> String {
    let mut text = format!("(CASE {code}");
    for (value, label) in labels {
        sql.values.push(Value::from(*label));
        text.push_str(&format!(" WHEN {value} THEN ${}", sql.values.len()));
    }
    text.push_str(" END)");
    text
}

/// True if values of the kind can be ordered. Lists and documents cannot, not even as a derived field.
pub fn is_ordered(kind: Kind) -> bool {
    kind.facts().has_order
}

fn key_type(order: &Order) -> KeyType {
    if order.prefix.is_some() {
        return KeyType::Integer;
    }
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
    if source.labels.is_some() {
        return KeyType::Text;
    }
    match source.field.kind.storage() {
        Some(Storage::Integer | Storage::BigInt) => KeyType::Integer,
        Some(Storage::Boolean) => KeyType::Boolean,
        Some(Storage::Decimal(_, places)) => KeyType::Decimal(places),
        Some(Storage::Timestamp) => KeyType::Time,
        Some(storage) if codec(storage).is_some() => KeyType::Coded(storage),
        // Every other kind with an order is text.
        _ => KeyType::Text,
    }
}
