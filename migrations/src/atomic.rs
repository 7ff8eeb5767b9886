//! The wrapper that runs a migration in one transaction on SQLite too.

use sea_orm_migration::prelude::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};

/// A migration that is applied as a whole or not at all.
///
/// SeaORM does so on PostgreSQL only; on SQLite, which could, a migration that fails half-way would leave its first
/// tables behind and stumble over them when it is tried again.
pub struct Atomic<M>(pub M);

impl<M: MigrationTrait + 'static> Atomic<M> {
    /// The migration as an element of a list of migrations.
    pub fn boxed(migration: M) -> Box<dyn MigrationTrait> {
        Box::new(Atomic(migration))
    }
}

impl<M: MigrationName> MigrationName for Atomic<M> {
    fn name(&self) -> &str {
        self.0.name()
    }
}

#[async_trait::async_trait]
impl<M: MigrationTrait> MigrationTrait for Atomic<M> {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.up(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.down(manager).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
