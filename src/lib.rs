//! The records service: the application that `resources/*.yaml` declares, and the behaviour that stands beside them.

mod demo;
mod resources;

use charter_migrations::prelude::*;
use charter_runtime::App;

pub use resources::generated;

/// The records service, ready to be run.
pub fn app() -> App {
    App::new::<Migrator>("charter", generated::routes()).seeds(generated::seeds()).demo(demo::DEMO)
}

/// The platform's tables, then the service's own.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        [charter_migrations::platform(), charter_migrations::service()].into_iter().flatten().collect()
    }
}
