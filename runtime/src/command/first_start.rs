//! The first start: an administrator and a token to begin with, and what the server says of itself.

use std::sync::Arc;

use sea_orm::EntityTrait;

use super::account;
use crate::app::App;
use crate::auth::{Principal, invitation, user};
use crate::context::{Context, State};
use crate::error::Result;
use crate::ops::{API, Transaction};

/// What the first start shows once.
pub struct Shown {
    /// A token for everything.
    pub token: String,
    /// Where the administrator sets a password.
    pub invitation: String,
}

/// Creates the administrator when there is no user at all, with a token for everything and a link to sign in by.
pub async fn administrator(state: &Arc<State>) -> Result<Option<Shown>> {
    if user::Entity::find().one(state.db.reader()).await?.is_some() {
        return Ok(None);
    }
    let operator = Principal::operator();
    let outside = Context::new(state, &operator, state.db.reader());
    // All or nothing: an administrator without a token would end every later start's search for one.
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
    Ok(Some(Shown { token, invitation: invitation::url(state, &secret) }))
}

/// What is printed once the server listens.
pub fn banner(app: &App, state: &Arc<State>, base_url: &str, shown: Option<&Shown>) -> String {
    let mut text = format!("Serving {base_url}{API}/\nThe panel, for people: {base_url}/");
    if let Some(Shown { token, invitation }) = shown {
        // A list that has something in it: reference data, or the administrator.
        let seeded = app.seeds.iter().map(|(resource, _)| state.catalog.linked(resource));
        let path = seeded.filter(|entry| entry.is_listed()).map(|entry| entry.meta.path).next().unwrap_or("users");
        text.push_str(&format!(
            "\n\nThis is the first start. The administrator is {}; this token may do everything and is shown this once:\n\n\
             \x20 {token}\n\nTry it:\n\n\
             \x20 curl -H 'Authorization: Bearer {token}' {base_url}{API}/{path}\n\n\
             To sign in to the panel, set a password here, once and within a week:\n\n\
             \x20 {invitation}\n\n\
             More tokens: {} token create --help\n",
            state.config.admin_email, app.name
        ));
    }
    text
}
