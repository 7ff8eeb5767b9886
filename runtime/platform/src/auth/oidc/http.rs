//! Requests to the identity provider: no redirects, ten seconds, one megabyte.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};

use crate::http_client::{builder, root_store};
use charter_core::error::{Error, Result};

const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: usize = 1 << 20;

/// The client of the identity provider.
#[derive(Debug)]
pub(super) struct ProviderHttp(reqwest::Client);

impl ProviderHttp {
    /// # Errors
    /// When TLS cannot be set up.
    pub(super) fn new() -> Result<ProviderHttp> {
        let client = builder(root_store())?.timeout(TIMEOUT).build().map_err(Error::internal)?;
        Ok(ProviderHttp(client))
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Failed> {
        let request = request.try_into().map_err(Failed::Request)?;
        let mut answer = self.0.execute(request).await.map_err(Failed::Request)?;
        let mut response = HttpResponse::new(Vec::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        while let Some(chunk) = answer.chunk().await.map_err(Failed::Request)? {
            if response.body().len() + chunk.len() > MAX_BODY_BYTES {
                return Err(Failed::TooLong);
            }
            response.body_mut().extend_from_slice(&chunk);
        }
        Ok(response)
    }
}

impl<'c> AsyncHttpClient<'c> for ProviderHttp {
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Failed>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

/// A request that failed.
#[derive(Debug)]
pub(super) enum Failed {
    Request(reqwest::Error),
    TooLong,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The query string of the request is left out.
            Failed::Request(_) => f.write_str("the request failed"),
            Failed::TooLong => write!(f, "the response is longer than {MAX_BODY_BYTES} bytes"),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failed::Request(error) => Some(error),
            Failed::TooLong => None,
        }
    }
}
