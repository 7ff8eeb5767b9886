//! The value of a custom field as SQL: what is compared and ordered, and which indexes serve that.
//!
//! A database uses an index on an expression for that very expression alone. So what a query compares and what an index
//! holds are spelled here, by the same functions.

use sea_orm::Value;

use super::condition::{Comparison, CustomKind, MatchPosition, Test};
use super::sql::write_test;
use crate::db::{Dialect, Sql};
use crate::number::{CUSTOM_DIGITS, CUSTOM_PLACES};

/// The column that holds the values.
const COLUMN: &str = "\"custom_fields\"";

/// So many characters of a text are in its indexes. A page of a PostgreSQL index takes them twice, folded and as they
/// are, also when each of them has four bytes; all but the values of the type `text` have no more.
const MAX_INDEXED_CHARACTERS: usize = 255;

/// The keys of an index over a custom field, and the letter that tells it from the others of the field.
#[derive(Debug)]
pub struct IndexKeys {
    pub letter: char,
    pub keys: String,
}

/// What is compared and ordered of a value: as its declared type, and NULL when it is of another, because a definition
/// may have been made anew with another type. Of a text these are the first [`INDEXED`] characters. `table` is the
/// alias with its point, or nothing in an index.
pub fn key(dialect: Dialect, table: &str, name: &str, kind: CustomKind) -> String {
    if kind == CustomKind::Choice {
        return format!("charter_fold({})", key(dialect, table, name, kind.ordered_as()));
    }
    match (kind.is_text() || kind == CustomKind::Time, dialect) {
        // "C" is the order of code points; SQLite has no other.
        (true, Dialect::Postgres) => {
            format!("(left({}, {MAX_INDEXED_CHARACTERS}) COLLATE \"C\")", whole(dialect, table, name, kind))
        }
        (true, Dialect::Sqlite) => {
            format!("substr({}, 1, {MAX_INDEXED_CHARACTERS})", whole(dialect, table, name, kind))
        }
        (false, _) => whole(dialect, table, name, kind),
    }
}

/// The whole value. Names of custom fields are snake_case words (checked when they are defined), so they need no
/// escape.
fn whole(dialect: Dialect, table: &str, name: &str, kind: CustomKind) -> String {
    let (whole, places) = (CUSTOM_DIGITS - CUSTOM_PLACES, CUSTOM_PLACES);
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
                // Decimals are text: every number is an integer of at most 18 digits.
                CustomKind::Integer => format!("(CASE jsonb_typeof({json}) WHEN 'number' THEN {json}::numeric END)"),
                CustomKind::Decimal => {
                    format!(
                        "(CASE WHEN {text} ~ '^-?[0-9]{{1,{whole}}}([.][0-9]{{1,{places}}})?$' THEN {text}::numeric END)"
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

/// The indexes that answer what is asked of a custom field of this kind: its comparisons, and its order either way. The
/// id comes last and ascends in both, so that many equal values, or many records without one, need no sorting.
pub fn indexes(dialect: Dialect, name: &str, kind: CustomKind) -> Vec<IndexKeys> {
    let key = key(dialect, "", name, kind.ordered_as());
    // NULL is the smallest value, as in the order of a list.
    let (up, down) = match dialect {
        Dialect::Postgres => (" NULLS FIRST", " DESC NULLS LAST"),
        Dialect::Sqlite => ("", " DESC"),
    };
    let keys = |letter, parts: &[&str], way: &str| {
        let mut keys: String = parts.iter().map(|part| format!("({part}){way}, ")).collect();
        keys.push_str("\"id\"");
        IndexKeys { letter, keys }
    };
    if kind.is_text() {
        let folded = format!("charter_fold({key})");
        // Those that are compared without regard to case are found by the folded text.
        let exact = (kind != CustomKind::Choice).then(|| keys('e', &[&key], up));
        let ordered = [keys('a', &[&folded, &key], up), keys('d', &[&folded, &key], down)];
        exact.into_iter().chain(ordered).collect()
    } else {
        vec![keys('a', &[&key], up), keys('d', &[&key], down)]
    }
}

/// Writes what is asked of a custom field of the record `alias`, so that an index can answer it.
pub fn write_custom_test(sql: &mut Sql, alias: &str, name: &str, kind: CustomKind, test: &Test) {
    let table = &format!("{alias}.");
    // Parts of texts are folded as they are looked for.
    let kind = if matches!(test, Test::Like { .. }) { kind.ordered_as() } else { kind };
    let key = key(sql.dialect, table, name, kind);
    if kind == CustomKind::LongText && !is_decided_by_key(test) {
        return write_test(sql, &whole(sql.dialect, table, name, kind), test);
    }
    match test {
        Test::Like { place: MatchPosition::Start, needle, negated: false } if sql.dialect == Dialect::Sqlite => {
            write_start(sql, &format!("charter_fold({key})"), needle);
        }
        test if is_prefix_in_index(test) => write_test(sql, &key, test),
        // Only a record with a value can meet the test, and the index leads to those: on most custom fields they are few.
        test => {
            let guard = smallest(sql.dialect, kind);
            sql.push("(").push(&key).push(guard).push(" AND ");
            write_test(sql, &key, test);
            sql.push(")");
        }
    }
}

/// Whether the first characters of a text tell if it meets the test. A text is longer, or shorter, than a value that
/// is itself shorter than the key, exactly when its key is.
fn is_decided_by_key(test: &Test) -> bool {
    let short = |text: &str| text.chars().count() < MAX_INDEXED_CHARACTERS;
    let is_short = |value: &Value| matches!(value, Value::String(Some(text)) if short(text));
    match test {
        Test::Compare(_, value) => is_short(value),
        Test::Among { values, .. } => values.iter().all(is_short),
        // Folding makes no text shorter.
        Test::Like { place: MatchPosition::Start, needle, negated: false } => short(needle),
        Test::Like { .. } => false,
        Test::Known(_) | Test::Null { .. } | Test::Blank { .. } => true,
    }
}

/// Whether the test itself says where in the index the records begin that meet it. SQLite counts those without a value
/// among what is less than something, unless it is told where the values begin.
fn is_prefix_in_index(test: &Test) -> bool {
    match test {
        Test::Compare(comparison, _) => {
            matches!(comparison, Comparison::Equal | Comparison::Greater | Comparison::GreaterOrEqual)
        }
        Test::Among { negated, .. } | Test::Null { negated } | Test::Blank { negated } => !negated,
        Test::Like { .. } | Test::Known(_) => false,
    }
}

/// Whether an index finds the records that meet the test in another order than that of their ids.
pub fn is_index_range(kind: CustomKind, test: &Test) -> bool {
    let same = match test {
        Test::Compare(comparison, _) => *comparison == Comparison::Equal,
        test => is_prefix_in_index(test),
    };
    !same && (kind != CustomKind::LongText || is_decided_by_key(test))
}

/// A comparison that holds of every value, and is NULL of NULL: so it changes nothing about a negation around it.
fn smallest(dialect: Dialect, kind: CustomKind) -> &'static str {
    match (kind, dialect) {
        (CustomKind::Text | CustomKind::Choice | CustomKind::LongText | CustomKind::Time, _) => " >= ''",
        (CustomKind::Boolean, Dialect::Postgres) => " >= FALSE",
        (CustomKind::Boolean, Dialect::Sqlite) => " >= 0",
        (CustomKind::Integer | CustomKind::Decimal, Dialect::Postgres) => " > '-Infinity'",
        (CustomKind::Integer | CustomKind::Decimal, Dialect::Sqlite) => " >= -9223372036854775808",
    }
}

/// Folded text that begins with the needle, as a stretch of its order: SQLite sees none in its functions.
fn write_start(sql: &mut Sql, folded: &str, needle: &str) {
    sql.push("(").push(folded).push(" >= ").bind(needle);
    if let Some(end) = prefix_upper_bound(needle) {
        sql.push(" AND ").push(folded).push(" < ").bind(end);
    }
    sql.push(")");
}

/// The first text behind all those that begin with the needle; none when the needle's characters are all the last one.
fn prefix_upper_bound(needle: &str) -> Option<String> {
    let mut beginning: Vec<char> = needle.chars().collect();
    while let Some(last) = beginning.pop() {
        // The numbers between the two are no characters.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            return Some(beginning.into_iter().chain([next]).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_stretch_is_behind_every_text_that_begins_so() {
        for (needle, end) in
            [("lamp", Some("lamq")), ("a\u{d7ff}", Some("a\u{e000}")), ("a\u{10ffff}", Some("b")), ("\u{10ffff}", None)]
        {
            assert_eq!(prefix_upper_bound(needle).as_deref(), end, "{needle}");
        }
    }

    #[test]
    fn a_query_spells_what_its_indexes_hold() {
        use CustomKind::{Boolean, Decimal, Integer, LongText, Text, Time};
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            for kind in [Text, LongText, Integer, Decimal, Boolean, Time] {
                let asked = key(dialect, "t.", "power", kind).replace("t.\"", "\"");
                for index in indexes(dialect, "power", kind) {
                    assert!(index.keys.contains(&asked) && index.keys.ends_with(", \"id\""), "{}", index.keys);
                }
            }
        }
    }
}
