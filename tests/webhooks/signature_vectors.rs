//! Documented test vectors and verification programs, run in each language that is installed.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use charter_runtime::webhook::Secrets;

use crate::support::program::Program;

const DOCUMENT: &str = include_str!("../../docs/webhooks.md");

/// A line of the test vectors.
fn vector(name: &str) -> &'static str {
    let (_, vectors) = DOCUMENT.split_once("```text\n").expect("the document has vectors");
    let lines = vectors.lines().take_while(|line| *line != "```");
    lines.filter_map(|line| line.split_once(": ")).find(|(n, _)| *n == name).expect("the vector is there").1
}

/// File name and text of each program.
fn programs() -> Vec<(&'static str, &'static str)> {
    let parts = DOCUMENT.split("<!-- run: ").skip(1);
    let program = |part: &'static str| {
        let (file, rest) = part.split_once(" -->\n```")?;
        let (_, rest) = rest.split_once('\n')?;
        Some((file, rest.split_once("\n```")?.0))
    };
    parts.map(|part| program(part).expect("a program follows its name")).collect()
}

/// Command for a program, by its file extension.
fn command(file: &str) -> &'static [&'static str] {
    match Path::new(file).extension().and_then(|end| end.to_str()) {
        Some("py") => &["python3"],
        Some("mjs") => &["node"],
        Some("rb") => &["ruby"],
        Some("php") => &["php"],
        Some("go") => &["go", "run"],
        Some("java") => &["java"],
        Some("pl") => &["perl"],
        _ => panic!("{file}: no command is known"),
    }
}

#[test]
fn documented_test_vectors_match_sent_headers() {
    let secrets = Secrets::parse(vector("secret"), Some(vector("previous secret"))).expect("secrets");
    let at = vector("webhook-timestamp").parse().expect("a time");
    let headers = secrets.signatures(vector("webhook-id"), at, vector("body").as_bytes());
    assert_eq!(headers.len(), 3);
    for (name, value) in headers {
        assert_eq!(value, vector(name), "{name}");
    }
}

/// Output of a program for a body and its signatures.
fn said(program: &mut Command, body: &str, signature: &str, signatures: &str) -> String {
    let arguments = [vector("secret"), signature, vector("webhook-id"), vector("webhook-timestamp"), signatures];
    let program = program.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = program.spawn().expect("it runs");
    // A program may exit before it has read all input.
    let _ = running.stdin.take().expect("a pipe").write_all(body.as_bytes());
    let output = running.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{program:?}");
    String::from_utf8(output.stdout).expect("text").trim().to_string()
}

#[test]
fn documented_programs_verify_only_valid_signatures() {
    let folder = Program::new(crate::support::Database::Sqlite);
    let (body, plain, standard) = (vector("body"), vector("x-service-signature"), vector("webhook-signature"));
    let second = standard.split(' ').next_back().expect("two entries");
    let programs = programs();
    assert!(programs.len() >= 5);
    let mut ran = 0;
    for (file, text) in programs {
        let path = folder.path().join(file);
        std::fs::write(&path, text).expect("the folder takes a file");
        let command = command(file);
        let program = || {
            let mut program = Command::new(command[0]);
            program.args(&command[1..]).arg(&path);
            program
        };
        if Command::new(command[0]).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            eprintln!("SKIPPED: {file} was not run, because {} is not installed", command[0]);
            continue;
        }
        ran += 1;
        assert_eq!(said(&mut program(), body, plain, standard), "valid", "{file}");
        let wrong = body.replace("Zoë", "Zoe");
        assert_eq!(said(&mut program(), &wrong, plain, standard), "invalid", "{file}");
        let other = vector("x-service-signature-previous");
        assert_eq!(said(&mut program(), body, other, standard), "invalid", "{file}");
        assert_eq!(said(&mut program(), body, plain, second), "invalid", "{file}");
    }
    assert!(ran >= 1, "none of the languages is installed");
}
