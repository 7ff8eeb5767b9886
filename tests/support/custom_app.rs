//! The service with additional resources of a test and their tables.

use std::marker::PhantomData;

use charter_migrations::prelude::*;
use charter_runtime::App;
use charter_runtime::ops::Route;

/// The service with these additional routes and a migration for their tables.
pub fn with_own<M: MigrationTrait + Default + 'static>(own: impl IntoIterator<Item = Route>) -> App {
    with_routes::<M>(charter::generated::routes().into_iter().chain(own).collect())
}

/// The service with these routes alone, and a migration for the tables of those that are not its own.
pub fn with_routes<M: MigrationTrait + Default + 'static>(routes: Vec<Route>) -> App {
    App::new::<Migrator<M>>("charter-test", routes)
        .seeds(charter::generated::seeds())
        .languages(charter::generated::languages())
}

/// The columns of a table of records: the id, these, and the times of creation and change.
pub fn record_columns(columns: impl IntoIterator<Item = Column>) -> Vec<Column> {
    let times = [timestamp("created_at"), timestamp("updated_at")];
    [id()].into_iter().chain(columns).chain(times).collect()
}

/// The migrations of the service, followed by the test's.
struct Migrator<M>(PhantomData<M>);

impl<M: MigrationTrait + Default + 'static> MigratorTrait for Migrator<M> {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut migrations = <charter::Migrator as MigratorTrait>::migrations();
        migrations.push(Transactional::boxed(M::default()));
        migrations
    }
}

/// Defines a fixture: the service with additional routes, over a database that `fill` fills. The module implements
/// `MigrationTrait` for the `Migration` that the macro defines.
macro_rules! own_fixture {
    ($(#[$documentation:meta])* $fixture:ident, $migration:literal, $routes:expr, $fill:expr) => {
        $(#[$documentation])*
        pub struct $fixture(crate::support::Server);

        impl std::ops::Deref for $fixture {
            type Target = crate::support::Server;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl crate::support::Fixture for $fixture {
            async fn start(database: crate::support::Database) -> Self {
                use std::sync::OnceLock;

                use crate::support::{Database, Prepared, Server, with_own};

                static SQLITE: OnceLock<Prepared> = OnceLock::new();
                static POSTGRES: OnceLock<Prepared> = OnceLock::new();
                let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
                $fixture(Server::open(with_own::<Migration>($routes), database, template, $fill, |config| config.mcp = true).await)
            }

            fn server(&self) -> &crate::support::Server {
                &self.0
            }
        }

        #[derive(Default)]
        struct Migration;

        impl charter_migrations::prelude::MigrationName for Migration {
            fn name(&self) -> &str {
                $migration
            }
        }
    };
}

pub(crate) use own_fixture;
