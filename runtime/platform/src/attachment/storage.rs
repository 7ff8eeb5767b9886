//! Storage of attachment files: a folder below the data folder, or a bucket of an S3-compatible service.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::sync::{Notify, Semaphore};
use uuid::Uuid;

use super::S3Config;
use super::content_headers::ContentHeaders;
use super::link::Signer;
use super::media_type::{self, IMAGES};
use super::office;
use super::s3::{Bucket, storage_unavailable};
use super::spool::{Spool, new_uuid, spawn_blocking_io};
use super::thumbnail::{self, ImageInspection};
use charter_core::error::{Error, Result};
use charter_core::tasks::spawn_blocking_limited;

/// Maximum number of threads that write uploads to disk.
const MAX_DISK_WRITERS: usize = 8;
/// Maximum number of uploads with received bytes that are not written yet.
const MAX_BUFFERED_UPLOADS: usize = 16;

/// An object of an attachment: the file or its thumbnail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    File,
    Thumb,
}

impl ObjectKind {
    pub const ALL: [ObjectKind; 2] = [ObjectKind::File, ObjectKind::Thumb];

    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::File => "file",
            ObjectKind::Thumb => "thumb",
        }
    }
}

/// Where the objects are. Both use the same names, which lets a folder be copied to a bucket.
#[derive(Debug)]
enum Backend {
    Folder(LocalFileSystem),
    Bucket(Bucket),
}

/// Storage of attachments and the folder for incoming uploads.
#[derive(Debug)]
pub struct Storage {
    backend: Backend,
    /// Prefix of all object names.
    prefix: Path,
    /// Folder of spool files, on the same file system as the files, which makes moving one a rename.
    spool: PathBuf,
    disk: Arc<Semaphore>,
    buffer_permits: Arc<Semaphore>,
    /// Allows one image to be decoded at a time, because decoding may need much memory.
    images: Arc<Semaphore>,
    signer: Signer,
    /// Bytes that the files of one user may have; `None` for no limit.
    user_limit: Option<u64>,
    collector_wake: Notify,
}

impl Storage {
    /// Creates the folders, or configures the bucket without connecting to it.
    ///
    /// # Errors
    /// If the data folder is not writable, or TLS cannot be set up.
    pub fn open(data_dir: &std::path::Path, bucket: Option<&S3Config>, secret_key: Option<&str>) -> Result<Storage> {
        let problem = |path: &std::path::Path, error: &dyn std::fmt::Display| {
            Error::internal(format!("the folder {}: {error}", path.display()))
        };
        let (root, spool) = (data_dir.join("attachments"), data_dir.join("uploads"));
        let make = |folder: &std::path::Path| std::fs::create_dir_all(folder).map_err(|error| problem(folder, &error));
        make(&spool)?;
        let (backend, prefix) = match bucket {
            Some(s3) => (Backend::Bucket(Bucket::open(s3)?), Path::from(s3.prefix.as_str())),
            None => {
                make(&root)?;
                let files = LocalFileSystem::new_with_prefix(&root).map_err(|error| problem(&root, &error))?;
                (Backend::Folder(files.with_automatic_cleanup(true).with_fsync(true)), Path::default())
            }
        };
        let signer = match secret_key {
            Some(key) => Signer::new(key),
            // A command that creates no links needs no persistent key.
            None => Signer::new(&new_uuid()?.to_string()),
        };
        let (disk, buffer_permits) =
            (Arc::new(Semaphore::new(MAX_DISK_WRITERS)), Arc::new(Semaphore::new(MAX_BUFFERED_UPLOADS)));
        let images = Arc::new(Semaphore::new(1));
        let (user_limit, collector_wake) = (None, Notify::new());
        Ok(Storage { backend, prefix, spool, disk, buffer_permits, images, signer, user_limit, collector_wake })
    }

    /// The storage with a limit of bytes of the files of one user.
    #[must_use]
    pub fn with_user_limit(self, user_limit: Option<u64>) -> Storage {
        Storage { user_limit, ..self }
    }

    /// Bytes that the files of one user may have; `None` for no limit.
    pub fn user_limit(&self) -> Option<u64> {
        self.user_limit
    }

    fn objects(&self) -> &dyn ObjectStore {
        match &self.backend {
            Backend::Folder(files) => files,
            Backend::Bucket(bucket) => bucket.objects(),
        }
    }

    /// Name of an object. The first two digits keep folders small.
    fn path(&self, part: ObjectKind, uuid: Uuid) -> Path {
        let name = uuid.to_string();
        [&name[..2], &name, part.name()].into_iter().fold(self.prefix.clone(), |path, part| path.join(part))
    }

    /// Writes and deletes an object in the bucket, which detects a wrong key or name at startup.
    ///
    /// # Errors
    /// If the bucket rejects it; the reason is logged.
    pub async fn check_bucket(&self) -> Result<()> {
        let Backend::Bucket(bucket) = &self.backend else { return Ok(()) };
        let at = self.prefix.clone().join("started");
        let stored = bucket.objects().put(&at, PutPayload::new()).await.map(drop);
        let done = match stored {
            Ok(()) => bucket.objects().delete(&at).await,
            refused => refused,
        };
        done.map_err(|error| storage_unavailable(&error.to_string()))
    }

    /// Creates a spool file for an upload.
    pub async fn receive(&self) -> Result<Spool> {
        Spool::create(&self.spool, self.disk.clone()).await
    }

    /// Permits to hold received bytes that are not written yet.
    pub fn buffer_permits(&self) -> Arc<Semaphore> {
        self.buffer_permits.clone()
    }

    /// The folder of spool files.
    pub fn spool(&self) -> &std::path::Path {
        &self.spool
    }

    /// Moves a spooled file into storage and makes it durable.
    pub async fn store(&self, spool: &Spool, uuid: Uuid) -> Result<()> {
        let (from, to) = (spool.path().to_path_buf(), self.path(ObjectKind::File, uuid));
        match &self.backend {
            Backend::Bucket(bucket) => bucket.send(from, &to, spool.size()).await,
            Backend::Folder(files) => {
                spool.sync().await?;
                let to = files.path_to_filesystem(&to).map_err(Error::internal)?;
                spawn_blocking_io(&self.disk, move || move_durably(&from, &to)).await
            }
        }
    }

    /// Stores a small object.
    pub async fn put(&self, part: ObjectKind, uuid: Uuid, bytes: Bytes) -> Result<()> {
        let stored = self.objects().put(&self.path(part, uuid), PutPayload::from(bytes)).await;
        stored.map(drop).map_err(|error| storage_unavailable(&error.to_string()))
    }

    /// Size of an object in bytes.
    pub async fn size(&self, part: ObjectKind, uuid: Uuid) -> Result<u64> {
        self.objects().head(&self.path(part, uuid)).await.map(|meta| meta.size).map_err(read_error)
    }

    /// Streams an object or a range of it.
    pub async fn read(
        &self,
        part: ObjectKind,
        uuid: Uuid,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, std::io::Result<Bytes>>> {
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.objects().get_opts(&self.path(part, uuid), options).await.map_err(read_error)?;
        Ok(found.into_stream().map(|piece| piece.map_err(std::io::Error::other)).boxed())
    }

    /// A signed link to an object, on this server or on the S3 service.
    pub async fn link(
        &self,
        base_url: &str,
        part: ObjectKind,
        uuid: Uuid,
        now: DateTime<Utc>,
        headers: ContentHeaders,
    ) -> Result<String> {
        match &self.backend {
            Backend::Folder(_) => Ok(format!("{base_url}{}", self.signer.link(part, uuid, now))),
            Backend::Bucket(bucket) => bucket.link(&self.path(part, uuid), headers).await,
        }
    }

    /// Verifies a link to this server, given by its path and query string.
    pub fn check_link(&self, target: &str, now: DateTime<Utc>) -> Result<()> {
        self.signer.check(target, now)
    }

    /// The media type of an uploaded file, by its bytes.
    pub async fn media_type(&self, spool: &Spool) -> Result<&'static str> {
        let found = media_type::detect(spool.head(), spool.head().len() as u64 == spool.size());
        // A guess from the first members only: any archive that begins with a folder `word/` would be a document.
        if found != media_type::ARCHIVE && !office::is_document(found) {
            return Ok(found);
        }
        let path = spool.path().to_path_buf();
        Ok(spool.spawn_blocking(move || office::detect(&path)).await?.unwrap_or(media_type::ARCHIVE))
    }

    /// Inspects an uploaded image, one at a time.
    pub async fn inspect_image(&self, spool: &Spool, media_type: &'static str) -> Result<ImageInspection> {
        if !IMAGES.contains(&media_type) {
            return Ok(ImageInspection::NotAnImage);
        }
        let path = spool.path().to_path_buf();
        let looked = spawn_blocking_limited(&self.images, move || thumbnail::inspect(&path, media_type)).await;
        // A decoder that panicked says nothing about the image.
        Ok(looked.unwrap_or(ImageInspection::NotAnImage))
    }

    /// Deletes all objects of a UUID. Missing ones are not an error.
    pub async fn delete(&self, uuid: Uuid) -> Result<()> {
        for part in ObjectKind::ALL {
            match self.objects().delete(&self.path(part, uuid)).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(storage_unavailable(&error.to_string())),
            }
        }
        Ok(())
    }

    /// Starts a run of the garbage collection.
    pub fn wake_collector(&self) {
        self.collector_wake.notify_one();
    }

    /// Waits for [`Storage::wake_collector`].
    pub async fn wait_for_wake(&self) {
        self.collector_wake.notified().await;
    }
}

/// Moves a file into a new folder and makes both durable.
fn move_durably(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
    let folder = to.parent().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut tries = 0;
    loop {
        std::fs::create_dir_all(folder)?;
        match std::fs::rename(from, to) {
            // A concurrent deletion has just removed the folder while it was empty.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && tries < 10 && from.exists() => tries += 1,
            done => {
                done?;
                break;
            }
        }
    }
    std::fs::File::open(folder)?.sync_all()
}

/// A missing object is 404; other errors mean that storage is unavailable.
fn read_error(error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::NotFound,
        error => storage_unavailable(&error.to_string()),
    }
}
