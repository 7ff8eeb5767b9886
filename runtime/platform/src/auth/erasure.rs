//! Erasure of a person: ends their access, and replaces their name and email address in the audit log.

use sea_orm::entity::prelude::*;
use serde_json::json;

use super::{invitation, known_network, oidc, passkey, preference, second_factor, session, token, user};
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::audit::ERASED;
use charter_core::ops::{Context, Preconditions, delete};
use charter_core::query::Condition;
use charter_core::resource::Resource;

/// Fields of a user that identify the person.
const PERSONAL_FIELDS: [&str; 2] = ["name", "email"];

/// Deletes the tokens of a user, each with its audit entry, and the password, the second factor, the sessions and the
/// invitations, in the context's transaction.
pub(super) async fn end_access(context: &Context<'_>, user_id: i64) -> Result<()> {
    let (state, transaction) = (context.state(), context.db());
    let tokens = context.catalog().linked(token::Entity::meta().name);
    for token in token::Entity::find().filter(token::Column::UserId.eq(user_id)).all(transaction).await? {
        delete(context, tokens, token.id, Condition::always(), &Preconditions::default()).await?;
    }
    let mut sql = Sql::new(state.db.dialect(), "DELETE FROM \"user_passwords\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(transaction).await?;
    second_factor::remove(context, user_id).await?;
    oidc::unlink(context, user_id).await?;
    passkey::remove_all(context, user_id).await?;
    known_network::forget(context, user_id).await?;
    preference::forget(context, user_id).await?;
    invitation::end(state.db.dialect(), transaction, user_id).await?;
    session::end_all(state, transaction, user_id).await
}

/// Replaces the name and the email address, old and new, in the audit entries of the account, except for the `neutral`
/// ones of an earlier erasure. The entries stay.
pub(super) async fn redact_audit_entries(context: &Context<'_>, user_id: i64, neutral: [&str; 2]) -> Result<()> {
    let (dialect, transaction) = (context.state().db.dialect(), context.db());
    let mut sql = Sql::new(dialect, "SELECT \"id\", \"changes\" FROM \"audit_entries\" WHERE \"entity_type\" = ");
    sql.bind(user::Entity::meta().plural).push(" AND \"record_id\" = ").bind(user_id).push(" AND (");
    for (index, field) in PERSONAL_FIELDS.iter().enumerate() {
        // Both databases have this operator for JSON.
        sql.push(if index > 0 { " OR " } else { "" }).push(&format!("(\"changes\" -> '{field}') IS NOT NULL"));
    }
    sql.push(")");
    for row in sql.all(transaction).await? {
        let (id, mut changes): (i64, Json) = (row.try_get("", "id")?, row.try_get("", "changes")?);
        for field in PERSONAL_FIELDS {
            let sides =
                changes.get_mut(field).and_then(Json::as_object_mut).into_iter().flat_map(|sides| sides.values_mut());
            sides
                .filter(|value| !value.is_null() && value.as_str().is_none_or(|text| !neutral.contains(&text)))
                .for_each(|value| *value = json!(ERASED));
        }
        let mut sql = Sql::new(dialect, "UPDATE \"audit_entries\" SET \"changes\" = ");
        sql.bind(changes).push(" WHERE \"id\" = ").bind(id);
        sql.run(transaction).await?;
    }
    Ok(())
}
