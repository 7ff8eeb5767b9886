//! Client of an S3-compatible service: `object_store` for most requests, and uploads streamed from disk.
//!
//! A file is uploaded with a single PUT, which stores all of it or nothing and leaves no parts behind. It is streamed,
//! while `object_store` would hold it in memory.

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

use super::content_headers::ContentHeaders;
use super::link::LIFETIME;
use super::s3_config::S3Config;
use super::spool::io_error;
use crate::http_client;
use charter_core::error::{Error, Result, chain};

/// Maximum number of concurrent uploads. The others wait on disk.
const MAX_CONCURRENT_UPLOADS: usize = 8;
/// Bytes of a file in memory per upload.
const CHUNK_BYTES: usize = 64 << 10;
/// Number of tries, and the pause between them.
const MAX_TRIES: u32 = 3;
const RETRY_DELAY: Duration = Duration::from_millis(250);
/// Time to the first byte of a response, and between two reads.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Slowest upload rate allowed after [`RESPONSE_TIMEOUT`].
const MIN_BYTES_PER_SECOND: u64 = 64 << 10;
/// Timeout of an upload including the wait for a permit: it ends before the scheduled deletion of the file is due.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// Bytes of an error response that are read for the log.
const MAX_ERROR_BYTES: usize = 4 << 10;

/// An opened bucket.
pub(super) struct Bucket {
    objects: AmazonS3,
    client: Client,
    sending: Semaphore,
}

impl std::fmt::Debug for Bucket {
    /// Omits the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.objects)
    }
}

/// Makes `object_store` use the server's own HTTP client.
#[derive(Debug)]
struct Connector(Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

/// Reason why a PUT failed, and whether a retry could succeed.
struct PutError {
    text: String,
    is_transient: bool,
}

impl Bucket {
    /// # Errors
    /// If TLS cannot be set up.
    pub(super) fn open(config: &S3Config) -> Result<Bucket> {
        let backoff = BackoffConfig { init_backoff: RETRY_DELAY, max_backoff: Duration::from_secs(2), base: 2.0 };
        let retry = RetryConfig { backoff, max_retries: MAX_TRIES as usize - 1, retry_timeout: RESPONSE_TIMEOUT };
        let answering = client()?.read_timeout(RESPONSE_TIMEOUT).build().map_err(Error::internal)?;
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&config.bucket)
            .with_region(&config.region)
            .with_access_key_id(&config.access_key)
            .with_secret_access_key(&config.secret_key)
            // Some services do not support deleting several objects at once.
            .with_disable_bulk_delete(true)
            .with_retry(retry)
            .with_http_connector(Connector(answering));
        if let Some(endpoint) = &config.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        let objects = builder.build().map_err(Error::internal)?;
        Ok(Bucket {
            objects,
            client: client()?.build().map_err(Error::internal)?,
            sending: Semaphore::new(MAX_CONCURRENT_UPLOADS),
        })
    }

    pub(super) fn objects(&self) -> &dyn ObjectStore {
        &self.objects
    }

    /// Uploads a file of `size` bytes from disk.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the service did not accept it; the reason is logged.
    pub(super) async fn send(&self, file: PathBuf, to: &Path, size: u64) -> Result<()> {
        let sent = tokio::time::timeout(UPLOAD_TIMEOUT, async {
            let _permit = self.sending.acquire().await.map_err(Error::internal)?;
            let mut tries = 1;
            loop {
                match self.put(&file, to, size).await? {
                    Ok(()) => return Ok(()),
                    Err(error) if error.is_transient && tries < MAX_TRIES => {
                        tokio::time::sleep(RETRY_DELAY * tries).await
                    }
                    Err(error) => return Err(storage_unavailable(&error.text)),
                }
                tries += 1;
            }
        });
        sent.await.unwrap_or_else(|_| Err(storage_unavailable("the upload timed out")))
    }

    /// One try. `Content-Length` is sent first, which makes a broken connection store nothing.
    async fn put(&self, file: &std::path::Path, to: &Path, size: u64) -> Result<Result<(), PutError>> {
        let within = RESPONSE_TIMEOUT + Duration::from_secs(size / MIN_BYTES_PER_SECOND);
        let url = self.objects.signed_url(Method::PUT, to, within + RESPONSE_TIMEOUT).await.map_err(Error::internal)?;
        let file = File::open(file).await.map_err(io_error)?;
        let request = self.client.put(url).header(CONTENT_LENGTH, size).timeout(within);
        let error = match request.body(Body::wrap_stream(chunks(file))).send().await {
            Ok(answer) if answer.status().is_success() => return Ok(Ok(())),
            Ok(answer) => {
                let status = answer.status();
                let is_transient = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
                PutError { text: format!("{status}: {}", error_body(answer).await), is_transient }
            }
            // The URL contains a signature. A timeout is not retried, because it would happen again.
            Err(error) => PutError { is_transient: !error.is_timeout(), text: chain(&error.without_url()) },
        };
        Ok(Err(error))
    }

    /// A presigned link to an object, served by the service itself.
    ///
    /// # Errors
    /// Never: the key was checked when the bucket was opened.
    pub(super) async fn link(&self, to: &Path, headers: ContentHeaders) -> Result<String> {
        let lifetime = LIFETIME.to_std().map_err(Error::internal)?;
        let options = SignedUrlOptions::new().with_query([
            ("response-cache-control", "private".to_string()),
            ("response-content-disposition", headers.disposition),
            ("response-content-type", headers.media_type),
        ]);
        let url = self.objects.signed_url_opts(Method::GET, to, lifetime, &options).await;
        Ok(url.map_err(Error::internal)?.into())
    }
}

/// Logs the reason and returns an error that tells the client to retry.
pub(super) fn storage_unavailable(error: &str) -> Error {
    let error: String = error.chars().take(500).collect();
    tracing::warn!(error, "attachment storage failed");
    Error::Unavailable("File storage is unavailable. Try again in a moment.".into())
}

/// HTTP client without a total timeout.
fn client() -> Result<ClientBuilder> {
    Ok(http_client::builder(http_client::root_store())?.connect_timeout(Duration::from_secs(5)))
}

/// Streams a file in chunks.
fn chunks(file: File) -> impl Stream<Item = std::io::Result<Bytes>> {
    stream::try_unfold(file, async |mut file| {
        let mut piece = vec![0; CHUNK_BYTES];
        let length = file.read(&mut piece).await?;
        piece.truncate(length);
        Ok((length > 0).then(|| (Bytes::from(piece), file)))
    })
}

/// The beginning of an error response.
async fn error_body(mut answer: Response) -> String {
    let mut text = Vec::new();
    while let Ok(Some(bytes)) = answer.chunk().await {
        text.extend_from_slice(&bytes[..bytes.len().min(MAX_ERROR_BYTES - text.len())]);
        if text.len() == MAX_ERROR_BYTES {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
