//! SQL that matches events with webhooks: the webhook subscribes to the event, and its owner may read the record.

use std::collections::BTreeSet;
use std::fmt::Write;

use chrono::{DateTime, Utc};

use charter_core::catalog::{Catalog, Entry};
use charter_core::db::{Dialect, Sql};

/// The permission that is needed to read the record of an event, if any.
pub(super) fn read_permission(catalog: &Catalog, event: &str) -> Option<&'static str> {
    let emits = |entry: &&Entry| entry.outbox_events().iter().any(|known| known == event);
    catalog.entries().iter().find(emits)?.meta.read_permission
}

/// `INSERT INTO webhook_deliveries ... SELECT ... FROM` each event `e` and each webhook `w` that receives it.
pub(super) fn insert_deliveries(catalog: &Catalog, dialect: Dialect, now: DateTime<Utc>, manual: bool) -> Sql {
    let columns = "\"uid\", \"webhook_id\", \"event_id\", \"manual\", \"due_at\", \"created_at\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"webhook_deliveries\" ({columns}) SELECT "));
    sql.push(match dialect {
        Dialect::Postgres => "'msg_' || replace(gen_random_uuid()::text, '-', '')",
        Dialect::Sqlite => "'msg_' || lower(hex(randomblob(16)))",
    });
    sql.push(", w.\"id\", e.\"id\", ").bind(manual).push(", ").bind(now).push(", ").bind(now);
    sql.push(" FROM \"events\" e JOIN \"webhooks\" w ON ").push(&receives_sql(catalog, dialect));
    sql
}

/// Condition that the webhook `w` receives the event `e`: it subscribes to it, and its owner may read the record.
pub(super) fn receives_sql(catalog: &Catalog, dialect: Dialect) -> String {
    let subscribes = match dialect {
        Dialect::Postgres => "(w.\"events\" @> '\"*\"' OR w.\"events\" @> to_jsonb(e.\"name\"::text))",
        Dialect::Sqlite => "EXISTS (SELECT 1 FROM json_each(w.\"events\") WHERE \"value\" IN ('*', e.\"name\"))",
    };
    format!("{subscribes} AND {}", may_see_sql(catalog, dialect))
}

/// Condition that the owner of the webhook `w` may currently read the record of the event `e`. It is evaluated at
/// fan-out, because roles may have changed since the webhook was created, and `*` includes events that not every user
/// may read.
pub(super) fn may_see_sql(catalog: &Catalog, dialect: Dialect) -> String {
    let mut condition = String::from("1 = 1");
    for entry in catalog.entries() {
        let events: Vec<String> = entry.outbox_events().iter().map(|event| literal(event)).collect();
        if events.is_empty() {
            continue;
        }
        let mut permissions: BTreeSet<&str> = entry.meta.read_permission.into_iter().collect();
        if entry.is_attached() {
            // An event does not name the resource that an attachment belongs to.
            permissions.extend(catalog.attachables().filter_map(|target| target.meta.read_permission));
        }
        let permissions = permissions.into_iter().map(|permission| has_permission_sql(dialect, &literal(permission)));
        for needed in permissions.chain(entry.is_restricted.then(|| OWNER_SQL.to_string())) {
            let _ = write!(condition, " AND (e.\"name\" NOT IN ({}) OR {needed})", events.join(", "));
        }
    }
    condition
}

/// Condition that the owner of the webhook `w` owns the record of the event `e`, that the record has no owner (0), or
/// that the owner of `w` is an administrator. Events from before the column `owner_id` have NULL: only administrators
/// receive them.
const OWNER_SQL: &str = "(COALESCE(e.\"owner_id\" IN (0, w.\"user_id\"), 1 = 0) OR \
    EXISTS (SELECT 1 FROM \"users\" u WHERE u.\"id\" = w.\"user_id\" AND u.\"is_admin\"))";

/// Condition that the owner of the webhook `w` has a permission.
fn has_permission_sql(dialect: Dialect, permission: &str) -> String {
    let role = match dialect {
        Dialect::Postgres => {
            format!("r.\"permissions\" @> to_jsonb({permission}::text) AND u.\"role_ids\" @> to_jsonb(r.\"id\")")
        }
        Dialect::Sqlite => format!(
            "{permission} IN (SELECT \"value\" FROM json_each(r.\"permissions\")) \
             AND r.\"id\" IN (SELECT \"value\" FROM json_each(u.\"role_ids\"))"
        ),
    };
    format!(
        "EXISTS (SELECT 1 FROM \"users\" u WHERE u.\"id\" = w.\"user_id\" \
         AND (u.\"is_admin\" OR EXISTS (SELECT 1 FROM \"roles\" r WHERE {role})))"
    )
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
