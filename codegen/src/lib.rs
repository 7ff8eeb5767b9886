//! Compiler of resources: reads the YAML of a Charter application, checks it and writes Rust.

pub mod application;
mod check;
pub mod client;
pub mod date;
mod diagnostic;
mod emit;
mod keywords;
mod lower;
pub mod migration;
mod migration_list;
mod model;
mod notation;
mod output;
mod platform;
pub mod reference;
mod revision;
pub mod scaffold;
pub mod schema_diff;
pub mod snapshot;
mod source;
mod syntax;

use std::path::{Path, PathBuf};

use check::Checked;
use model::Schema;
use snapshot::Snapshot;

pub use diagnostic::{Code, Diagnostic, Entry, Problems, Report, entry};
pub use migration_list::{is_migration, migrations};
pub use output::{Generated, Output};
pub use source::Sources;

/// Compiles a folder of resources. Returns the generated files with warnings, or the report of all problems.
pub fn compile(folder: &Path) -> Result<Output, Report> {
    compile_sources(Sources::load(folder))
}

/// Compiles sources that are already read.
pub fn compile_sources(sources: Sources) -> Result<Output, Report> {
    checked(sources).map(|(schema, warnings)| Output::new(emit::emit(&schema), warnings))
}

/// The contract and the tables of the resources, to compare with another revision.
pub fn snapshot(sources: Sources) -> Result<Snapshot, Report> {
    let (schema, warnings) = checked(sources)?;
    Ok(Snapshot::of(&schema).located(&schema, |span| warnings.place(span)))
}

/// The paths of the resources, after `/api/v1` and in the panel, with `{}` for each parameter. A test compares them
/// with the served paths.
pub fn paths(sources: Sources) -> Result<Vec<String>, Report> {
    checked(sources).map(|(schema, _)| check::paths(&schema).collect())
}

/// The names that the resources add to the OpenAPI document, each with its kind: `schema`, `operation` (also for
/// events) or `tag`.
pub fn openapi_names(sources: Sources) -> Result<Vec<(&'static str, String)>, Report> {
    checked(sources).map(|(schema, _)| check::openapi_names(&schema).collect())
}

/// The same names of the platform's own resources and of the service, which no resource may have.
pub fn platform_openapi_names() -> Vec<(&'static str, String)> {
    check::platform_openapi_names().collect()
}

/// The tables of the platform, which no resource may have.
pub fn platform_tables() -> &'static [&'static str] {
    platform::TABLES
}

/// The plurals of the platform's resources, which no resource may have.
pub fn platform_plurals() -> &'static [&'static str] {
    platform::PLURALS
}

/// The first path segments of the platform's resources, which no resource may have.
pub fn platform_paths() -> &'static [&'static str] {
    platform::PATHS
}

/// True if the check accepts a text as a URL, to compare with the server.
pub fn is_url(text: &str) -> bool {
    check::patterns::is_url(text)
}

/// Runs the passes in order. A valid schema may come with warnings.
fn checked(sources: Sources) -> Result<(Checked<Schema>, Report), Report> {
    let mut problems = Problems::default();
    let syntax = syntax::read(&sources, &mut problems);
    let schema = lower::lower(syntax, &sources, &mut problems);
    let checked = check::check(schema, &mut problems);
    let report = problems.into_report(sources);
    match checked {
        Some(schema) => Ok((schema, report)),
        None => Err(report),
    }
}

/// For `build.rs`: compiles `folder` into `OUT_DIR` and prints cargo's `rerun-if-changed` and `warning` lines. Ends the
/// build with the report if there are problems.
pub fn build(folder: impl AsRef<Path>) {
    let folder = folder.as_ref();
    // The folder for files that are added or removed, each file for its text.
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
