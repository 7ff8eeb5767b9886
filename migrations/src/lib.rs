//! Migrations of Charter: the database columns of each field type, and the tables of the runtime and of the records service.
//!
//! There are two lists of migrations. [`platform`] creates the tables of the runtime's own resources, which every
//! application needs; [`service`] creates those of the records service. An application runs the platform's list, then its
//! own:
//!
//! ```
//! use charter_migrations::prelude::*;
//!
//! struct Migrator;
//!
//! impl MigratorTrait for Migrator {
//!     fn migrations() -> Vec<Box<dyn MigrationTrait>> {
//!         [charter_migrations::platform(), charter_migrations::service()].into_iter().flatten().collect()
//!     }
//! }
//! ```
//!
//! A released migration is never edited. It depends on no entity and no YAML file, so that its effect stays the same. A
//! change is a new file at the end of its list, named `m<date>_<number>_<what>`.

// The service's migrations import `charter_migrations::prelude`, as those of every application do.
extern crate self as charter_migrations;

mod alter;
pub mod column;
mod existing_rows;
mod lock_retry;
mod order_index;
mod platform;
mod server_triggers;
mod sqlite_ddl;
mod table;
mod transactional;
mod unique_index;

/// Migrations of the records service. `build.rs` lists the folder.
mod service {
    include!(concat!(env!("OUT_DIR"), "/migrations.rs"));
}

pub use column::Column;
pub use order_index::OrderIndex;
pub use platform::migrations as platform;
pub use service::migrations as service;
pub use table::Table;
pub use transactional::Transactional;
pub use unique_index::UniqueIndex;

/// Imports of a migration file: SeaORM's traits, [`Table`], and the column types.
pub mod prelude {
    pub use crate::column::*;
    pub use crate::order_index::by;
    pub use crate::unique_index::set;
    pub use crate::{Table, Transactional};
    pub use sea_orm_migration::prelude::{
        DbErr, DeriveMigrationName, MigrationName, MigrationTrait, MigratorTrait, SchemaManager, async_trait,
    };
}
