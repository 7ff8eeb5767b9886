//! Conflicts between the names of indexes, and between tables and those of the platform.

use charter_codegen::migration::Plan;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, on_both};
use crate::steps;

on_both! {
    existing_index_is_skipped_and_another_one_of_its_name_is_an_error
    index_takes_a_name_that_another_table_gives_up
    table_name_may_have_63_bytes
    yaml_check_knows_every_platform_table
}

async fn existing_index_is_skipped_and_another_one_of_its_name_is_an_error(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let columns = ["a", "b_c", "a_b", "c"].map(integer);
    Table::on(&manager, "things").create([id()].into_iter().chain(columns)).await.unwrap();
    let table = Table::online(&manager, "things");
    // A migration that failed after the index is run again.
    for _ in 0..2 {
        table.unique(&["a", "b_c"]).await.unwrap();
        table.index(&["a", "b_c"]).await.unwrap();
    }
    for problem in [table.unique(&["a_b", "c"]).await, table.index(&["a_b", "c"]).await] {
        let problem = problem.unwrap_err().to_string();
        assert!(problem.contains("things_a_b_c_"), "{problem}");
    }
    // A table of that name is an error too.
    Table::on(&manager, "things_a_idx").create([id()]).await.unwrap();
    assert!(table.index(&["a"]).await.is_err());
}

/// One table gets the former name of another one, and its index that of the other's index.
async fn index_takes_a_name_that_another_table_gives_up(database: Database) {
    let tables = |article: &str, story: &str| {
        let resource = |name: &str, table: &str| {
            let head = format!("# resources/{name}.yaml\nresource: {name}\ntable: {table}\n");
            head + "fields:\n  title: { type: string(9), nullable: true, unique: true }\n"
        };
        let yaml = resource("article", article) + &resource("story", story);
        snapshot(Sources::from_example(&yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
    };
    let manager = SchemaManager::new(&database.connection);
    let (before, after) = (tables("texts", "tales"), tables("tales", "yarns"));
    steps::up(&manager, &Plan::between(&Snapshot::default(), &before)).await.unwrap();
    let before_rename = database.tables().await;
    let plan = Plan::between(&before, &after);
    steps::up(&manager, &plan).await.unwrap();
    let renamed = database.tables().await;
    for (table, index) in [("tales", "tales_title_key"), ("yarns", "yarns_title_key")] {
        assert!(renamed.iter().any(|line| line.contains(table) && line.contains(index)), "{index}: {renamed:#?}");
    }
    steps::down(&manager, &plan).await.unwrap();
    assert_eq!(database.tables().await, before_rename);
}

/// PostgreSQL cuts the table's name in those of its sequence and constraints.
async fn table_name_may_have_63_bytes(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let parse =
        |yaml: &str| snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()));
    for singleton in [false, true] {
        let thing = |table: &str| {
            let field = "fields:\n  name: { type: string(9), nullable: true }\n";
            parse(&format!("# resources/thing.yaml\nresource: thing\ntable: {table}\nsingleton: {singleton}\n{field}"))
        };
        for length in [54, 55, 58, 59, 62, 63] {
            let (short, long) = (thing("things"), thing(&"t".repeat(length)));
            let create = Plan::between(&Snapshot::default(), &long);
            steps::up(&manager, &create).await.unwrap();
            let expected = database.tables().await;
            steps::down(&manager, &create).await.unwrap();

            steps::up(&manager, &Plan::between(&Snapshot::default(), &short)).await.unwrap();
            let rename = Plan::between(&short, &long);
            steps::up(&manager, &rename).await.unwrap();
            assert_eq!(database.tables().await, expected);
            steps::down(&manager, &rename).await.unwrap();
            let dialect = if database.is_postgres() { Dialect::Postgres } else { Dialect::Sqlite };
            for statement in rename.whole.iter().flat_map(|step| statements(step, dialect, false)) {
                database.run(&statement).await.unwrap();
            }
            assert_eq!(database.tables().await, expected, "as SQL");
            steps::down(&manager, &create).await.unwrap();
        }
    }
}

/// The platform's migrations alone, as an application without resources runs them.
struct Platform;

impl MigratorTrait for Platform {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        charter_migrations::platform()
    }
}

async fn yaml_check_knows_every_platform_table(database: Database) {
    Platform::up(&database.connection, None).await.unwrap();
    let query = if database.is_postgres() {
        "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    };
    // SQLite has no `record_changes`: its triggers update the totals directly.
    let is_created = |name: &&str| database.is_postgres() || *name != "record_changes";
    let known: Vec<&str> = charter_codegen::platform_tables().iter().copied().filter(is_created).collect();
    assert_eq!(database.texts(query).await, known);
}
