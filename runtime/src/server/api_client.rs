//! In-process client of the API: requests go through the API's own router, as an authenticated caller, without a socket.
//!
//! The panel sends the requests of its pages, and the MCP endpoint those of its tools.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use salvo::conn::SocketAddr;
use salvo::http::header::{HeaderMap, HeaderName, HeaderValue};
use salvo::http::uri::Scheme;
use salvo::http::{ReqBody, StatusCode, Version};
use salvo::hyper;
use salvo::{Request, Response, Router, Service};
use serde_json::Value;

use super::dry_run::DryRun;
use super::{Endpoint, ForwardedAddress, InternalRequest, NotFound, Receiving, ServerState, resource_router};
use charter_core::client::Client;
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::ops::API;
use charter_core::principal::Principal;

/// The router of `/api/v1`.
pub(crate) struct ApiClient {
    service: Service,
    /// The message if a header of a request has characters that no header can hold.
    invalid_header: &'static str,
}

/// The authenticated caller of a request, and the address of the client.
#[derive(Clone)]
pub(crate) struct ApiCaller<'a> {
    pub principal: &'a Arc<Principal>,
    pub client_address: Option<IpAddr>,
    /// The client to whose share the request counts, if it is not the user.
    pub client: Option<Client>,
    /// Shared with the request whose body is forwarded.
    pub receiving: Option<Receiving>,
    /// A write runs in a transaction that is rolled back, and the response shows what it would change.
    pub dry_run: bool,
}

/// A response whose body was read to its end.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// The body of an error response.
#[derive(Debug, Default, Clone)]
pub(crate) struct Problem {
    pub message: String,
    /// Messages by field or query parameter.
    pub errors: BTreeMap<String, Vec<String>>,
}

impl ApiClient {
    pub(crate) fn new(state: &Arc<ServerState>, invalid_header: &'static str) -> ApiClient {
        let not_found = Router::with_path("{**rest}").goal(Endpoint::new(state.clone(), NotFound));
        ApiClient {
            service: Service::new(Router::new().push(resource_router::router(state)).push(not_found)),
            invalid_header,
        }
    }

    /// Sends a request; `path` is relative to `/api/v1`. `version` is the HTTP version of the client's connection,
    /// which limits the ways in which the response may be streamed.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the path or a header value is invalid.
    pub(crate) async fn send(
        &self,
        caller: ApiCaller<'_>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: ReqBody,
        version: Version,
    ) -> Result<Response> {
        let invalid_url = |_| Error::Malformed("The URL is invalid.".into());
        let mut request = hyper::Request::builder().method(method).uri(format!("{API}{path}")).version(version);
        // The server requires a Host header.
        request = request.header("host", "internal");
        for (name, value) in headers {
            let name: HeaderName = name.parse().map_err(Error::internal)?;
            let value = HeaderValue::from_str(value);
            request = request.header(name, value.map_err(|_| Error::Malformed(self.invalid_header.into()))?);
        }
        let mut request = Request::from_hyper(request.body(body).map_err(invalid_url)?, Scheme::HTTP);
        request.extensions_mut().insert(caller.principal.clone());
        if let Some(address) = caller.client_address {
            request.extensions_mut().insert(ForwardedAddress(address));
        }
        if let Some(client) = caller.client {
            request.extensions_mut().insert(client);
        }
        if let Some(receiving) = caller.receiving {
            request.extensions_mut().insert(receiving);
        }
        if caller.dry_run {
            request.extensions_mut().insert(DryRun);
        }
        request.extensions_mut().insert(InternalRequest);
        let address = SocketAddr::Unknown;
        let control = salvo::conn::ConnCtrl::new();
        let handler = self.service.hyper_handler(address.clone(), address, Scheme::HTTP, None, control, None);
        Ok(handler.handle(request).await)
    }
}

/// The body of a response, as it arrives.
pub(crate) fn body_stream(response: &mut Response) -> impl Stream<Item = std::io::Result<Bytes>> + Send + use<> {
    response.take_body().filter_map(async |frame| match frame {
        Ok(frame) => frame.into_data().ok().map(Ok),
        Err(error) => Some(Err(error)),
    })
}

impl ApiResponse {
    /// Reads a response to its end.
    ///
    /// # Errors
    /// When the body stream fails.
    pub(crate) async fn read(response: Response) -> Result<ApiResponse> {
        let read = ApiResponse::read_up_to(response, usize::MAX).await?;
        read.ok_or_else(|| Error::internal("a response exceeds usize::MAX bytes"))
    }

    /// Reads a response to its end; `None` if its body has more than `max_bytes`.
    ///
    /// # Errors
    /// When the body stream fails.
    pub(crate) async fn read_up_to(mut response: Response, max_bytes: usize) -> Result<Option<ApiResponse>> {
        let status = response.status_code.unwrap_or(StatusCode::OK);
        let mut body = Vec::new();
        let mut stream = response.take_body();
        while let Some(frame) = stream.next().await {
            if let Ok(data) = frame.map_err(Error::internal)?.into_data() {
                if data.len() > max_bytes - body.len() {
                    return Ok(None);
                }
                body.extend_from_slice(&data);
            }
        }
        Ok(Some(ApiResponse { status, headers: std::mem::take(response.headers_mut()), body }))
    }

    pub(crate) fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// The JSON body.
    ///
    /// # Errors
    /// The API's error, if this is an error response.
    pub(crate) fn json(&self) -> Result<Value> {
        if self.is_success() { serde_json::from_slice(&self.body).map_err(Error::internal) } else { Err(self.error()) }
    }

    /// The messages of an error response.
    pub(crate) fn problem(&self) -> Problem {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let texts = |list: &Value| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_string())).collect()
        };
        let errors = body["errors"].as_object().into_iter().flatten().map(|(field, list)| (field.clone(), texts(list)));
        Problem {
            message: body["message"].as_str().unwrap_or("The request failed.").to_string(),
            errors: errors.collect(),
        }
    }

    /// The error that an error response leads to.
    pub(crate) fn error(&self) -> Error {
        let problem = self.problem();
        match self.status.as_u16() {
            404 => Error::NotFound,
            403 => Error::Forbidden(problem.message),
            409 => Error::Conflict(problem.message),
            412 => Error::PreconditionFailed,
            503 => Error::Unavailable(problem.message),
            400..=499 => Error::Malformed(problem.message),
            _ => Error::internal(problem.message),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn etag(&self) -> Option<&str> {
        self.header(header::ETAG)
    }
}

/// A JSON request body.
pub(crate) fn json(value: &Value) -> ReqBody {
    Bytes::from(value.to_string()).into()
}
