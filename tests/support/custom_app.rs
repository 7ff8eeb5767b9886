//! The service with resources of a test's own beside its own, and their tables.

use std::marker::PhantomData;

use charter_migrations::prelude::*;
use charter_runtime::App;
use charter_runtime::ops::Route;

/// The service with these routes too, whose tables the migration makes.
pub fn with_own<M: MigrationTrait + Default + 'static>(own: impl IntoIterator<Item = Route>) -> App {
    let routes = charter::generated::routes().into_iter().chain(own).collect();
    App::new::<Migrator<M>>("charter-test", routes).seeds(charter::generated::seeds())
}

/// The migration, behind those of the service.
struct Migrator<M>(PhantomData<M>);

impl<M: MigrationTrait + Default + 'static> MigratorTrait for Migrator<M> {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut migrations = <charter::Migrator as MigratorTrait>::migrations();
        migrations.push(Atomic::boxed(M::default()));
        migrations
    }
}

/// Makes a fixture of this name: the service with these routes beside its own, over a database that has what `fill` adds. The
/// module says what the migration of this name does: `impl MigrationTrait for Migration`.
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
                let place = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
                $fixture(Server::open(with_own::<Migration>($routes), database, place, $fill, |_| {}).await)
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
