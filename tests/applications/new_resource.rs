//! The steps of `docs/adding-a-resource.md`: three commands from an empty folder to a served resource, edits by hand, and
//! a new resource in an existing application.

use std::fs;
use std::path::Path;

use charter_testing::{Database, Program};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

use crate::application::Application;

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
    // It contains the lines of both migrations of the page, but for the checks of rows: a new table has none.
    let migration = fs::read_to_string(application.folder.join(migration)).unwrap();
    let checks_rows = |line: &&str| line.contains(".check_unique(") || line.contains(".verify(");
    let rules = page.rules.lines().skip(1).filter(|line| !checks_rows(line));
    for line in page.migration.lines().chain(rules) {
        assert!(migration.contains(line), "{line} is not in\n{migration}");
    }
    application.shell("cargo charter migration new --check");
}
