//! Who is told of what: the webhooks that name an event, and whose users may see what it tells of.

use std::collections::BTreeSet;
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

/// Whether the webhook `w` is told of the event `e`: it asks for it, and its user may see what it tells of.
pub fn wants(catalog: &Catalog, dialect: Dialect) -> String {
    let asks = match dialect {
        Dialect::Postgres => "(w.\"events\" @> '\"*\"' OR w.\"events\" @> to_jsonb(e.\"name\"::text))",
        Dialect::Sqlite => "EXISTS (SELECT 1 FROM json_each(w.\"events\") WHERE \"value\" IN ('*', e.\"name\"))",
    };
    format!("{asks} AND {}", sees(catalog, dialect))
}

/// Whether the user of the webhook `w` may see, at this moment, what the event `e` tells of. Roles may have changed since the
/// webhook was made, and `*` names what not everybody may read.
pub fn sees(catalog: &Catalog, dialect: Dialect) -> String {
    let mut condition = String::from("1 = 1");
    for entry in catalog.entries() {
        let events: Vec<String> = entry.events().iter().map(|event| literal(event)).collect();
        if events.is_empty() {
            continue;
        }
        let mut needed: BTreeSet<String> = needs(entry, dialect, true).collect();
        if entry.is_attached() {
            // What it hangs on is no part of an attachment: who sees all that may have some, sees this one.
            needed.extend(catalog.attachables().flat_map(|target| needs(target, dialect, false)));
        }
        for needed in needed {
            let _ = write!(condition, " AND (e.\"name\" NOT IN ({}) OR {needed})", events.join(", "));
        }
    }
    condition
}

/// What must hold for the user of the webhook `w` to see a record: the permission; that it is the user's own, where
/// records have an owner and the event `e` tells of this one; and where a function decides, which can be asked only in a request,
/// to be an administrator.
fn needs(entry: &Entry, dialect: Dialect, told: bool) -> impl Iterator<Item = String> {
    let permission = entry.meta.read_permission.map(|permission| given(dialect, &literal(permission)));
    let owner = entry.meta.owner.filter(|_| told && entry.route.hooks.scope.is_none());
    let own = match owner {
        Some(owner) => {
            let (name, user) = (entry.meta.name, "w.\"user_id\"");
            let own = match dialect {
                Dialect::Postgres => format!("e.\"body\"::jsonb #>> '{{data,{name},{owner}}}' = {user}::text"),
                Dialect::Sqlite => format!("json_extract(e.\"body\", '$.data.{name}.{owner}') = {user}"),
            };
            // What has no owner is nobody's own, and not unknown: this is asked the other way round, too.
            Some(format!("(COALESCE({own}, 1 = 0) OR {ADMINISTERS})"))
        }
        None if entry.meta.owner.is_some() || entry.route.hooks.scope.is_some() => Some(ADMINISTERS.to_string()),
        None => None,
    };
    permission.into_iter().chain(own)
}

/// Whether the user of the webhook `w` is an administrator.
const ADMINISTERS: &str = "EXISTS (SELECT 1 FROM \"users\" u WHERE u.\"id\" = w.\"user_id\" AND u.\"is_admin\")";

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
