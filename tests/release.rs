//! The commands of `docs/releasing.md` that change versions, run on a copy, and the order in which crates are published.

use std::fs;
use std::process::Command;

use crate::workspace::{Packages, root};

/// The lines of the page's release commands from one that begins so to one that ends so.
fn commands(start: &str, end: &str) -> String {
    let page = fs::read_to_string(root().join("docs/releasing.md")).unwrap();
    let from = page.find(start).unwrap_or_else(|| panic!("the page has `{start}`"));
    let to = from + page[from..].find(end).unwrap_or_else(|| panic!("`{end}` follows `{start}`"));
    page[from..to].to_owned()
}

#[test]
fn release_changes_the_version_of_the_workspace_and_of_its_crates() {
    let folder = std::env::temp_dir().join(format!("charter-release-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    fs::write(folder.join("Cargo.toml"), &manifest).unwrap();
    let script = commands("sed -i ", "cargo check");
    let status =
        Command::new("sh").args(["-ec", &script]).env("version", "9.8.7").current_dir(&folder).status().unwrap();
    assert!(status.success(), "{script}");
    let changed = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    fs::remove_dir_all(folder).unwrap();

    let old = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let of_charter = |line: &str| line == old || line.starts_with("charter-") && line.contains(&old);
    let expected: Vec<String> = manifest
        .lines()
        .map(|line| if of_charter(line) { line.replace(&old, "version = \"9.8.7\"") } else { line.to_owned() })
        .collect();
    assert_eq!(changed.lines().collect::<Vec<_>>(), expected);
    assert!(changed.matches("version = \"9.8.7\"").count() > 5, "{changed}");
}

#[test]
fn crates_are_published_after_those_that_they_depend_on() {
    let line = commands("for crate in ", "; do");
    let order: Vec<String> = line.split_whitespace().skip(3).map(|name| format!("charter_{name}")).collect();
    let packages = Packages::read();
    for (at, name) in order.iter().enumerate() {
        let package = packages.member(&name.replace('_', "-"));
        for kind in ["normal", "build"] {
            let mut late = package.declares(kind);
            late.retain(|needed| needed.starts_with("charter_") && !order[..at].iter().any(|before| before == needed));
            assert!(late.is_empty(), "{name} is published before {late:?}");
        }
    }
    // The service and the example are applications, which nobody depends on.
    let libraries = packages.members().filter(|package| package.name.starts_with("charter-")).count();
    assert_eq!(order.len(), libraries);
}
