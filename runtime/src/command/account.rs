//! Commands `user` and `token`, which perform the operations of the API as the operator.

use std::sync::Arc;

use clap::ArgMatches;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use super::output;
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_core::ops::Context;
use charter_core::ops::{self, Body, Preconditions, Transaction};
use charter_core::principal::Principal;
use charter_core::query::Condition;
use charter_platform::auth::{invitation, password, role, token, user};

/// Creates a record in the context's transaction. Returns its id and the record as the API shows it.
pub(super) async fn create(context: &Context<'_>, resource: &str, fields: &Value) -> Result<(i64, Value)> {
    let bytes = serde_json::to_vec(fields).map_err(Error::internal)?;
    let body = Body::read(&bytes, None)?;
    let outcome = ops::create(context, context.catalog().linked(resource), &body, None).await?;
    let record = serde_json::from_slice(&outcome.body).map_err(Error::internal)?;
    Ok((outcome.created.unwrap_or_default(), record))
}

/// Creates a record in a new transaction.
async fn create_and_commit(state: &Arc<ServerState>, resource: &str, fields: &Value) -> Result<(i64, Value)> {
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let transaction = Transaction::begin(state).await?;
    let created = create(&context.in_transaction(&transaction), resource, fields).await?;
    transaction.commit(&context).await?;
    Ok(created)
}

pub(super) async fn create_user(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let mut role_ids = Vec::new();
    for name in matches.get_many::<String>("role").into_iter().flatten() {
        let found = role::Entity::find().filter(role::Column::Name.eq(name)).one(state.db.reader()).await?;
        role_ids
            .push(found.ok_or_else(|| Error::invalid("role", format!("must be the name of a role, not `{name}`")))?.id);
    }
    let fields = json!({
        "email": matches.get_one::<String>("email"),
        "name": matches.get_one::<String>("name"),
        "is_admin": matches.get_flag("admin"),
        "role_ids": role_ids,
    });
    let (id, _) = create_and_commit(state, "user", &fields).await?;
    output::line(&id.to_string())?;
    Ok(())
}

/// Finds the user whose e-mail address is the value of an argument.
pub(super) async fn user_by_email(state: &ServerState, matches: &ArgMatches, argument: &str) -> Result<user::Model> {
    let email = matches.get_one::<String>(argument).map(|email| email.to_lowercase()).unwrap_or_default();
    let found = user::Entity::find().filter(user::Column::Email.eq(&email)).one(state.db.reader()).await?;
    found.ok_or_else(|| {
        Error::invalid(argument.to_string(), format!("must be the e-mail address of a user, not `{email}`"))
    })
}

/// Reads the password from standard input, because other users of the machine can see arguments.
pub(super) async fn set_password(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let user = user_by_email(state, matches, "email").await?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(Error::internal)?;
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    password::set(&context, user.id, line.trim_end_matches(['\r', '\n'])).await
}

pub(super) async fn invite(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let user = user_by_email(state, matches, "email").await?;
    if !user.is_active {
        return Err(Error::Conflict("The user is deactivated. Set `is_active` to true first.".into()));
    }
    output::line(&invitation(state, user.id).await?)?;
    Ok(())
}

/// Creates a link with which a user sets a password.
pub(super) async fn invitation(state: &Arc<ServerState>, user_id: i64) -> Result<String> {
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let transaction = Transaction::begin(state).await?;
    let secret = invitation::create(&context.in_transaction(&transaction), user_id).await?;
    transaction.commit(&context).await?;
    Ok(invitation::url(state, &secret))
}

pub(super) async fn create_token(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let user = user_by_email(state, matches, "user").await?;
    let abilities: Vec<&String> = matches.get_many::<String>("ability").into_iter().flatten().collect();
    let expires_at = matches.get_one::<String>("expires-at");
    // The API reads a blank value as null: an unset shell variable would create a token that never expires.
    if expires_at.is_some_and(|time| time.trim().is_empty()) {
        return Err(Error::invalid("expires_at", "must be a time, not an empty text"));
    }
    let fields = json!({
        "name": matches.get_one::<String>("name"),
        "user_id": user.id,
        "abilities": abilities,
        "expires_at": expires_at,
    });
    let (_, record) = create_and_commit(state, "token", &fields).await?;
    output::line(record["token"]["value"].as_str().unwrap_or_default())?;
    Ok(())
}

pub(super) async fn list_tokens(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
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

pub(super) async fn revoke_token(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let id = matches.get_one::<i64>("id").copied().unwrap_or_default();
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let transaction = Transaction::begin(state).await?;
    let entry = state.catalog.linked("token");
    match ops::delete(&context.in_transaction(&transaction), entry, id, Condition::always(), &Preconditions::default())
        .await
    {
        Err(Error::NotFound) => Err(Error::invalid("id", format!("must be the id of a token, not {id}"))),
        Err(error) => Err(error),
        Ok(()) => transaction.commit(&context).await,
    }
}
