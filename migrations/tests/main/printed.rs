//! Migrations as `cargo charter migration new` prints them: compiled, run, and compared with their steps.

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_codegen::{Sources, snapshot};
use charter_migrations::prelude::*;

use crate::database::{Database, on_both};
use crate::steps;

#[path = "../../../codegen/tests/migrations/m20261121_000001_begin.rs"]
mod m20261121_000001_begin;
#[path = "../../../codegen/tests/migrations/m20261121_000002_change.rs"]
mod m20261121_000002_change;
#[path = "../../../codegen/tests/migrations/m20261121_000003_change_online.rs"]
mod m20261121_000003_change_online;

on_both! {
    what_is_printed_does_what_its_steps_do
}

struct Printed;

impl MigratorTrait for Printed {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut migrations = charter_migrations::platform();
        migrations.truncate(1);
        migrations.push(Atomic::boxed(m20261121_000001_begin::Migration));
        migrations.push(Atomic::boxed(m20261121_000002_change::Migration));
        migrations.push(Atomic::boxed(m20261121_000003_change_online::Migration));
        migrations
    }
}

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}", report.render()))
}

async fn what_is_printed_does_what_its_steps_do(database: Database) {
    let before = taken(include_str!("../../../codegen/tests/migrations/before.yaml"));
    let after = taken(include_str!("../../../codegen/tests/migrations/after.yaml"));
    let (begin, change) = (Plan::between(&Snapshot::default(), &before), Plan::between(&before, &after));
    Printed::up(&database.connection, None).await.unwrap();
    let printed = database.tables().await;

    Printed::down(&database.connection, Some(3)).await.unwrap();
    let manager = SchemaManager::new(&database.connection);
    steps::up(&manager, &begin).await.unwrap();
    let begun = database.tables().await;
    steps::up(&manager, &change).await.unwrap();
    assert_eq!(database.tables().await, printed);

    // Down by what is printed, from what the steps made.
    steps::down(&manager, &change).await.unwrap();
    assert_eq!(database.tables().await, begun);
    steps::down(&manager, &begin).await.unwrap();
    Printed::up(&database.connection, None).await.unwrap();
    Printed::down(&database.connection, Some(2)).await.unwrap();
    assert_eq!(database.tables().await, begun);
}
