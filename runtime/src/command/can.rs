//! `can`: which rule allows or denies what a token would do.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use super::output;
use crate::attachment;
use crate::auth::{Principal, Secret, caller_of, token, user};
use crate::catalog::Entry;
use crate::context::{Context, State};
use crate::error::{Error, Result};
use crate::ops::{self, Method, RouteOperation};
use crate::query::{Condition, hint};

/// The grammar of the command.
pub fn command(format: Arg) -> Command {
    Command::new("can")
        .about("Tell which rule allows or denies what a token would do; exits with 1 when it may not")
        .arg(Arg::new("token").required(true).help("The token, or its id"))
        .arg(Arg::new("action").required(true).help("list, show, create, update, delete, restore, or a named action"))
        .arg(Arg::new("target").required(true).help("The plural name of a resource, and a record's id: users/7"))
        .arg(format)
}

/// The rules in the order in which a request meets them, as far as the first that denies.
#[derive(Default)]
struct Rules {
    rows: Vec<Value>,
    denied: Option<Error>,
}

impl Rules {
    /// Notes a rule, and answers whether it holds.
    fn meet(&mut self, rule: &str, verdict: Result<String>) -> bool {
        let (verdict, why) = match verdict {
            Ok(why) => ("allows", why),
            Err(error) => {
                let why = error.message("-");
                self.denied = Some(error);
                ("denies", why)
            }
        };
        self.rows.push(json!({ "rule": rule, "verdict": verdict, "why": why }));
        self.denied.is_none()
    }
}

pub async fn run(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let argument = |name: &str| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let (entry, method, id) = target(state, argument("action"), argument("target"))?;
    let mut rules = Rules::default();
    follow(state, &mut rules, argument("token"), entry, &method, id).await?;
    output::print(matches, &["rule", "verdict", "why"], &rules.rows)?;
    match rules.denied {
        None => Ok(()),
        Some(error) => Err(Error::internal(format!("denied: {} {}", error.status().as_u16(), error.code()))),
    }
}

/// What is to be done with what.
fn target<'s>(state: &'s State, action: &str, target: &str) -> Result<(&'s Entry, Method, Option<i64>)> {
    let (plural, id) = match target.split_once('/') {
        Some((plural, id)) => (plural, Some(id)),
        None => (target, None),
    };
    let entry = state.catalog.by_plural(plural).ok_or_else(|| {
        let known = state.catalog.entries().iter().map(|entry| entry.meta.plural);
        Error::internal(format!("there is no resource `{plural}`{}", hint(plural, known)))
    })?;
    let deeds = ops::operations(state, entry);
    let found = deeds.iter().find(|(name, _)| *name == action).map(|(_, method)| method.clone());
    let method = found.ok_or_else(|| {
        let known = deeds.iter().map(|(name, _)| *name);
        Error::internal(format!("{plural} have no action `{action}`{}", hint(action, known)))
    })?;
    let id = id.map(|id| id.parse().map_err(|_| Error::internal(format!("`{id}` is not an id")))).transpose()?;
    Ok((entry, method, id))
}

/// Asks the rules in the order of the contract: 401, 403, 404.
async fn follow(
    state: &Arc<State>,
    rules: &mut Rules,
    token: &str,
    entry: &Entry,
    method: &Method,
    id: Option<i64>,
) -> Result<()> {
    let Some(token) = find(state, token).await? else {
        rules.meet("token", Err(Error::InvalidToken));
        return Ok(());
    };
    let told = format!("{} `{}`", token.id, token.name);
    let expired = token.expires_at.is_some_and(|at| at <= state.clock.now());
    if !rules.meet("token", if expired { Err(Error::InvalidToken) } else { Ok(told) }) {
        return Ok(());
    }
    let owner = user::Entity::find_by_id(token.user_id).one(state.db.reader()).await?.ok_or(Error::InvalidToken)?;
    let caller = caller_of(state, token).await?;
    let who = if caller.is_admin { format!("{}, an administrator", owner.email) } else { owner.email };
    let ability = method.abilities.join(" or ");
    let verdicts = [
        ("user", if caller.is_active { Ok(who) } else { Err(Error::UserDeactivated) }),
        ("ability", caller.need_any_ability(&method.abilities).map(|()| ability)),
        ("permission", permitted(&caller, method.permission)),
    ];
    for (rule, verdict) in verdicts {
        if !rules.meet(rule, verdict) {
            return Ok(());
        }
    }
    let Some(id) = id else { return Ok(()) };
    let context = Context::new(state, &caller, state.db.reader());
    rules.meet("record", reached(&context, entry, method, id).await);
    Ok(())
}

/// By its id, or by itself.
async fn find(state: &State, token: &str) -> Result<Option<token::Model>> {
    let all = match (token.parse::<i64>(), Secret::parse(token)) {
        (Ok(id), _) => token::Entity::find_by_id(id),
        (_, Some(secret)) => token::Entity::find().filter(token::Column::TokenHash.eq(secret.digest_hex())),
        _ => return Ok(None),
    };
    Ok(all.one(state.db.reader()).await?)
}

fn permitted(caller: &Principal, permission: Option<&'static str>) -> Result<String> {
    match permission {
        None => Ok("none is needed".into()),
        Some(permission) => caller.need_permission(permission).map(|()| permission.into()),
    }
}

/// Whether the caller sees the record.
async fn reached(context: &Context<'_>, entry: &Entry, method: &Method, id: i64) -> Result<String> {
    if entry.is_attached() {
        attachment::reach(context, id, method.name == "GET").await?;
    }
    if let RouteOperation::Restore = method.call {
        return ops::restorable(context, entry, id, Condition::always()).await.map(|()| "it is there".into());
    }
    let condition = ops::visible(context, entry);
    match ops::load(context, entry, id, &condition, false).await? {
        Some(_) => Ok("it is there".into()),
        None => Err(Error::NotFound),
    }
}
