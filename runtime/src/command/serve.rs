//! Commands `serve`, `routes`, `recount` and `seed demo`.

use std::io::IsTerminal;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::json;

use super::{bootstrap, output};
use crate::app::{self, App, Demo, Signals};
use crate::config::Config;
use crate::server::ServerState;
use charter_core::db::Sql;
use charter_core::error::{Error, Result};
use charter_core::meta::Kind;
use charter_core::ops;
use charter_core::trigram;
use charter_core::{counts, rollups};

/// Opens the database, which it waits for, and serves until a signal.
pub(super) async fn serve(app: &App, config: Config) -> Result<()> {
    // The first process of a container ignores a signal that it does not handle.
    let mut signals = Signals::listen()?;
    let state = tokio::select! {
        opened = app.open(config) => opened?,
        () = signals.recv() => {
            tracing::info!("stopped before the database could be opened");
            return Ok(());
        }
    };
    let done = serve_on(app, &state, signals).await;
    state.db.close().await;
    done
}

/// Migrates, inserts seed data, and serves until a signal.
async fn serve_on(app: &App, state: &Arc<ServerState>, mut signals: Signals) -> Result<()> {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), database = ?state.db.dialect(), "starting");
    let prepare = async {
        let lock = app.lock(state).await?;
        for migration in app.prepare_locked(state).await? {
            tracing::info!(migration, "applied migration");
        }
        Ok::<_, Error>(lock)
    };
    // An abandoned migration is rolled back, as when the process is killed.
    let lock = tokio::select! {
        lock = prepare => lock?,
        () = signals.recv() => {
            tracing::info!("stopped before the database was prepared");
            return Ok(());
        }
    };
    if state.db.is_read_only().await? {
        tracing::warn!(file = ?state.db.file(), "database is read-only; writes will be answered 503");
    }
    if let Some(smtp) = &state.config.smtp {
        tracing::info!(host = smtp.host, port = smtp.port, "mail is sent by SMTP");
        if state.config.base_url.is_none() {
            tracing::warn!("mails link to the address of `listen`: set `base-url` to the URL that users open");
        }
    }
    // Listens before it creates the first token: a start that fails to listen must not lose the token.
    let running = app::serve(state.clone()).await?;
    tracing::info!(address = %running.address, "listening");
    let start = async {
        let first = bootstrap::create_administrator(state).await?;
        let banner = bootstrap::banner(app, state, &state.base_url(), first.as_ref());
        if let Err(error) = output::line(&banner) {
            // The server runs, and commands can create another token and invitation.
            tracing::error!(%error, "could not print the startup banner");
        }
        // Not an error: the start has done its work.
        if let Err(error) = lock.release().await {
            tracing::warn!(%error, "startup lock was lost before the start finished");
        }
        Ok(())
    };
    running.run_until_signal(signals, start).await
}

/// Lists all routes.
pub(super) fn routes(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let mounted = state.mounts.iter().map(|mount| {
        json!({ "method": mount.method, "path": mount.full_path(), "ability": mount.access_text(), "permission": null })
    });
    let rows: Vec<_> = ops::routes(state).iter().map(|route| json!(route)).chain(mounted).collect();
    let has_doors = rows.iter().any(|row| row.get("public").is_some());
    let columns = ["method", "path", "ability", "permission", "public"];
    output::print(matches, if has_doors { &columns } else { &columns[..4] }, &rows)
}

/// Rebuilds record counts and search indexes.
pub(super) async fn recount(state: &ServerState, matches: &ArgMatches) -> Result<()> {
    let resource = matches.get_one::<String>("resource").map(String::as_str);
    let totals = counts::recount(&state.db, &state.catalog, resource).await?;
    // Their triggers may have been disabled too.
    rollups::recompute(&state.db, &state.catalog, resource).await?;
    trigram::drop_all(&state.db, &state.catalog, resource).await?;
    let rows: Vec<_> = totals.iter().map(|(table, total)| json!({ "table": table, "total": total })).collect();
    output::print(matches, &["table", "total"], &rows)
}

/// Fills the database with sample data. A line of text follows each resource, and JSON the last one.
pub(super) async fn demo(sample: &Demo, state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let mut rows = Vec::new();
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
        let missing = if added < wanted { missing_references(state, resource).await? } else { None };
        if output::is_json(matches) {
            rows.push(json!({ "resource": resource, "added": added, "wanted": wanted, "missing": missing }));
            continue;
        }
        let why =
            missing.map(|other| format!("; they refer to {other}, of which there are none yet")).unwrap_or_default();
        output::line(&format!("{resource}: {added} added, {wanted} wanted{why}"))?;
    }
    if output::is_json(matches) { output::json(&rows) } else { Ok(()) }
}

/// The plural of a resource that the records of `resource` must refer to and that has no records.
async fn missing_references<'s>(state: &'s ServerState, resource: &str) -> Result<Option<&'s str>> {
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
