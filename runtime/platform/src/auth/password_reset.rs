//! Reset of a forgotten password: mails a link to the user. The caller learns nothing about the account.

use sea_orm::entity::prelude::*;

use super::account_mail::{in_background, reset_mail, send};
use super::{invitation, user};
use crate::mail::Kind;
use charter_core::error::Result;
use charter_core::ops::{Context, records};
use charter_core::query::Condition;
use charter_core::resource::Resource;

/// Mails a link to the active user with this email address, if mail is set. All work is done in the background, which
/// makes an unknown address take the same time.
///
/// # Errors
/// If the server is set up incompletely.
pub fn request(context: &Context<'_>, email: &str) -> Result<()> {
    let email = email.trim().to_lowercase();
    in_background(
        context,
        Kind::Reset,
        Box::new(move |context| {
            Box::pin(async move {
                let Some((user, secret)) = create_link(context, &email).await? else { return Ok(()) };
                send(context, user.id, &reset_mail(context.state(), &user, secret)).await
            })
        }),
    )
}

/// The secret of a new link and its user; `None` for an address of no active user, and soon after the last link.
async fn create_link(context: &Context<'_>, email: &str) -> Result<Option<(user::Model, String)>> {
    let state = context.state();
    let by_email =
        || user::Entity::find().filter(user::Column::Email.eq(email)).filter(user::Column::IsActive.eq(true));
    let Some(user) = by_email().one(state.db.reader()).await? else { return Ok(None) };
    let transaction = state.db.begin().await?;
    let context = &context.with_connection(&transaction);
    // Another process may create a link, change the address or deactivate the user at the same time.
    let entry = context.catalog().linked(user::Entity::meta().name);
    records::load(context, entry, user.id, &Condition::always(), true).await?;
    let Some(user) = by_email().one(&transaction).await? else { return Ok(None) };
    let Some(secret) = invitation::create_reset(context, user.id).await? else { return Ok(None) };
    transaction.commit().await?;
    Ok(Some((user, secret)))
}
