//! JSON client of one server, with or without a token.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// Builder for clients of servers without TLS. Loading the system's root certificates would take longer than most tests.
///
/// # Panics
/// If the TLS library has no safe protocol version.
pub fn http() -> reqwest::ClientBuilder {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let tls = tls.expect("versions of TLS").with_root_certificates(rustls::RootCertStore::empty());
    reqwest::Client::builder().no_proxy().tls_backend_preconfigured(tls.with_no_client_auth())
}

/// Sends requests to one server. A path is below `/api/v1/`, such as `books?sort=title`; one that begins with `/` is a path
/// of the server, such as `/health/live`.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base_url: String,
    headers: HeaderMap,
}

impl Client {
    /// A client without a token, of a server at `http://127.0.0.1:<port>`. It follows no redirect.
    ///
    /// # Panics
    /// If the client cannot be built.
    pub fn new(base_url: impl Into<String>) -> Client {
        let http = http().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        Client { http, base_url: base_url.into(), headers: HeaderMap::new() }
    }

    /// The same client with this token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Client {
        self.with_header("authorization", &format!("Bearer {token}"))
    }

    /// The same client with an additional or replaced header.
    ///
    /// # Panics
    /// If the name or the value is invalid.
    #[must_use]
    pub fn with_header(&self, name: &str, value: &str) -> Client {
        let mut client = self.clone();
        let name: HeaderName = name.parse().expect("the name of a header");
        client.headers.insert(name, HeaderValue::from_str(value).expect("the value of a header"));
        client
    }

    /// The same client without a token and headers.
    #[must_use]
    pub fn anonymous(&self) -> Client {
        Client { headers: HeaderMap::new(), ..self.clone() }
    }

    /// GET: the status and the body.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request(Method::GET, path)).await
    }

    /// POST of a JSON body: the status and the body.
    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.request(Method::POST, path).json(&body)).await
    }

    /// PATCH with a JSON body: the status and the body.
    pub async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        answer(self.request(Method::PATCH, path).json(&body)).await
    }

    /// DELETE: the status and the body.
    pub async fn delete(&self, path: &str) -> (u16, Value) {
        answer(self.request(Method::DELETE, path)).await
    }

    /// A request with the client's headers, for tests that need other bodies or the headers of the response.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = match path.strip_prefix('/') {
            Some(path) => format!("{}/{path}", self.base_url),
            None => format!("{}/api/v1/{path}", self.base_url),
        };
        self.http.request(method, url).headers(self.headers.clone())
    }
}

/// The body is null if it is empty, and a string if it is not JSON.
async fn answer(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.expect("the server answers");
    let status = answer.status().as_u16();
    let text = answer.text().await.expect("the body is complete");
    let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap_or(Value::String(text)) };
    (status, body)
}
