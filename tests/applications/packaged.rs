//! Charter's crates as packages, without this repository: a new application is written, built, tested, packaged and served.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::application::{Application, shared, without_package};

/// The crates that are published, which an application depends on.
const CRATES: [&str; 8] = ["codegen", "core", "macros", "migrations", "model", "platform", "runtime", "testing"];

/// Their version: all crates of the workspace have the same.
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[tokio::test]
async fn an_application_is_built_tested_packaged_and_served_from_packages_alone() {
    let application = Application::named("packaged/library");
    let folder = application.folder.parent().unwrap().to_owned();
    // Files of an earlier run, such as a migration with the date of that day.
    for left in ["crates", "library-0.1.0"] {
        let _ = fs::remove_dir_all(folder.join(left));
    }
    let crates = packages(&folder);
    // It stands for the registry: cargo takes these crates for the published ones, also in the application's own package.
    let patch =
        |name: &&str| format!("charter-{name} = {{ path = {:?} }}\n", crates.join(format!("charter-{name}-{VERSION}")));
    let patches: String = CRATES.iter().map(patch).collect();
    fs::create_dir_all(folder.join(".cargo")).unwrap();
    fs::write(folder.join(".cargo/config.toml"), format!("[patch.crates-io]\n{patches}")).unwrap();

    let generator = crates.join(format!("charter-codegen-{VERSION}"));
    copy_lock(&generator);
    // Within the folder of the package, because the patches are in a configuration above it.
    let mut build = application.command("cargo build --quiet --bin cargo-charter");
    finish(build.current_dir(&generator));
    let application = application.with_developer_command(&generator.join("target/debug"));
    application.shell("cargo charter new book title:string! year:integer");
    let manifest = fs::read_to_string(application.folder.join("Cargo.toml")).unwrap();
    let runtime = format!("charter-runtime = \"{VERSION}\"\n");
    assert!(manifest.contains(&runtime) && !manifest.contains("path ="), "{manifest}");
    application.shell("cargo charter migration new books");
    copy_lock(&application.folder);
    application.shell("cargo fmt --check");
    application.shell("cargo clippy --quiet --all-targets -- -D warnings");
    application.shell("cargo test --quiet");

    application.shell("cargo package --quiet --allow-dirty --no-verify");
    // Outside of the folder of the application, which is a workspace.
    application.shell("tar xzmf target/package/library-0.1.0.crate -C ..");
    let mut run = application.command("cargo run --quiet");
    let unpacked = folder.join("library-0.1.0");
    run.current_dir(&unpacked);
    let executable = unpacked.join("target/debug/library");
    let server = charter_testing::Program::start_by(run, executable, charter_testing::Database::Sqlite);
    let (status, answer) = server.post("books", json!({ "title": "Emma", "year": 1815 })).await;
    assert_eq!(status, 201, "{answer}");
    let (status, answer) = server.get("books?q[year_lt]=1900").await;
    assert_eq!((status, &answer["books"][0]["title"]), (200, &json!("Emma")), "{answer}");
}

/// Packages the crates, and unpacks them in a folder.
fn packages(folder: &Path) -> PathBuf {
    let archives = shared().join("packages");
    let mut package = without_package(Command::new(env!("CARGO")));
    package.args(["package", "--quiet", "--offline", "--allow-dirty", "--no-verify", "--exclude-lockfile"]);
    package.args(CRATES.iter().flat_map(|name| ["--package".to_owned(), format!("charter-{name}")]));
    finish(package.arg("--target-dir").arg(&archives).current_dir(env!("CARGO_MANIFEST_DIR")));
    let crates = folder.join("crates");
    fs::create_dir_all(&crates).unwrap();
    for name in CRATES {
        let archive = archives.join(format!("package/charter-{name}-{VERSION}.crate"));
        // Files in a package have a fixed date. With today's, cargo notices that they changed since the last run.
        finish(Command::new("tar").arg("xzmf").arg(archive).arg("-C").arg(&crates));
        let unpacked = crates.join(format!("charter-{name}-{VERSION}"));
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(unpacked.join(file).is_file(), "charter-{name} has {file}");
        }
    }
    crates
}

/// The versions of all packages that Charter is tested with, because these tests run without network access.
fn copy_lock(folder: &Path) {
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
}

fn finish(command: &mut Command) {
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
