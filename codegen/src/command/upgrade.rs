//! `cargo charter upgrade`: names what this version of Charter asks of an application, with the lines to change.

use std::fs;
use std::path::{Path, PathBuf};

use charter_codegen::application;
use clap::Args;
use regex::Regex;

use super::within;
use crate::{EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE, stdout};

/// Name what this version of Charter asks of an application
///
/// Compares the versions of Charter's crates and of the packages that an application shares with them, and finds code for
/// which this version has another form. It changes no file. The exit code is 1 if there is something to change.
#[derive(Args)]
pub struct Arguments {
    /// The folder of the application
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

/// Code that an earlier version accepted, or that new applications have in another form.
struct Change {
    /// The version with the new form.
    since: &'static str,
    /// A regular expression for a line of Rust.
    line: &'static str,
    advice: &'static str,
}

const CHANGES: &[Change] = &[
    Change {
        since: "0.1.0",
        line: r"\bapp\(\)\.main\(\)",
        advice: "`App::main` is the function `charter_runtime::main(app())`, which also sets the allocator",
    },
    Change {
        since: "0.1.0",
        line: r#"\bdraft\.error\(\s*""#,
        advice: "`draft.error` takes a column: `draft.error(Column::DueOn, …)`",
    },
    Change {
        since: "0.1.0",
        line: r"\bfn after_(save|commit)\([^)]*: &Model\)",
        advice: "the hook gets the record before the save as its last argument: `before: Option<&Model>`",
    },
    Change {
        since: "0.1.0",
        line: r"\bJob::every\(",
        advice: "a scheduled job is declared in YAML: `jobs: { remind_overdue: { every: 1h } }`",
    },
    Change {
        since: "0.1.0",
        line: r"\btransition::<",
        advice: "`run_action(context, ticket::Action::Solve, id, json!({}))` runs transitions and actions",
    },
    Change {
        since: "0.1.0",
        line: r"\brevise\(context,",
        advice: "`revise::<loan::Entity>(context, id, |draft| …)` sets several typed fields",
    },
];

/// Folders of an application with Rust.
const SOURCES: [&str; 3] = ["src", "tests", "migrations"];

/// Lines to change.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn add(&mut self, place: &str, line: usize, advice: &str) {
        self.0.push(format!("{place}:{line}: {advice}"));
    }
}

pub fn run(arguments: &Arguments) -> u8 {
    let manifest_path = arguments.dir.join("Cargo.toml");
    let Ok(manifest) = fs::read_to_string(&manifest_path) else {
        eprintln!("`{}` cannot be read; `--dir` names the folder of the application", manifest_path.display());
        return EXIT_USAGE;
    };
    if !manifest.contains("charter-runtime") {
        eprintln!("`{}` is not the manifest of a Charter application", manifest_path.display());
        return EXIT_USAGE;
    }
    let mut findings = Findings::default();
    versions(&manifest, &mut findings);
    build_flags(&arguments.dir, &mut findings);
    for path in rust_files(&arguments.dir) {
        code(&arguments.dir, &path, &mut findings);
    }
    stdout::line(format_args!("the application is to use Charter {}", env!("CARGO_PKG_VERSION")));
    findings.0.iter().for_each(stdout::line);
    let count = findings.0.len();
    if count == 0 {
        stdout::line("nothing to change; migrations of a new version run when the server starts");
        return EXIT_DONE;
    }
    let lines = if count == 1 { "line" } else { "lines" };
    stdout::line(format_args!("{count} {lines} to change"));
    EXIT_PROBLEMS
}

/// Compares dependencies with those of a new application. A path or a Git repository has the version that it has.
fn versions(manifest: &str, findings: &mut Findings) {
    let own = env!("CARGO_PKG_VERSION");
    let shared = application::shared_dependencies();
    for (at, line) in manifest.lines().enumerate() {
        let Some((name, value)) = line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
            continue;
        };
        let Some(present) = version(value) else { continue };
        if name.starts_with("charter-") && present != own {
            findings.add("Cargo.toml", at + 1, &format!("the version is {own} now: `{name} = \"{own}\"`"));
        }
        let has_other_version = |wanted: &&str| version(wanted) != Some(present);
        let wanted = shared.iter().find(|(known, _)| *known == name).map(|(_, wanted)| *wanted);
        if let Some(wanted) = wanted.filter(has_other_version) {
            let advice = format!("Charter uses another version, and types of two versions differ: `{name} = {wanted}`");
            findings.add("Cargo.toml", at + 1, &advice);
        }
    }
}

/// The version requirement in the value of a dependency. A dependency of a workspace, or from a path, has none.
fn version(value: &str) -> Option<&str> {
    let quoted = value.strip_prefix('"').or_else(|| value.split_once("version = \"").map(|(_, rest)| rest))?;
    quoted.split('"').next()
}

/// SQLite is built with flags of the environment, which an application sets in its configuration of cargo.
fn build_flags(folder: &Path, findings: &mut Findings) {
    let name = ".cargo/config.toml";
    let above = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_set =
        |folder: &Path| fs::read_to_string(folder.join(name)).is_ok_and(|text| text.contains("LIBSQLITE3_FLAGS"));
    if !above.ancestors().any(is_set) {
        let line = application::build_flags();
        findings.add(name, 1, &format!("SQLite is slower without its build flags; below `[env]`: `{line}`"));
    }
}

fn code(folder: &Path, path: &Path, findings: &mut Findings) {
    let Ok(text) = fs::read_to_string(path) else { return };
    let place = path.strip_prefix(folder).unwrap_or(path).display().to_string();
    for change in CHANGES {
        let Ok(pattern) = Regex::new(change.line) else { continue };
        for (at, _) in text.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            findings.add(&place, at + 1, &format!("since {}, {}", change.since, change.advice));
        }
    }
}

/// The Rust files of an application.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let build = folder.join("build.rs");
    std::iter::once(build).chain(SOURCES.iter().flat_map(|name| rust_below(&folder.join(name)))).collect()
}

fn rust_below(folder: &Path) -> Vec<PathBuf> {
    let files = within(folder).into_iter().flat_map(|path| if path.is_dir() { rust_below(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_changes_are_valid() {
        for change in CHANGES {
            assert!(Regex::new(change.line).is_ok(), "{}", change.line);
        }
    }

    #[test]
    fn a_version_is_read_from_both_forms_of_a_dependency() {
        assert_eq!(version("\"2.0\""), Some("2.0"));
        assert_eq!(version("{ version = \"2.0\", default-features = false }"), Some("2.0"));
        assert_eq!(version("{ path = \"../sea-orm\" }"), None);
    }
}
