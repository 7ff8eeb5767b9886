//! HTTP client of the API, with or without a token.

use std::net::SocketAddr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Answer, http, openapi_validation};

/// Sends requests to one server.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    address: SocketAddr,
    headers: HeaderMap,
    /// Responses are compared with `docs/openapi.json`.
    is_described: bool,
}

impl Client {
    pub fn new(address: SocketAddr) -> Client {
        let http = http().build().expect("a client");
        Client { http, address, headers: HeaderMap::new(), is_described: true }
    }

    /// The same client for a proxy, which adds headers that `docs/openapi.json` does not describe.
    pub fn at(&self, address: SocketAddr) -> Client {
        Client { address, is_described: false, ..self.clone() }
    }

    /// The same client for an application of a test, which `docs/openapi.json` does not describe.
    pub fn undescribed(&self) -> Client {
        Client { is_described: false, ..self.clone() }
    }

    /// The same client with this token.
    pub fn bearing(&self, token: &str) -> Client {
        self.with("authorization", &format!("Bearer {token}"))
    }

    /// The same client with an additional or replaced header.
    pub fn with(&self, name: &str, value: &str) -> Client {
        let mut client = self.clone();
        let name: HeaderName = name.parse().expect("the name of a header");
        client.headers.insert(name, HeaderValue::from_str(value).expect("the value of a header"));
        client
    }

    /// GET a path below `/api/v1`. The query string is sent as written, except for characters that a URL cannot
    /// contain.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    /// GET a list with these parameters, percent-encoded.
    pub async fn list(&self, path: &str, parameters: &[(&str, &str)]) -> Answer {
        let mut url = self.url(path);
        url.query_pairs_mut().extend_pairs(parameters);
        self.execute(self.http.get(url)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// Sends a JSON body, or none.
    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let mut request = self.http.request(method, self.url(path));
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.execute(request).await
    }

    /// Sends these bytes as the body.
    pub async fn send_bytes(&self, method: Method, path: &str, kind: Option<&str>, body: impl Into<Vec<u8>>) -> Answer {
        let mut request = self.http.request(method, self.url(path)).body(body.into());
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        self.execute(request).await
    }

    /// Sends these bytes as a JSON body.
    pub async fn post_text(&self, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.send_bytes(Method::POST, path, Some("application/json"), body).await
    }

    /// Sends a GET below `/api/v1` and returns the stream without reading the response.
    pub async fn begin(&self, path: &str) -> TcpStream {
        self.begin_in("HTTP/1.1", path).await
    }

    /// Like [`Client::begin`], with another version of HTTP.
    pub async fn begin_in(&self, version: &str, path: &str) -> TcpStream {
        self.begin_by("GET", version, path).await
    }

    /// Like [`Client::begin_in`], with another method. If this client's headers announce a body, the caller sends it.
    pub async fn begin_by(&self, method: &str, version: &str, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("the server listens");
        let begin = format!("{method} /api/v1{path} {version}\r\nhost: test\r\nconnection: close\r\n");
        let mut request = begin.into_bytes();
        for (name, value) in &self.headers {
            request.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        request.extend(b"\r\n");
        stream.write_all(&request).await.expect("the server reads");
        stream
    }

    /// Sends a request with these bytes as the target and returns the status.
    pub async fn raw(&self, method: &str, target: &[u8]) -> u16 {
        let mut stream = TcpStream::connect(self.address).await.expect("the server listens");
        let mut request =
            [method.as_bytes(), b" ", target, b" HTTP/1.1\r\nhost: test\r\nconnection: close\r\n"].concat();
        for (name, value) in &self.headers {
            request.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        request.extend(b"\r\n");
        stream.write_all(&request).await.expect("the server reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("the server answers");
        let head = String::from_utf8_lossy(&answer).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.unwrap_or_else(|| panic!("not an answer: {head:?}"))
    }

    /// Paths are below `/api/v1`, except those that begin with `~`: `~/health/live`.
    fn url(&self, path: &str) -> Url {
        let url = match path.strip_prefix('~') {
            Some(path) => format!("http://{}{path}", self.address),
            None => format!("http://{}/api/v1{path}", self.address),
        };
        Url::parse(&url).expect("a URL")
    }

    /// Sends a request to a server that may be killed before it responds. `None` if there is no response.
    pub async fn attempt(&self, method: Method, path: &str, body: Option<Value>) -> Option<Answer> {
        let mut request = self.http.request(method, self.url(path)).headers(self.headers.clone());
        if let Some(body) = body {
            request = request.json(&body);
        }
        Answer::try_read(request.send().await.ok()?).await
    }

    async fn execute(&self, request: reqwest::RequestBuilder) -> Answer {
        let request = request.headers(self.headers.clone()).build().expect("a request");
        let method = request.method().clone();
        let response = self.http.execute(request).await.expect("the server answers");
        let path = response.url().path().to_string();
        let answer = Answer::read(response).await;
        if self.is_described {
            openapi_validation::check(&method, &path, &answer);
        }
        answer
    }
}
