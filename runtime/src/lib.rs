//! Serves any resource that Charter's derive describes: queries, writes, abilities, errors, on SQLite and PostgreSQL.
//!
//! The runtime knows no resource of any domain. Algorithms take `&'static ResourceMeta`; only the thin rim around a
//! resource's own code is generic. `docs/architecture.md` has the map.

// No request may end in a panic: what can fail answers an error.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// The derives name this crate by its outer path, also for the platform's own resources in it.
extern crate self as charter_runtime;

pub mod app;
pub mod attachment;
pub mod audit;
pub mod auth;
mod cache;
pub mod catalog;
pub mod clock;
pub mod command;
pub mod config;
pub mod context;
pub mod counts;
pub mod custom_field;
pub mod db;
pub mod decimal;
pub mod error;
pub mod event;
pub mod finding;
pub mod generated;
pub mod header;
pub mod idempotency;
mod lasting;
mod mac;
pub mod meta;
pub mod metrics;
pub mod network;
pub mod number;
pub mod online_indexes;
pub mod openapi;
pub mod ops;
mod panel;
pub mod query;
pub mod record;
pub mod resource;
pub mod seal;
mod seed;
pub mod server;
mod tls;
pub mod trace;
pub mod trigram;
pub mod view;
pub mod webhook;

pub use app::App;
pub use error::{Error, Result};
