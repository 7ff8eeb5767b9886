//! Conditions as SQL for both dialects.

use super::condition::{Children, Condition, MatchPosition, Reference, Target, Test};
use super::custom_field_sql;
use crate::db::{Dialect, FALSE, Sql, TRUE};
use crate::error::SEARCH_TABLE_PREFIX;
use crate::record::Source;
use crate::record::{RECORD, write_from_as};

/// Writes a condition as one boolean expression.
pub fn write_condition(sql: &mut Sql, condition: &Condition) {
    write(sql, RECORD, condition);
}

/// Writes a condition on the record `alias`.
fn write(sql: &mut Sql, alias: &str, condition: &Condition) {
    match condition {
        Condition::All(list) => write_list(sql, alias, list, " AND ", TRUE),
        Condition::Any(list) => write_list(sql, alias, list, " OR ", FALSE),
        Condition::Not(inner) => {
            sql.push("NOT (");
            write(sql, alias, inner);
            sql.push(")");
        }
        Condition::RequiredParents(parents) => parents.write(&mut sql.text, alias),
        Condition::Refers(reference) => {
            sql.push("EXISTS (SELECT 1");
            write_reference(sql, alias, reference);
            sql.push(")");
        }
        Condition::Has(Children { by, table, condition }) => {
            let inner = referred(alias);
            let mut sources = Vec::new();
            condition.sources(&mut sources);
            sql.push("EXISTS (SELECT 1");
            write_from_as(sql, table, &inner, &sources);
            sql.push(" WHERE ").push(&inner).push(".").name(by.name).push(" = ").push(alias).push(".\"id\"");
            if !condition.is_always() {
                sql.push(" AND ");
                write(sql, &inner, condition);
            }
            sql.push(")");
        }
        Condition::ReferencedField { reference, source, test } => {
            let absent = test.of_null();
            sql.push(if absent.is_some() { "COALESCE((SELECT " } else { "(SELECT " });
            write_test(sql, &column(source, &referred(alias)), test);
            write_reference(sql, alias, reference);
            sql.push(match absent {
                None => ")",
                Some(true) => "), 1=1)",
                Some(false) => "), 1=0)",
            });
        }
        Condition::Test { target: Target::Column(source), test } => write_test(sql, &column(source, alias), test),
        Condition::Test { target: Target::Custom { name, kind }, test } => {
            custom_field_sql::write_custom_test(sql, alias, name, *kind, test);
        }
        Condition::Candidates { index, expression } => {
            sql.push(alias)
                .push(".\"id\" IN (SELECT rowid FROM ")
                .name(index)
                .push(" WHERE ")
                .name(index)
                .push(" MATCH CASE WHEN ");
            write_has_triggers(sql, index);
            // An index without its triggers would miss records. The reference to a column that it does not have makes
            // the statement fail.
            sql.push(" THEN ").bind(expression.as_str()).push(&format!(" ELSE '{SEARCH_TABLE_PREFIX}gone : x' END)"));
        }
        Condition::Expression(expression) => expression.write(sql, alias),
        Condition::Ids(ids) => drop(sql.in_ids(&format!("{alias}.\"id\""), ids)),
        Condition::Overlaps { field, ids } => match sql.dialect {
            Dialect::Postgres => {
                sql.push("EXISTS (SELECT 1 FROM jsonb_array_elements(").push(alias).push(".").name(field.name);
                sql.push(") AS e WHERE ");
                sql.in_ids("(e.value)::bigint", ids).push(")");
            }
            Dialect::Sqlite => {
                sql.push("EXISTS (SELECT 1 FROM json_each(").push(alias).push(".").name(field.name);
                sql.push(") AS e WHERE ");
                sql.in_ids("e.value", ids).push(")");
            }
        },
    }
}

/// Alias of the record that a reference of the record `alias` points to.
fn referred(alias: &str) -> String {
    format!("{alias}r")
}

/// Writes ` FROM` the referenced table ` WHERE` its id matches and the reference's condition holds.
fn write_reference(sql: &mut Sql, alias: &str, Reference { via, table, condition }: &Reference) {
    let inner = referred(alias);
    let mut sources = Vec::new();
    condition.sources(&mut sources);
    write_from_as(sql, table, &inner, &sources);
    sql.push(" WHERE ").push(&inner).push(".\"id\" = ").push(alias).push(".").name(via.name);
    if !condition.is_always() {
        sql.push(" AND ");
        write(sql, &inner, condition);
    }
}

/// Suffixes of a trigram index's trigger names. A complete index has all three.
pub const INDEX_TRIGGERS: [&str; 3] = ["delete", "insert", "update"];

/// Writes a scalar that is true if the trigram index has its triggers.
pub fn write_has_triggers(sql: &mut Sql, index: &str) {
    sql.push("(SELECT COUNT(*) = 3 FROM sqlite_schema WHERE type = 'trigger' AND name IN (");
    let names = INDEX_TRIGGERS.map(|event| format!("'{index}_{event}'"));
    sql.push(&names.join(", ")).push("))");
}

fn write_list(sql: &mut Sql, alias: &str, list: &[Condition], between: &str, empty: &str) {
    if list.is_empty() {
        sql.push(empty);
        return;
    }
    sql.push("(");
    for (index, condition) in list.iter().enumerate() {
        if index > 0 {
            sql.push(between);
        }
        write(sql, alias, condition);
    }
    sql.push(")");
}

/// Writes a test of the expression `left`.
pub(super) fn write_test(sql: &mut Sql, left: &str, test: &Test) {
    match test {
        Test::Compare(comparison, value) => {
            sql.push(left).push(comparison.operator()).bind(value.clone());
        }
        Test::In { values, negated } => {
            sql.push(left).push(if *negated { " NOT IN " } else { " IN " }).values_list(values);
        }
        Test::Like { position, needle, negated } => write_like(sql, left, *position, needle, *negated),
        // NULL stays NULL, so that a negation around it excludes the record, as in other tests.
        Test::Constant(holds) => {
            sql.push("(").push(left).push(if *holds { " = " } else { " <> " }).push(left).push(")");
        }
        Test::Null { negated } => {
            sql.push(left).push(if *negated { " IS NOT NULL" } else { " IS NULL" });
        }
        Test::Blank { negated } => {
            let (null, empty) = if *negated { (" IS NOT NULL AND ", " <> ''") } else { (" IS NULL OR ", " = ''") };
            sql.push("(").push(left).push(null).push(left).push(empty).push(")");
        }
    }
}

/// Writes a substring search in folded text. PostgreSQL's LIKE can use its trigram index; SQLite's functions need no
/// escapes.
fn write_like(sql: &mut Sql, left: &str, position: MatchPosition, needle: &str, negated: bool) {
    match sql.dialect {
        Dialect::Postgres => {
            let mut pattern = String::with_capacity(needle.len() + 2);
            if position != MatchPosition::Start {
                pattern.push('%');
            }
            for c in needle.chars() {
                if matches!(c, '%' | '_' | '\\') {
                    pattern.push('\\');
                }
                pattern.push(c);
            }
            if position != MatchPosition::End {
                pattern.push('%');
            }
            sql.push("charter_fold(").push(left).push(if negated { ") NOT LIKE " } else { ") LIKE " }).bind(pattern);
        }
        Dialect::Sqlite => {
            let folded = format!("charter_fold({left})");
            let length = i64::try_from(needle.chars().count()).unwrap_or(i64::MAX);
            if negated {
                sql.push("NOT ");
            }
            match position {
                MatchPosition::Anywhere => sql.push("(instr(").push(&folded).push(", ").bind(needle).push(") > 0)"),
                MatchPosition::Start => {
                    sql.push("(substr(").push(&folded).push(", 1, ").bind(length).push(") = ").bind(needle).push(")")
                }
                MatchPosition::End => sql
                    .push("(length(")
                    .push(&folded)
                    .push(") >= ")
                    .bind(length)
                    .push(" AND substr(")
                    .push(&folded)
                    .push(", -")
                    .bind(length)
                    .push(") = ")
                    .bind(needle)
                    .push(")"),
            };
        }
    }
}

fn column(source: &Source, alias: &str) -> String {
    let mut text = String::new();
    source.write(&mut text, alias);
    text
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn empty_conditions_work_with_a_column_called_true() {
        let database = Connection::open_in_memory().unwrap();
        database
            .execute_batch("CREATE TABLE t (\"true\" INTEGER, \"false\" INTEGER); INSERT INTO t VALUES (0, 1)")
            .unwrap();
        for (condition, expected) in [(Condition::All(Vec::new()), 1), (Condition::Any(Vec::new()), 0)] {
            let mut sql = Sql::new(Dialect::Sqlite, "SELECT count(*) FROM t WHERE ");
            write_condition(&mut sql, &condition);
            let found: i64 = database.query_row(&sql.text, [], |row| row.get(0)).unwrap();
            assert_eq!(found, expected, "{}", sql.text);
        }
    }
}
