//! Lending library: books and loans, declared in `resources/`.

mod overdue;
mod overdue_page;
mod reminders;
mod resources;

use charter_migrations::prelude::*;
use charter_runtime::App;
use chrono::Days;

pub use resources::generated;

/// Migrations of the library. `build.rs` generates the list of the files in `migrations/`.
mod migrations {
    include!(concat!(env!("OUT_DIR"), "/migrations.rs"));
}

/// The application.
pub fn app() -> App {
    App::new::<Migrator>("lending", generated::routes())
        .seeds(generated::seeds())
        .languages(generated::languages())
        .mount(overdue::mount())
        .panel_page(overdue_page::OVERDUE)
        .with(reminders::Grace(Days::new(3)))
}

/// The migrations of the platform, then of the library.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        [charter_migrations::platform(), migrations::migrations()].into_iter().flatten().collect()
    }
}
