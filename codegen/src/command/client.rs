//! `cargo charter client`: writes a typed API client from the OpenAPI document of the application.

use std::fs;
use std::path::{Path, PathBuf};

use charter_codegen::client::{self, Language};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::command::cargo;
use crate::{EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE, stdout};

/// Write a typed API client for TypeScript or Python
///
/// The client is one file: TypeScript needs `fetch` and Web Crypto (Node 20, browsers, Deno), Python 3.10 needs httpx.
/// Exit codes: 0 if the file is written; 1 if the application or the file system fails; 2 if the document is not that of
/// a Charter application.
#[derive(Args)]
pub struct Arguments {
    #[arg(value_enum)]
    language: Name,
    /// An OpenAPI document; by default, the application prints it (`cargo run -- openapi`)
    #[arg(long)]
    document: Option<PathBuf>,
    /// The file to write, or `-` for standard output [default: client.ts or charter_client.py]
    #[arg(long)]
    out: Option<PathBuf>,
    /// The package of the application, if the workspace has several
    #[arg(long, short)]
    package: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    #[value(name = "typescript")]
    TypeScript,
    Python,
}

pub fn run(arguments: &Arguments) -> u8 {
    match written(arguments) {
        Ok(()) => EXIT_DONE,
        Err((problem, code)) => {
            eprintln!("{problem}");
            code
        }
    }
}

fn written(arguments: &Arguments) -> Result<(), (String, u8)> {
    let (place, text) = match &arguments.document {
        Some(file) => (file.display().to_string(), read(file)?),
        None => ("the output of the application".to_owned(), print(arguments.package.as_deref())?),
    };
    let document: Value = serde_json::from_slice(&text)
        .map_err(|problem| (format!("{place} is not JSON, as an OpenAPI document must be: {problem}"), EXIT_USAGE))?;
    let (language, file) = match arguments.language {
        Name::TypeScript => (Language::TypeScript, "client.ts"),
        Name::Python => (Language::Python, "charter_client.py"),
    };
    let source = client::write(&document, language).map_err(|problem| (format!("{place}: {problem}"), EXIT_USAGE))?;
    let file = arguments.out.as_deref().unwrap_or(Path::new(file));
    if file == Path::new("-") {
        stdout::text(source);
        return Ok(());
    }
    fs::write(file, source)
        .map_err(|problem| (format!("{} cannot be written: {problem}", file.display()), EXIT_PROBLEMS))?;
    stdout::line(format_args!("wrote {}", file.display()));
    Ok(())
}

fn read(file: &Path) -> Result<Vec<u8>, (String, u8)> {
    fs::read(file).map_err(|problem| (format!("{} cannot be read: {problem}", file.display()), EXIT_USAGE))
}

/// The document that the application prints.
fn print(package: Option<&str>) -> Result<Vec<u8>, (String, u8)> {
    let mut command = cargo("run", package);
    let output = command
        .args(["--", "openapi"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|problem| (format!("cargo cannot be started: {problem}"), EXIT_PROBLEMS))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            Err(("the application did not print its OpenAPI document; `--document` names a file".into(), EXIT_PROBLEMS))
        }
    }
}
