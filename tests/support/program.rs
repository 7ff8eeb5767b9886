//! The real program, run as an operator does: in its own folder, with no settings but those it is given.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use charter_testing::Folder;
use serde_json::Value;

use super::Database;

/// A folder to run the program in, with the URL of an empty database.
pub struct Program {
    folder: Folder,
    url: String,
}

/// Output and exit code of a command.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The running server. It is killed when this is dropped.
pub struct Serving {
    child: Option<Child>,
    out: BufReader<ChildStdout>,
    /// Standard output so far.
    pub banner: String,
    /// `http://127.0.0.1:<port>`
    pub base_url: String,
}

impl Program {
    pub fn new(database: Database) -> Program {
        let folder = Folder::create();
        let url = database.create(&folder);
        Program { folder, url }
    }

    /// A command with these arguments, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_charter"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        charter_testing::without_settings(&mut command);
        command.env("CHARTER_DATABASE_URL", &self.url).env("CHARTER_LISTEN", "127.0.0.1:0");
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> CommandOutput {
        decode(self.command(arguments).output().expect("the program runs"))
    }

    /// Runs a command that must succeed and returns its standard output.
    #[track_caller]
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.code, 0, "{arguments:?}: {output:?}");
        output.out
    }

    /// Runs a command that lists records as JSON.
    #[track_caller]
    pub fn list(&self, arguments: &[&str]) -> Vec<Value> {
        let out = self.done(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?} lists no JSON ({error}): {out}"))
    }

    /// The URL of the database.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Starts the server for the first time and waits until its banner is complete.
    pub fn serve_first(&self, arguments: &[&str]) -> Serving {
        Serving::start(self.command(arguments), "More tokens:")
    }

    /// Starts the server on a database with an administrator and waits until it prints its address.
    pub fn serve(&self, arguments: &[&str]) -> Serving {
        Serving::start(self.command(arguments), "Serving ")
    }
}

impl Serving {
    /// Starts this command and reads its output until a line begins with `last`.
    pub fn start(mut command: Command, last: &str) -> Serving {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut serving = Serving { child: Some(child), out, banner: String::new(), base_url: String::new() };
        loop {
            let mut line = String::new();
            if serving.out.read_line(&mut line).expect("the program prints text") == 0 {
                panic!("the server does not start: {:?}", serving.end());
            }
            serving.banner.push_str(&line);
            if let Some(url) = line.strip_prefix("Serving ") {
                serving.base_url = url.trim().trim_end_matches("/api/v1/").to_string();
            }
            if line.starts_with(last) {
                return serving;
            }
        }
    }

    /// Address of the server.
    pub fn address(&self) -> SocketAddr {
        self.base_url.trim_start_matches("http://").parse().expect("an address")
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.as_ref().map(Child::id).expect("it runs")
    }

    /// Sends a signal by name.
    pub fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Waits for the end of the process, without reading its output.
    pub fn exit_code(mut self) -> Option<i32> {
        self.child.take().expect("it runs").wait().expect("the program ends").code()
    }

    /// Waits for the end of the process.
    pub fn end(mut self) -> CommandOutput {
        let child = self.child.take().expect("it runs");
        let mut out = std::mem::take(&mut self.banner);
        self.out.read_to_string(&mut out).expect("the program prints text");
        CommandOutput { out, ..decode(child.wait_with_output().expect("the program ends")) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends a signal to a process by name.
pub fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(status.expect("kill runs").success());
}

fn decode(output: Output) -> CommandOutput {
    CommandOutput {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}
