//! Canaille, an identity provider in a process of its own, and a client that signs in there as a browser does.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use charter_testing::postgres::free_port;
use reqwest::Url;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;

use crate::support::http;

/// A password at the provider.
pub const PASSWORD: &str = "the password at the provider";

/// The running provider. It ends when its standard input closes.
pub struct Canaille {
    process: Child,
    pub issuer: String,
}

impl Canaille {
    /// Starts the provider with a client that has this redirect URI.
    pub fn start(redirect_uri: &str) -> Canaille {
        let python = std::env::var_os("CHARTER_TEST_IDENTITY_PROVIDER").expect("a Python with Canaille");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/identity_provider.py");
        let port = free_port();
        let mut command = Command::new(python);
        command.args([script, &port.to_string(), redirect_uri]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().expect("Python runs");
        let mut out = BufReader::new(process.stdout.take().expect("its output"));
        let mut line = String::new();
        out.read_line(&mut line).expect("it writes");
        assert_eq!(line, "ready\n", "Canaille starts");
        Canaille { process, issuer: format!("http://127.0.0.1:{port}") }
    }

    /// Signs a user in at the address to which the service sent the browser; returns the address that leads back.
    pub async fn sign_in(&self, address: &str, user: &str) -> String {
        let client = http().redirect(Policy::none()).build().expect("a client");
        let mut cookie = String::new();
        let mut next = Url::parse(address).expect("a URL");
        for _ in 0..10 {
            if !next.as_str().starts_with(&self.issuer) {
                return next.into();
            }
            let mut request = client.get(next.clone());
            if matches!(next.path(), "/login" | "/auth/password") {
                let page = client.get(next.clone()).header(COOKIE, &cookie).send().await.expect("a page");
                remember(&mut cookie, &page);
                let page = page.text().await.expect("a text");
                let token = page.split("name=\"csrf_token\" value=\"").nth(1).expect("a form").split('"').next();
                let form = [("csrf_token", token.expect("a value")), ("login", user), ("password", PASSWORD)];
                let mut body = Url::parse("http://form").expect("a URL");
                body.query_pairs_mut().extend_pairs(form);
                request = client.post(next.clone()).body(body.query().unwrap_or_default().to_string());
                request = request.header("content-type", "application/x-www-form-urlencoded");
            }
            let answer = request.header(COOKIE, &cookie).send().await.expect("an answer");
            remember(&mut cookie, &answer);
            let location = answer.headers().get(LOCATION).unwrap_or_else(|| panic!("no redirect from {next}"));
            next = next.join(location.to_str().expect("text")).expect("a URL");
        }
        panic!("the provider does not lead back")
    }
}

fn remember(cookie: &mut String, answer: &reqwest::Response) {
    if let Some(set) = answer.headers().get(SET_COOKIE) {
        *cookie = set.to_str().expect("text").split(';').next().expect("a pair").to_string();
    }
}

impl Drop for Canaille {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
