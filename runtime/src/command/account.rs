//! `user create|password|invite` and `token create|list|revoke`: the same operations as over HTTP, by the operator.

use std::sync::Arc;

use clap::ArgMatches;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use super::output;
use crate::auth::{Principal, invitation, password, role, token, user};
use crate::context::{Context, State};
use crate::error::{Error, Result};
use crate::ops::{self, Body, Preconditions, Transaction};
use crate::query::Condition;

/// Creates a record in the context's transaction and answers its id and the body that HTTP would answer.
pub async fn create(context: &Context<'_>, resource: &str, fields: &Value) -> Result<(i64, Value)> {
    let bytes = serde_json::to_vec(fields).map_err(Error::internal)?;
    let body = Body::read(&bytes, None)?;
    let outcome = ops::create(context, context.catalog().linked(resource), &body, None).await?;
    let record = serde_json::from_slice(&outcome.body).map_err(Error::internal)?;
    Ok((outcome.created.unwrap_or_default(), record))
}

/// Creates a record in a transaction of its own.
async fn create_alone(state: &Arc<State>, resource: &str, fields: &Value) -> Result<(i64, Value)> {
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let transaction = Transaction::begin(state).await?;
    let created = create(&context.in_transaction(&transaction), resource, fields).await?;
    transaction.commit(&context).await?;
    Ok(created)
}

pub async fn create_user(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let mut role_ids = Vec::new();
    for name in matches.get_many::<String>("role").into_iter().flatten() {
        let found = role::Entity::find().filter(role::Column::Name.eq(name)).one(state.db.reader()).await?;
        role_ids.push(found.ok_or_else(|| Error::invalid("role", format!("names no role: `{name}`")))?.id);
    }
    let fields = json!({
        "email": matches.get_one::<String>("email"),
        "name": matches.get_one::<String>("name"),
        "is_admin": matches.get_flag("admin"),
        "role_ids": role_ids,
    });
    let (id, _) = create_alone(state, "user", &fields).await?;
    output::line(&id.to_string())?;
    Ok(())
}

/// The user whom an argument names by the address.
async fn by_email(state: &State, matches: &ArgMatches, argument: &str) -> Result<user::Model> {
    let email = matches.get_one::<String>(argument).map(|email| email.to_lowercase()).unwrap_or_default();
    let found = user::Entity::find().filter(user::Column::Email.eq(&email)).one(state.db.reader()).await?;
    found.ok_or_else(|| Error::invalid(argument.to_string(), format!("names no user: `{email}`")))
}

/// Reads the password from standard input: an argument would be seen by everybody on the machine.
pub async fn set_password(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let user = by_email(state, matches, "email").await?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(Error::internal)?;
    password::set(state, user.id, line.trim_end_matches(['\r', '\n'])).await
}

pub async fn invite(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let user = by_email(state, matches, "email").await?;
    // As over HTTP: nobody could use it.
    if !user.is_active {
        return Err(Error::Conflict("The user is deactivated: set `is_active` to true first.".into()));
    }
    output::line(&invitation(state, user.id).await?)?;
    Ok(())
}

/// A link by which a user sets a password.
pub async fn invitation(state: &Arc<State>, user_id: i64) -> Result<String> {
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let transaction = Transaction::begin(state).await?;
    let secret = invitation::create(&context.in_transaction(&transaction), user_id).await?;
    transaction.commit(&context).await?;
    Ok(invitation::url(state, &secret))
}

pub async fn create_token(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let user = by_email(state, matches, "user").await?;
    let abilities: Vec<&String> = matches.get_many::<String>("ability").into_iter().flatten().collect();
    let expires_at = matches.get_one::<String>("expires-at");
    // In a record a blank is no value: a variable that is not set would give a token that never ends.
    if expires_at.is_some_and(|time| time.trim().is_empty()) {
        return Err(Error::invalid("expires_at", "must be a time, and is empty"));
    }
    let fields = json!({
        "name": matches.get_one::<String>("name"),
        "user_id": user.id,
        "abilities": abilities,
        "expires_at": expires_at,
    });
    let (_, record) = create_alone(state, "token", &fields).await?;
    output::line(record["token"]["value"].as_str().unwrap_or_default())?;
    Ok(())
}

pub async fn list_tokens(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let tokens = token::Entity::find().order_by_asc(token::Column::Id).all(state.db.reader()).await?;
    let rows: Vec<Value> = tokens
        .into_iter()
        .map(|t| {
            json!({
                "id": t.id, "name": t.name, "user_id": t.user_id, "abilities": t.abilities,
                "expires_at": t.expires_at, "last_used_at": t.last_used_at, "created_at": t.created_at,
            })
        })
        .collect();
    output::print(matches, &["id", "name", "user_id", "abilities", "expires_at", "last_used_at"], &rows)
}

pub async fn revoke_token(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let id = matches.get_one::<i64>("id").copied().unwrap_or_default();
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let transaction = Transaction::begin(state).await?;
    let entry = state.catalog.linked("token");
    match ops::delete(&context.in_transaction(&transaction), entry, id, Condition::always(), &Preconditions::default())
        .await
    {
        Err(Error::NotFound) => Err(Error::invalid("id", format!("names no token: {id}"))),
        Err(error) => Err(error),
        Ok(()) => transaction.commit(&context).await,
    }
}
