//! SQL expressions for the values of custom fields, and the expression indexes over them.
//!
//! A database uses an expression index only for the identical expression. Therefore the same functions write the
//! expressions of queries and of indexes.

use sea_orm::Value;

use super::condition::{Comparison, MatchPosition, Test};
use super::sql::write_test;
use crate::custom_field::CustomKind;
use crate::db::{Dialect, Sql};
use crate::number::{CUSTOM_DIGITS, CUSTOM_PLACES};

/// The JSON column with the values of all custom fields.
const COLUMN: &str = "\"custom_fields\"";

/// Length to which indexes truncate text. A PostgreSQL index page has room for this many four-byte characters twice,
/// folded and unfolded. Only values of the type `text` can be longer.
const MAX_INDEXED_CHARACTERS: usize = 255;

/// Keys of one index over a custom field.
#[derive(Debug)]
pub struct IndexKeys {
    /// Distinguishes the indexes of one field in their names.
    pub letter: char,
    pub keys: String,
}

/// The expression that queries compare and sort by: the value as its declared type. It is NULL for a value of another
/// type, because a field can be redefined with another type. Text is truncated to [`MAX_INDEXED_CHARACTERS`]. `table`
/// is the alias with its dot, or empty in an index.
pub(super) fn key(dialect: Dialect, table: &str, name: &str, kind: CustomKind) -> String {
    if kind == CustomKind::Choice {
        return format!("charter_fold({})", key(dialect, table, name, kind.ordering_type()));
    }
    match (kind.is_text() || kind == CustomKind::Time, dialect) {
        // "C" sorts by code point, as SQLite does.
        (true, Dialect::Postgres) => {
            format!("(left({}, {MAX_INDEXED_CHARACTERS}) COLLATE \"C\")", whole(dialect, table, name, kind))
        }
        (true, Dialect::Sqlite) => {
            format!("substr({}, 1, {MAX_INDEXED_CHARACTERS})", whole(dialect, table, name, kind))
        }
        (false, _) => whole(dialect, table, name, kind),
    }
}

/// The untruncated value. Names of custom fields are validated as snake_case words, thus they need no escape.
fn whole(dialect: Dialect, table: &str, name: &str, kind: CustomKind) -> String {
    let (integer_digits, places) = (CUSTOM_DIGITS - CUSTOM_PLACES, CUSTOM_PLACES);
    let column = format!("{table}{COLUMN}");
    match dialect {
        Dialect::Postgres => {
            let (json, text) = (format!("({column} -> '{name}')"), format!("({column} ->> '{name}')"));
            match kind {
                CustomKind::Text | CustomKind::Choice | CustomKind::LongText | CustomKind::Time => {
                    format!("(CASE jsonb_typeof({json}) WHEN 'string' THEN {text} END COLLATE \"C\")")
                }
                CustomKind::Boolean => {
                    format!("(CASE {json} WHEN 'true'::jsonb THEN TRUE WHEN 'false'::jsonb THEN FALSE END)")
                }
                // Decimals are stored as text: every JSON number is an integer of at most 18 digits.
                CustomKind::Integer => format!("(CASE jsonb_typeof({json}) WHEN 'number' THEN {json}::numeric END)"),
                CustomKind::Decimal => {
                    format!(
                        "(CASE WHEN {text} ~ '^-?[0-9]{{1,{integer_digits}}}([.][0-9]{{1,{places}}})?$' THEN {text}::numeric END)"
                    )
                }
            }
        }
        Dialect::Sqlite => {
            let kind_of = format!("json_type({column}, '$.\"{name}\"')");
            let value = format!("({column} ->> '$.\"{name}\"')");
            match kind {
                CustomKind::Text | CustomKind::Choice | CustomKind::LongText | CustomKind::Time => {
                    format!("(CASE {kind_of} WHEN 'text' THEN {value} END)")
                }
                CustomKind::Boolean => format!("(CASE {kind_of} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END)"),
                CustomKind::Integer => format!("(CASE {kind_of} WHEN 'integer' THEN {value} END)"),
                CustomKind::Decimal => {
                    format!("(CASE WHEN {kind_of} IN ('text', 'integer') THEN charter_decimal({value}) END)")
                }
            }
        }
    }
}

/// The indexes for comparing and sorting by a custom field, ascending and descending. The id is the last key and
/// ascends in all of them, so that equal values and records without a value need no sorting.
pub fn indexes(dialect: Dialect, name: &str, kind: CustomKind) -> Vec<IndexKeys> {
    let key = key(dialect, "", name, kind.ordering_type());
    // NULL is the smallest value, as in the order of a list.
    let (ascending, descending) = match dialect {
        Dialect::Postgres => (" NULLS FIRST", " DESC NULLS LAST"),
        Dialect::Sqlite => ("", " DESC"),
    };
    let keys = |letter, parts: &[&str], direction: &str| {
        let mut keys: String = parts.iter().map(|part| format!("({part}){direction}, ")).collect();
        keys.push_str("\"id\"");
        IndexKeys { letter, keys }
    };
    if kind.is_text() {
        let folded = format!("charter_fold({key})");
        // Choices are compared by their folded text, which the other two indexes begin with.
        let exact = (kind != CustomKind::Choice).then(|| keys('e', &[&key], ascending));
        let ordered = [keys('a', &[&folded, &key], ascending), keys('d', &[&folded, &key], descending)];
        exact.into_iter().chain(ordered).collect()
    } else {
        vec![keys('a', &[&key], ascending), keys('d', &[&key], descending)]
    }
}

/// Writes a test of a custom field of the record `alias` so that an index can serve it.
pub(super) fn write_custom_test(sql: &mut Sql, alias: &str, name: &str, kind: CustomKind, test: &Test) {
    let table = &format!("{alias}.");
    // A substring search folds the text itself.
    let kind = if matches!(test, Test::Like { .. }) { kind.ordering_type() } else { kind };
    let key = key(sql.dialect, table, name, kind);
    if kind == CustomKind::LongText && !is_decided_by_key(test) {
        return write_test(sql, &whole(sql.dialect, table, name, kind), test);
    }
    match test {
        Test::Like { position: MatchPosition::Start, needle, negated: false } if sql.dialect == Dialect::Sqlite => {
            write_start(sql, &format!("charter_fold({key})"), needle);
        }
        test if is_prefix_in_index(test) => write_test(sql, &key, test),
        // Only a record with a value can meet the test. The guard restricts the scan to those; most custom fields
        // have few.
        test => {
            let guard = not_null_comparison(sql.dialect, kind);
            sql.push("(").push(&key).push(guard).push(" AND ");
            write_test(sql, &key, test);
            sql.push(")");
        }
    }
}

/// True if the truncated text decides the test. A value that is shorter than the truncation compares with the
/// truncated text as with the whole text.
fn is_decided_by_key(test: &Test) -> bool {
    let short = |text: &str| text.chars().count() < MAX_INDEXED_CHARACTERS;
    let is_short = |value: &Value| matches!(value, Value::String(Some(text)) if short(text));
    match test {
        Test::Compare(_, value) => is_short(value),
        Test::In { values, .. } => values.iter().all(is_short),
        // Folding never shortens text.
        Test::Like { position: MatchPosition::Start, needle, negated: false } => short(needle),
        Test::Like { .. } => false,
        Test::Constant(_) | Test::Null { .. } | Test::Blank { .. } => true,
    }
}

/// True if the test itself bounds the index range from below. For `<`, SQLite would also scan the entries without a
/// value, which an index sorts first.
fn is_prefix_in_index(test: &Test) -> bool {
    match test {
        Test::Compare(comparison, _) => {
            matches!(comparison, Comparison::Equal | Comparison::Greater | Comparison::GreaterOrEqual)
        }
        Test::In { negated, .. } | Test::Null { negated } | Test::Blank { negated } => !negated,
        Test::Like { .. } | Test::Constant(_) => false,
    }
}

/// True if an index finds the matching records in another order than that of their ids.
pub(super) fn is_index_range(kind: CustomKind, test: &Test) -> bool {
    let in_id_order = match test {
        Test::Compare(comparison, _) => *comparison == Comparison::Equal,
        test => is_prefix_in_index(test),
    };
    !in_id_order && (kind != CustomKind::LongText || is_decided_by_key(test))
}

/// A comparison that is true for every value and NULL for NULL, thus it does not change the result of a negation
/// around it.
fn not_null_comparison(dialect: Dialect, kind: CustomKind) -> &'static str {
    match (kind, dialect) {
        (CustomKind::Text | CustomKind::Choice | CustomKind::LongText | CustomKind::Time, _) => " >= ''",
        (CustomKind::Boolean, Dialect::Postgres) => " >= FALSE",
        (CustomKind::Boolean, Dialect::Sqlite) => " >= 0",
        (CustomKind::Integer | CustomKind::Decimal, Dialect::Postgres) => " > '-Infinity'",
        (CustomKind::Integer | CustomKind::Decimal, Dialect::Sqlite) => " >= -9223372036854775808",
    }
}

/// Writes a prefix search as a range of folded text, because SQLite uses no index for a search by function.
fn write_start(sql: &mut Sql, folded: &str, needle: &str) {
    sql.push("(").push(folded).push(" >= ").bind(needle);
    if let Some(end) = prefix_upper_bound(needle) {
        sql.push(" AND ").push(folded).push(" < ").bind(end);
    }
    sql.push(")");
}

/// The smallest text that sorts after every text with this prefix. `None` if every character is the last code point.
fn prefix_upper_bound(needle: &str) -> Option<String> {
    let mut prefix: Vec<char> = needle.chars().collect();
    while let Some(last) = prefix.pop() {
        // Surrogates are not characters.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            return Some(prefix.into_iter().chain([next]).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_upper_bound_sorts_after_every_text_with_the_prefix() {
        for (needle, end) in
            [("lamp", Some("lamq")), ("a\u{d7ff}", Some("a\u{e000}")), ("a\u{10ffff}", Some("b")), ("\u{10ffff}", None)]
        {
            assert_eq!(prefix_upper_bound(needle).as_deref(), end, "{needle}");
        }
    }

    #[test]
    fn queries_and_indexes_use_the_same_expression() {
        use CustomKind::{Boolean, Decimal, Integer, LongText, Text, Time};
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            for kind in [Text, LongText, Integer, Decimal, Boolean, Time] {
                let queried = key(dialect, "t.", "power", kind).replace("t.\"", "\"");
                for index in indexes(dialect, "power", kind) {
                    assert!(index.keys.contains(&queried) && index.keys.ends_with(", \"id\""), "{}", index.keys);
                }
            }
        }
    }
}
