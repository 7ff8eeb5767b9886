//! The wrapper that runs a migration in one transaction on SQLite too, and lets those who write go first on PostgreSQL.

use sea_orm_migration::prelude::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};
use sea_orm_migration::sea_orm::{DbBackend, TransactionTrait};

use crate::patience::{Patience, claim};

/// A migration that is applied as a whole or not at all, unless it says that it has no transaction around it.
///
/// SeaORM does so on PostgreSQL only; on SQLite, which could, a migration that fails half-way would leave its first
/// tables behind and stumble over them when it is tried again. On PostgreSQL a migration that waits for a lock gives back
/// those that it has, and begins again: nobody who writes meanwhile fails because of it.
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
        self.take(manager, Way::Up).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.take(manager, Way::Down).await
    }

    fn use_transaction(&self) -> Option<bool> {
        self.0.use_transaction().or(Some(true))
    }
}

#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

impl<M: MigrationTrait> Atomic<M> {
    async fn take(&self, manager: &SchemaManager<'_>, way: Way) -> Result<(), DbErr> {
        if self.use_transaction() == Some(false) {
            return self.go(manager, way).await;
        }
        if manager.get_database_backend() == DbBackend::Sqlite {
            claim(manager).await?;
            return self.go(manager, way).await;
        }
        let connection = manager.get_connection();
        let mut patience = Patience::default();
        loop {
            // A savepoint, because a transaction is around all of it: going back to it gives back its locks.
            let inner = connection.begin().await?;
            patience.begin(&inner).await?;
            match self.go(&SchemaManager::new(&inner), way).await {
                Ok(()) => return inner.commit().await,
                Err(problem) => {
                    inner.rollback().await?;
                    patience.pause(connection, problem).await?;
                }
            }
        }
    }

    async fn go(&self, manager: &SchemaManager<'_>, way: Way) -> Result<(), DbErr> {
        match way {
            Way::Up => self.0.up(manager).await,
            Way::Down => self.0.down(manager).await,
        }
    }
}
