//! A file on its way in: on the local disk until all of the upload is known to be good, and gone with the request.
//!
//! Every upload is spooled, also one that ends in a bucket: a slow client holds a file and not memory, nothing reaches
//! storage that is then refused, and the bytes can be looked at twice.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::bucket::away;
use crate::error::{Error, Result};
use crate::tasks::spawn_blocking_limited;

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
    spawn_blocking_limited(disk, work).await?.map_err(failed)
}

/// What an operating system says in a number alone, the same on all of them: a disk that fails, and no file more that the
/// machine, or the process, may open.
const NUMBERED: [i32; 3] = [5, 23, 24];

/// A disk that has no room, cannot be written or fails, and files that cannot be opened for their number, are what may be over
/// later; all else is a fault of the server.
pub fn failed(error: std::io::Error) -> Error {
    let named =
        matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem);
    if named || error.raw_os_error().is_some_and(|number| NUMBERED.contains(&number)) {
        return away(&error.to_string());
    }
    Error::internal(error)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_disk_that_is_full_or_fails_is_told_from_a_fault_of_the_server() {
        let full = File::options().write(true).open("/dev/full").and_then(|mut file| file.write_all(b"x"));
        assert!(matches!(failed(full.unwrap_err()), Error::Unavailable(_)));
        // A quota, a disk that was mounted to be read, one that fails, and no more files to open.
        for number in [122, 30, 5, 23, 24] {
            let error = failed(io::Error::from_raw_os_error(number));
            assert!(matches!(error, Error::Unavailable(_)), "{number}: {error}");
        }
        for kind in [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::AlreadyExists] {
            assert!(matches!(failed(kind.into()), Error::Internal(_)), "{kind}");
        }
    }
}
