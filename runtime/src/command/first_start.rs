//! The first start: an administrator and a token to begin with, and what the server says of itself.

use std::sync::Arc;

use sea_orm::EntityTrait;

use super::account;
use crate::app::App;
use crate::auth::{Principal, user};
use crate::context::{Context, State};
use crate::crud::Transaction;
use crate::error::Result;

/// Creates the administrator when there is no user at all, and answers a token for everything.
pub async fn administrator(state: &Arc<State>) -> Result<Option<String>> {
    if user::Entity::find().one(state.db.reader()).await?.is_some() {
        return Ok(None);
    }
    let operator = Principal::operator();
    let outside = Context::new(state, &operator, state.db.reader());
    // Both or neither: an administrator without a token would end every later start's search for one.
    let transaction = Transaction::begin(state).await?;
    let context = outside.within(&transaction);
    let email = &state.config.admin_email;
    let user = serde_json::json!({ "name": "Administrator", "email": email, "is_admin": true });
    let (id, _) = account::create(&context, "user", &user).await?;
    let token = serde_json::json!({ "name": "First start", "user_id": id, "abilities": ["*"] });
    let (_, record) = account::create(&context, "token", &token).await?;
    transaction.commit(&outside).await?;
    Ok(record["token"]["value"].as_str().map(String::from))
}

/// What is printed once the server listens.
pub fn banner(app: &App, state: &Arc<State>, base_url: &str, token: Option<&str>) -> String {
    let mut text = format!("Serving {base_url}/api/v1/");
    if let Some(token) = token {
        // A list that has something in it: reference data, or the administrator.
        let seeded = app.seeds.iter().map(|(resource, _)| state.catalog.get(resource));
        let path = seeded.filter(|entry| entry.is_listed()).map(|entry| entry.meta.path).next().unwrap_or("users");
        text.push_str(&format!(
            "\n\nThis is the first start. The administrator is {}; this token may do everything and is shown this once:\n\n\
             \x20 {token}\n\nTry it:\n\n\
             \x20 curl -H 'Authorization: Bearer {token}' {base_url}/api/v1/{path}\n\n\
             More tokens: {} token create --help\n",
            state.config.admin_email, app.name
        ));
    }
    text
}
