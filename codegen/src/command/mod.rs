//! Commands of `cargo charter`, each in its own file.

pub mod client;
pub mod dev;
pub mod diagram;
pub mod diff;
pub mod from_db;
pub mod migration;
pub mod new;
pub mod upgrade;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};

use crate::EXIT_USAGE;

/// Runs cargo on the application's package. Within cargo it is the same cargo.
pub fn cargo(command: &str, package: Option<&str>) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args([command, "--quiet"]);
    if let Some(package) = package {
        cargo.arg("--package").arg(package);
    }
    cargo
}

/// The most levels below the folder of the migrations that are searched.
pub const MAX_FOLDER_DEPTH: usize = 3;

/// The folder of the application's migrations: the folder at or below `migrations` that has a snapshot, or else
/// `migrations` itself.
pub fn migrations() -> PathBuf {
    let folder = PathBuf::from("migrations");
    with_snapshot(&folder, MAX_FOLDER_DEPTH).unwrap_or(folder)
}

fn with_snapshot(folder: &Path, depth: usize) -> Option<PathBuf> {
    if folder.join("snapshot").is_dir() {
        return Some(folder.to_owned());
    }
    within(folder).iter().filter(|path| depth > 0 && path.is_dir()).find_map(|path| with_snapshot(path, depth - 1))
}

/// A migration at or below a folder.
pub fn any_migration(folder: &Path, depth: usize) -> Option<PathBuf> {
    let is_migration = |path: &Path| {
        path.extension().is_some_and(|end| end == "rs")
            && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(charter_codegen::is_migration)
    };
    within(folder).into_iter().find_map(|path| match path.is_dir() {
        true => depth.checked_sub(1).and_then(|depth| any_migration(&path, depth)),
        false => is_migration(&path).then_some(path),
    })
}

/// The entries of a folder, sorted by name.
pub fn within(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The snapshot of a folder of resources. If they have problems, reports them and returns an exit code.
pub fn present(folder: &Path) -> Result<Snapshot, u8> {
    if !folder.is_dir() {
        eprintln!("the folder `{}` does not exist; `--dir` names the folder of the resources", folder.display());
        return Err(EXIT_USAGE);
    }
    taken(Sources::load(folder))
}

/// The snapshot of sources, or an exit code: resources with problems cannot be compared.
pub fn taken(sources: Sources) -> Result<Snapshot, u8> {
    snapshot(sources).map_err(|report| {
        eprintln!("{}{}", report.render(), report.summary());
        EXIT_USAGE
    })
}
