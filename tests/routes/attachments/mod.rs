//! `/attachments`, `/members/{id}/attachments` and the links to files.

mod clients;
mod create;
mod failure;
mod idempotency;
mod limits;
mod links;
mod list;
mod quota;
mod record;
mod record_access;
mod s3;
mod s3_errors;
mod thumbnails;
mod validation;

use std::path::{Path, PathBuf};

use charter_runtime::db::Sql;
use charter_runtime::ops::State;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server};

const BOUNDARY: &str = "----of-the-tests";

/// Multipart form whose parts have the order of the calls.
#[derive(Clone, Default)]
pub struct Form(Vec<u8>);

impl Form {
    pub fn field(self, name: &str, value: impl ToString) -> Form {
        self.part(&format!("name=\"{name}\""), "", value.to_string().as_bytes())
    }

    pub fn file(self, name: &str, bytes: &[u8]) -> Form {
        self.declared(name, "application/x-declared", bytes)
    }

    /// A file with a media type declared by the client.
    pub fn declared(self, name: &str, media_type: &str, bytes: &[u8]) -> Form {
        let declared = format!("Content-Type: {media_type}\r\n");
        self.part(&format!("name=\"file\"; filename=\"{name}\""), &declared, bytes)
    }

    /// A part with these headers.
    pub fn part(mut self, disposition: &str, headers: &str, bytes: &[u8]) -> Form {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n{headers}\r\n");
        self.0.extend_from_slice(head.as_bytes());
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(b"\r\n");
        self
    }

    /// The record to attach to.
    pub fn on(self, member: &Value) -> Form {
        self.field("attachable_type", "Member").field("attachable_id", &member["id"])
    }

    pub fn bytes(mut self) -> Vec<u8> {
        self.0.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        self.0
    }

    pub async fn send(self, client: &Client) -> Answer {
        client.send_bytes(Method::POST, "/attachments", Some(&content_type()), self.bytes()).await
    }
}

pub fn content_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// A new member.
pub async fn member(server: &Server) -> Value {
    server.admin().post("/members", json!({ "name": "Ada" })).await.created("member")
}

/// Attaches a text file to this member.
pub async fn attach(server: &Server, member: &Value, name: &str, text: &str) -> Value {
    Form::default().on(member).file(name, text.as_bytes()).send(&server.admin()).await.created("attachment")
}

/// Files below the data folder.
pub fn stored(server: &Server) -> Vec<PathBuf> {
    ["attachments", "uploads"].iter().flat_map(|name| files(&server.state.config.data_dir.join(name))).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Number of scheduled deletions.
pub async fn pending_deletions(state: &State) -> i64 {
    let sql = Sql::new(state.db.dialect(), "SELECT COUNT(*) AS \"count\" FROM \"attachment_pending_deletions\"");
    let row = sql.one(state.db.reader()).await.expect("the table is there").expect("a row");
    row.try_get("", "count").expect("a number")
}

/// Waits up to 10 seconds for a condition.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so().await {
        assert!(begun.elapsed().as_secs() < 10, "not within ten seconds: {what}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

/// Path and query string of a link.
pub fn path(link: &Value) -> String {
    let link = link.as_str().expect("a link");
    let (_, path) = link.split_once("/files/").expect("a link to a file");
    format!("~/files/{path}")
}
