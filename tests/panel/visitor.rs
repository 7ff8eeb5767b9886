//! A browser without a page: it keeps cookies, sends forms, and follows nothing by itself.

use std::net::IpAddr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;

use crate::support::{http, plain};

/// What came back.
pub struct Page {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    what: String,
}

pub struct Visitor {
    http: reqwest::Client,
    base: String,
    pub cookie: Option<String>,
    headers: HeaderMap,
}

impl Visitor {
    pub fn new(base: &str) -> Visitor {
        Visitor::at(base, [127, 0, 0, 1])
    }

    /// One at this address of the machine itself.
    pub fn at(base: &str, address: [u8; 4]) -> Visitor {
        let http = http().redirect(Policy::none()).local_address(IpAddr::from(address)).build().expect("a client");
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static("text/html"));
        headers.insert("sec-fetch-site", HeaderValue::from_static("same-origin"));
        Visitor { http, base: base.to_string(), cookie: None, headers }
    }

    /// The same with another value of a header, or without it.
    pub fn with(&self, name: &str, value: Option<&str>) -> Visitor {
        let mut headers = self.headers.clone();
        let name: HeaderName = name.parse().expect("a name");
        match value {
            Some(value) => drop(headers.insert(name, HeaderValue::from_str(value).expect("a value"))),
            None => drop(headers.remove(name)),
        }
        Visitor { http: self.http.clone(), base: self.base.clone(), cookie: self.cookie.clone(), headers }
    }

    pub async fn get(&mut self, path: &str) -> Page {
        let request = self.http.get(format!("{}{path}", self.base));
        self.send(request, path).await
    }

    /// Sends a form as it is.
    pub async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let mut url = reqwest::Url::parse("http://form").expect("a URL");
        url.query_pairs_mut().extend_pairs(form);
        let body = url.query().unwrap_or_default().to_string();
        let request = self.http.post(format!("{}{path}", self.base)).body(body);
        self.send(request.header("content-type", "application/x-www-form-urlencoded"), path).await
    }

    /// Sends a form of a page, with the token that the page has.
    pub async fn submit(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let token = self.token().await;
        let form: Vec<(&str, &str)> = form.iter().copied().chain([("_token", token.as_str())]).collect();
        self.post(path, &form).await
    }

    /// What the panel's script sends to the API.
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

    /// The token of the session's pages.
    pub async fn token(&mut self) -> String {
        let page = self.get("/panel/password").await;
        let rest = page.text.split("name=\"panel-token\" content=\"").nth(1).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().to_string()
    }

    async fn send(&mut self, request: reqwest::RequestBuilder, what: &str) -> Page {
        let mut request = request.headers(self.headers.clone());
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let response = request.send().await.expect("the server answers");
        for set in response.headers().get_all("set-cookie") {
            let pair = set.to_str().expect("text").split(';').next().expect("a pair").to_string();
            if pair.contains("session=") {
                self.cookie = (!pair.ends_with('=')).then_some(pair);
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
