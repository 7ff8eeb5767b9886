//! A server program under test: started in a temporary folder, called over HTTP, stopped when it is dropped.

// Several test crates include this file, and none of them uses all of it.
#![allow(dead_code)]

mod folder;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

pub use folder::Folder;
use reqwest::Method;
use serde_json::Value;

/// A running server.
pub struct Program {
    executable: PathBuf,
    pub database_url: String,
    pub base_url: String,
    /// Output of the first start.
    pub banner: String,
    /// The token in the banner, of an administrator.
    pub token: String,
    server: Child,
    /// Kept open, so that the server can print.
    _printed: BufReader<ChildStdout>,
    client: reqwest::Client,
    folder: Folder,
}

impl Program {
    /// Starts a program on a free port with the database of this URL, or with an SQLite file in its folder, and waits
    /// until it listens.
    pub fn start(executable: impl Into<PathBuf>, database_url: Option<String>) -> Program {
        let (executable, folder) = (executable.into(), Folder::new());
        let mut command = Command::new(&executable);
        command.current_dir(folder.path());
        Program::begun_by(command, folder, executable, database_url)
    }

    /// Starts a program by a command that executes it, such as `cargo run`, in the folder of that command.
    pub fn start_by(command: Command, executable: PathBuf, database_url: Option<String>) -> Program {
        Program::begun_by(command, Folder::new(), executable, database_url)
    }

    fn begun_by(command: Command, folder: Folder, executable: PathBuf, database_url: Option<String>) -> Program {
        // The dependency of the webhook sender enables TLS in the client, but selects no crypto provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let file = folder.path().join("charter.db");
        let database_url = database_url.unwrap_or_else(|| format!("sqlite://{}", file.display()));
        let log = std::fs::File::create(folder.path().join("log")).expect("the folder takes a log");
        let mut command = with_settings(command, &folder, &database_url);
        command.env("CHARTER_LISTEN", "127.0.0.1:0").stdout(Stdio::piped()).stderr(log);
        let mut server =
            command.spawn().unwrap_or_else(|error| panic!("{} does not run: {error}", executable.display()));
        let mut printed = BufReader::new(server.stdout.take().expect("its output is a pipe"));
        let mut text = String::new();
        while printed.read_line(&mut text).is_ok_and(|count| count > 0) && !text.contains("More tokens") {}
        let line =
            |prefix: &str| text.lines().map(str::trim).find_map(|line| line.strip_prefix(prefix)).map(String::from);
        let log = || std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        let base_url = line("Serving ").unwrap_or_else(|| panic!("it did not start: {text}{}", log()));
        let token = line("chr_").unwrap_or_else(|| panic!("it printed no token: {text}{}", log()));
        Program {
            executable,
            database_url,
            base_url: base_url.trim_end_matches("/api/v1/").to_string(),
            token: format!("chr_{token}"),
            banner: text,
            server,
            _printed: printed,
            client: reqwest::Client::new(),
            folder,
        }
    }

    /// Runs a command of the program on the same database and returns its output, without the line end.
    pub fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.executable);
        command.current_dir(self.folder.path());
        let mut command = with_settings(command, &self.folder, &self.database_url);
        let output = command.args(arguments).output().expect("the program runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_string()
    }

    /// A token of the administrator with only these abilities.
    pub fn token_with(&self, abilities: &[&str]) -> String {
        let mut arguments = vec!["token", "create", "--user", "admin@example.com", "--name", "test"];
        arguments.extend(abilities.iter().flat_map(|ability| ["--ability", *ability]));
        self.run(&arguments)
    }

    /// Calls a path below `/api/v1/` and returns the status and the body, null if it is empty.
    pub async fn call(&self, token: &str, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let request = self.client.request(method, format!("{}/api/v1/{path}", self.base_url)).bearer_auth(token);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let (status, text) = answer(request).await;
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// Reads a path of the application, and returns the status and the text.
    pub async fn read(&self, token: &str, path: &str) -> (u16, String) {
        answer(self.client.get(format!("{}/{path}", self.base_url)).bearer_auth(token)).await
    }

    /// Signs the administrator in to the panel, and returns the session for [`Program::page`].
    pub async fn session(&self) -> String {
        let invited = self.run(&["user", "invite", "admin@example.com"]);
        let (_, rest) = invited.split_once("/panel/invitation/").expect("a link");
        let secret = rest.split_whitespace().next().expect("a secret");
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        let request = client.post(format!("{}/panel/invitation/{secret}", self.base_url));
        let request = request.header("accept", "text/html").header("content-type", "application/x-www-form-urlencoded");
        let answer = request.body("password=correct+horse+battery+staple").send().await.expect("the server answers");
        let cookie = answer.headers().get("set-cookie").unwrap_or_else(|| panic!("no session: {answer:?}"));
        let cookie = cookie.to_str().expect("text");
        cookie.split(';').next().expect("a cookie has a value").to_string()
    }

    /// Reads a page of the panel, and returns the status and the text.
    pub async fn page(&self, session: &str, path: &str) -> (u16, String) {
        let request = self.client.get(format!("{}/{path}", self.base_url));
        answer(request.header("accept", "text/html").header("cookie", session)).await
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.call(&self.token, Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.call(&self.token, Method::POST, path, Some(body)).await
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, String) {
    let answer = request.send().await.expect("the server answers");
    (answer.status().as_u16(), answer.text().await.expect("the body comes whole"))
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A command with the settings of the test, without those of the environment.
fn with_settings(mut command: Command, folder: &Folder, database_url: &str) -> Command {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CHARTER_")) {
        command.env_remove(name);
    }
    command.env("CHARTER_DATA_DIR", folder.path()).env("CHARTER_DATABASE_URL", database_url);
    command.stdin(Stdio::null());
    command
}
