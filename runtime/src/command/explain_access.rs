//! Command `can`: the rule that allows or denies an action of a token.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};

use super::output;
use crate::server::{Mount, MountAccess, ServerState};
use charter_core::ability;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::ops::Context;
use charter_core::ops::write::open_door;
use charter_core::ops::{self, Method, RouteOperation};
use charter_core::principal::Principal;
use charter_core::query::Condition;
use charter_core::suggest::hint;
use charter_platform::attachment;
use charter_platform::auth::{Secret, caller_of, role, token, user};

pub(super) fn command(format: Arg) -> Command {
    Command::new("can")
        .about("Show which rule allows or denies a request with this token; exits with 1 if it is denied")
        .arg(Arg::new("token").required(true).help("Token, or its id; `public` for a request without a token"))
        .arg(Arg::new("action").required(true).help(
            "list, show, create, update, delete, restore, the name of an action, or the method of a mounted path",
        ))
        .arg(
            Arg::new("target")
                .required(true)
                .help("`users` for the whole resource, `users/7` for one record, or `/overdue` for a mounted path"),
        )
        .arg(format)
}

/// The word in place of a token for a request without one.
const PUBLIC: &str = "public";

/// The checks of a request in their order, up to the first that denies.
#[derive(Default)]
struct Checks {
    rows: Vec<Value>,
    denied: Option<Error>,
}

impl Checks {
    /// Adds a check, and returns whether it allows the action.
    fn add(&mut self, rule: &str, verdict: Result<String>) -> bool {
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

pub(super) async fn run(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let argument = |name: &str| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let mut checks = Checks::default();
    let (action, name, token) = (argument("action"), argument("target"), argument("token"));
    if name.starts_with('/') {
        check_mount(state, &mut checks, token, mount(state, action, name)?).await?;
    } else {
        let (entry, method, id) = target(state, action, name)?;
        run_checks(state, &mut checks, token, entry, &method, id).await?;
    }
    output::print(matches, &["rule", "verdict", "why"], &checks.rows)?;
    match checks.denied {
        None => Ok(()),
        Some(error) => Err(Error::internal(format!("denied: {} {}", error.status(), error.code()))),
    }
}

/// Resolves the action and its target.
fn target<'s>(state: &'s ServerState, action: &str, target: &str) -> Result<(&'s Entry, Method, Option<i64>)> {
    let (plural, id) = match target.split_once('/') {
        Some((plural, id)) => (plural, Some(id)),
        None => (target, None),
    };
    let entry = state.catalog.by_plural(plural).ok_or_else(|| {
        let known = state.catalog.entries().iter().map(|entry| entry.meta.plural);
        Error::internal(format!("there is no resource `{plural}`{}", hint(plural, known)))
    })?;
    let actions = ops::operations(state, entry);
    let found = actions.iter().find(|(name, _)| *name == action).map(|(_, method)| method.clone());
    let method = found.ok_or_else(|| {
        let known = actions.iter().map(|(name, _)| *name);
        Error::internal(format!("{plural} have no action `{action}`{}", hint(action, known)))
    })?;
    let id = id.map(|id| id.parse().map_err(|_| Error::internal(format!("`{id}` is not an id")))).transpose()?;
    Ok((entry, method, id))
}

/// The mounted path of `get /overdue`.
fn mount<'s>(state: &'s ServerState, method: &str, path: &str) -> Result<&'s Mount> {
    let found =
        state.mounts.iter().find(|mount| mount.method.eq_ignore_ascii_case(method) && mount.full_path() == path);
    found.ok_or_else(|| {
        let known = state.mounts.iter().map(|mount| format!("{} {}", mount.method.to_lowercase(), mount.full_path()));
        let known: Vec<String> = known.collect();
        let wanted = format!("{method} {path}");
        Error::internal(format!("nothing is mounted at `{wanted}`{}", hint(&wanted, known.iter().map(String::as_str))))
    })
}

/// Runs the checks of a mounted path: 401, 403.
async fn check_mount(state: &Arc<ServerState>, checks: &mut Checks, token: &str, mount: &Mount) -> Result<()> {
    if mount.access == MountAccess::Public {
        checks.add("token", Ok("none is required".into()));
        return Ok(());
    }
    if token == PUBLIC {
        checks.add("public", Err(Error::Unauthenticated));
        return Ok(());
    }
    let Some(token) = check_token(state, checks, token).await? else { return Ok(()) };
    let caller = caller_of(state, token).await?;
    let is_active = if caller.is_active { Ok(String::new()) } else { Err(Error::UserDeactivated) };
    if checks.add("user", is_active)
        && let MountAccess::Ability(ability) = mount.access
    {
        checks.add("ability", caller.need_ability(ability).map(|()| ability.into()));
    }
    Ok(())
}

/// The token, if it is valid.
async fn check_token(state: &ServerState, checks: &mut Checks, token: &str) -> Result<Option<token::Model>> {
    let Some(token) = find(state, token).await? else {
        checks.add("token", Err(Error::InvalidToken));
        return Ok(None);
    };
    let description = format!("{} `{}`", token.id, token.name);
    let expired = token.expires_at.is_some_and(|at| at <= state.clock.now());
    let is_valid = checks.add("token", if expired { Err(Error::InvalidToken) } else { Ok(description) });
    Ok(is_valid.then_some(token))
}

/// Runs the checks in the order of the API: 401, 403, 404.
async fn run_checks(
    state: &Arc<ServerState>,
    checks: &mut Checks,
    token: &str,
    entry: &Entry,
    method: &Method,
    id: Option<i64>,
) -> Result<()> {
    if token == PUBLIC {
        let door = open_door::described(entry, method.call).filter(|_| id.is_none());
        checks.add("public", door.ok_or(Error::Unauthenticated));
        return Ok(());
    }
    let Some(token) = check_token(state, checks, token).await? else { return Ok(()) };
    let owner = user::Entity::find_by_id(token.user_id).one(state.db.reader()).await?.ok_or(Error::InvalidToken)?;
    let caller = caller_of(state, token).await?;
    let user = if caller.is_admin { format!("{}, an administrator", owner.email) } else { owner.email };
    let ability = method.access.abilities_text();
    let roles =
        role::Entity::find().filter(role::Column::Id.is_in(caller.role_ids.clone())).all(state.db.reader()).await?;
    let of_token = Principal { role_abilities: vec![ability::ALL.into()], ..caller.clone() };
    let verdicts = [
        ("user", if caller.is_active { Ok(user) } else { Err(Error::UserDeactivated) }),
        ("ability", of_token.need_any_ability(&method.access.abilities).map(|()| ability)),
        ("role", check_roles(state, &caller, &roles, method)),
        ("permission", check_permissions(&caller, &roles, &method.access.permissions)),
    ];
    for (rule, verdict) in verdicts {
        if !checks.add(rule, verdict) {
            return Ok(());
        }
    }
    let Some(id) = id else { return Ok(()) };
    let context = Context::new(state, &caller, state.db.reader());
    checks.add("record", check_record(&context, entry, method, id).await);
    Ok(())
}

/// Finds a token by its id or its value.
async fn find(state: &ServerState, token: &str) -> Result<Option<token::Model>> {
    let query = match (token.parse::<i64>(), Secret::parse(token)) {
        (Ok(id), _) => token::Entity::find_by_id(id),
        (_, Some(secret)) => token::Entity::find().filter(token::Column::TokenHash.eq(secret.digest_hex())),
        _ => return Ok(None),
    };
    Ok(query.one(state.db.reader()).await?)
}

/// Names the role that grants one of the abilities.
fn check_roles(state: &ServerState, caller: &Principal, roles: &[role::Model], method: &Method) -> Result<String> {
    caller.need_any_ability(&method.access.abilities)?;
    for role in roles {
        let words = state.catalog.expand_abilities(role::words(&role.abilities)?);
        if method.access.abilities.iter().any(|needed| ability::grants(&words, &needed.narrow())) {
            return Ok(granted_by(caller, Some(role)));
        }
    }
    Ok(granted_by(caller, None))
}

/// Names the roles that grant the permissions.
fn check_permissions(caller: &Principal, roles: &[role::Model], permissions: &[&str]) -> Result<String> {
    let granted = permissions.iter().map(|permission| check_permission(caller, roles, permission));
    let granted: Vec<String> = granted.collect::<Result<_>>()?;
    Ok(if granted.is_empty() { "none is required".into() } else { granted.join("; ") })
}

/// Names the role that grants the permission.
fn check_permission(caller: &Principal, roles: &[role::Model], permission: &str) -> Result<String> {
    caller.need_permission(permission)?;
    for role in roles {
        if role::words(&role.permissions)?.iter().any(|word| word == permission) {
            return Ok(format!("{permission}, {}", granted_by(caller, Some(role))));
        }
    }
    Ok(format!("{permission}, {}", granted_by(caller, None)))
}

fn granted_by(caller: &Principal, role: Option<&role::Model>) -> String {
    match role {
        Some(role) if !caller.is_admin => format!("granted by the role {}", role.name),
        _ => "administrators have all".into(),
    }
}

/// Checks that the caller can see the record, and that its state allows a transition.
async fn check_record(context: &Context<'_>, entry: &Entry, method: &Method, id: i64) -> Result<String> {
    if entry.is_attached() {
        attachment::check_access(context, id, method.call.verb()).await?;
    }
    if let RouteOperation::Restore = method.call {
        return ops::restorable(context, entry, id, Condition::always()).await.map(|()| "exists".into());
    }
    let condition = ops::visible(context, entry);
    match ops::load(context, entry, id, &condition, false).await? {
        Some(_) if method.call.verb() == ability::READ => Ok("exists".into()),
        Some(row) => {
            ops::row_access::check_changeable(context, entry, id).await?;
            ops::input::checks::reject_frozen(context, entry.meta, &row).await?;
            ops::action::rule::check(context, entry.meta, method.call, &row).await.map(|()| "exists".into())
        }
        None => Err(Error::NotFound),
    }
}
