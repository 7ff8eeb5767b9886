//! Reads the resources of a Charter application from YAML, checks them and writes their Rust.

pub mod application;
mod check;
pub mod date;
mod diagnostic;
pub mod diff;
mod emit;
mod keywords;
mod lower;
pub mod migration;
mod migrations;
mod model;
mod notation;
mod output;
mod platform;
pub mod reference;
mod revision;
pub mod scaffold;
pub mod snapshot;
mod source;
mod syntax;

use std::path::{Path, PathBuf};

use check::Checked;
use model::Schema;
use snapshot::Snapshot;

pub use diagnostic::{Code, Diagnostic, Entry, Problems, Report, entry};
pub use migrations::{is_migration, migrations};
pub use output::{Generated, Output};
pub use source::Sources;

/// From a folder of resources to Rust, with its warnings, or to all problems in them.
pub fn compile(folder: &Path) -> Result<Output, Report> {
    compile_sources(Sources::load(folder))
}

/// The same from sources that were read already.
pub fn compile_sources(sources: Sources) -> Result<Output, Report> {
    checked(sources).map(|(schema, warnings)| Output::new(emit::emit(&schema), warnings))
}

/// What the resources promise and store, to compare with another time.
pub fn snapshot(sources: Sources) -> Result<Snapshot, Report> {
    let (schema, warnings) = checked(sources)?;
    Ok(Snapshot::of(&schema).located(&schema, |span| warnings.place(span)))
}

/// The paths that the resources have behind `/api/v1` and in the panel, each parameter as `{}`: what the check compares.
pub fn paths(sources: Sources) -> Result<Vec<String>, Report> {
    checked(sources).map(|(schema, _)| check::paths(&schema).collect())
}

/// The names that the resources give in the description of the API, each behind what has it: a `schema`, an `operation`
/// (or an event), a `group`.
pub fn described(sources: Sources) -> Result<Vec<(&'static str, String)>, Report> {
    checked(sources).map(|(schema, _)| check::described(&schema).collect())
}

/// Those that the runtime's own resources and the service itself give, which no resource may.
pub fn platform_described() -> Vec<(&'static str, String)> {
    check::described_by_platform().collect()
}

/// The tables of the runtime's own, which no resource may have.
pub fn platform_tables() -> &'static [&'static str] {
    platform::TABLES
}

/// The plurals of the runtime's own resources, which no resource may have.
pub fn platform_plurals() -> &'static [&'static str] {
    platform::PLURALS
}

/// The runtime's own paths at the top of the API, which no resource may have.
pub fn platform_paths() -> &'static [&'static str] {
    platform::PATHS
}

/// Whether the check takes a text for a URL, to compare with the server.
pub fn is_url(text: &str) -> bool {
    check::patterns::is_url(text)
}

/// The passes, in their order. What is right may come with warnings.
fn checked(sources: Sources) -> Result<(Checked<Schema>, Report), Report> {
    let mut problems = Problems::default();
    let syntax = syntax::read(&sources, &mut problems);
    let schema = lower::lower(&syntax, &sources, &mut problems);
    let checked = check::check(schema, &mut problems);
    let report = problems.into_report(sources);
    match checked {
        Some(schema) => Ok((schema, report)),
        None => Err(report),
    }
}

/// For `build.rs`: compiles `folder` into `OUT_DIR`, tells cargo when to run it again and what it warns of, and ends the
/// build with the report when there are problems.
pub fn build(folder: impl AsRef<Path>) {
    let folder = folder.as_ref();
    // The folder for files that come and go, each file for its text.
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| !source::is_hidden(&entry.file_name().to_string_lossy())) {
        println!("cargo:rerun-if-changed={}", entry.path().display());
    }
    let output = compile(folder).unwrap_or_else(|report| {
        eprintln!("{}{}", report.render(), report.summary());
        std::process::exit(1);
    });
    output.warnings().lines().for_each(|line| println!("cargo:warning={line}"));
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    if let Err(problem) = output.write(&out_dir) {
        eprintln!("{} cannot be written: {problem}", out_dir.display());
        std::process::exit(1);
    }
}
