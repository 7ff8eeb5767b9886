//! The template of a new application agrees with this workspace: versions of dependencies, profiles, formatting, build flags.

use std::fs;
use std::path::Path;

fn workspace(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)).unwrap()
}

fn template(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/application/template").join(file)).unwrap()
}

#[test]
fn dependencies_have_the_versions_of_the_workspace() {
    let (workspace, template) = (workspace("Cargo.toml"), template("manifest.toml"));
    let versioned: Vec<&str> = template.lines().filter(|line| line.contains(" = { version = ")).collect();
    assert_eq!(versioned.len(), 2, "{versioned:?}");
    for line in versioned {
        assert!(workspace.lines().any(|known| known == line), "the workspace has another version: {line}");
    }
}

#[test]
fn profiles_are_those_of_the_workspace() {
    let (workspace, template) = (workspace("Cargo.toml"), template("manifest.toml"));
    let profiles = |text: &str| {
        let from = text.find("[profile.").unwrap();
        let to = text.find("\n[package]\nname = \"charter\"").unwrap_or(text.len());
        text[from..to].trim_end().to_owned()
    };
    assert_eq!(profiles(&template), profiles(&workspace));
}

#[test]
fn formatting_and_build_flags_are_those_of_the_workspace() {
    assert_eq!(template("rustfmt.toml"), workspace("rustfmt.toml"));
    let flags = |text: &str| text.lines().find(|line| line.starts_with("LIBSQLITE3_FLAGS")).map(str::to_owned);
    assert_eq!(flags(&template("config.toml")), flags(&workspace(".cargo/config.toml")));
}

#[test]
fn image_is_that_of_the_records_service() {
    let steps = |text: String| text.split_once("\nFROM ").map(|(_, steps)| steps.to_owned()).unwrap();
    let rust = env!("CARGO_PKG_RUST_VERSION");
    let filled = template("Dockerfile").replace("APPLICATION", "charter").replace("RUST_VERSION", rust);
    assert_eq!(steps(filled), steps(workspace("deploy/Dockerfile")));
}
