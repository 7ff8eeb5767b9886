//! Names that must not meet: those of indexes, and those of the platform's tables.

use charter_codegen::migration::Plan;
use charter_codegen::migration::sql::{Dialect, statements};
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, on_both};
use crate::steps;

on_both! {
    an_index_made_anew_is_passed_over_and_another_of_its_name_is_not
    an_index_takes_the_name_that_another_table_leaves
    a_table_may_have_the_longest_name
    the_check_of_the_yaml_knows_every_table_of_the_platform
}

async fn an_index_made_anew_is_passed_over_and_another_of_its_name_is_not(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let columns = ["a", "b_c", "a_b", "c"].map(integer);
    Table::on(&manager, "things").create([id()].into_iter().chain(columns)).await.unwrap();
    let table = Table::online(&manager, "things");
    // What failed behind it is run again.
    for _ in 0..2 {
        table.unique(&["a", "b_c"]).await.unwrap();
        table.index(&["a", "b_c"]).await.unwrap();
    }
    for problem in [table.unique(&["a_b", "c"]).await, table.index(&["a_b", "c"]).await] {
        let problem = problem.unwrap_err().to_string();
        assert!(problem.contains("things_a_b_c_"), "{problem}");
    }
    // Neither is a table that has the name.
    Table::on(&manager, "things_a_idx").create([id()]).await.unwrap();
    assert!(table.index(&["a"]).await.is_err());
}

/// One table is called as another was, and its index as the other's.
async fn an_index_takes_the_name_that_another_table_leaves(database: Database) {
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
    let begun = database.tables().await;
    let plan = Plan::between(&before, &after);
    steps::up(&manager, &plan).await.unwrap();
    let reached = database.tables().await;
    for (table, index) in [("tales", "tales_title_key"), ("yarns", "yarns_title_key")] {
        assert!(reached.iter().any(|line| line.contains(table) && line.contains(index)), "{index}: {reached:#?}");
    }
    steps::down(&manager, &plan).await.unwrap();
    assert_eq!(database.tables().await, begun);
}

/// What PostgreSQL makes with it has a shorter one.
async fn a_table_may_have_the_longest_name(database: Database) {
    let manager = SchemaManager::new(&database.connection);
    let taken =
        |yaml: &str| snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()));
    for singleton in [false, true] {
        let thing = |table: &str| {
            let field = "fields:\n  name: { type: string(9), nullable: true }\n";
            taken(&format!("# resources/thing.yaml\nresource: thing\ntable: {table}\nsingleton: {singleton}\n{field}"))
        };
        for length in [54, 55, 58, 59, 62, 63] {
            let (short, long) = (thing("things"), thing(&"t".repeat(length)));
            let make = Plan::between(&Snapshot::default(), &long);
            steps::up(&manager, &make).await.unwrap();
            let wanted = database.tables().await;
            steps::down(&manager, &make).await.unwrap();

            steps::up(&manager, &Plan::between(&Snapshot::default(), &short)).await.unwrap();
            let rename = Plan::between(&short, &long);
            steps::up(&manager, &rename).await.unwrap();
            assert_eq!(database.tables().await, wanted);
            steps::down(&manager, &rename).await.unwrap();
            let dialect = if database.is_postgres() { Dialect::Postgres } else { Dialect::Sqlite };
            for statement in rename.whole.iter().flat_map(|step| statements(step, dialect, false)) {
                database.run(&statement).await.unwrap();
            }
            assert_eq!(database.tables().await, wanted, "as SQL");
            steps::down(&manager, &make).await.unwrap();
        }
    }
}

/// The migrator of the platform alone, as an application without resources runs it.
struct Platform;

impl MigratorTrait for Platform {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        charter_migrations::platform()
    }
}

async fn the_check_of_the_yaml_knows_every_table_of_the_platform(database: Database) {
    Platform::up(&database.connection, None).await.unwrap();
    let query = if database.is_postgres() {
        "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    };
    // What is counted on PostgreSQL in a table is counted on SQLite by its triggers alone.
    let here = |name: &&str| database.is_postgres() || *name != "record_changes";
    let known: Vec<&str> = charter_codegen::platform_tables().iter().copied().filter(here).collect();
    assert_eq!(database.texts(query).await, known);
}
