//! What the snapshot of the service says was reached, its migrations have made.

use std::path::Path;

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_migrations::prelude::*;

use crate::database::{Database, Migrator, on_both};
use crate::steps;

on_both! {
    the_tables_are_those_of_the_snapshot
}

/// What was written by hand in another way: an index that goes on with the key serves every question of the shorter one.
const OTHERWISE: &[&str] = &["products_product_group_id_idx"];

async fn the_tables_are_those_of_the_snapshot(database: Database) {
    let snapshot = Snapshot::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/service/snapshot")).unwrap();
    assert!(snapshot.resources.len() >= 10);
    Migrator::up(&database.connection, None).await.unwrap();
    let reached = database.tables().await;

    Migrator::down(&database.connection, Some(charter_migrations::service().len() as u32)).await.unwrap();
    let plan = Plan::between(&Snapshot::default(), &snapshot);
    steps::up(&SchemaManager::new(&database.connection), &plan).await.unwrap();
    let missing: Vec<String> = database.tables().await.into_iter().filter(|line| !reached.contains(line)).collect();
    let otherwise = |line: &&String| OTHERWISE.iter().any(|name| line.contains(name));
    assert_eq!(missing.iter().filter(otherwise).count(), OTHERWISE.len(), "{missing:#?}");
    assert_eq!(missing.len(), OTHERWISE.len(), "the snapshot has what no migration made: {missing:#?}");
}
