//! A file on its way in: on the local disk until all of the upload is known to be good, and gone with the request.
//!
//! Every upload is spooled, also one that ends in a bucket: a slow client holds a file and not memory, nothing reaches
//! storage that is then refused, and the bytes can be looked at twice.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::lasting::apart;

/// So much of the beginning is kept in memory, to tell the type by.
const HEAD: usize = 8 << 10;

/// A file being received. Dropping it deletes it.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    file: Arc<File>,
    /// Bounds how many threads write at once, and with them what they hold.
    disk: Arc<Semaphore>,
    size: u64,
    head: Vec<u8>,
}

impl Spool {
    pub async fn create(folder: &Path, disk: Arc<Semaphore>) -> Result<Spool> {
        let path = folder.join(new_uuid()?.to_string());
        let opened = path.clone();
        let file = on_disk(&disk, move || File::create_new(opened)).await?;
        Ok(Spool { path, file: Arc::new(file), disk, size: 0, head: Vec::new() })
    }

    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let room = HEAD - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.size += bytes.len() as u64;
        let file = self.file.clone();
        on_disk(&self.disk, move || (&*file).write_all(&bytes)).await
    }

    /// Waits until a loss of power would not lose it.
    pub async fn sync(&self) -> Result<()> {
        let file = self.file.clone();
        on_disk(&self.disk, move || file.sync_all()).await
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn head(&self) -> &[u8] {
        &self.head
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // It is gone already when it was moved into storage.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A random UUID.
pub fn new_uuid() -> Result<Uuid> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// Runs what may wait for the disk on a thread that may.
pub async fn on_disk<T: Send + 'static>(
    disk: &Arc<Semaphore>,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T> {
    apart(disk, work).await?.map_err(Error::internal)
}
