//! What the tests stand on: a server over a fresh database, a client, and records to begin with.

pub mod all_types_fixture;
mod answer;
mod browser;
mod bucket;
mod chromium;
mod client;
mod custom_app;
mod database;
mod disconnect;
mod folders;
mod lists;
mod log_capture;
mod openapi_validation;
mod polymorphic_fixture;
mod pooler;
pub mod postgres;
pub mod program;
mod receiver;
pub mod schema;
mod server;
mod sigv4;
mod tcp_proxy;

use serde_json::Value;

pub use all_types_fixture::Specimens;
pub use answer::{Answer, plain};
pub use browser::Browser;
pub use bucket::{Bucket, Fault};
pub use client::{Client, http};
pub(crate) use custom_app::own_fixture;
pub use custom_app::with_own;
pub use database::Database;
pub use disconnect::leave;
pub use folders::Folders;
pub use lists::lists;
pub use log_capture::{log, logged};
pub use polymorphic_fixture::Gatherings;
pub use pooler::Pooler;
pub use receiver::{Receiver, Reply};
pub use server::{Fixture, Prepared, Server, create, nothing, run};
pub use tcp_proxy::Wire;

/// Makes two tests of each of these functions, which take a running server: one on SQLite, one on PostgreSQL.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                #[test]
                fn sqlite() {
                    crate::support::run(crate::support::Database::Sqlite, super::$name);
                }

                #[test]
                fn postgres() {
                    crate::support::run(crate::support::Database::Postgres, super::$name);
                }
            }
        )*
    };
}

pub(crate) use on_both;

/// The names of an object's fields, sorted.
#[track_caller]
pub fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Whether it is a time as `2026-03-21T10:00:00Z`.
pub fn is_utc_time(value: &Value) -> bool {
    value.as_str().and_then(|text| text.strip_suffix('Z')).is_some_and(is_time)
}

/// Whether it is a time as `2026-03-21T10:00:00+00:00`.
pub fn is_offset_time(value: &Value) -> bool {
    value.as_str().and_then(|text| text.strip_suffix("+00:00")).is_some_and(is_time)
}

fn is_time(text: &str) -> bool {
    let form = b"0000-00-00T00:00:00";
    let same = |(given, form): (u8, &u8)| if *form == b'0' { given.is_ascii_digit() } else { given == *form };
    text.len() == form.len() && text.bytes().zip(form).all(same)
}
