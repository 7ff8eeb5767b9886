//! A resource is one YAML file and the migration that is written from it: added to a copy of the example application,
//! built and called.

#[path = "support/postgres.rs"]
mod postgres;
mod program;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::Program;
use reqwest::Method;
use sea_orm::{ConnectionTrait, Database, Statement};
use serde_json::{Value, json};

/// The documentation's own example, as it stands there.
struct Example {
    yaml: String,
    migration: String,
}

impl Example {
    fn read() -> Example {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/adding-a-resource.md")).unwrap();
        let block = |language: &str| {
            let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap();
            rest.split("```").next().unwrap().to_string()
        };
        Example { yaml: block("yaml"), migration: block("rust") }
    }
}

#[tokio::test]
async fn a_resource_is_one_yaml_file_and_one_migration() {
    let workspace = Workspace::copy();
    let before = workspace.files();
    let example = Example::read();
    fs::write(workspace.application().join("resources/supplier.yaml"), example.yaml).unwrap();
    workspace.charter(&["migration", "new", "suppliers"]);
    let added: Vec<_> = workspace.files().difference(&before).cloned().collect();
    let [migration, snapshot, yaml] = added.as_slice() else { panic!("{added:?}") };
    assert!(migration.starts_with("migrations/m") && migration.ends_with("_suppliers.rs"), "{migration}");
    assert_eq!([snapshot, yaml], ["migrations/snapshot/supplier.yaml", "resources/supplier.yaml"]);
    assert_eq!(fs::read_to_string(workspace.application().join(migration)).unwrap(), example.migration);
    workspace.charter(&["migration", "new", "--check"]);

    let executable = workspace.build();
    try_out(&Program::start(&executable, None)).await;
    if let Some(server) = postgres::server() {
        try_out(&Program::start(&executable, Some(server.create_database(None)))).await;
    }
}

/// Filters, sorts, validation, abilities and events are in place.
async fn try_out(library: &Program) {
    for (name, rating) in [("Able", "2.5"), ("Baker", "0"), ("Cable", "4")] {
        let (status, answer) = library.post("suppliers", json!({ "name": name, "rating": rating })).await;
        assert_eq!(status, 201, "{answer}");
    }
    let (status, answer) = library.get("suppliers?q[name_cont]=AB&q[rating_gteq]=1&sort=-rating").await;
    assert_eq!(status, 200, "{answer}");
    let found: Vec<(&Value, &Value)> = answer["suppliers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|supplier| (&supplier["name"], &supplier["rating"]))
        .collect();
    assert_eq!(found, [(&json!("Cable"), &json!("4.0")), (&json!("Able"), &json!("2.5"))]);
    assert_eq!(answer["meta"], json!({ "total": 2, "per_page": 20, "page": 1 }));
    assert_eq!(library.get("suppliers?q[colour_eq]=red").await.0, 422);
    let (status, answer) = library.post("suppliers", json!({ "name": "Able", "email": "nobody", "rating": "7" })).await;
    assert_eq!(status, 422);
    let fields: Vec<&String> = answer["errors"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["email", "name", "rating"]);

    let stranger = library.token_with(&["books:read", "books:write"]);
    let (status, answer) = library.call(&stranger, Method::GET, "suppliers", None).await;
    assert_eq!((status, &answer["code"]), (403, &json!("ability_missing")));

    assert_eq!(library.call(&library.token, Method::DELETE, "suppliers/2", None).await.0, 204);
    assert_eq!(library.get("suppliers/2").await.0, 404);
    let database = Database::connect(&library.database_url).await.unwrap();
    let statement = "SELECT name FROM events WHERE name LIKE 'supplier.%' ORDER BY id";
    let rows =
        database.query_all_raw(Statement::from_string(database.get_database_backend(), statement)).await.unwrap();
    let events: Vec<String> = rows.iter().map(|row| row.try_get("", "name").unwrap()).collect();
    assert_eq!(events, ["supplier.created", "supplier.created", "supplier.created", "supplier.deleted"]);
}

/// A workspace of its own around a copy of the example application. It stands in the target folder, always at the same
/// place, and is built there with the same dependencies, so that little is compiled anew.
struct Workspace(PathBuf);

impl Workspace {
    fn copy() -> Workspace {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new_resource");
        let _ = fs::remove_dir_all(&folder);
        let workspace = Workspace(folder);
        copy(&root.join("examples/lending"), &workspace.application());
        fs::write(workspace.0.join("Cargo.toml"), manifest(root)).unwrap();
        fs::copy(root.join("Cargo.lock"), workspace.0.join("Cargo.lock")).unwrap();
        workspace
    }

    fn application(&self) -> PathBuf {
        self.0.join("lending")
    }

    /// Builds the application without the network and answers its executable. What is compiled on the way goes where
    /// this workspace's own goes, and the executable elsewhere.
    fn build(&self) -> PathBuf {
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it stands in the target folder");
        let mut cargo = cargo();
        cargo.args(["build", "--offline", "--bin", "lending", "--target-dir", "target"]).current_dir(&self.0);
        let output = cargo.env("CARGO_BUILD_BUILD_DIR", shared).output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.0.join("target/debug/lending")
    }

    /// Runs `cargo charter` in the folder of the application.
    fn charter(&self, arguments: &[&str]) {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let mut cargo = cargo();
        cargo.args(["run", "--quiet", "--offline", "--package", "charter-codegen", "--bin", "cargo-charter"]);
        cargo.arg("--manifest-path").arg(manifest).arg("--").args(arguments).current_dir(self.application());
        let output = cargo.output().expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The files of the application by their paths.
    fn files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        collect(&self.application(), "", &mut found);
        found
    }
}

/// Cargo, without what describes the package under test: build scripts look at that and would run anew.
fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// The manifest of the workspace, whose only member is the copy and whose own crates are this repository's.
fn manifest(root: &Path) -> String {
    let text = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let (shared, _) = text.split_once("\n[package]").expect("the workspace's part comes before the package's");
    let lines = shared.lines().filter(|line| !line.starts_with("exclude")).map(|line| {
        if line.starts_with("members") {
            return "members = [\"lending\"]".to_string();
        }
        line.replace("path = \"", &format!("path = \"{}/", root.display()))
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        // Data of a server that was run there is no part of the application.
        if matches!(entry.file_name().to_str(), Some("data" | "target")) {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}
