//! Records service: the application of `resources/*.yaml`, with behaviours and sample data.

mod demo;
mod resources;

use charter_migrations::prelude::*;
use charter_runtime::App;

pub use resources::generated;

/// The application.
pub fn app() -> App {
    App::new::<Migrator>("charter", generated::routes())
        .seeds(generated::seeds())
        .languages(generated::languages())
        .demo(demo::DEMO)
}

/// The migrations of the platform, then of the service.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        [charter_migrations::platform(), charter_migrations::service()].into_iter().flatten().collect()
    }
}
