//! SQL that matches events with webhooks: the webhook subscribes to the event, and may receive the record.

use std::collections::BTreeSet;
use std::fmt::Write;

use chrono::{DateTime, Utc};
use sea_orm::QueryResult;

use charter_core::ability::{Ability, granting_words};
use charter_core::catalog::{Catalog, Entry};
use charter_core::db::{Dialect, Sql};

/// The resource whose records an event is about, if any.
pub(super) fn resource_of<'c>(catalog: &'c Catalog, event: &str) -> Option<&'c Entry> {
    let emits = |entry: &&Entry| entry.outbox_events().iter().any(|known| known == event);
    catalog.entries().iter().find(emits)
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

/// Condition that the webhook `w` receives the event `e`: it subscribes to it, and may receive the record.
pub(super) fn receives_sql(catalog: &Catalog, dialect: Dialect) -> String {
    let subscribes = match dialect {
        Dialect::Postgres => "(w.\"events\" @> '\"*\"' OR w.\"events\" @> to_jsonb(e.\"name\"::text))",
        Dialect::Sqlite => "EXISTS (SELECT 1 FROM json_each(w.\"events\") WHERE \"value\" IN ('*', e.\"name\"))",
    };
    format!("{subscribes} AND {}", may_see_sql(catalog, dialect))
}

/// Condition that the webhook `w` may currently receive the record of the event `e`: the token that made it exists, its
/// user is active, and both its abilities and the user's roles grant reading. It is evaluated at fan-out and before each
/// attempt, because rights may have changed since the webhook was created, and `*` includes events that not every user
/// may read.
pub(super) fn may_see_sql(catalog: &Catalog, dialect: Dialect) -> String {
    let mut condition = String::from(
        "(w.\"token_id\" IS NULL OR EXISTS (SELECT 1 FROM \"tokens\" t WHERE t.\"id\" = w.\"token_id\")) \
         AND EXISTS (SELECT 1 FROM \"users\" u WHERE u.\"id\" = w.\"user_id\" AND u.\"is_active\")",
    );
    for entry in catalog.entries() {
        let events: Vec<String> = entry.outbox_events().iter().map(|event| literal(event)).collect();
        if events.is_empty() {
            continue;
        }
        let mut read: Vec<&Entry> = vec![entry];
        if entry.is_attached() {
            // An event does not name the resource that an attachment belongs to.
            read = catalog.attachables().collect();
        }
        let permissions: BTreeSet<&str> = read.iter().filter_map(|entry| entry.meta.read_permission).collect();
        let permissions = permissions.into_iter().map(|permission| {
            let granted = contains_any_sql(dialect, "r.\"permissions\"", &[permission]);
            role_grants_sql(dialect, &granted)
        });
        let abilities = read.iter().flat_map(|entry| {
            let ability = Ability::read(entry.meta.ability).narrow();
            let words = granting_words(&ability, !entry.behavior.is_platform);
            let by_role = contains_any_sql(dialect, "r.\"abilities\"", &words);
            [contains_any_sql(dialect, "w.\"abilities\"", &words), role_grants_sql(dialect, &by_role)]
        });
        let owner = entry.is_restricted.then(|| OWNER_SQL.to_string());
        let mut needed: Vec<String> = permissions.chain(abilities).chain(owner).collect();
        if needed.is_empty() {
            // Events of attachments, in an application whose resources have none.
            needed.push("1 = 0".into());
        }
        let _ = write!(condition, " AND (e.\"name\" NOT IN ({}) OR {})", events.join(", "), needed.join(" AND "));
    }
    condition
}

/// Condition that the webhook `w` has the right of a field: an ability if it has a colon, else a permission.
fn holds_right_sql(catalog: &Catalog, dialect: Dialect, right: &str) -> String {
    let Some((resource, _)) = right.split_once(':') else {
        return role_grants_sql(dialect, &contains_any_sql(dialect, "r.\"permissions\"", &[right]));
    };
    let is_application = |entry: &Entry| entry.meta.ability == resource && !entry.behavior.is_platform;
    let words = granting_words(right, catalog.entries().iter().any(is_application));
    let by_role = role_grants_sql(dialect, &contains_any_sql(dialect, "r.\"abilities\"", &words));
    format!("({} AND {by_role})", contains_any_sql(dialect, "w.\"abilities\"", &words))
}

/// The rights that some fields of the application need, as columns of a query of webhooks.
pub(super) struct Rights<'c>(Vec<&'c str>);

impl<'c> Rights<'c> {
    pub(super) fn of_fields(catalog: &'c Catalog) -> Rights<'c> {
        Rights(catalog.field_rights().into_iter().collect())
    }

    /// Appends a column for each right to the columns of a query of the webhook `w`.
    pub(super) fn write(&self, sql: &mut Sql, catalog: &Catalog) {
        for (index, right) in self.0.iter().enumerate() {
            sql.push(&format!(", {} AS \"right_{index}\"", holds_right_sql(catalog, sql.dialect, right)));
        }
    }

    /// True if the webhook of a row of that query has the right, or no field needs it.
    pub(super) fn holds(&self, webhook: &QueryResult, right: &str) -> bool {
        let index = self.0.iter().position(|known| *known == right);
        index.is_none_or(|index| webhook.try_get("", &format!("right_{index}")).unwrap_or(false))
    }
}

/// Condition that the owner of the webhook `w` owns the record of the event `e`, that the record has no owner (0), or
/// that the owner of `w` is an administrator. Events from before the column `owner_id` have NULL: only administrators
/// receive them.
const OWNER_SQL: &str = "(COALESCE(e.\"owner_id\" IN (0, w.\"user_id\"), 1 = 0) OR \
    EXISTS (SELECT 1 FROM \"users\" u WHERE u.\"id\" = w.\"user_id\" AND u.\"is_admin\"))";

/// Condition that the owner of the webhook `w` is an administrator, or has a role `r` for which `granted` holds.
fn role_grants_sql(dialect: Dialect, granted: &str) -> String {
    let of_user = match dialect {
        Dialect::Postgres => "u.\"role_ids\" @> to_jsonb(r.\"id\")",
        Dialect::Sqlite => "r.\"id\" IN (SELECT \"value\" FROM json_each(u.\"role_ids\"))",
    };
    format!(
        "EXISTS (SELECT 1 FROM \"users\" u WHERE u.\"id\" = w.\"user_id\" \
         AND (u.\"is_admin\" OR EXISTS (SELECT 1 FROM \"roles\" r WHERE {of_user} AND {granted})))"
    )
}

/// Condition that a column with a list contains one of these words.
fn contains_any_sql(dialect: Dialect, column: &str, words: &[impl AsRef<str>]) -> String {
    let words = words.iter().map(|word| literal(word.as_ref())).collect::<Vec<_>>().join(", ");
    match dialect {
        Dialect::Postgres => format!("jsonb_exists_any({column}, ARRAY[{words}])"),
        Dialect::Sqlite => format!("EXISTS (SELECT 1 FROM json_each({column}) WHERE \"value\" IN ({words}))"),
    }
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
