//! `doctor`: what the database holds that the application does not know any more.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use serde_json::json;

use super::{output, words};
use crate::app::{App, Direction};
use crate::auth::{self, Principal};
use crate::context::{Context, State};
use crate::custom_field;
use crate::error::{Error, Result};
use crate::{view, webhook};

/// The grammar of the command.
pub fn command(format: Arg) -> Command {
    Command::new("doctor")
        .about("Name what the database holds that the application does not know; exits with 1 when there is something")
        .arg(format)
}

/// Reads alone, so that it can be run with a version that is not yet in service.
pub async fn run(app: &App, state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let applied = (app.migrate)(&state.db, Direction::Status).await?;
    if !applied.iter().any(|(_, applied)| *applied) {
        return Err(Error::Internal("the database has no tables yet: `migrate` makes them".into()));
    }
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let mut found = view::lost(&context).await?;
    found.extend(webhook::lost(&context).await?);
    found.extend(custom_field::lost(&context).await?);
    found.extend(auth::lost(&context).await?);
    found.extend(words::lost(&context).await?);
    let rows: Vec<_> = found
        .iter()
        .map(|one| json!({ "kind": one.kind, "id": one.id, "name": one.name, "problem": one.problem }))
        .collect();
    output::print(matches, &["kind", "id", "name", "problem"], &rows)?;
    match found.len() {
        0 => Ok(()),
        1 => Err(Error::Internal("1 thing is left that the application does not know".into())),
        count => Err(Error::Internal(format!("{count} things are left that the application does not know"))),
    }
}
