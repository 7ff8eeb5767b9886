//! The sweeper: deletes files whose attachment is gone or never came to be, and uploads that a crash left behind.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{access, leftover};
use crate::auth::Principal;
use crate::context::{Context, State};
use crate::error::{Error, Result};

/// It looks so often, and whenever something was deleted.
const EVERY: Duration = Duration::from_secs(600);
/// So many files are deleted before it looks again.
const BATCH: u32 = 100;

/// Sweeps at once and then for as long as the server runs. A failure is logged and tried again the next time.
pub async fn sweep(state: Arc<State>) {
    if state.attachments.try_out().await.is_err() {
        tracing::error!(storage = ?state.config.storage, "attachments cannot be stored: look at the settings");
    }
    loop {
        let swept = sweep_once(&state).await;
        state.metrics.tasks.round("attachments", &swept);
        if let Err(error) = swept {
            tracing::warn!(%error, "sweeping attachments failed");
        }
        let _ = tokio::time::timeout(EVERY, state.attachments.called()).await;
    }
}

/// Sweeps what is due now.
///
/// # Errors
/// When the database cannot be reached. What the storage does not delete is logged, and due again later.
pub async fn sweep_once(state: &Arc<State>) -> Result<()> {
    let now = state.clock.now();
    let spool = state.attachments.spool().to_path_buf();
    tokio::task::spawn_blocking(move || abandoned(&spool, now.into())).await.map_err(Error::internal)?;
    let dialect = state.db.dialect();
    let operator = Principal::operator();
    let transaction = state.db.begin().await?;
    access::forget_orphans(&Context::new(state, &operator, &transaction)).await?;
    transaction.commit().await?;
    // What was just forgotten is due too.
    let now = state.clock.now();
    loop {
        let due = leftover::due(state.db.reader(), dialect, now, BATCH).await?;
        for uuid in &due {
            let deleted = state.attachments.delete(*uuid).await;
            let transaction = state.db.begin().await?;
            match deleted {
                Ok(()) => leftover::kept(&transaction, dialect, *uuid).await?,
                // The others need not wait for it.
                Err(error) => {
                    tracing::warn!(%error, %uuid, "a file was not deleted");
                    leftover::put_off(&transaction, dialect, *uuid, now).await?;
                }
            }
            transaction.commit().await?;
        }
        if due.is_empty() {
            return Ok(());
        }
    }
}

/// Deletes received files to which nothing was added for an hour: the process that received them is gone.
fn abandoned(spool: &Path, now: SystemTime) {
    let Ok(files) = std::fs::read_dir(spool) else { return };
    let kept = leftover::KEPT.to_std().unwrap_or_default();
    for file in files.flatten() {
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        let is_old = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age > kept);
        if modified.is_ok_and(is_old) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
