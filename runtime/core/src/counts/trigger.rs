//! Count triggers: names and CREATE TRIGGER statements.

use crate::db::Dialect;
use crate::meta::ResourceMeta;

/// Name prefix of the triggers.
pub(super) const PREFIX: &str = "charter_count_";

/// The triggers of a table: name and statement. The name says if deleted records count, so that a resource that turns
/// on soft delete gets other triggers.
pub fn triggers(dialect: Dialect, meta: &ResourceMeta) -> Vec<(String, String)> {
    let counted = if meta.soft_delete { "live" } else { "all" };
    match dialect {
        Dialect::Postgres => postgres(meta.table, counted),
        Dialect::Sqlite => sqlite(meta, counted),
    }
}

/// Statement-level triggers with transition tables.
fn postgres(table: &str, counted: &str) -> Vec<(String, String)> {
    let (old, new) = ("OLD TABLE AS \"old_rows\"", "NEW TABLE AS \"new_rows\"");
    let events = [
        ("insert", format!(" REFERENCING {new}")),
        ("update", format!(" REFERENCING {old} {new}")),
        ("delete", format!(" REFERENCING {old}")),
        ("truncate", String::new()),
    ];
    let trigger = |(event, rows): (&str, String)| {
        let name = format!("{PREFIX}{counted}_{event}");
        let text = format!(
            "CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\"{rows} \
             FOR EACH STATEMENT EXECUTE FUNCTION {PREFIX}{counted}()"
        );
        (name, text)
    };
    events.map(trigger).into()
}

/// Row-level triggers, the only ones in SQLite. The `move` trigger fires only for updates that move a record to
/// another block. A change of a trigger's body needs another name, because existing names are not replaced.
fn sqlite(meta: &ResourceMeta, counted: &str) -> Vec<(String, String)> {
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
    let trigger = |(suffix, event, when, body): (&str, &str, &str, String)| {
        // Trigger names are global in a SQLite database.
        let name = format!("{PREFIX}{counted}_{suffix}_{table}");
        let text = format!("CREATE TRIGGER \"{name}\" AFTER {event} ON \"{table}\"{when} BEGIN {body}END");
        (name, text)
    };
    events.map(trigger).into()
}
