//! Where the bytes are: in a folder of the data folder, or in a bucket of an S3-compatible service.

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

use super::bucket::{Bucket, away};
use super::link::Signer;
use super::media_type::IMAGES;
use super::presentation::Presentation;
use super::spool::{Spool, new_uuid, on_disk};
use super::thumbnail::{self, Looked};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::tasks::spawn_blocking_limited;

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
}

/// What holds the objects. Their names are the same in both, so that a folder can be copied to a bucket.
#[derive(Debug)]
enum Place {
    Folder(LocalFileSystem),
    Bucket(Bucket),
}

/// The storage of an application's attachments, and the folder in which uploads are received.
#[derive(Debug)]
pub struct Storage {
    place: Place,
    /// What the name of every object begins with.
    prefix: Path,
    /// Where uploads are until they are known to be good. It lies beside the folder of the files, so that moving one
    /// there copies nothing.
    spool: PathBuf,
    disk: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    /// Held by who decodes an image: one at a time, because each may take much memory.
    images: Arc<Semaphore>,
    signer: Signer,
    sweeper: Notify,
}

impl Storage {
    /// Makes the folders, or makes ready to reach the bucket, which is not asked yet.
    ///
    /// # Errors
    /// When the data folder cannot be written, or TLS not be set up.
    pub fn open(config: &Config) -> Result<Storage> {
        let problem = |path: &std::path::Path, error: &dyn std::fmt::Display| {
            Error::internal(format!("the folder {}: {error}", path.display()))
        };
        let (root, spool) = (config.data_dir.join("attachments"), config.data_dir.join("uploads"));
        let make = |folder: &std::path::Path| std::fs::create_dir_all(folder).map_err(|error| problem(folder, &error));
        make(&spool)?;
        let (place, prefix) = match &config.storage {
            Some(location) => (Place::Bucket(Bucket::open(location)?), Path::from(location.prefix.as_str())),
            None => {
                make(&root)?;
                let files = LocalFileSystem::new_with_prefix(&root).map_err(|error| problem(&root, &error))?;
                (Place::Folder(files.with_automatic_cleanup(true).with_fsync(true)), Path::default())
            }
        };
        let signer = match &config.secret_key {
            Some(key) => Signer::new(key),
            // A command that shows no links needs no key that lasts.
            None => Signer::new(&new_uuid()?.to_string()),
        };
        let (disk, turns) = (Arc::new(Semaphore::new(WRITERS)), Arc::new(Semaphore::new(TURNS)));
        let images = Arc::new(Semaphore::new(1));
        Ok(Storage { place, prefix, spool, disk, turns, images, signer, sweeper: Notify::new() })
    }

    fn objects(&self) -> &dyn ObjectStore {
        match &self.place {
            Place::Folder(files) => files,
            Place::Bucket(bucket) => bucket.objects(),
        }
    }

    /// Where an object is. The first two digits keep folders small.
    fn path(&self, part: Part, uuid: Uuid) -> Path {
        let name = uuid.to_string();
        [&name[..2], &name, part.name()].into_iter().fold(self.prefix.clone(), |path, part| path.join(part))
    }

    /// Writes an object to the bucket and deletes it, so that a key or a name that is wrong is known at the start.
    ///
    /// # Errors
    /// When the bucket refuses; the log has why.
    pub async fn try_out(&self) -> Result<()> {
        let Place::Bucket(bucket) = &self.place else { return Ok(()) };
        let at = self.prefix.clone().join("started");
        let stored = bucket.objects().put(&at, PutPayload::new()).await.map(drop);
        let done = match stored {
            Ok(()) => bucket.objects().delete(&at).await,
            refused => refused,
        };
        done.map_err(|error| away(&error.to_string()))
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

    /// Moves a received file into storage, where it then lasts.
    pub async fn keep(&self, spool: &Spool, uuid: Uuid) -> Result<()> {
        let (from, to) = (spool.path().to_path_buf(), self.path(Part::File, uuid));
        match &self.place {
            Place::Bucket(bucket) => bucket.send(from, &to, spool.size()).await,
            Place::Folder(files) => {
                spool.sync().await?;
                let to = files.path_to_filesystem(&to).map_err(Error::internal)?;
                on_disk(&self.disk, move || move_durably(&from, &to)).await
            }
        }
    }

    /// Stores a small object.
    pub async fn put(&self, part: Part, uuid: Uuid, bytes: Bytes) -> Result<()> {
        let stored = self.objects().put(&self.path(part, uuid), PutPayload::from(bytes)).await;
        stored.map(drop).map_err(|error| away(&error.to_string()))
    }

    /// The length of an object in bytes.
    pub async fn size(&self, part: Part, uuid: Uuid) -> Result<u64> {
        self.objects().head(&self.path(part, uuid)).await.map(|meta| meta.size).map_err(missing)
    }

    /// An object, or a part of it, as it is read.
    pub async fn read(
        &self,
        part: Part,
        uuid: Uuid,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, std::io::Result<Bytes>>> {
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.objects().get_opts(&self.path(part, uuid), options).await.map_err(missing)?;
        Ok(found.into_stream().map(|piece| piece.map_err(std::io::Error::other)).boxed())
    }

    /// A link to an object, for whoever gets it: to this server, or to the bucket's.
    pub async fn link(
        &self,
        base_url: &str,
        part: Part,
        uuid: Uuid,
        now: DateTime<Utc>,
        presentation: Presentation,
    ) -> Result<String> {
        match &self.place {
            Place::Folder(_) => Ok(format!("{base_url}{}", self.signer.link(part, uuid, now))),
            Place::Bucket(bucket) => bucket.link(&self.path(part, uuid), presentation).await,
        }
    }

    /// Checks a link to this server, given as its path and query string.
    pub fn check_link(&self, target: &str, now: DateTime<Utc>) -> Result<()> {
        self.signer.check(target, now)
    }

    /// Looks at a received image; one at a time.
    pub async fn look(&self, spool: &Spool, media_type: &'static str) -> Result<Looked> {
        if !IMAGES.contains(&media_type) {
            return Ok(Looked::Nothing);
        }
        let path = spool.path().to_path_buf();
        let looked = spawn_blocking_limited(&self.images, move || thumbnail::look(&path, media_type)).await;
        // A decoder that gave up has said nothing of the image.
        Ok(looked.unwrap_or(Looked::Nothing))
    }

    /// Deletes all that is stored under a UUID. What is not there is no problem.
    pub async fn delete(&self, uuid: Uuid) -> Result<()> {
        for part in Part::ALL {
            match self.objects().delete(&self.path(part, uuid)).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(away(&error.to_string())),
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

/// What is read may be gone; else the storage failed.
fn missing(error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::NotFound,
        error => away(&error.to_string()),
    }
}
