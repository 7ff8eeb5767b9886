//! Runs the commands of a page with bash on a server of its own, and compares their answers with those on the page.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use charter_testing::{Database, Folder, Program, search, without_settings};

use super::layout::arranged;
use super::page::{Block, Step, blocks, rewritten, steps, words};
use super::varying::{without_secrets, without_varying};

const SERVER: &str = env!("CARGO_BIN_EXE_charter");

/// Sample data of every page.
const DEMO: [&str; 14] = [
    "seed",
    "demo",
    "--products",
    "60",
    "--members",
    "20",
    "--activities",
    "20",
    "--stock_levels",
    "30",
    "--accessories",
    "20",
    "--activity_participants",
    "20",
];

/// Address of the server and ports of other programs on the pages, which the commands of a test replace. The first port is
/// that of the program that a block starts in the background.
const ADDRESS: &str = "127.0.0.1:8000";
const PORTS: [&str; 2] = ["4000", "4025"];

/// A first run may compile the developer command.
const TIMEOUT_SECONDS: &str = "300";

/// Functions and rules of the shell. `curl` is quiet, and fails for an error response if the page shows no answer.
const PRELUDE: &str = r#"
set -euo pipefail
curl() { command curl --silent --show-error ${FAIL:+--fail-with-body} "$@"; }
charter() { "$SERVER" "$@"; }
cargo() {
    if [ -f Cargo.toml ]; then
        # A package of the page, whose dependencies are built once.
        ln -sfn "$RECEIVERS/cargo" target
        env -u CARGO_TARGET_DIR cargo "$@"
    else
        local developer=(--manifest-path "$WORKSPACE/Cargo.toml" --package charter-codegen --bin cargo-charter)
        [ "$1" = charter ] && command cargo run --quiet "${developer[@]}" -- "${@:2}"
    fi
}
answers() { for _ in {1..600}; do (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null && return; sleep 0.05; done; false; }
"#;

/// Runs a page of `docs/`. `UPDATE=1` writes the answers that differ.
///
/// # Panics
/// If a command fails or an answer differs.
pub fn page(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    let text = fs::read_to_string(&path).unwrap();
    let blocks = blocks(&text);
    for block in blocks.iter().filter(|block| block.language.contains("not-run")) {
        // Directly to standard error, because libtest hides the output of a test that passes.
        let first = block.text.lines().next().unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "NOT RUN: docs/{name}:{}: {first}", block.first_line);
    }
    let steps = steps(&blocks);
    let outputs = outputs(name, &text, &blocks, &steps);
    let mut changes = Vec::new();
    for (step, output) in steps.iter().zip(outputs) {
        let Some(answer) = step.answer else { continue };
        assert!(!output.trim().is_empty(), "docs/{name}:{}: the commands print nothing", step.commands.first_line);
        let output = if answer.language == "json" { arranged(&output) } else { output };
        if without_varying(&answer.text) != without_varying(&output) {
            changes.push((answer, output));
        }
    }
    if std::env::var_os("UPDATE").is_some() && !changes.is_empty() {
        fs::write(&path, rewritten(&text, &changes)).unwrap();
        return;
    }
    let report = changes.iter().map(|(answer, output)| {
        let line = answer.first_line;
        format!("docs/{name}:{line}: the answer is now\n{output}\n`UPDATE=1 cargo test --test guides` writes it")
    });
    assert!(changes.is_empty(), "{}", report.collect::<Vec<_>>().join("\n"));
}

/// Output of each step.
fn outputs(name: &str, page: &str, blocks: &[Block], steps: &[Step<'_>]) -> Vec<String> {
    let mut command = Command::new(SERVER);
    command.envs(words(page, "settings").into_iter().filter_map(|setting| setting.split_once('=')));
    let server = Program::start_by(command, SERVER.into(), Database::Sqlite);
    server.run(&DEMO);
    let folder = Folder::create();
    let copies = words(page, "copies");
    if !copies.is_empty() {
        copy(&copies, folder.path());
    }
    // All listeners exist at once, so that the ports differ.
    let listeners = PORTS.map(|port| (port, TcpListener::bind("127.0.0.1:0").unwrap()));
    let ports = listeners.map(|(port, listener)| (port, listener.local_addr().unwrap().port().to_string()));
    let address = server.base_url.trim_start_matches("http://");
    // The address comes last: its own port may contain the digits of another.
    let local = |text: &str| {
        let text = ports.iter().fold(text.to_owned(), |text, (port, free)| text.replace(port, free));
        text.replace(ADDRESS, address)
    };
    for block in blocks {
        if let Some(file) = &block.file {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, local(&block.text)).unwrap();
        }
    }
    let mut script = PRELUDE.to_string();
    for (index, step) in steps.iter().enumerate() {
        let commands = local(&step.commands.text).replace("export TOKEN=chr_...\n", "");
        let fail = if step.answer.is_some() { "" } else { "1" };
        script += &format!("FAIL={fail}\n{{\n:\n{commands}}} > output.{index}\n");
        if commands.contains(" &\n") {
            // The first port may be named only in the file that the block starts.
            let named = ports.iter().skip(1).filter(|(_, free)| commands.contains(free.as_str()));
            let awaited = ports.iter().take(1).chain(named).map(|(_, free)| format!("answers {free}\n"));
            script.extend(awaited);
        }
    }
    let postgres = words(page, "needs").contains(&"postgres").then(|| Database::Postgres.create(&folder));
    run(name, &script, &server, folder.path(), postgres.as_deref());
    if let Some(url) = &postgres {
        Database::Postgres.remove(url);
    }
    let read = |index| {
        let output = fs::read_to_string(folder.path().join(format!("output.{index}"))).unwrap_or_default();
        let output = output.replace('\r', "").replace(address, ADDRESS);
        without_secrets(&ports.iter().fold(output, |text, (port, free)| text.replace(free, port)))
    };
    (0..steps.len()).map(read).collect()
}

/// Copies folders of the workspace into a new Git repository.
fn copy(names: &[&str], folder: &Path) {
    let script = r#"
        cp -r "$@" . && git init -q && git add . &&
        git -c user.name=Ada -c user.email=ada@example.com commit -qm 'Begin' &&
        git config user.name Ada && git config user.email ada@example.com"#;
    let sources = names.iter().map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let mut bash = Command::new("bash");
    let status = bash.args(["-c", script, "copy"]).args(sources).current_dir(folder).status().unwrap();
    assert!(status.success(), "{names:?} cannot be copied");
}

fn run(name: &str, script: &str, server: &Program, folder: &Path, postgres: Option<&str>) {
    let data = Path::new(server.database_url.trim_start_matches("sqlite://")).parent().unwrap();
    std::os::unix::fs::symlink(data, folder.join("data")).unwrap();
    fs::write(folder.join("page.sh"), script).unwrap();
    let mut bash = Command::new("timeout");
    without_settings(&mut bash);
    bash.env("TOKEN", &server.token).env("SERVER", SERVER).env("WORKSPACE", env!("CARGO_MANIFEST_DIR"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).collect();
    if let Some(receivers) = search::receivers() {
        // The virtual environment of Python comes first in the PATH.
        folders.insert(0, receivers.join("bin"));
        bash.env("NODE_PATH", receivers.join("node_modules")).env("RECEIVERS", receivers);
    }
    if let Some(url) = postgres {
        folders.extend(search::postgres());
        bash.env("POSTGRES_URL", url);
    }
    bash.env("PATH", std::env::join_paths(folders).unwrap());
    bash.env("CHARTER_DATA_DIR", data).env("CHARTER_DATABASE_URL", &server.database_url);
    bash.env("CHARTER_LISTEN", server.base_url.trim_start_matches("http://"));
    let errors = fs::File::create(folder.join("errors")).unwrap();
    let bash = bash.args([TIMEOUT_SECONDS, "bash", "page.sh"]).current_dir(folder).stdin(Stdio::null()).stderr(errors);
    // `timeout` is the leader of a process group, in which programs of the background stay.
    let mut bash = bash.spawn().unwrap();
    let status = bash.wait().unwrap();
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", bash.id())]).stderr(Stdio::null()).status();
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
    let last = (0..).take_while(|index| folder.join(format!("output.{index}")).exists()).last().unwrap_or(0);
    let (output, errors) = (read(&format!("output.{last}")), read("errors"));
    assert!(status.success(), "docs/{name}: {status} in its step {last}\n{output}\n{errors}");
}
