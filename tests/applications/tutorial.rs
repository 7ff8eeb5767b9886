//! The tutorial, step by step: each command runs, and each answer is that of the page.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::application::Application;
use crate::layout::arranged;
use crate::page::{Block, blocks, rewritten};
use crate::varying::{without_secrets, without_varying};

/// Addresses on the page, which the commands of the test replace.
const ADDRESS: &str = "127.0.0.1:8000";
const RECEIVER: &str = "127.0.0.1:4000";

/// The longest time until a server listens; the first start compiles it.
const BUILD_TIMEOUT: Duration = Duration::from_secs(900);
/// The longest time until a delivery arrives.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// A program that runs until the end of the test, and its output.
struct Background {
    process: Child,
    output: Arc<Mutex<String>>,
}

impl Background {
    fn start(mut command: Command) -> Background {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bash runs");
        let output = Arc::new(Mutex::new(String::new()));
        let (pipe, errors) = (process.stdout.take().expect("a pipe"), process.stderr.take().expect("a pipe"));
        let text = output.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                text.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        std::thread::spawn(move || {
            BufReader::new(errors).lines().map_while(Result::ok).for_each(|line| eprintln!("{line}"))
        });
        Background { process, output }
    }

    /// The output, as soon as it contains a text.
    fn wait_for(&mut self, text: &str, timeout: Duration) -> String {
        let begin = Instant::now();
        loop {
            let output = self.output.lock().unwrap().clone();
            if output.contains(text) {
                return output;
            }
            let ended = self.process.try_wait().expect("it is a child");
            assert!(ended.is_none() && begin.elapsed() < timeout, "no `{text}`: {ended:?}\n{output}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The application of the page, with what the reader has seen.
struct Reader {
    application: Application,
    server: Option<Background>,
    receiver: Option<Background>,
    /// Real addresses for those of the page.
    address: String,
    receiver_address: String,
    token: String,
    secret: String,
    /// Time of all commands that compile nothing.
    spent: Duration,
}

impl Reader {
    fn new() -> Reader {
        Reader {
            application: Application::named("tutorial/library"),
            server: None,
            receiver: None,
            address: ADDRESS.into(),
            receiver_address: free_address(),
            token: String::new(),
            secret: String::new(),
            spent: Duration::ZERO,
        }
    }

    fn local(&self, text: &str) -> String {
        text.replace(ADDRESS, &self.address)
            .replace(RECEIVER, &self.receiver_address)
            .replace("--port 4000", &format!("--port {}", self.receiver_address.rsplit(':').next().unwrap()))
    }

    fn as_on_page(&self, output: &str) -> String {
        without_secrets(&output.replace(&self.address, ADDRESS).replace(&self.receiver_address, RECEIVER))
    }

    /// Commands in the folder of the application, with what the reader exported and no other settings.
    fn bash(&self, script: &str) -> Command {
        let mut bash = self.application.script(script);
        charter_testing::without_settings(&mut bash);
        bash.env("TOKEN", &self.token).env("SECRET", &self.secret).env("CHARTER_LISTEN", &self.address);
        bash.stdin(Stdio::null());
        bash
    }

    /// Runs a block of commands and returns its output.
    fn run(&mut self, block: &Block) -> String {
        let kept = block.text.lines().filter(|line| !line.starts_with("export "));
        let script = self.local(&kept.collect::<Vec<_>>().join("\n"));
        if script.ends_with("cargo run") {
            return self.serve(&script);
        }
        if script.contains("webhook listen") {
            let mut receiver = Background::start(self.bash(&format!("exec {script}")));
            let output = receiver.wait_for("Listening", DELIVERY_TIMEOUT);
            self.receiver = Some(receiver);
            return output;
        }
        let aliases = "shopt -s expand_aliases\nalias api='curl -sg -H \"Authorization: Bearer $TOKEN\" -H \"Content-Type: application/json\"'\n";
        let begin = Instant::now();
        let output = self.bash(&format!("set -eu\n{aliases}{script}")).output().expect("bash runs");
        if !script.contains("cargo test") {
            self.spent += begin.elapsed();
        }
        let [told, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(output.status.success(), "line {}: {script}\n{told}{errors}", block.first_line);
        if let Some(secret) = told.split("whsec_").nth(1).and_then(|rest| rest.split('"').next()) {
            self.secret = format!("whsec_{secret}");
        }
        told
    }

    /// Starts the server again, on the same data.
    fn serve(&mut self, script: &str) -> String {
        self.server = None;
        self.address = free_address();
        let settings = script.strip_suffix("cargo run").unwrap();
        let mut server = Background::start(self.bash(&format!("{settings} exec cargo run --quiet")));
        let is_first = self.token.is_empty();
        let output = server.wait_for(if is_first { "More tokens" } else { "Serving " }, BUILD_TIMEOUT);
        if is_first {
            let token = output.split("chr_").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a token");
            self.token = format!("chr_{token}");
        }
        self.server = Some(server);
        output
    }
}

/// An address that is free now.
fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn the_tutorial_leads_from_an_empty_folder_to_a_tested_server_with_a_webhook() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md");
    let page = fs::read_to_string(&path).unwrap();
    let blocks = blocks(&page);
    let mut reader = Reader::new();
    let mut changes = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        if let Some(file) = &block.file {
            let target = reader.application.folder.join(file);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(target, &block.text).unwrap();
        }
        if block.language != "sh" {
            continue;
        }
        let output = reader.run(block);
        let Some(answer) = blocks.get(at + 1).filter(|next| ["json", "text"].contains(&next.language.as_str())) else {
            continue;
        };
        let output = reader.as_on_page(&output);
        let output = if answer.language == "json" { arranged(&output) } else { output };
        if without_varying(&answer.text) != without_varying(&output) {
            changes.push((answer, output.trim_end().to_owned()));
        }
    }
    let receiver = reader.receiver.as_mut().expect("the page starts a receiver");
    let delivery = receiver.wait_for("loan.updated", DELIVERY_TIMEOUT);
    assert!(delivery.contains("valid"), "{delivery}");
    println!("the tutorial took {:.1} s without builds and tests", reader.spent.as_secs_f64());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, rewritten(&page, &changes)).unwrap();
        return;
    }
    let report = changes.iter().map(|(answer, output)| format!("docs/tutorial.md:{}: {output}", answer.first_line));
    assert!(changes.is_empty(), "{}", report.collect::<Vec<_>>().join("\n"));
}
