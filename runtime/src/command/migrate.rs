//! Command `migrate`.

use std::sync::Arc;

use clap::ArgMatches;
use serde_json::json;

use super::output;
use crate::app::{App, Direction};
use crate::server::ServerState;
use charter_core::error::Result;

pub(super) async fn run(app: &App, state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    match matches.subcommand() {
        Some(("status", matches)) => {
            let migrations = (app.migrate)(&state.db, Direction::Status).await?;
            let rows: Vec<_> =
                migrations.iter().map(|(name, applied)| json!({ "name": name, "applied": applied })).collect();
            output::print(matches, &["name", "applied"], &rows)
        }
        Some(("down", matches)) => {
            let steps = matches.get_one::<u32>("steps").copied().unwrap_or(1);
            let lock = app.lock(state).await?;
            let undone = app.migrate_by(state, Direction::Down(steps)).await?;
            lock.release().await?;
            print("undone", &undone)
        }
        _ => {
            let lock = app.lock(state).await?;
            let applied = app.migrate_up(state).await?;
            lock.release().await?;
            print("applied", &applied)
        }
    }
}

fn print(verb: &str, migrations: &[String]) -> Result<()> {
    migrations.iter().try_for_each(|name| output::line(&format!("{verb} {name}")))
}
