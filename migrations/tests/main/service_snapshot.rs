//! The migrations of the service create the tables that its snapshot describes.

use std::path::Path;

use charter_codegen::migration::Plan;
use charter_codegen::snapshot::Snapshot;
use charter_migrations::prelude::*;

use crate::database::{Database, Migrator, on_both};
use crate::steps;

on_both! {
    migrations_create_the_tables_of_the_snapshot
}

/// Indexes that a migration replaces by a longer one, which serves the same queries.
const REPLACED_INDEXES: &[&str] = &["products_product_group_id_idx"];

async fn migrations_create_the_tables_of_the_snapshot(database: Database) {
    let snapshot = Snapshot::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/service/snapshot")).unwrap();
    assert!(snapshot.resources.len() >= 10);
    Migrator::up(&database.connection, None).await.unwrap();
    let migrated = database.tables().await;

    Migrator::down(&database.connection, Some(charter_migrations::service().len() as u32)).await.unwrap();
    let plan = Plan::between(&Snapshot::default(), &snapshot);
    steps::up(&SchemaManager::new(&database.connection), &plan).await.unwrap();
    let missing: Vec<String> = database.tables().await.into_iter().filter(|line| !migrated.contains(line)).collect();
    let is_replaced = |line: &&String| REPLACED_INDEXES.iter().any(|name| line.contains(name));
    assert_eq!(missing.iter().filter(is_replaced).count(), REPLACED_INDEXES.len(), "{missing:#?}");
    assert_eq!(missing.len(), REPLACED_INDEXES.len(), "no migration creates: {missing:#?}");
}
