//! Wrapper that runs a migration in one transaction on both databases, and retries it on PostgreSQL after lock conflicts.

use sea_orm_migration::prelude::{DbErr, MigrationName, MigrationTrait, SchemaManager, async_trait};
use sea_orm_migration::sea_orm::{DbBackend, TransactionTrait};

use crate::lock_retry::{LockRetry, acquire_write_lock};

/// A migration that is applied as a whole or not at all, unless its `use_transaction` returns `Some(false)`.
///
/// SeaORM opens a transaction on PostgreSQL only. On SQLite, a migration that fails half-way would leave its first tables
/// behind, and the next attempt would fail on them.
pub struct Transactional<M>(pub M);

impl<M: MigrationTrait + 'static> Transactional<M> {
    /// The migration as an element of a list of migrations.
    pub fn boxed(migration: M) -> Box<dyn MigrationTrait> {
        Box::new(Transactional(migration))
    }
}

impl<M: MigrationName> MigrationName for Transactional<M> {
    fn name(&self) -> &str {
        self.0.name()
    }
}

#[async_trait::async_trait]
impl<M: MigrationTrait> MigrationTrait for Transactional<M> {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.run(manager, Direction::Up).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.run(manager, Direction::Down).await
    }

    fn use_transaction(&self) -> Option<bool> {
        self.0.use_transaction().or(Some(true))
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

impl<M: MigrationTrait> Transactional<M> {
    async fn run(&self, manager: &SchemaManager<'_>, direction: Direction) -> Result<(), DbErr> {
        if self.use_transaction() == Some(false) {
            return self.run_once(manager, direction).await;
        }
        if manager.get_database_backend() == DbBackend::Sqlite {
            acquire_write_lock(manager).await?;
            return self.run_once(manager, direction).await;
        }
        let connection = manager.get_connection();
        let mut retry = LockRetry::default();
        loop {
            // A savepoint in SeaORM's transaction: rolling back to it releases the locks.
            let savepoint = connection.begin().await?;
            retry.set_timeouts(&savepoint).await?;
            match self.run_once(&SchemaManager::new(&savepoint), direction).await {
                Ok(()) => return savepoint.commit().await,
                Err(error) => {
                    savepoint.rollback().await?;
                    retry.back_off(connection, error).await?;
                }
            }
        }
    }

    async fn run_once(&self, manager: &SchemaManager<'_>, direction: Direction) -> Result<(), DbErr> {
        match direction {
            Direction::Up => self.0.up(manager).await,
            Direction::Down => self.0.down(manager).await,
        }
    }
}
