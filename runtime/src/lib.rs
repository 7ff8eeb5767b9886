//! Runtime of Charter applications: JSON API, admin panel, webhooks and attachments for declared resources, on SQLite and PostgreSQL.
//!
//! Algorithms take `&'static ResourceMeta`; only thin adapters are generic over a resource. `docs/architecture.md` lists the modules.

// No request may panic: code that can fail returns an error.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

// The derives use the outer path of this crate, also for the platform's resources in it.
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
pub mod crypto;
pub mod custom_field;
pub mod db;
pub mod decimal;
pub mod error;
mod field_type;
pub mod generated;
pub mod header;
mod http_client;
pub mod idempotency;
pub mod meta;
pub mod metrics;
pub mod network;
pub mod number;
pub mod online_indexes;
pub mod openapi;
pub mod ops;
pub mod outbox;
mod panel;
pub mod query;
pub mod record;
pub mod resource;
mod seed;
pub mod server;
pub mod stale_reference;
mod tasks;
pub mod trace;
pub mod trigram;
pub mod view;
pub mod webhook;

pub use app::App;
pub use error::{Error, Result};
