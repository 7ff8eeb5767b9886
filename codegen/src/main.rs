//! `cargo charter`: checks, shows and compares resources, and writes their migrations. It works while the application
//! does not compile.

mod command;
mod stdout;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use charter_codegen::{Code, Output, Report, compile, entry, reference};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde_json::{Value, json};

/// Exit code for success.
const EXIT_DONE: u8 = 0;
/// Exit code for problems in the resources, or a failed command.
const EXIT_PROBLEMS: u8 = 1;
/// Exit code for a command line that was not understood.
const EXIT_USAGE: u8 = 2;

/// The developer command of Charter
#[derive(Parser)]
#[command(name = "cargo charter", bin_name = "cargo charter", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check all resources and report every problem
    Check {
        #[command(flatten)]
        folder: Folder,
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
        /// Fail on warnings too
        #[arg(long)]
        deny_warnings: bool,
    },
    Client(command::client::Arguments),
    Dev(command::dev::Arguments),
    Diagram(command::diagram::Arguments),
    Diff(command::diff::Arguments),
    New(command::new::Arguments),
    FromDb(command::from_db::Arguments),
    Upgrade(command::upgrade::Arguments),
    /// Write migrations from changes of the YAML
    Migration(command::migration::Arguments),
    /// Print the generated Rust of a resource (`resources` is the index)
    Expand {
        /// The name of a resource
        resource: String,
        #[command(flatten)]
        folder: Folder,
    },
    /// Print the JSON Schema of the YAML
    Schema,
    /// Explain a diagnostic code, or list all codes
    Explain {
        /// For example C0002
        code: Option<String>,
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Compare the generated documents with their current content
    Docs {
        /// Write the documents that differ
        #[arg(long)]
        write: bool,
        /// Fail if one differs (the default)
        #[arg(long, conflicts_with = "write")]
        check: bool,
        /// The folder of the documents
        #[arg(long, default_value = "docs")]
        docs: PathBuf,
    },
}

#[derive(Args)]
struct Folder {
    /// The folder of the resources
    #[arg(long, default_value = "resources")]
    dir: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn main() -> ExitCode {
    // Cargo passes the name of an external subcommand as its first argument; the alias does not.
    let repeated = std::env::args_os().nth(1).is_some_and(|first| first == "charter");
    let arguments =
        std::env::args_os().enumerate().filter(|(at, _)| !(repeated && *at == 1)).map(|(_, argument)| argument);
    let code = match Arguments::parse_from(arguments).command {
        Command::Check { folder, format, deny_warnings } => {
            compiled(&folder, |result| check(result, format, deny_warnings))
        }
        Command::Expand { resource, folder } => compiled(&folder, |result| expand(result, &resource)),
        Command::New(arguments) => command::new::run(&arguments),
        Command::FromDb(arguments) => command::from_db::run(&arguments),
        Command::Upgrade(arguments) => command::upgrade::run(&arguments),
        Command::Migration(arguments) => command::migration::run(&arguments),
        Command::Client(arguments) => command::client::run(&arguments),
        Command::Dev(arguments) => command::dev::run(&arguments),
        Command::Diagram(arguments) => command::diagram::run(&arguments),
        Command::Diff(arguments) => command::diff::run(&arguments),
        Command::Schema => {
            stdout::text(reference::schema());
            EXIT_DONE
        }
        Command::Explain { code: None, format } => list_codes(format),
        Command::Explain { code: Some(code), format } => explain(&code, format),
        Command::Docs { write: true, docs, .. } => write_documents(&docs),
        Command::Docs { docs, .. } => check_documents(&docs),
    };
    ExitCode::from(code)
}

fn compiled(folder: &Folder, then: impl FnOnce(Result<Output, Report>) -> u8) -> u8 {
    if !folder.dir.is_dir() {
        eprintln!("the folder `{}` does not exist; `--dir` names the folder of the resources", folder.dir.display());
        return EXIT_USAGE;
    }
    then(compile(&folder.dir))
}

fn check(result: Result<Output, Report>, format: Format, deny_warnings: bool) -> u8 {
    let (text, problems, code) = match &result {
        Ok(output) => {
            // The index is not a resource.
            let count = output.files().len() - 1;
            let plural = if count == 1 { "resource" } else { "resources" };
            let warnings = output.warnings();
            let text = match warnings.problems().is_empty() {
                true => format!("{count} {plural}, no problems"),
                false => format!("{}{count} {plural}, no problems, {}", warnings.render(), warnings.summary()),
            };
            let denied = deny_warnings && !warnings.problems().is_empty();
            (text, warnings.to_json(), if denied { EXIT_PROBLEMS } else { EXIT_DONE })
        }
        Err(report) => (format!("{}{}", report.render(), report.summary()), report.to_json(), EXIT_PROBLEMS),
    };
    match format {
        Format::Text => stdout::line(&text),
        Format::Json => print_json(&problems),
    }
    code
}

fn expand(result: Result<Output, Report>, resource: &str) -> u8 {
    match result {
        Err(report) => {
            eprintln!("{}{}", report.render(), report.summary());
            EXIT_PROBLEMS
        }
        Ok(output) => match output.file(resource) {
            Some(file) => {
                stdout::text(file.text());
                EXIT_DONE
            }
            None => {
                let known: Vec<&str> = output.files().iter().map(|file| file.name.as_str()).collect();
                eprintln!("unknown resource `{resource}`; valid names are {}", known.join(", "));
                EXIT_USAGE
            }
        },
    }
}

fn list_codes(format: Format) -> u8 {
    match format {
        Format::Text => Code::ALL.iter().for_each(|code| stdout::line(format_args!("{code}  {}", entry(*code).title))),
        Format::Json => {
            let codes = Code::ALL.iter().map(|code| json!({ "code": code.as_str(), "title": entry(*code).title }));
            print_json(&codes.collect());
        }
    }
    EXIT_DONE
}

fn explain(code: &str, format: Format) -> u8 {
    let Some(code) = Code::read(code) else {
        eprintln!("unknown code `{code}`; `cargo charter explain` lists all of them");
        return EXIT_USAGE;
    };
    match format {
        Format::Text => stdout::text(reference::explanation(code)),
        Format::Json => {
            let entry = entry(code);
            print_json(&json!({
                "code": code.as_str(),
                "title": entry.title,
                "explanation": entry.explanation,
                "wrong": entry.wrong,
                "right": entry.right,
            }));
        }
    }
    EXIT_DONE
}

fn write_documents(folder: &Path) -> u8 {
    match reference::write(folder) {
        Ok(written) if written.is_empty() => stdout::line("all documents are up to date"),
        Ok(written) => {
            written.iter().for_each(|name| stdout::line(format_args!("wrote {}", folder.join(name).display())))
        }
        Err(problem) => {
            eprintln!("{} cannot be written: {problem}", folder.display());
            return EXIT_PROBLEMS;
        }
    }
    EXIT_DONE
}

fn check_documents(folder: &Path) -> u8 {
    let stale = reference::stale(folder);
    for name in &stale {
        stdout::line(format_args!(
            "{} is out of date; `cargo charter docs --write` updates it",
            folder.join(name).display()
        ));
    }
    if stale.is_empty() { EXIT_DONE } else { EXIT_PROBLEMS }
}

fn print_json(value: &Value) {
    stdout::line(serde_json::to_string_pretty(value).expect("values are JSON"));
}
