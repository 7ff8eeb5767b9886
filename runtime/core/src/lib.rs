//! Core of Charter: what a resource is, and its operations on SQLite and PostgreSQL, without HTTP.
//!
//! The modules stand in this order, and none names a later one: `error` to `fair_queue` are the ground, then `db`,
//! `field_type`, `resource`, `record`, `catalog`, `counts`, `rollups`, `custom_field`, `query`, `trigram`, `online_indexes`, and `ops`. Algorithms take
//! `&'static ResourceMeta`; only thin adapters are generic over a resource.

// No request may panic: code that can fail returns an error.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(unreachable_pub))]

// The derives name the crate that applications use, which has these modules too.
extern crate self as charter_runtime;

pub mod ability;
pub mod calendar;
pub mod catalog;
pub mod client;
pub mod clock;
pub mod counts;
pub mod crypto;
pub mod custom_field;
pub mod db;
pub mod decimal;
pub mod error;
pub mod expression;
pub mod fair_queue;
pub mod field_type;
pub mod generated;
pub mod hash;
pub mod header;
pub mod json_scan;
pub mod memo;
pub mod meta;
pub mod metrics;
pub mod network;
pub mod number;
pub mod online_indexes;
pub mod ops;
pub mod principal;
pub mod query;
pub mod record;
pub mod resource;
pub mod rollups;
pub mod stale_reference;
pub mod suggest;
pub mod tasks;
pub mod trace;
pub mod trigram;
pub mod ttl_cache;
pub mod versioned_cache;

pub use error::{Error, Result};
