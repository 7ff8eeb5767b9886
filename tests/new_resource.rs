//! The steps of `docs/adding-a-resource.md`: three commands from an empty folder to a served resource, edits by hand, and
//! a new resource in an existing application.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use charter_testing::{Database, Program};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

/// Contents of the page: its first block of commands, its example, the first migration, and the body of the second.
struct Page {
    commands: Vec<String>,
    yaml: String,
    migration: String,
    rules: String,
}

impl Page {
    fn read() -> Page {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/adding-a-resource.md")).unwrap();
        let blocks = |language: &str| {
            let fence = format!("```{language}\n");
            let rests = text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap());
            rests.map(String::from).collect::<Vec<_>>()
        };
        let [migration, rules] = blocks("rust").try_into().unwrap();
        Page {
            commands: blocks("sh")[0].lines().map(String::from).collect(),
            yaml: blocks("yaml").remove(0),
            migration,
            rules,
        }
    }
}

#[tokio::test]
async fn three_commands_lead_from_an_empty_folder_to_a_served_resource() {
    let page = Page::read();
    let [new, migration, run] = page.commands.as_slice() else { panic!("{:?}", page.commands) };
    let application = Application::empty();
    application.shell(new);
    application.shell(migration);
    assert_eq!(application.migration("_suppliers.rs"), page.migration);
    let first = application.serve(run);
    filters_and_emits(&first).await;
    assert_eq!(first.post("suppliers", json!({ "email": "able@example.com" })).await.0, 422, "a name is required");
    drop(first);

    // The YAML after the edits.
    fs::write(application.folder.join("resources/supplier.yaml"), page.yaml).unwrap();
    application.shell("cargo charter check");
    application.shell("cargo charter migration new supplier_rules");
    let rules = application.migration("_supplier_rules_online.rs");
    assert!(rules.contains(&page.rules), "{rules}");
    let server = application.serve(run);
    completed(&server).await;
    application.shell("cargo test");

    // An existing table becomes a resource.
    let database = sea_orm::Database::connect(&server.database_url).await.unwrap();
    let table = "CREATE TABLE pallets (id integer PRIMARY KEY, code varchar(9) NOT NULL, \
                 supplier_id bigint REFERENCES suppliers (id))";
    database.execute_unprepared(table).await.unwrap();
    let mut from_db = application.command("cargo charter from-db pallets");
    let output = from_db.env("CHARTER_DATABASE_URL", &server.database_url).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let yaml = fs::read_to_string(application.folder.join("resources/pallet.yaml")).unwrap();
    assert!(yaml.contains("  supplier_id: { type: ref(supplier), nullable: true }\n"), "{yaml}");
    application.shell("cargo charter check");
}

charter_testing::needs_postgres! {
    #[tokio::test]
    async fn new_application_runs_on_postgres() {
        let page = Page::read();
        let application = Application::another_empty();
        for command in &page.commands[..2] {
            application.shell(command);
        }
        application.shell("cargo build");
        filters_and_emits(&Program::start(application.executable(), Database::Postgres)).await;
    }
}

/// Checks lists, filters, sorts, abilities and events.
async fn filters_and_emits(server: &Program) {
    for (name, rating) in [("Able", "2.5"), ("Baker", "0"), ("Cable", "4")] {
        let (status, answer) = server.post("suppliers", json!({ "name": name, "rating": rating })).await;
        assert_eq!(status, 201, "{answer}");
    }
    let (status, answer) = server.get("suppliers?q[name_cont]=AB&q[rating_gteq]=1&sort=-rating").await;
    assert_eq!(status, 200, "{answer}");
    let listed = answer["suppliers"].as_array().unwrap().iter();
    let found: Vec<(&Value, &Value)> = listed.map(|supplier| (&supplier["name"], &supplier["rating"])).collect();
    assert_eq!(found, [(&json!("Cable"), &json!("4.0")), (&json!("Able"), &json!("2.5"))]);
    assert_eq!(answer["meta"], json!({ "total": 2, "per_page": 20, "page": 1 }));
    assert_eq!(server.get("suppliers?q[colour_eq]=red").await.0, 422);

    let stranger = server.token_with(&["users:read", "users:write"]);
    let (status, answer) = server.with_token(&stranger).get("suppliers").await;
    assert_eq!((status, &answer["code"]), (403, &json!("ability_missing")));

    assert_eq!(server.delete("suppliers/2").await.0, 204);
    assert_eq!(server.get("suppliers/2").await.0, 404);
    let database = sea_orm::Database::connect(&server.database_url).await.unwrap();
    let statement = "SELECT name FROM events WHERE name LIKE 'supplier.%' ORDER BY id";
    let events =
        database.query_all_raw(Statement::from_string(database.get_database_backend(), statement)).await.unwrap();
    let events: Vec<String> = events.iter().map(|row| row.try_get("", "name").unwrap()).collect();
    assert_eq!(events, ["supplier.created", "supplier.created", "supplier.created", "supplier.deleted"]);
}

/// Checks the rules of the page's example.
async fn completed(server: &Program) {
    assert_eq!(server.post("suppliers", json!({ "name": "Able" })).await.0, 201);
    let (status, answer) = server.post("suppliers", json!({ "name": "Able", "email": "nobody", "rating": "7" })).await;
    assert_eq!(status, 422);
    let fields: Vec<&String> = answer["errors"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["email", "name", "rating"]);
}

#[test]
fn an_application_that_is_there_gets_one_yaml_file_and_one_migration() {
    let application = Application::lending();
    let before = application.files();
    let page = Page::read();
    fs::write(application.folder.join("resources/supplier.yaml"), page.yaml).unwrap();
    application.shell("cargo charter migration new suppliers");
    let added: Vec<_> = application.files().difference(&before).cloned().collect();
    let [migration, snapshot, yaml] = added.as_slice() else { panic!("{added:?}") };
    assert!(migration.starts_with("migrations/m") && migration.ends_with("_suppliers.rs"), "{migration}");
    assert_eq!([snapshot, yaml], ["migrations/snapshot/supplier.yaml", "resources/supplier.yaml"]);
    // It contains the lines of both migrations of the page.
    let migration = fs::read_to_string(application.folder.join(migration)).unwrap();
    for line in page.migration.lines().chain(page.rules.lines().skip(1)) {
        assert!(migration.contains(line), "{line} is not in\n{migration}");
    }
    application.shell("cargo charter migration new --check");
}

/// An application in a separate folder outside of this repository, where cargo's alias would hide the command. The
/// folder is always the same, so that later runs reuse the build.
struct Application {
    folder: PathBuf,
    /// The PATH, with the folder of `cargo-charter`.
    path: std::ffi::OsString,
}

impl Application {
    fn empty() -> Application {
        Application::named("suppliers")
    }

    /// An empty folder for a test that runs at the same time.
    fn another_empty() -> Application {
        Application::named("postgres/suppliers")
    }

    fn lending() -> Application {
        let application = Application::named("lending");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/lending"), &application.folder);
        application
    }

    fn named(name: &str) -> Application {
        let mut hash = DefaultHasher::new();
        env!("CARGO_MANIFEST_DIR").hash(&mut hash);
        let folder = std::env::temp_dir().join(format!("charter-{:x}", hash.finish())).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let programs = developer_command();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&others))).unwrap();
        Application { folder, path }
    }

    /// A command of the page. It runs without network access, and shares the build folder of this workspace.
    fn command(&self, line: &str) -> Command {
        let mut shell = without_package(Command::new("bash"));
        shell.args(["-c", &format!("exec {line}")]).current_dir(&self.folder).env("PATH", &self.path);
        shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_BUILD_BUILD_DIR", shared()).env_remove("CARGO_TARGET_DIR");
        shell
    }

    fn shell(&self, line: &str) {
        let output = self.command(line).output().expect("bash runs");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs the command that starts the server, and waits until it listens.
    fn serve(&self, line: &str) -> Program {
        Program::start_by(self.command(line), self.executable(), Database::Sqlite)
    }

    fn executable(&self) -> PathBuf {
        self.folder.join("target/debug/suppliers")
    }

    /// The text of the only migration whose path has this end.
    fn migration(&self, end: &str) -> String {
        let files = self.files();
        let path = files.iter().find(|path| path.starts_with("migrations/m") && path.ends_with(end));
        fs::read_to_string(self.folder.join(path.unwrap_or_else(|| panic!("{files:?}")))).unwrap()
    }

    /// Its files by their paths.
    fn files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        collect(&self.folder, "", &mut found);
        found
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The build folder of this workspace.
fn shared() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it stands in the target folder")
}

/// The folder of `cargo-charter`, built with the same features of dependencies as the workspace.
fn developer_command() -> PathBuf {
    let mut cargo = without_package(Command::new(env!("CARGO")));
    cargo.args(["build", "--quiet", "--offline", "--workspace", "--bin", "cargo-charter"]);
    let output = cargo.arg("--target-dir").arg(shared()).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    shared().join("debug")
}

/// Removes cargo's variables of the package under test. Build scripts depend on them and would run again each time.
fn without_package(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if ["CARGO_MANIFEST_", "CARGO_PKG_", "OUT_DIR"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    command
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        // Data of a server is not a part of the application.
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
