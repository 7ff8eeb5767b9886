//! Recovery codes: ten single-use codes that replace the second factor, stored as keyed digests.

use data_encoding::BASE32_NOPAD;

use charter_core::crypto::hmac::hmac_sha256;
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};

const CODES: usize = 10;
/// Random bytes of a code: 80 bits, in 16 characters.
const CODE_BYTES: usize = 10;
const GROUP_CHARACTERS: usize = 4;

/// Replaces the codes of a user, in the context's transaction, and returns the new ones: `ABCD-EFGH-2345-WXYZ`.
pub(super) async fn create(context: &Context<'_>, user_id: i64) -> Result<Vec<String>> {
    delete_all(context, user_id).await?;
    let mut codes = Vec::with_capacity(CODES);
    for _ in 0..CODES {
        let mut bytes = [0_u8; CODE_BYTES];
        getrandom::fill(&mut bytes).map_err(Error::internal)?;
        let code = BASE32_NOPAD.encode(&bytes);
        let dialect = context.state().db.dialect();
        let mut sql = Sql::new(dialect, "INSERT INTO \"user_recovery_codes\" (\"user_id\", \"digest\") VALUES (");
        sql.bind(user_id).push(", ").bind(digest(context.state(), user_id, &code)).push(")");
        sql.run(context.db()).await?;
        let groups: Vec<String> =
            code.as_bytes().chunks(GROUP_CHARACTERS).map(|group| String::from_utf8_lossy(group).into()).collect();
        codes.push(groups.join("-"));
    }
    Ok(codes)
}

/// Uses up a code, without spaces and hyphens, in the context's transaction. Returns whether it was valid.
pub(super) async fn consume(context: &Context<'_>, user_id: i64, sent: &str) -> Result<bool> {
    let dialect = context.state().db.dialect();
    let mut sql = Sql::new(dialect, "DELETE FROM \"user_recovery_codes\" WHERE \"user_id\" = ");
    let digest = digest(context.state(), user_id, &sent.to_ascii_uppercase());
    sql.bind(user_id).push(" AND \"digest\" = ").bind(digest);
    Ok(sql.run(context.db()).await? == 1)
}

/// The number of unused codes of a user.
pub(super) async fn count(state: &State, user_id: i64) -> Result<i64> {
    let mut sql =
        Sql::new(state.db.dialect(), "SELECT COUNT(*) AS \"count\" FROM \"user_recovery_codes\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    let row = sql.one(state.db.reader()).await?;
    Ok(row.map(|row| row.try_get("", "count")).transpose()?.unwrap_or_default())
}

/// Deletes the codes of a user, in the context's transaction.
pub(super) async fn delete_all(context: &Context<'_>, user_id: i64) -> Result<()> {
    let dialect = context.state().db.dialect();
    let mut sql = Sql::new(dialect, "DELETE FROM \"user_recovery_codes\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(context.db()).await.map(drop)
}

/// The digest is keyed: a copy of the database alone does not allow to search for codes.
fn digest(state: &State, user_id: i64, code: &str) -> String {
    let text = format!("recovery code {user_id} {code}");
    hex::encode(hmac_sha256(state.secret_key.as_str().as_bytes(), text.as_bytes()))
}
