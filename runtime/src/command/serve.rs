//! `serve`, `routes`, `recount` and `seed demo`.

use std::io::IsTerminal;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::json;

use super::{first_start, output};
use crate::app::{App, Demo};
use crate::context::State;
use crate::counts;
use crate::db::Sql;
use crate::error::Result;
use crate::meta::Kind;
use crate::ops;
use crate::server;
use crate::trigram;

/// Migrates, seeds, listens, says where, and serves until it is told to stop.
pub async fn serve(app: &App, state: &Arc<State>) -> Result<()> {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), database = ?state.db.dialect(), "starting");
    let lock = app.lock(state).await?;
    for migration in app.prepare_locked(state).await? {
        tracing::info!(migration, "applied");
    }
    if state.db.is_read_only().await? {
        tracing::warn!(file = ?state.db.file(), "the database can only be read: every write will be answered with 503");
    }
    // Listening comes first: a start that fails for its address must not have shown, or lost, the first token.
    let signals = server::Signals::listen()?;
    let running = server::serve(state.clone()).await?;
    tracing::info!(address = %running.address, "listening");
    let start = async {
        let shown = first_start::administrator(state).await?;
        let banner = first_start::banner(app, state, &state.base_url(), shown.as_ref());
        if let Err(error) = output::line(&banner) {
            // The service is up. Another token and another link can be made by commands.
            tracing::error!(%error, "what the start has to say could not be shown");
        }
        // The first token is shown by now, whatever became of the lock.
        if let Err(error) = lock.release().await {
            tracing::warn!(%error, "the lock of the start was lost before its end");
        }
        Ok(())
    };
    running.until_told(signals, start).await
}

/// Every path of the application.
pub fn routes(state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    let rows: Vec<_> = ops::routes(state).iter().map(|route| json!(route)).collect();
    output::print(matches, &["method", "path", "ability", "permission"], &rows)
}

/// Counts the records of each table again.
pub async fn recount(state: &State, matches: &ArgMatches) -> Result<()> {
    let resource = matches.get_one::<String>("resource").map(String::as_str);
    let totals = counts::recount(&state.db, &state.catalog, resource).await?;
    // Its triggers may have been off as well.
    trigram::drop_all(&state.db, &state.catalog, resource).await?;
    let rows: Vec<_> = totals.iter().map(|(table, total)| json!({ "table": table, "total": total })).collect();
    output::print(matches, &["table", "total"], &rows)
}

/// Fills the database with sample data.
pub async fn demo(sample: &Demo, state: &Arc<State>, matches: &ArgMatches) -> Result<()> {
    for (resource, default) in sample.counts {
        let wanted = matches.get_one::<u64>(resource).copied().unwrap_or(*default);
        let show = std::io::stderr().is_terminal();
        let progress = |done: u64| {
            if show {
                let filled = done.min(wanted) * 30 / wanted.max(1);
                eprint!("\r{resource:<16} [{:<30}] {done}/{wanted}", "#".repeat(filled as usize));
            }
        };
        let added = (sample.fill)(state, resource, wanted, &progress).await?;
        if show {
            eprintln!();
        }
        let missing = if added < wanted { missing(state, resource).await? } else { None };
        let why = missing.map(|other| format!("; there are no {other} yet, which they refer to")).unwrap_or_default();
        output::line(&format!("{resource}: {added} added, {wanted} wanted{why}"))?;
    }
    Ok(())
}

/// The plural of what the records of `resource` must refer to, and nothing is there of: why there can be none.
async fn missing<'s>(state: &'s State, resource: &str) -> Result<Option<&'s str>> {
    let Some(entry) = state.catalog.by_plural(resource) else { return Ok(None) };
    for field in entry.meta.fields.iter().filter(|field| !field.nullable) {
        let Kind::Ref { resource } = field.kind else { continue };
        let target = state.catalog.linked(resource).meta;
        let sql = Sql::new(state.db.dialect(), format!("SELECT 1 FROM \"{}\" LIMIT 1", target.table));
        if sql.one(state.db.reader()).await?.is_none() {
            return Ok(Some(target.plural));
        }
    }
    Ok(None)
}
