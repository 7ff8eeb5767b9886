//! Choices of users for the panel, as texts by name: `language`, `time_zone`, `columns/products`. No API shows them.

use std::collections::BTreeMap;

use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::{Context, State};

/// The preferences of a user by name.
pub type Preferences = BTreeMap<String, String>;

/// All preferences of a user.
///
/// # Errors
/// If the database fails.
pub async fn read(state: &State, user_id: i64) -> Result<Preferences> {
    let mut sql =
        Sql::new(state.db.dialect(), "SELECT \"name\", \"value\" FROM \"user_preferences\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    let rows = sql.all(state.db.reader()).await?;
    rows.iter().map(|row| Ok((row.try_get("", "name")?, row.try_get("", "value")?))).collect()
}

/// Sets a preference; an empty value removes it.
///
/// # Errors
/// If the database fails.
pub async fn set(state: &State, user_id: i64, name: &str, value: &str) -> Result<()> {
    let dialect = state.db.dialect();
    let mut sql = match value {
        "" => Sql::new(dialect, "DELETE FROM \"user_preferences\" WHERE \"user_id\" = "),
        _ => Sql::new(dialect, "INSERT INTO \"user_preferences\" (\"user_id\", \"name\", \"value\") VALUES ("),
    };
    sql.bind(user_id);
    match value {
        "" => sql.push(" AND \"name\" = ").bind(name),
        _ => sql
            .push(", ")
            .bind(name)
            .push(", ")
            .bind(value)
            .push(") ON CONFLICT (\"user_id\", \"name\") DO UPDATE SET \"value\" = excluded.\"value\""),
    };
    sql.run(state.db.writer()).await.map(drop)
}

/// Forgets the preferences of a user, in the context's transaction.
pub(super) async fn forget(context: &Context<'_>, user_id: i64) -> Result<()> {
    let mut sql = Sql::new(context.state().db.dialect(), "DELETE FROM \"user_preferences\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(context.db()).await.map(drop)
}
