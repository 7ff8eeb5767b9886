//! Spool files: uploads on the local disk until they are validated, deleted when the request ends.
//!
//! All uploads are spooled, including those for S3: a slow client costs disk and not memory, no rejected file reaches
//! storage, and the bytes can be read twice.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::s3::storage_unavailable;
use charter_core::error::{Error, Result};
use charter_core::tasks::spawn_blocking_limited;

/// Bytes at the beginning of the file that stay in memory for type detection.
const HEAD_BYTES: usize = 8 << 10;

/// A file being received. Dropping it deletes the file.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    file: Arc<File>,
    /// Limits the threads that write at once, and thereby the memory that they hold.
    disk: Arc<Semaphore>,
    size: u64,
    head: Vec<u8>,
}

impl Spool {
    pub async fn create(folder: &Path, disk: Arc<Semaphore>) -> Result<Spool> {
        let path = folder.join(new_uuid()?.to_string());
        let opened = path.clone();
        let file = spawn_blocking_io(&disk, move || File::create_new(opened)).await?;
        Ok(Spool { path, file: Arc::new(file), disk, size: 0, head: Vec::new() })
    }

    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let free = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(free)]);
        self.size += bytes.len() as u64;
        let file = self.file.clone();
        spawn_blocking_io(&self.disk, move || (&*file).write_all(&bytes)).await
    }

    /// Waits until the file is durable on disk.
    pub async fn sync(&self) -> Result<()> {
        let file = self.file.clone();
        spawn_blocking_io(&self.disk, move || file.sync_all()).await
    }

    /// Runs blocking I/O on the file, which has its path.
    pub async fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
    ) -> Result<T> {
        spawn_blocking_io(&self.disk, work).await
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
        // Fails if the file was moved into storage.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A random UUID.
pub(crate) fn new_uuid() -> Result<Uuid> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// Runs blocking disk I/O on a blocking thread.
pub(super) async fn spawn_blocking_io<T: Send + 'static>(
    disk: &Arc<Semaphore>,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T> {
    spawn_blocking_limited(disk, work).await?.map_err(io_error)
}

/// Error numbers without an `ErrorKind`, the same on all systems: EIO, ENFILE and EMFILE.
const TRANSIENT_ERRNOS: [i32; 3] = [5, 23, 24];

/// A full, read-only or failing disk and too many open files are temporary: the client may retry. Other errors are
/// internal.
pub(super) fn io_error(error: std::io::Error) -> Error {
    let named =
        matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem);
    if named || error.raw_os_error().is_some_and(|number| TRANSIENT_ERRNOS.contains(&number)) {
        return storage_unavailable(&error.to_string());
    }
    Error::internal(error)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn disk_failures_are_unavailable_and_other_errors_internal() {
        let full = File::options().write(true).open("/dev/full").and_then(|mut file| file.write_all(b"x"));
        assert!(matches!(io_error(full.unwrap_err()), Error::Unavailable(_)));
        // EDQUOT, EROFS, EIO, ENFILE, EMFILE.
        for number in [122, 30, 5, 23, 24] {
            let error = io_error(io::Error::from_raw_os_error(number));
            assert!(matches!(error, Error::Unavailable(_)), "{number}: {error}");
        }
        for kind in [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::AlreadyExists] {
            assert!(matches!(io_error(kind.into()), Error::Internal(_)), "{kind}");
        }
    }
}
