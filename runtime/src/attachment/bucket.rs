//! A bucket of an S3-compatible service: what is in it by `object_store`, files sent to it from the disk.
//!
//! A file goes in one PUT, which either stores all of it or nothing: there are no parts that a failure could leave
//! behind. It is read from the disk as it is sent, where `object_store` would hold it in memory.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::path::Path;
use object_store::signer::{Method, SignedUrlOptions, Signer};
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use reqwest::header::CONTENT_LENGTH;
use reqwest::{Body, Client, ClientBuilder, Response};
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::sync::Semaphore;

use super::link::LIFETIME;
use super::location::Location;
use super::presentation::Presentation;
use super::spool::failed;
use crate::error::{Error, Result, chain};
use crate::http_client;

/// So many files are sent at once. Those that wait are on the disk.
const SENDING: usize = 8;
/// So much of a file is in memory.
const PIECE: usize = 64 << 10;
/// How often sending is tried, and how long it waits in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(250);
/// An answer begins, and goes on, within this time.
const ANSWERS: Duration = Duration::from_secs(30);
/// A file is sent within that time and a second more for each of these, which any line between servers can do.
const SECOND: u64 = 64 << 10;
/// Sending ends within this time, waiting for others included: before the promise to delete the file comes due.
const LONGEST: Duration = Duration::from_secs(20 * 60);
/// So much of an error is read, for the log.
const MOST_ERROR: usize = 4 << 10;

/// A bucket, ready for use.
pub struct Bucket {
    objects: AmazonS3,
    client: Client,
    sending: Semaphore,
}

impl std::fmt::Debug for Bucket {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.objects)
    }
}

/// Gives `object_store` the client that this server has already.
#[derive(Debug)]
struct Connector(Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

/// Why a file was not stored, and whether trying again could help.
struct Problem {
    text: String,
    passes: bool,
}

impl Bucket {
    /// # Errors
    /// When TLS cannot be set up.
    pub fn open(location: &Location) -> Result<Bucket> {
        let backoff = BackoffConfig { init_backoff: PAUSE, max_backoff: Duration::from_secs(2), base: 2.0 };
        let retry = RetryConfig { backoff, max_retries: TRIES as usize - 1, retry_timeout: ANSWERS };
        let answering = client()?.read_timeout(ANSWERS).build().map_err(Error::internal)?;
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&location.bucket)
            .with_region(&location.region)
            .with_access_key_id(&location.access_key)
            .with_secret_access_key(&location.secret_key)
            // Not every service deletes several at once.
            .with_disable_bulk_delete(true)
            .with_retry(retry)
            .with_http_connector(Connector(answering));
        if let Some(endpoint) = &location.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        let objects = builder.build().map_err(Error::internal)?;
        Ok(Bucket { objects, client: client()?.build().map_err(Error::internal)?, sending: Semaphore::new(SENDING) })
    }

    pub fn objects(&self) -> &dyn ObjectStore {
        &self.objects
    }

    /// Stores a file of the disk, of so many bytes.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the service did not take it; the log has why.
    pub async fn send(&self, file: PathBuf, to: &Path, size: u64) -> Result<()> {
        let sent = tokio::time::timeout(LONGEST, async {
            let _permit = self.sending.acquire().await.map_err(Error::internal)?;
            let mut tries = 1;
            loop {
                match self.put(&file, to, size).await? {
                    Ok(()) => return Ok(()),
                    Err(problem) if problem.passes && tries < TRIES => tokio::time::sleep(PAUSE * tries).await,
                    Err(problem) => return Err(away(&problem.text)),
                }
                tries += 1;
            }
        });
        sent.await.unwrap_or_else(|_| Err(away("others were sent for too long")))
    }

    /// One try. The length is said before the first byte, so that a connection that breaks stores nothing.
    async fn put(&self, file: &std::path::Path, to: &Path, size: u64) -> Result<Result<(), Problem>> {
        let within = ANSWERS + Duration::from_secs(size / SECOND);
        let url = self.objects.signed_url(Method::PUT, to, within + ANSWERS).await.map_err(Error::internal)?;
        let file = File::open(file).await.map_err(failed)?;
        let request = self.client.put(url).header(CONTENT_LENGTH, size).timeout(within);
        let problem = match request.body(Body::wrap_stream(pieces(file))).send().await {
            Ok(answer) if answer.status().is_success() => return Ok(Ok(())),
            Ok(answer) => {
                let status = answer.status();
                let passes = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
                Problem { text: format!("{status}: {}", beginning(answer).await), passes }
            }
            // The URL is signed. What took too long once would again.
            Err(error) => Problem { passes: !error.is_timeout(), text: chain(&error.without_url()) },
        };
        Ok(Err(problem))
    }

    /// A link to an object, which the service itself answers.
    ///
    /// # Errors
    /// Never: the key was read when the bucket was opened.
    pub async fn link(&self, to: &Path, presentation: Presentation) -> Result<String> {
        let lifetime = LIFETIME.to_std().map_err(Error::internal)?;
        let options = SignedUrlOptions::new().with_query([
            ("response-cache-control", "private".to_string()),
            ("response-content-disposition", presentation.disposition),
            ("response-content-type", presentation.media_type),
        ]);
        let url = self.objects.signed_url_opts(Method::GET, to, lifetime, &options).await;
        Ok(url.map_err(Error::internal)?.into())
    }
}

/// The log learns why, the client that it may come again.
pub fn away(problem: &str) -> Error {
    let problem: String = problem.chars().take(500).collect();
    tracing::warn!(problem, "the storage of attachments failed");
    Error::Unavailable("The file storage cannot be reached. Try again in a moment.".into())
}

/// A client without limits of time.
fn client() -> Result<ClientBuilder> {
    Ok(http_client::builder(http_client::root_store())?.connect_timeout(Duration::from_secs(5)))
}

/// A file, a piece at a time.
fn pieces(file: File) -> impl Stream<Item = std::io::Result<Bytes>> {
    stream::try_unfold(file, async |mut file| {
        let mut piece = vec![0; PIECE];
        let length = file.read(&mut piece).await?;
        piece.truncate(length);
        Ok((length > 0).then(|| (Bytes::from(piece), file)))
    })
}

/// What an error says of itself, cut.
async fn beginning(mut answer: Response) -> String {
    let mut text = Vec::new();
    while let Ok(Some(bytes)) = answer.chunk().await {
        text.extend_from_slice(&bytes[..bytes.len().min(MOST_ERROR - text.len())]);
        if text.len() == MOST_ERROR {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
