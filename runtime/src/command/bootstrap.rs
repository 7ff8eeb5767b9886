//! First start: administrator, first token and the start banner.

use std::sync::Arc;

use sea_orm::EntityTrait;

use super::account;
use crate::app::App;
use crate::server::ServerState;
use charter_core::error::Result;
use charter_core::ops::Context;
use charter_core::ops::{API, Transaction};
use charter_core::principal::Principal;
use charter_platform::auth::{invitation, user};

/// Secrets that the first start shows once.
pub(super) struct FirstSecrets {
    /// A token with all abilities.
    pub token: String,
    /// The link with which the administrator sets a password.
    pub invitation: String,
}

/// Creates an administrator with a token and an invitation, if there are no users.
pub(super) async fn create_administrator(state: &Arc<ServerState>) -> Result<Option<FirstSecrets>> {
    if user::Entity::find().one(state.db.reader()).await?.is_some() {
        return Ok(None);
    }
    let operator = Principal::operator();
    let outside = Context::new(state, &operator, state.db.reader());
    // In one transaction: later starts do nothing as soon as there is a user.
    let transaction = Transaction::begin(state).await?;
    let context = outside.in_transaction(&transaction);
    let email = &state.config.admin_email;
    let user = serde_json::json!({ "name": "Administrator", "email": email, "is_admin": true });
    let (id, _) = account::create(&context, "user", &user).await?;
    let token = serde_json::json!({ "name": "First start", "user_id": id, "abilities": ["*"] });
    let (_, record) = account::create(&context, "token", &token).await?;
    let secret = invitation::create(&context, id).await?;
    transaction.commit(&outside).await?;
    let token = record["token"]["value"].as_str().unwrap_or_default().to_string();
    Ok(Some(FirstSecrets { token, invitation: invitation::url(state, &secret) }))
}

/// The text that is printed when the server listens.
pub(super) fn banner(app: &App, state: &Arc<ServerState>, base_url: &str, first: Option<&FirstSecrets>) -> String {
    let mut text = format!("Serving {base_url}{API}/\nAdmin panel: {base_url}/");
    if let Some(FirstSecrets { token, invitation }) = first {
        // A list that is not empty: of seed data, or else of users.
        let seeded = app.seeds.iter().map(|(resource, _)| state.catalog.linked(resource));
        let path = seeded.filter(|entry| entry.is_listed()).map(|entry| entry.meta.path).next().unwrap_or("users");
        text.push_str(&format!(
            "\n\nThis is the first start. The administrator is {}. This token has all abilities and is shown only once:\n\n\
             \x20 {token}\n\nTry it:\n\n\
             \x20 curl -H 'Authorization: Bearer {token}' {base_url}{API}/{path}\n\n\
             To sign in to the panel, set a password within a week with this link, which works once:\n\n\
             \x20 {invitation}\n\n\
             More tokens: {} token create --help\n",
            state.config.admin_email, app.name
        ));
    }
    text
}
