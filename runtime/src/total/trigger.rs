//! What the triggers of a table are called, and the statements that make them.

use crate::db::Dialect;
use crate::meta::ResourceMeta;

/// What the names of the triggers begin with.
pub const PREFIX: &str = "charter_count_";

/// Of so many changes of a table the ids are kept.
pub const RECENT: i64 = 4_096;

/// The triggers that a table needs: name and statement. What they do stands in their names, so that a resource whose
/// records are kept from now on when they are deleted gets others.
pub fn triggers(dialect: Dialect, meta: &ResourceMeta) -> Vec<(String, String)> {
    let which = if meta.soft_delete { "live" } else { "all" };
    match dialect {
        Dialect::Postgres => postgres(meta.table, which),
        Dialect::Sqlite => sqlite(meta, which),
    }
}

/// Once a statement, which is told of all of its rows.
fn postgres(table: &str, which: &str) -> Vec<(String, String)> {
    let (old, new) = ("OLD TABLE AS \"old_rows\"", "NEW TABLE AS \"new_rows\"");
    let events = [
        ("insert", format!(" REFERENCING {new}")),
        ("update", format!(" REFERENCING {old} {new}")),
        ("delete", format!(" REFERENCING {old}")),
        ("truncate", String::new()),
    ];
    let trigger = |(event, rows): (&str, String)| {
        let name = format!("{PREFIX}{which}_{event}");
        let text = format!(
            "CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\"{rows} \
             FOR EACH STATEMENT EXECUTE FUNCTION {PREFIX}{which}()"
        );
        (name, text)
    };
    events.map(trigger).into()
}

/// Once a row: SQLite knows no other. Most updates move no record out of a block, and do without the last one. A body that
/// becomes another needs another name, or tables keep the one that they have.
fn sqlite(meta: &ResourceMeta, which: &str) -> Vec<(String, String)> {
    let table = meta.table;
    let live = |row: &str| match meta.soft_delete {
        true => format!("({row}.\"deleted_at\" IS NULL)"),
        false => "1".to_string(),
    };
    let (old, new) = (live("OLD"), live("NEW"));
    let total = |change: &str| {
        format!(
            "UPDATE \"record_totals\" SET \"live\" = \"live\" + {change}, \"changes\" = \"changes\" + 1 \
             WHERE \"table\" = '{table}'; "
        )
    };
    let block = |row: &str, change: &str| {
        format!(
            "INSERT INTO \"record_blocks\" VALUES ('{table}', {row}.\"id\" >> 12, {change}) \
             ON CONFLICT (\"table\", \"block\") DO UPDATE SET \"live\" = \"live\" + excluded.\"live\"; "
        )
    };
    let removed = format!("-{old}");
    let moved = format!(" WHEN OLD.\"id\" <> NEW.\"id\" OR {old} <> {new}");
    // Whoever carries on what was found before learns the ids of the last changes from here.
    let recent = |rows: &[&str]| {
        let ids: Vec<String> = rows.iter().map(|row| format!("SELECT {row}.\"id\" AS \"id\"")).collect();
        let changes = format!("(SELECT \"changes\" FROM \"record_totals\" WHERE \"table\" = '{table}')");
        format!(
            "INSERT INTO \"record_recent\" SELECT '{table}', {changes}, \"id\" FROM ({}); \
             DELETE FROM \"record_recent\" WHERE \"table\" = '{table}' AND \"change\" <= {changes} - {RECENT}; ",
            ids.join(" UNION ")
        )
    };
    let events = [
        ("inserted", "insert", "", format!("{}{}{}", total(&new), block("NEW", &new), recent(&["NEW"]))),
        ("deleted", "delete", "", format!("{}{}{}", total(&removed), block("OLD", &removed), recent(&["OLD"]))),
        ("updated", "update", "", format!("{}{}", total(&format!("{new} - {old}")), recent(&["OLD", "NEW"]))),
        ("moved", "update", moved.as_str(), format!("{}{}", block("OLD", &removed), block("NEW", &new))),
    ];
    let trigger = |(what, event, when, body): (&str, &str, &str, String)| {
        // Their names are the database's, not the table's.
        let name = format!("{PREFIX}{which}_{what}_{table}");
        let text = format!("CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\"{when} BEGIN {body}END");
        (name, text)
    };
    events.map(trigger).into()
}
