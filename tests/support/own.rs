//! The service with resources of a test's own beside its own, and their tables.

use std::marker::PhantomData;

use charter_migrations::prelude::*;
use charter_runtime::App;
use charter_runtime::crud::Route;

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
