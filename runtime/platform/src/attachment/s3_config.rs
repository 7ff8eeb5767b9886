//! Configuration of S3 storage, shown without its secret.

use std::fmt;

use url::Url;

/// Bucket for attachment files, in place of the data folder.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Config {
    pub bucket: String,
    /// Prefix of all object names, without slashes at either end; may be empty.
    pub prefix: String,
    /// URL of the service without a trailing slash; `None` for Amazon.
    pub endpoint: Option<String>,
    pub region: String,
    /// Access key ID, which is visible in every link.
    pub access_key: String,
    pub secret_key: String,
}

impl fmt::Debug for S3Config {
    /// Omits the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{} at {}", self.bucket, self.prefix, self.endpoint.as_deref().unwrap_or("Amazon"))
    }
}

impl S3Config {
    /// Origin of links, except for Amazon. Links are path-style: the bucket is part of the path.
    pub fn origin(&self) -> Option<String> {
        let endpoint = Url::parse(self.endpoint.as_deref()?).ok()?;
        Some(endpoint.origin().ascii_serialization())
    }
}
