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
            let mut undone = app.migrate_by(state, Direction::Down(steps)).await?;
            lock.release().await?;
            // The last one is undone first.
            undone.reverse();
            print(matches, "undone", &undone)
        }
        up => {
            let matches = up.map_or(matches, |(_, matches)| matches);
            let lock = app.lock(state).await?;
            let applied = app.migrate_up(state).await?;
            lock.release().await?;
            print(matches, "applied", &applied)
        }
    }
}

/// Prints the migrations that a command has changed, in the order of the changes.
fn print(matches: &ArgMatches, verb: &str, migrations: &[String]) -> Result<()> {
    if output::is_json(matches) {
        let rows: Vec<_> =
            migrations.iter().map(|name| json!({ "name": name, "applied": verb == "applied" })).collect();
        return output::json(&rows);
    }
    migrations.iter().try_for_each(|name| output::line(&format!("{verb} {name}")))
}
