//! What the triggers of a table are called, and the statements that make them.

use crate::db::Dialect;
use crate::meta::ResourceMeta;

/// What the names of the triggers begin with.
pub const PREFIX: &str = "charter_count_";

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
    let events = [
        ("insert", "insert", "", format!("{}{}", total(&new), block("NEW", &new))),
        ("delete", "delete", "", format!("{}{}", total(&removed), block("OLD", &removed))),
        ("update", "update", "", total(&format!("{new} - {old}"))),
        ("move", "update", moved.as_str(), format!("{}{}", block("OLD", &removed), block("NEW", &new))),
    ];
    let trigger = |(what, event, when, body): (&str, &str, &str, String)| {
        // Their names are the database's, not the table's.
        let name = format!("{PREFIX}{which}_{what}_{table}");
        let text = format!("CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\"{when} BEGIN {body}END");
        (name, text)
    };
    events.map(trigger).into()
}
