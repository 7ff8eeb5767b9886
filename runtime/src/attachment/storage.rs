//! Where the bytes are: a folder in the data folder.

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

use super::link::Signer;
use super::media_type::IMAGES;
use super::spool::{Spool, new_uuid, on_disk};
use super::thumbnail::{self, Looked};
use crate::config::Config;
use crate::error::{Error, Result};

/// So many threads at once write what is received.
const WRITERS: usize = 8;
/// So many uploads at once have taken bytes from their connections and not yet written them.
const TURNS: usize = 16;

/// Which bytes of an attachment: each is an object of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    File,
    Thumb,
}

impl Part {
    pub const ALL: [Part; 2] = [Part::File, Part::Thumb];

    pub fn name(self) -> &'static str {
        match self {
            Part::File => "file",
            Part::Thumb => "thumb",
        }
    }

    /// Where it is in storage. The first two digits keep folders small.
    fn path(self, uuid: Uuid) -> Path {
        let name = uuid.to_string();
        Path::from(format!("{}/{name}/{}", &name[..2], self.name()))
    }
}

/// The storage of an application's attachments, and the folder in which uploads are received.
#[derive(Debug)]
pub struct Storage {
    files: LocalFileSystem,
    /// Where uploads are until they are known to be good. It lies beside the files, so that moving one copies nothing.
    spool: PathBuf,
    disk: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    /// Held by who decodes an image: one at a time, because each may take much memory.
    images: Semaphore,
    signer: Signer,
    sweeper: Notify,
}

impl Storage {
    /// Makes the folders.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub fn open(config: &Config) -> Result<Storage> {
        let problem = |path: &std::path::Path, error: &dyn std::fmt::Display| {
            Error::Internal(format!("the folder {}: {error}", path.display()))
        };
        let (root, spool) = (config.data_dir.join("attachments"), config.data_dir.join("uploads"));
        for folder in [&root, &spool] {
            std::fs::create_dir_all(folder).map_err(|error| problem(folder, &error))?;
        }
        let files = LocalFileSystem::new_with_prefix(&root).map_err(|error| problem(&root, &error))?;
        let files = files.with_automatic_cleanup(true).with_fsync(true);
        let signer = match &config.secret_key {
            Some(key) => Signer::new(key)?,
            // A command that shows no links needs no key that lasts.
            None => Signer::new(&new_uuid()?.to_string())?,
        };
        let (disk, turns) = (Arc::new(Semaphore::new(WRITERS)), Arc::new(Semaphore::new(TURNS)));
        let images = Semaphore::new(1);
        Ok(Storage { files, spool, disk, turns, images, signer, sweeper: Notify::new() })
    }

    /// A place for an upload.
    pub async fn receive(&self) -> Result<Spool> {
        Spool::create(&self.spool, self.disk.clone()).await
    }

    /// What those take a permit of who have taken bytes and not yet written them.
    pub fn turns(&self) -> Arc<Semaphore> {
        self.turns.clone()
    }

    /// The folder in which uploads are received.
    pub fn spool(&self) -> &std::path::Path {
        &self.spool
    }

    /// Moves a received file into storage.
    pub async fn keep(&self, spool: &Spool, uuid: Uuid) -> Result<()> {
        spool.sync().await?;
        let to = self.files.path_to_filesystem(&Part::File.path(uuid)).map_err(Error::internal)?;
        let from = spool.path().to_path_buf();
        on_disk(&self.disk, move || move_durably(&from, &to)).await
    }

    /// Stores a small object.
    pub async fn put(&self, part: Part, uuid: Uuid, bytes: Bytes) -> Result<()> {
        self.files.put(&part.path(uuid), PutPayload::from(bytes)).await.map(drop).map_err(away)
    }

    /// The length of an object in bytes.
    pub async fn size(&self, part: Part, uuid: Uuid) -> Result<u64> {
        self.files.head(&part.path(uuid)).await.map(|meta| meta.size).map_err(away)
    }

    /// An object, or a part of it, as it is read.
    pub async fn read(
        &self,
        part: Part,
        uuid: Uuid,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, std::io::Result<Bytes>>> {
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.files.get_opts(&part.path(uuid), options).await.map_err(away)?;
        Ok(found.into_stream().map(|piece| piece.map_err(std::io::Error::other)).boxed())
    }

    /// A link to an object, for whoever gets it.
    pub fn link(&self, base_url: &str, part: Part, uuid: Uuid, now: DateTime<Utc>) -> String {
        format!("{base_url}{}", self.signer.link(part, uuid, now))
    }

    /// Checks a link of [`Storage::link`], given as its path and query string.
    pub fn check_link(&self, target: &str, now: DateTime<Utc>) -> Result<()> {
        self.signer.check(target, now)
    }

    /// Looks at a received image; one at a time.
    pub async fn look(&self, spool: &Spool, media_type: &'static str) -> Result<Looked> {
        if !IMAGES.contains(&media_type) {
            return Ok(Looked::Nothing);
        }
        let _permit = self.images.acquire().await.map_err(Error::internal)?;
        let path = spool.path().to_path_buf();
        let looked = tokio::task::spawn_blocking(move || thumbnail::look(&path, media_type)).await;
        // A decoder that gave up has said nothing of the image.
        Ok(looked.unwrap_or(Looked::Nothing))
    }

    /// Deletes all that is stored under a UUID. What is not there is no problem.
    pub async fn delete(&self, uuid: Uuid) -> Result<()> {
        for part in Part::ALL {
            match self.files.delete(&part.path(uuid)).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(away(error)),
            }
        }
        Ok(())
    }

    /// Lets the sweeper look now.
    pub fn wake_sweeper(&self) {
        self.sweeper.notify_one();
    }

    /// Waits until somebody calls the sweeper.
    pub async fn called(&self) {
        self.sweeper.notified().await;
    }
}

/// Renames a file into a folder that is made for it, and makes both last.
fn move_durably(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
    let folder = to.parent().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut tries = 0;
    loop {
        std::fs::create_dir_all(folder)?;
        match std::fs::rename(from, to) {
            // A deletion beside it has just removed the folder, which was empty.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && tries < 10 && from.exists() => tries += 1,
            done => {
                done?;
                break;
            }
        }
    }
    std::fs::File::open(folder)?.sync_all()
}

/// A storage that fails is a reason to try again later; why it failed is for the log.
fn away(error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::NotFound,
        error => {
            tracing::warn!(%error, "the storage of attachments failed");
            Error::Unavailable("The file storage cannot be reached. Try again in a moment.".into())
        }
    }
}
