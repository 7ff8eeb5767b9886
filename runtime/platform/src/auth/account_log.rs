//! Audit entries of accounts: sign-ins, sign-outs, passwords, second factors, invitations, mails and the first use of a
//! token.

use sea_orm::entity::prelude::*;
use serde_json::json;

use super::{token, user};
use charter_core::crypto::hmac::hmac_sha256;
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::Context;
use charter_core::ops::audit::{NO_RECORD, record_event, record_event_alone};
use charter_core::principal::Principal;
use charter_core::resource::Resource;

/// Hexadecimal digits of the fingerprint of an unknown address.
const FINGERPRINT_DIGITS: usize = 16;

/// Actions of the entries of a mail.
const MAIL_SENT: &str = "mail_sent";
const MAIL_FAILED: &str = "mail_failed";

/// An event in the life of an account, as the action of its audit entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccountEvent {
    SignIn,
    SignOut,
    Invite,
    AcceptInvitation,
    RequestReset,
    AcceptReset,
    SetPassword,
    ChangePassword,
    EndSessions,
    AddSecondFactor,
    RemoveSecondFactor,
    UseRecoveryCode,
    MailSent,
    MailFailed,
    RenewRecoveryCodes,
    LinkIdentity,
    UnlinkIdentity,
    AddPasskey,
    RemovePasskey,
}

impl AccountEvent {
    fn action(self) -> &'static str {
        match self {
            AccountEvent::SignIn => "sign_in",
            AccountEvent::SignOut => "sign_out",
            AccountEvent::Invite => "invite",
            AccountEvent::AcceptInvitation => "accept_invitation",
            AccountEvent::RequestReset => "request_reset",
            AccountEvent::AcceptReset => "accept_reset",
            AccountEvent::SetPassword => "set_password",
            AccountEvent::ChangePassword => "change_password",
            AccountEvent::EndSessions => "end_sessions",
            AccountEvent::AddSecondFactor => "second_factor_added",
            AccountEvent::RemoveSecondFactor => "second_factor_removed",
            AccountEvent::UseRecoveryCode => "recovery_code_used",
            AccountEvent::MailSent => MAIL_SENT,
            AccountEvent::MailFailed => MAIL_FAILED,
            AccountEvent::RenewRecoveryCodes => "recovery_codes_renewed",
            AccountEvent::LinkIdentity => "identity_linked",
            AccountEvent::UnlinkIdentity => "identity_unlinked",
            AccountEvent::AddPasskey => "passkey_added",
            AccountEvent::RemovePasskey => "passkey_removed",
        }
    }
}

/// Inserts the entry of an event of this user, in the context's transaction.
pub(super) async fn record(context: &Context<'_>, user_id: i64, event: AccountEvent) -> Result<()> {
    record_with(context, user_id, event, &[]).await
}

/// [`record`] with details.
pub(super) async fn record_with(
    context: &Context<'_>,
    user_id: i64,
    event: AccountEvent,
    details: &[(&str, Json)],
) -> Result<()> {
    record_event(context, (user::Entity::meta().plural, user_id), event.action(), details).await
}

/// Inserts the entry of a mail to this user, in a transaction of its own. `sent` has the reason of a failure.
pub(super) async fn record_mail(context: &Context<'_>, user_id: i64, kind: &str, sent: Result<(), &str>) -> Result<()> {
    let event = if sent.is_ok() { AccountEvent::MailSent } else { AccountEvent::MailFailed };
    let reason = sent.err().map(|reason| ("reason", json!(reason)));
    let details: Vec<(&str, Json)> = [("kind", json!(kind))].into_iter().chain(reason).collect();
    record_event_alone(context, (user::Entity::meta().plural, user_id), event.action(), &details).await
}

/// The result of the last mail to this user that a request sent: the reason of a failure. `None` without a mail.
pub(super) async fn mail_result(
    context: &Context<'_>,
    user_id: i64,
    request_id: &str,
) -> Result<Option<Result<(), String>>> {
    let mut sql = Sql::new(
        context.state().db.dialect(),
        "SELECT \"action\", \"changes\" FROM \"audit_entries\" WHERE \"entity_type\" = ",
    );
    sql.bind(user::Entity::meta().plural).push(" AND \"record_id\" = ").bind(user_id);
    sql.push(" AND \"request_id\" = ").bind(request_id);
    sql.push(" AND \"action\" IN (")
        .bind(MAIL_SENT)
        .push(", ")
        .bind(MAIL_FAILED)
        .push(") ORDER BY \"id\" DESC LIMIT 1");
    let Some(row) = sql.one(context.db()).await? else { return Ok(None) };
    if row.try_get::<String>("", "action")? == MAIL_SENT {
        return Ok(Some(Ok(())));
    }
    let changes: Json = row.try_get("", "changes")?;
    Ok(Some(Err(changes["reason"]["new"].as_str().unwrap_or_default().to_string())))
}

/// The user as the caller of the request that has just proved to be theirs, by a password or an invitation.
pub(super) fn identified(user_id: i64) -> Principal {
    Principal { user_id: Some(user_id), is_active: true, ..Principal::default() }
}

/// Inserts the entry of the first use of a token, in the context's transaction.
pub(super) async fn record_first_use(context: &Context<'_>, token_id: i64) -> Result<()> {
    record_event(context, (token::Entity::meta().plural, token_id), "first_use", &[]).await
}

/// Records a failed sign-in with this email address, in a transaction of its own.
///
/// The address of no account is not stored, because people also type their password there. Its fingerprint, which is
/// keyed, shows which attempts were made with the same one.
///
/// # Errors
/// If the database fails.
pub async fn record_failed_sign_in(context: &Context<'_>, email: &str) -> Result<()> {
    let state = context.state();
    let email = email.trim().to_lowercase();
    // PostgreSQL refuses NUL in a parameter, and no account has it in its address.
    let known = match email.contains('\0') {
        true => None,
        false => user::Entity::find().filter(user::Column::Email.eq(&email)).one(state.db.reader()).await?,
    };
    let (id, details) = match known {
        Some(user) => (user.id, Vec::new()),
        None => {
            let digest = hmac_sha256(state.secret_key.as_str().as_bytes(), format!("sign-in {email}").as_bytes());
            let fingerprint = hex::encode(digest)[..FINGERPRINT_DIGITS].to_string();
            (NO_RECORD, vec![("email_fingerprint", json!(fingerprint))])
        }
    };
    record_event_alone(context, (user::Entity::meta().plural, id), "sign_in_failed", &details).await
}
