//! HTTP client that keeps cookies and submits forms like a browser, without rendering and without following redirects.

use std::net::IpAddr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;

use crate::support::{http, plain};

/// A response.
pub struct Page {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    what: String,
}

pub struct CookieClient {
    http: reqwest::Client,
    base: String,
    /// The session.
    pub cookie: Option<String>,
    /// The sign-in that was begun at the identity provider.
    pending: Option<String>,
    headers: HeaderMap,
}

impl CookieClient {
    pub fn new(base: &str) -> CookieClient {
        CookieClient::at(base, [127, 0, 0, 1])
    }

    /// A client with this loopback address.
    pub fn at(base: &str, address: [u8; 4]) -> CookieClient {
        let http = http().redirect(Policy::none()).local_address(IpAddr::from(address)).build().expect("a client");
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static("text/html"));
        headers.insert("sec-fetch-site", HeaderValue::from_static("same-origin"));
        CookieClient { http, base: base.to_string(), cookie: None, pending: None, headers }
    }

    /// A copy with another value of a header, or without the header.
    pub fn with(&self, name: &str, value: Option<&str>) -> CookieClient {
        let mut headers = self.headers.clone();
        let name: HeaderName = name.parse().expect("a name");
        match value {
            Some(value) => drop(headers.insert(name, HeaderValue::from_str(value).expect("a value"))),
            None => drop(headers.remove(name)),
        }
        CookieClient {
            http: self.http.clone(),
            base: self.base.clone(),
            cookie: self.cookie.clone(),
            pending: self.pending.clone(),
            headers,
        }
    }

    pub async fn get(&mut self, path: &str) -> Page {
        let request = self.http.get(format!("{}{path}", self.base));
        self.send(request, path).await
    }

    /// Posts a form unchanged.
    pub async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let mut url = reqwest::Url::parse("http://form").expect("a URL");
        url.query_pairs_mut().extend_pairs(form);
        let body = url.query().unwrap_or_default().to_string();
        let request = self.http.post(format!("{}{path}", self.base)).body(body);
        self.send(request.header("content-type", "application/x-www-form-urlencoded"), path).await
    }

    /// Posts a body of another media type unchanged.
    pub async fn post_bytes(&mut self, path: &str, kind: &str, body: Vec<u8>) -> Page {
        let request = self.http.post(format!("{}{path}", self.base)).body(body);
        self.send(request.header("content-type", kind), path).await
    }

    /// Posts a form with the CSRF token of the session.
    pub async fn submit(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let token = self.token().await;
        let form: Vec<(&str, &str)> = form.iter().copied().chain([("_token", token.as_str())]).collect();
        self.post(path, &form).await
    }

    /// Sends an API request as the panel's scripts do.
    pub async fn call(&mut self, method: &str, path: &str, body: Option<String>) -> Page {
        let token = self.token().await;
        let method = method.parse().expect("a method");
        let mut request = self.http.request(method, format!("{}/panel/api{path}", self.base));
        request = request.header("x-panel-token", token);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body);
        }
        self.send(request, path).await
    }

    /// The CSRF token of the session.
    pub async fn token(&mut self) -> String {
        let page = self.get("/panel/password").await;
        let rest = page.text.split("name=\"panel-token\" content=\"").nth(1).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().to_string()
    }

    async fn send(&mut self, request: reqwest::RequestBuilder, what: &str) -> Page {
        let mut request = request.headers(self.headers.clone());
        for cookie in self.cookie.iter().chain(&self.pending) {
            request = request.header("cookie", cookie);
        }
        let response = request.send().await.expect("the server answers");
        for set in response.headers().get_all("set-cookie") {
            let pair = set.to_str().expect("text").split(';').next().expect("a pair").to_string();
            let kept = if pair.contains("session=") { &mut self.cookie } else { &mut self.pending };
            if pair.contains("session=") || pair.starts_with("charter_sign_in=") {
                *kept = (!pair.ends_with('=')).then_some(pair);
            }
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.expect("a whole body");
        Page { status, text: plain(&headers, &body), headers, what: what.to_string() }
    }
}

impl Page {
    #[track_caller]
    pub fn status(&self, expected: u16) -> &Page {
        assert_eq!(self.status, expected, "{}: {}", self.what, self.text);
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Page {
        assert!(self.text.contains(text), "{} does not say {text}: {}", self.what, self.text);
        self
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
