//! Mails about an account: invitations, links for a new password and notices of one, with their audit entries.

use sea_orm::EntityTrait;

use super::{account_log, invitation, user};
use crate::mail::{Kind, Mail, Mailer};
use charter_core::error::Result;
use charter_core::ops::{Context, State, Work, work_after_commit};
use charter_core::resource::Resource;

/// Queues the mail of an invitation for after the commit of the context's transaction, if mail is set.
pub(super) fn send_invitation_after_commit(context: &Context<'_>, user: &user::Model, secret: String) -> Result<()> {
    if !context.state().extension::<Mailer>()?.is_on() {
        return Ok(());
    }
    let user = user.clone();
    let work: Work = Box::new(move |context| {
        Box::pin(async move {
            let mail = invitation_mail(context.state(), &user, secret);
            send(context, user.id, &mail).await
        })
    });
    work_after_commit(context, context.catalog().linked(user::Entity::meta().name), work);
    Ok(())
}

/// The result of the mail of an invitation that this request has sent: the reason of a failure. `None` if mail is not set.
///
/// # Errors
/// If the database fails.
pub async fn invitation_result(context: &Context<'_>, user_id: i64) -> Result<Option<Result<(), String>>> {
    match context.request_id() {
        Some(request_id) if context.state().extension::<Mailer>()?.is_on() => {
            account_log::mail_result(context, user_id, request_id).await
        }
        _ => Ok(None),
    }
}

/// Tells a user about a new password, in the background, if mail is set.
pub(super) fn notify_of_new_password(context: &Context<'_>, user_id: i64) -> Result<()> {
    in_background(
        context,
        Kind::Notice,
        Box::new(move |context| {
            Box::pin(async move {
                let found = user::Entity::find_by_id(user_id).one(context.state().db.reader()).await?;
                let Some(user) = found.filter(|user| user.is_active) else { return Ok(()) };
                send(context, user_id, &notice_mail(context, &user)).await
            })
        }),
    )
}

/// Starts work that sends a mail and that no request waits for, if mail is set. The server waits for it when it stops.
/// Beyond a limit, the mail is dropped.
pub(super) fn in_background(context: &Context<'_>, kind: Kind, work: Work) -> Result<()> {
    let mailer = context.state().extension::<Mailer>()?;
    if !mailer.is_on() {
        return Ok(());
    }
    let Some(place) = mailer.reserve(kind) else {
        tracing::warn!(kind = kind.name(), "mail dropped: too many mails are waiting");
        return Ok(());
    };
    let (state, caller) = (context.state_arc().clone(), context.caller().clone());
    let (request_id, address) = (context.request_id().map(str::to_string), context.client_address());
    context.state().detached_tasks.spawn(async move {
        let _place = place;
        let context = Context::new(&state, &caller, state.db.reader());
        let context = context.with_request_id(request_id.as_deref()).with_client_address(address);
        if let Err(error) = work(&context).await {
            tracing::warn!(%error, kind = kind.name(), request_id, "mail could not be prepared");
        }
    });
    Ok(())
}

/// Sends a mail to a user, and records the result.
pub(super) async fn send(context: &Context<'_>, user_id: i64, mail: &Mail) -> Result<()> {
    let sent = context.state().extension::<Mailer>()?.send(mail).await;
    let kind = mail.kind.name();
    if let Err(reason) = &sent {
        tracing::warn!(user_id, kind, reason, request_id = context.request_id(), "mail could not be sent");
    }
    account_log::record_mail(context, user_id, kind, sent.as_ref().map(drop).map_err(String::as_str)).await
}

fn invitation_mail(state: &State, user: &user::Model, secret: String) -> Mail {
    let (app, link) = (state.name_for_people(), invitation::url(state, &secret));
    let text = format!(
        "{}\n\nYou are invited to {app}. To set your password and sign in, open this link:\n\n{link}\n\n\
         The link works once and is valid for 7 days.\n\nIf you do not expect this mail, ignore it.\n",
        greeting(user)
    );
    mail(Kind::Invitation, user, format!("Your invitation to {app}"), text, Some(secret))
}

/// The mail with the link of a reset.
pub(super) fn reset_mail(state: &State, user: &user::Model, secret: String) -> Mail {
    let (app, link) = (state.name_for_people(), invitation::url(state, &secret));
    let text = format!(
        "{}\n\nSomebody asked for a new password for your account at {app}. To choose one, open this link:\n\n{link}\n\n\
         The link works once and is valid for one hour.\n\n\
         If it was not you, ignore this mail. Your password stays as it is.\n",
        greeting(user)
    );
    mail(Kind::Reset, user, format!("A new password for {app}"), text, Some(secret))
}

fn notice_mail(context: &Context<'_>, user: &user::Model) -> Mail {
    let (app, at) = (context.state().name_for_people(), context.now().format("%Y-%m-%d %H:%M UTC"));
    let from = context.client_address().map(|address| format!(", from the address {address}")).unwrap_or_default();
    let text = format!(
        "{}\n\nThe password of your account at {app} was changed on {at}{from}. Other sessions were signed out.\n\n\
         If it was not you, tell an administrator at once.\n",
        greeting(user)
    );
    mail(Kind::Notice, user, format!("Your password for {app} was changed"), text, None)
}

fn mail(kind: Kind, user: &user::Model, subject: String, text: String, secret: Option<String>) -> Mail {
    Mail { kind, name: user.name.clone(), email: user.email.clone(), subject, text, secret }
}

fn greeting(user: &user::Model) -> String {
    format!("Hello {},", crate::mail::one_line(&user.name))
}
