//! Compiled server program as a child process: started in a temporary folder, called over HTTP, killed when it is dropped.

use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use reqwest::Method;

use crate::{ADMINISTRATOR, Client, Database, Folder};

/// A running program. It is also a [`Client`] with the token that the program printed: `program.get("books")`.
pub struct Program {
    executable: PathBuf,
    /// URL of its database.
    pub database_url: String,
    /// `http://127.0.0.1:<port>`
    pub base_url: String,
    /// Output of the first start.
    pub banner: String,
    /// The token in the banner, of an administrator.
    pub token: String,
    server: Child,
    /// Not closed, so that the server can print.
    _output: BufReader<ChildStdout>,
    client: Client,
    folder: Folder,
}

impl Program {
    /// Starts a program, such as `env!("CARGO_BIN_EXE_lending")`, on a free port with an empty database, and waits until it
    /// listens.
    ///
    /// # Panics
    /// If the program does not start.
    pub fn start(executable: impl Into<PathBuf>, database: Database) -> Program {
        let (executable, folder) = (executable.into(), Folder::create());
        let mut command = Command::new(&executable);
        command.current_dir(folder.path());
        Program::spawn(command, folder, executable, database)
    }

    /// Starts a program by a command that executes it, such as `cargo run`, in the folder of that command.
    ///
    /// # Panics
    /// If the program does not start.
    pub fn start_by(command: Command, executable: PathBuf, database: Database) -> Program {
        Program::spawn(command, Folder::create(), executable, database)
    }

    fn spawn(command: Command, folder: Folder, executable: PathBuf, database: Database) -> Program {
        let database_url = database.create(&folder);
        let log = std::fs::File::create(folder.path().join("log")).expect("the folder takes a log");
        let mut command = with_settings(command, &folder, &database_url);
        command.env("CHARTER_LISTEN", "127.0.0.1:0").stdout(Stdio::piped()).stderr(log);
        let mut server =
            command.spawn().unwrap_or_else(|error| panic!("{} does not run: {error}", executable.display()));
        let mut output = BufReader::new(server.stdout.take().expect("its output is a pipe"));
        let mut text = String::new();
        while output.read_line(&mut text).is_ok_and(|count| count > 0) && !text.contains("More tokens") {}
        let line =
            |prefix: &str| text.lines().map(str::trim).find_map(|line| line.strip_prefix(prefix)).map(String::from);
        let log = || std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        let base_url = line("Serving ").unwrap_or_else(|| panic!("it did not start: {text}{}", log()));
        let base_url = base_url.trim_end_matches("/api/v1/").to_string();
        let token = line("chr_").unwrap_or_else(|| panic!("it printed no token: {text}{}", log()));
        let token = format!("chr_{token}");
        let client = Client::new(&base_url).with_token(&token);
        Program { executable, database_url, base_url, token, banner: text, server, _output: output, client, folder }
    }

    /// Runs a command of the program on the same database and returns its output, without the line end.
    ///
    /// # Panics
    /// If the command fails.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_string()
    }

    /// Runs a command that must fail on the same database and returns its error, without the line end.
    ///
    /// # Panics
    /// If the command succeeds.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8_lossy(&output.stderr).trim_end().to_string()
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.executable);
        command.current_dir(self.folder.path());
        let mut command = with_settings(command, &self.folder, &self.database_url);
        command.args(arguments).output().expect("the program runs")
    }

    /// A token of the administrator with only these abilities.
    ///
    /// # Panics
    /// If an ability is invalid.
    pub fn token_with(&self, abilities: &[&str]) -> String {
        let mut arguments = vec!["token", "create", "--user", ADMINISTRATOR, "--name", "test"];
        arguments.extend(abilities.iter().flat_map(|ability| ["--ability", *ability]));
        self.run(&arguments)
    }

    /// Signs the administrator in to the panel, and returns a client that reads its pages: `panel.get("/books")`.
    ///
    /// # Panics
    /// If the server does not answer with a session.
    pub async fn sign_in(&self) -> Client {
        let invited = self.run(&["user", "invite", ADMINISTRATOR]);
        let (_, rest) = invited.split_once("/panel/invitation/").expect("a link");
        let secret = rest.split_whitespace().next().expect("a secret");
        let browser = self.client.anonymous().with_header("accept", "text/html");
        let request = browser.request(Method::POST, &format!("/panel/invitation/{secret}"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = request.body("password=correct+horse+battery+staple").send().await.expect("the server answers");
        let cookie = answer.headers().get("set-cookie").unwrap_or_else(|| panic!("no session: {answer:?}"));
        let cookie = cookie.to_str().expect("a cookie is text").split(';').next().unwrap_or_default();
        browser.with_header("cookie", cookie)
    }
}

impl Deref for Program {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A command with the settings of the test, without those of the environment.
fn with_settings(mut command: Command, folder: &Folder, database_url: &str) -> Command {
    without_settings(&mut command);
    command.env("CHARTER_DATA_DIR", folder.path()).env("CHARTER_DATABASE_URL", database_url);
    command.stdin(Stdio::null());
    command
}

/// Removes the settings of the environment from a command: a server has those of its test only, and refuses unknown ones.
pub fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CHARTER_")) {
        command.env_remove(name);
    }
}
