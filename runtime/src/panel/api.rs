//! Asks the API itself, in this process, as the user who is signed in: the same paths, checks and answers as over HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use salvo::conn::SocketAddr;
use salvo::http::header::{HeaderMap, HeaderName, HeaderValue};
use salvo::http::uri::Scheme;
use salvo::http::{ReqBody, StatusCode, Version};
use salvo::hyper;
use salvo::{Request, Response, Router, Service};
use serde_json::Value;

use super::listing::Listing;
use crate::auth::Principal;
use crate::context::State;
use crate::error::{Error, Result};
use crate::header;
use crate::ops::{self, API};
use crate::server::{Endpoint, Inner, Nothing};

/// The paths below `/api/v1`.
pub struct Api {
    service: Service,
}

/// What the API answered.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// What it refused, as it tells clients.
#[derive(Debug, Default, Clone)]
pub struct Problem {
    pub message: String,
    /// By field, or parameter.
    pub errors: BTreeMap<String, Vec<String>>,
}

impl Api {
    pub fn new(state: &Arc<State>) -> Api {
        let elsewhere = Router::with_path("{**rest}").goal(Endpoint::new(state.clone(), Nothing));
        Api { service: Service::new(Router::new().push(ops::router(state)).push(elsewhere)) }
    }

    /// Answers a request whose path begins behind `/api/v1`. The version is that of HTTP by which the answer goes out.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the path or a header cannot be one.
    pub async fn send(
        &self,
        caller: &Arc<Principal>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: ReqBody,
        version: Version,
    ) -> Result<Response> {
        let unreadable = |_| Error::Malformed("The address cannot be read.".into());
        let mut request = hyper::Request::builder().method(method).uri(format!("{API}{path}")).version(version);
        // As every request of HTTP/1.1 has one.
        request = request.header("host", "panel");
        for (name, value) in headers {
            let name: HeaderName = name.parse().map_err(Error::internal)?;
            let value = HeaderValue::from_str(value);
            request = request
                .header(name, value.map_err(|_| Error::Malformed("A field of the form cannot be read.".into()))?);
        }
        let mut request = Request::from_hyper(request.body(body).map_err(unreadable)?, Scheme::HTTP);
        request.extensions_mut().insert(caller.clone());
        request.extensions_mut().insert(Inner);
        let nowhere = SocketAddr::Unknown;
        let control = salvo::conn::ConnCtrl::new();
        let handler = self.service.hyper_handler(nowhere.clone(), nowhere, Scheme::HTTP, None, control, None);
        Ok(handler.handle(request).await)
    }
}

impl Reply {
    /// Reads a whole answer.
    ///
    /// # Errors
    /// When what is streamed breaks off.
    pub async fn read(mut response: Response) -> Result<Reply> {
        let status = response.status_code.unwrap_or(StatusCode::OK);
        let mut body = Vec::new();
        let mut stream = response.take_body();
        while let Some(frame) = stream.next().await {
            if let Ok(data) = frame.map_err(Error::internal)?.into_data() {
                body.extend_from_slice(&data);
            }
        }
        Ok(Reply { status, headers: std::mem::take(response.headers_mut()), body })
    }

    pub fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// The JSON of a success.
    ///
    /// # Errors
    /// What was refused.
    pub fn json(&self) -> Result<Value> {
        if self.is_success() { serde_json::from_slice(&self.body).map_err(Error::internal) } else { Err(self.error()) }
    }

    /// The records of a list that was answered.
    ///
    /// # Errors
    /// What was refused.
    pub fn listing(&self) -> Result<Listing<'_>> {
        if self.is_success() { serde_json::from_slice(&self.body).map_err(Error::internal) } else { Err(self.error()) }
    }

    /// What was refused, for a page that says so.
    pub fn problem(&self) -> Problem {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let texts = |list: &Value| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_string())).collect()
        };
        let errors = body["errors"].as_object().into_iter().flatten().map(|(field, list)| (field.clone(), texts(list)));
        Problem { message: body["message"].as_str().unwrap_or("It failed.").to_string(), errors: errors.collect() }
    }

    /// The same as an error of this request.
    pub fn error(&self) -> Error {
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

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub fn etag(&self) -> Option<&str> {
        self.header(header::ETAG)
    }
}

/// The body of a JSON request.
pub fn json(value: &Value) -> ReqBody {
    Bytes::from(value.to_string()).into()
}
