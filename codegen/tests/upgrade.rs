//! `cargo charter upgrade`, run as a command: the lines of an application that it names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The version that applications are upgraded to.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn charter(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    command.args(arguments).current_dir(folder).output().expect("the command runs")
}

/// A new application in a folder outside of this workspace, whose configuration of cargo would apply to it.
fn application(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("charter-upgrade-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let output = charter(&folder, &["new", "thing", "name:string!", "--version", VERSION]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// Runs the command in an application: its output and its exit code.
fn upgrade(folder: &Path) -> (String, Option<i32>) {
    let output = charter(folder, &["upgrade"]);
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

fn replace(folder: &Path, file: &str, old: &str, new: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{file} has {old}");
    fs::write(path, text.replace(old, new)).unwrap();
}

#[test]
fn a_new_application_has_nothing_to_change() {
    let folder = application("new");
    let (told, code) = upgrade(&folder);
    assert!(told.contains("nothing to change") && code == Some(0), "{code:?}: {told}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn lines_of_an_older_application_are_named_with_their_new_form() {
    let folder = application("old");
    replace(&folder, "Cargo.toml", &format!("charter-runtime = \"{VERSION}\""), "charter-runtime = \"0.0.9\"");
    replace(&folder, "Cargo.toml", "sea-orm = { version = \"2.0\"", "sea-orm = { version = \"1.1\"");
    replace(&folder, "src/main.rs", "charter_runtime::main(", "// ");
    let main = fs::read_to_string(folder.join("src/main.rs")).unwrap();
    fs::write(folder.join("src/main.rs"), main.replace("::app())", "\n    charter::app().main()")).unwrap();
    fs::remove_file(folder.join(".cargo/config.toml")).unwrap();
    let (told, code) = upgrade(&folder);
    let lines: Vec<&str> = told.lines().collect();
    let version = format!("Cargo.toml:11: the version is {VERSION} now: `charter-runtime = \"{VERSION}\"`");
    for (at, expected) in [
        concat!("the application is to use Charter ", env!("CARGO_PKG_VERSION")),
        &version,
        "Cargo.toml:12: Charter uses another version, and types of two versions differ: `sea-orm = { version = \"2.0\"",
        ".cargo/config.toml:1: SQLite is slower without its build flags; below `[env]`: `LIBSQLITE3_FLAGS = ",
        "src/main.rs:7: since 0.1.0, `App::main` is the function `charter_runtime::main(app())`",
        "4 lines to change",
    ]
    .iter()
    .enumerate()
    {
        assert!(lines.get(at).is_some_and(|line| line.starts_with(expected)), "{expected}\n{told}");
    }
    assert_eq!(code, Some(1));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_version_in_a_table_is_compared_and_a_dependency_without_a_version_is_not() {
    let folder = application("tables");
    let version = format!("charter-runtime = \"{}\"", env!("CARGO_PKG_VERSION"));
    let table = "charter-runtime = { version = \"0.0.9\", default-features = false }";
    replace(&folder, "Cargo.toml", &version, table);
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let shared = manifest.lines().find(|line| line.starts_with("sea-orm = ")).unwrap();
    replace(&folder, "Cargo.toml", shared, "sea-orm = { workspace = true }");
    let (told, code) = upgrade(&folder);
    assert!(told.contains("Cargo.toml:11: the version is ") && told.contains("1 line to change"), "{told}");
    assert_eq!(code, Some(1));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_without_an_application_is_wrong_usage() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = charter(folder, &["upgrade", "--dir", "src"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`--dir` names the folder"), "{output:?}");
    let output = charter(folder, &["upgrade"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("is not the manifest of a Charter application"),
        "{output:?}"
    );
}
