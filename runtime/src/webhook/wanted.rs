//! Who is told of what: the webhooks that name an event, and whose users may read what it tells.

use std::fmt::Write;

use chrono::{DateTime, Utc};

use crate::catalog::{Catalog, Entry};
use crate::db::{Dialect, Sql};

/// The permission that reading what an event tells needs, if it needs one.
pub fn permission(catalog: &Catalog, event: &str) -> Option<&'static str> {
    let tells = |entry: &&Entry| entry.events().iter().any(|known| known == event);
    catalog.entries().iter().find(tells)?.meta.read_permission
}

/// `INSERT INTO webhook_deliveries ... SELECT ... FROM` each event `e` and each webhook `w` that is told of it.
pub fn insert_for(catalog: &Catalog, dialect: Dialect, now: DateTime<Utc>, manual: bool) -> Sql {
    let columns = "\"uid\", \"webhook_id\", \"event_id\", \"manual\", \"due_at\", \"created_at\"";
    let mut sql = Sql::new(dialect, format!("INSERT INTO \"webhook_deliveries\" ({columns}) SELECT "));
    sql.push(match dialect {
        Dialect::Postgres => "'msg_' || replace(gen_random_uuid()::text, '-', '')",
        Dialect::Sqlite => "'msg_' || lower(hex(randomblob(16)))",
    });
    sql.push(", w.\"id\", e.\"id\", ").bind(manual).push(", ").bind(now).push(", ").bind(now);
    sql.push(" FROM \"events\" e JOIN \"webhooks\" w ON ").push(&wants(catalog, dialect));
    sql
}

/// Whether the webhook `w` is told of the event `e`: it asks for it, and its user has the permission, if one is needed, at
/// this moment. Roles may have changed since the webhook was made, and `*` names what nobody may read.
pub fn wants(catalog: &Catalog, dialect: Dialect) -> String {
    let mut condition = String::from(match dialect {
        Dialect::Postgres => "(w.\"events\" @> '\"*\"' OR w.\"events\" @> to_jsonb(e.\"name\"::text))",
        Dialect::Sqlite => "EXISTS (SELECT 1 FROM json_each(w.\"events\") WHERE \"value\" IN ('*', e.\"name\"))",
    });
    for entry in catalog.entries() {
        let (Some(permission), events) = (entry.meta.read_permission, entry.events()) else { continue };
        if events.is_empty() {
            continue;
        }
        let events: Vec<String> = events.iter().map(|event| literal(event)).collect();
        let given = given(dialect, &literal(permission));
        let _ = write!(condition, " AND (e.\"name\" NOT IN ({}) OR {given})", events.join(", "));
    }
    condition
}

/// Whether the user of the webhook `w` has a permission.
fn given(dialect: Dialect, permission: &str) -> String {
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
