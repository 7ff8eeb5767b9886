//! The migrations: how each kind of field is stored on either database, and the tables made so far.
//!
//! There are two lists. [`platform`] makes the tables of the runtime's own resources, which every application on
//! Charter needs; [`service`] makes those of the records service. An application runs the platform's, then its own:
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
//! A migration that has been released is history: it is never edited, and it names neither entities nor YAML, so that
//! it does the same tomorrow. A change is a new file, named `m<date>_<number>_<what>`, at the end of its list.

// So that the service's migrations read like those of any application.
extern crate self as charter_migrations;

mod alter;
mod atomic;
pub mod column;
mod order;
mod patience;
mod platform;
mod sqlite;
mod table;

/// The tables of the records service, one for each file in `resources/`: `build.rs` lists the folder.
mod service {
    include!(concat!(env!("OUT_DIR"), "/migrations.rs"));
}

pub use atomic::Atomic;
pub use column::Column;
pub use order::Order;
pub use platform::migrations as platform;
pub use service::migrations as service;
pub use table::Table;

/// What a migration's file imports: the framework's traits, [`Table`] and the columns.
pub mod prelude {
    pub use crate::column::{
        Column, bigint, boolean, custom_fields, date, decimal, enumeration, id, integer, json, list, reference,
        singleton_id, string, text, timestamp, uuid,
    };
    pub use crate::order::by;
    pub use crate::{Atomic, Table};
    pub use sea_orm_migration::prelude::{
        DbErr, DeriveMigrationName, MigrationName, MigrationTrait, MigratorTrait, SchemaManager, async_trait,
    };
}
