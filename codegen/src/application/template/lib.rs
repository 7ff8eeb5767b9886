//! Application: the resources of `resources/*.yaml`, and their behaviour.

mod resources;

use charter_migrations::prelude::*;
use charter_runtime::App;

pub use resources::generated;

/// Migrations of the application. `build.rs` generates the list of the files in `migrations/`.
mod migrations {
    include!(concat!(env!("OUT_DIR"), "/migrations.rs"));
}

/// The application.
pub fn app() -> App {
    App::new::<Migrator>("APPLICATION", generated::routes()).seeds(generated::seeds()).languages(generated::languages())
}

/// The platform's tables, then the application's.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        [charter_migrations::platform(), migrations::migrations()].into_iter().flatten().collect()
    }
}
