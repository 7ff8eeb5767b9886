//! Storage limit of a user: the bytes of the attachments and imports that the user has uploaded and that are not deleted.

use charter_core::db::{Connection, Dialect, Sql};
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};

use super::Storage;

/// The bytes that a user's files have, and the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageUse {
    pub used: u64,
    pub limit: u64,
}

/// The storage that a user has used; `None` without a limit.
///
/// # Errors
/// If the database fails.
pub async fn storage_use(state: &State, user_id: i64) -> Result<Option<StorageUse>> {
    use_in(state, state.db.reader(), user_id).await
}

async fn use_in(state: &State, connection: &Connection, user_id: i64) -> Result<Option<StorageUse>> {
    let Some(limit) = state.extension::<Storage>()?.user_limit() else { return Ok(None) };
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT CAST(COALESCE(SUM(\"size\"), 0) AS BIGINT) AS \"used\" FROM (SELECT \"file_size\" AS \"size\" FROM \
         \"attachments\" WHERE \"uploaded_by\" = ",
    );
    sql.bind(user_id).push(" UNION ALL SELECT \"file_size\" FROM \"imports\" WHERE \"user_id\" = ").bind(user_id);
    let row = sql.push(") AS files").clone().one(connection).await?;
    let used: i64 = row.map_or(Ok(0), |row| row.try_get("", "used"))?;
    Ok(Some(StorageUse { used: u64::try_from(used).unwrap_or(0), limit }))
}

/// Checks that the caller may store a file of this size.
///
/// # Errors
/// 422 under `file` that names the limit, the use and the size.
pub(crate) async fn check(context: &Context<'_>, size: u64) -> Result<()> {
    let Some(user_id) = context.caller().user_id else { return Ok(()) };
    match use_in(context.state(), context.db(), user_id).await? {
        Some(StorageUse { used, limit }) if used.saturating_add(size) > limit => {
            let problem =
                format!("has {size} bytes, but the files that you uploaded have {used} of at most {limit} bytes");
            Err(Error::invalid("file", problem))
        }
        _ => Ok(()),
    }
}

/// [`check`] in the transaction that creates the attachment. Uploads of one user wait for each other here, so that
/// together they keep to the limit. SQLite has one writer anyway.
pub(crate) async fn check_exactly(context: &Context<'_>, size: u64) -> Result<()> {
    let state = context.state();
    if state.extension::<Storage>()?.user_limit().is_none() {
        return Ok(());
    }
    if let (Dialect::Postgres, Some(user_id)) = (state.db.dialect(), context.caller().user_id) {
        let mut lock = Sql::new(Dialect::Postgres, "SELECT \"id\" FROM \"users\" WHERE \"id\" = ");
        // Weaker than FOR UPDATE: rows that refer to the user are inserted meanwhile.
        lock.bind(user_id).push(" FOR NO KEY UPDATE");
        lock.one(context.db()).await?;
    }
    check(context, size).await
}
