//! Resources that every Charter application has: users, roles, tokens, saved views, custom fields, webhooks, attachments,
//! background jobs and the audit log. Each module knows the core, and none of the others but the clients of other servers,
//! `http_client` and `mail`, and the leases of workers, `lease`.

// No request may panic: code that can fail returns an error.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), deny(unreachable_pub))]

// The derives name the crate that applications use, which has the modules of the core too.
extern crate charter_core as charter_runtime;

pub mod attachment;
pub mod audit_log;
pub mod auth;
pub mod custom_fields;
mod http_client;
pub mod import;
pub mod job;
mod lease;
pub mod mail;
pub mod view;
pub mod webhook;
