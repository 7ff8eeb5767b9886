//! A rehearsal or a run: the file is read on a thread of its own, and its rows are processed portion by portion.

use std::ops::ControlFlow;
use std::sync::Arc;

use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};
use charter_core::principal::Principal;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::portion::{PORTION_ROWS, Portions};
use super::reader::{self, Format, Row};
use super::record::{Model, REHEARSING, target};
use super::{Imports, progress, stored_file};
use crate::lease::{Claim, KEEP_INTERVAL};

/// Bytes of texts after which a portion ends, whatever the number of its rows is.
const PORTION_BYTES: usize = 8 << 20;

/// Why the work on an import ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    /// The import was cancelled or deleted, or another worker has it.
    Lost,
}

/// Loads the rights of the user who requested the work.
///
/// # Errors
/// [`Error::Conflict`] with the reason why the user may no longer do it.
pub(super) async fn caller(state: &Arc<State>, import: &Model) -> Result<Principal> {
    let Some(user_id) = import.run_by else { return Ok(Principal::operator()) };
    let requested = Principal {
        user_id: Some(user_id),
        token_id: import.run_token_id,
        // Those of a session. A token has its own.
        abilities: vec!["*".to_string()],
        ..Principal::default()
    };
    let stop = |why: &str| Error::Conflict(format!("The import stopped: {why}."));
    match (state.extension::<Imports>()?.revalidate)(state, &requested).await {
        Err(Error::UserDeactivated) => Err(stop("its user was deactivated")),
        Err(Error::Unauthenticated) => Err(stop("its user was deleted")),
        Err(Error::InvalidToken) => Err(stop("its user or its token was deleted, or the token has expired")),
        other => other,
    }
}

/// Rehearses or runs an import, from where an earlier worker has stopped.
///
/// # Errors
/// The reason that stops the import; [`Error::Unavailable`] if it can continue later.
pub(super) async fn process(state: &Arc<State>, claim: &Claim, import: &Model) -> Result<End> {
    let principal = caller(state, import).await?;
    let context = Context::new(state, &principal, state.db.reader());
    let entry = target(&context, import)?;
    let mut portions = Portions::begin(&context, state, claim, entry, import).await?;
    // A rehearsal that was interrupted starts from the first row, because it must know the rows before.
    let is_new = import.status == REHEARSING || import.rows_done == 0;
    if is_new && !progress::restart(state, claim, &import.status).await? {
        return Ok(End::Lost);
    }
    let mut passed = if is_new { 0 } else { usize::try_from(import.rows_done).unwrap_or(0) };
    let spool = stored_file::fetch(state, import.file).await?;
    if !progress::keep(state, claim, &import.status).await? {
        return Ok(End::Lost);
    }
    let (sender, mut receiver) = mpsc::channel(1);
    let (path, format) = (spool.path().to_path_buf(), format(import)?);
    let reading = tokio::task::spawn_blocking(move || read(&path, format, &sender));
    loop {
        let Ok(received) = timeout(KEEP_INTERVAL, receiver.recv()).await else {
            // A large workbook takes a while to open.
            if !progress::keep(state, claim, &import.status).await? {
                return Ok(End::Lost);
            }
            continue;
        };
        let Some(mut rows) = received else { break };
        if passed > 0 {
            let rest = rows.split_off(passed.min(rows.len()));
            passed -= rows.len();
            portions.pass(&rows);
            rows = rest;
        }
        if rows.is_empty() {
            continue;
        }
        let current = caller(state, import).await?;
        if !portions.process(&current, rows).await? {
            return Ok(End::Lost);
        }
    }
    match reading.await.map_err(Error::internal)? {
        Ok(()) => Ok(End::Complete),
        Err(problem) => Err(Error::invalid("file", problem)),
    }
}

fn format(import: &Model) -> Result<Format> {
    let all = [Format::Csv, Format::Ndjson, Format::Xlsx];
    let format = all.into_iter().find(|format| format.name() == import.format);
    format.ok_or_else(|| Error::internal(format!("`{}` is not a format", import.format)))
}

/// Sends the rows of a file in portions, until it ends or nobody receives them.
fn read(path: &std::path::Path, format: Format, sender: &mpsc::Sender<Vec<Row>>) -> Result<(), String> {
    let (mut rows, mut bytes) = (Vec::with_capacity(PORTION_ROWS), 0);
    reader::read(path, format, &mut |row| {
        bytes += row.bytes();
        rows.push(row);
        if rows.len() < PORTION_ROWS && bytes < PORTION_BYTES {
            return ControlFlow::Continue(());
        }
        bytes = 0;
        let portion = std::mem::replace(&mut rows, Vec::with_capacity(PORTION_ROWS));
        match sender.blocking_send(portion) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    if !rows.is_empty() {
        // A receiver that is gone needs no rows.
        let _ = sender.blocking_send(rows);
    }
    Ok(())
}
