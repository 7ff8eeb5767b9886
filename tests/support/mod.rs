//! Test support: servers over new databases, clients, fixtures and external programs.

pub mod all_types_fixture;
mod answer;
mod browser;
mod bucket;
mod chromium;
mod client;
mod custom_app;
mod disconnect;
mod dump;
mod fault_proxy;
mod folders;
mod gadgets;
mod lists;
mod log_capture;
mod openapi_validation;
mod polymorphic_fixture;
mod pooler;
mod probes;
pub mod program;
mod receiver;
pub mod schema;
mod server;
mod sigv4;
mod smtp;
mod tcp_proxy;
mod typed_client;

pub use charter_testing::{Database, Prepared, create, http, postgres};
use serde_json::Value;

pub use all_types_fixture::Specimens;
pub use answer::{Answer, plain};
pub use browser::Browser;
pub use bucket::{Bucket, Fault};
pub use client::Client;
pub(crate) use custom_app::own_fixture;
pub use custom_app::{record_columns, with_own, with_routes};
pub use disconnect::poll_times;
pub use dump::{Dump, differences, dump};
pub use fault_proxy::{Exchange, FaultProxy};
pub use folders::Folders;
pub use folders::ruled::RuledFolders;
pub use gadgets::Gadgets;
pub use lists::lists;
pub use log_capture::{log, logged};
pub use polymorphic_fixture::Gatherings;
pub use pooler::Pooler;
pub use probes::Probes;
pub use receiver::{Receiver, Reply};
pub use server::{Fixture, Server, build_trigram_indexes, nothing, run};
pub use smtp::Smtp;
pub use tcp_proxy::TcpProxy;
pub use typed_client::TypedClient;

/// Defines two tests for each of these functions, one on SQLite and one on PostgreSQL. The functions take a fixture.
/// `browser:` before the names is for functions that need Chromium, `smtp:` for those that need an SMTP server, `mcp:` for
/// those that need Python with a client of MCP, `identity_provider:` for those that need Canaille, and `clients:` for those
/// that run the typed clients.
macro_rules! on_both {
    (smtp: $($name:ident),* $(,)?) => {
        crate::support::on_both!(@ needs_smtp needs_smtp_and_postgres $($name)*);
    };
    (mcp: $($name:ident),* $(,)?) => {
        crate::support::on_both!(@ needs_mcp needs_mcp_and_postgres $($name)*);
    };
    (browser: $($name:ident),* $(,)?) => {
        crate::support::on_both!(@ needs_browser needs_browser_and_postgres $($name)*);
    };
    (identity_provider: $($name:ident),* $(,)?) => {
        crate::support::on_both!(@ needs_identity_provider needs_identity_provider_and_postgres $($name)*);
    };
    (clients: $($name:ident),* $(,)?) => {
        crate::support::on_both!(@ needs_clients needs_clients_and_postgres $($name)*);
    };
    ($($name:ident),* $(,)?) => {
        crate::support::on_both!(@ needs_nothing needs_postgres $($name)*);
    };
    (@ $sqlite:ident $postgres:ident $($name:ident)*) => {
        $(crate::support::on_both!(# $sqlite $postgres $name);)*
    };
    (# $sqlite:ident $postgres:ident $name:ident) => {
        mod $name {
            charter_testing::$sqlite! {
                #[test]
                fn sqlite() {
                    crate::support::run(crate::support::Database::Sqlite, super::$name);
                }
            }

            charter_testing::$postgres! {
                #[test]
                fn postgres() {
                    crate::support::run(crate::support::Database::Postgres, super::$name);
                }
            }
        }
    };
}

pub(crate) use on_both;

/// The names of an object's members, sorted.
#[track_caller]
pub fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// True for a time such as `2026-03-21T10:00:00Z`.
pub fn is_utc_time(value: &Value) -> bool {
    value.as_str().and_then(|text| text.strip_suffix('Z')).is_some_and(is_time)
}

/// True for a time such as `2026-03-21T10:00:00+00:00`.
pub fn is_offset_time(value: &Value) -> bool {
    value.as_str().and_then(|text| text.strip_suffix("+00:00")).is_some_and(is_time)
}

fn is_time(text: &str) -> bool {
    let format = b"0000-00-00T00:00:00";
    let matches = |(given, format): (u8, &u8)| if *format == b'0' { given.is_ascii_digit() } else { given == *format };
    text.len() == format.len() && text.bytes().zip(format).all(matches)
}
