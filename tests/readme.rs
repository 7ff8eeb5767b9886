//! Every command of the README works without changes, on the server that the first one starts.

use std::path::Path;
use std::process::Command;

use charter_testing::{Database, Program};
use serde_json::Value;

/// A code block of the README.
struct Block {
    language: String,
    text: String,
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn blocks() -> Vec<Block> {
    let text = read("README.md");
    let fenced = text.split("```").skip(1).step_by(2);
    let block = |block: &str| {
        let (language, text) = block.split_once('\n').unwrap();
        Block { language: language.to_string(), text: text.to_string() }
    };
    fenced.map(block).collect()
}

#[test]
fn every_command_works() {
    let server = Program::start(env!("CARGO_BIN_EXE_charter"), Database::Sqlite);
    let mut answer = None;
    for block in blocks() {
        match block.language.as_str() {
            "sh" => {
                for command in block.text.lines() {
                    answer = run(&server, command).or(answer);
                }
            }
            "json" => assert_eq!(answer.take(), serde_json::from_str(&block.text).ok(), "{}", block.text),
            _ => {}
        }
    }
}

/// Runs a command of the page. Returns the answer to a request.
fn run(server: &Program, command: &str) -> Option<Value> {
    match command.split_whitespace().collect::<Vec<_>>().as_slice() {
        // The server runs.
        ["cargo", "run"] | ["export", "TOKEN=chr_..."] => {}
        ["cargo", "run", "--", arguments @ ..] => drop(server.run(arguments)),
        ["cargo", "charter", ..] => developer(command),
        // The test command, which runs this test.
        ["cargo", "test", "--workspace"] => {}
        ["curl", ..] => return Some(call(server, command)),
        _ => panic!("this test does not know how to run `{command}`"),
    }
    None
}

/// The `curl` line, which the server prints as well.
#[test]
fn the_curl_line_of_the_first_start_works_as_pasted() {
    let server = Program::start(env!("CARGO_BIN_EXE_charter"), Database::Sqlite);
    let line = server.banner.lines().map(str::trim).find(|line| line.starts_with("curl ")).unwrap();
    call(&server, line);
}

fn call(server: &Program, command: &str) -> Value {
    let command = command.replace("http://127.0.0.1:8000", &server.base_url);
    // The same line, but quiet, and with an exit code for error responses.
    let script = format!("curl() {{ command curl --silent --show-error --fail-with-body \"$@\"; }}\n{command}");
    let output = Command::new("bash").args(["-c", &script]).env("TOKEN", &server.token).output().unwrap();
    let (body, problem) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command}\n{body}\n{problem}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    let record = answer.as_object().unwrap().values().next().unwrap();
    assert!(record.is_object() || record.as_array().is_some_and(|records| !records.is_empty()), "{command}\n{body}");
    answer
}

/// Runs the developer command through cargo's alias, in the workspace.
fn developer(command: &str) {
    let mut words = command.split_whitespace().skip(1);
    let mut cargo = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            cargo.env_remove(name);
        }
    }
    let output = cargo.args(words.by_ref()).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_yaml_is_that_of_a_resource() {
    let yaml = blocks().into_iter().find(|block| block.language == "yaml").unwrap();
    assert_eq!(yaml.text, read("resources/tax_class.yaml"));
}
