//! Runtime of Charter applications: JSON API, admin panel, webhooks and attachments for declared resources, on SQLite and PostgreSQL.
//!
//! The crate serves HTTP. Operations are in `charter-core`, the platform's own resources in `charter-platform`; both are
//! exported here, because an application names this crate only. `docs/architecture.md` has the layers.

// No request may panic: code that can fail returns an error.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(unreachable_pub))]

pub mod app;
pub mod command;
pub mod config;
mod language;
mod log;
mod mcp;
pub mod openapi;
mod panel;
mod process;
mod seed;
pub mod server;

pub use app::App;
pub use charter_core::error::{Error, Result};
pub use charter_core::{
    catalog, client, clock, counts, crypto, custom_field, db, decimal, error, expression, field_type, generated,
    header, meta, metrics, network, number, online_indexes, ops, principal, query, record, resource, rollups, route,
    stale_reference, suggest, trace, trigram,
};
pub use charter_platform::job::Job;
pub use charter_platform::{attachment, audit_log, auth, custom_fields, job, mail, view, webhook};
pub use command::main;
pub use panel::{PanelCard, PanelContext, PanelPage, RenderPanel};
