//! Garbage collection of attachment files: deletes files without an attachment and uploads that a crash left behind.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{Storage, access, pending_deletion};
use charter_core::error::{Error, Result};
use charter_core::ops::{Context, State};
use charter_core::principal::Principal;

/// Interval between two runs. A deletion starts one at once.
const INTERVAL: Duration = Duration::from_secs(600);
/// Number of files per query.
const BATCH_FILES: u32 = 100;

/// Runs at once and then periodically while the server runs. Errors are logged and retried in the next run.
pub async fn run_garbage_collection(state: Arc<State>) {
    let storage = match state.extension::<Storage>() {
        Ok(storage) => storage,
        Err(error) => return tracing::error!(%error, "attachment garbage collection cannot start"),
    };
    if storage.check_bucket().await.is_err() {
        tracing::error!(?storage, "attachment storage is unavailable: check the storage settings");
    }
    loop {
        let collected = collect_garbage(&state).await;
        state.metrics.tasks.round("attachments", &collected);
        if let Err(error) = collected {
            tracing::warn!(%error, "attachment garbage collection failed");
        }
        let _ = tokio::time::timeout(INTERVAL, storage.wait_for_wake()).await;
    }
}

/// Deletes everything that is due now.
///
/// # Errors
/// If the database fails. A file that storage cannot delete is logged and postponed.
pub async fn collect_garbage(state: &Arc<State>) -> Result<()> {
    let now = state.clock.now();
    let spool = state.extension::<Storage>()?.spool().to_path_buf();
    tokio::task::spawn_blocking(move || delete_abandoned(&spool, now.into())).await.map_err(Error::internal)?;
    let dialect = state.db.dialect();
    let operator = Principal::operator();
    let transaction = state.db.begin().await?;
    access::delete_orphans(&Context::new(state, &operator, &transaction)).await?;
    transaction.commit().await?;
    // Includes the orphans, which were scheduled just now.
    let now = state.clock.now();
    loop {
        let due = pending_deletion::due(state.db.reader(), dialect, now, BATCH_FILES).await?;
        for uuid in &due {
            let deleted = state.extension::<Storage>()?.delete(*uuid).await;
            let transaction = state.db.begin().await?;
            match deleted {
                Ok(()) => pending_deletion::remove(&transaction, dialect, *uuid).await?,
                // Does not stop the others.
                Err(error) => {
                    tracing::warn!(%error, %uuid, "an attachment file could not be deleted; retrying later");
                    pending_deletion::postpone(&transaction, dialect, *uuid, now).await?;
                }
            }
            transaction.commit().await?;
        }
        if due.is_empty() {
            return Ok(());
        }
    }
}

/// Deletes spooled files that were not written to for an hour: the process that received them has ended.
fn delete_abandoned(spool: &Path, now: SystemTime) {
    let Ok(files) = std::fs::read_dir(spool) else { return };
    let max_age = pending_deletion::DELETE_AFTER.to_std().unwrap_or_default();
    for file in files.flatten() {
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        let is_old = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age > max_age);
        if modified.is_ok_and(is_old) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
