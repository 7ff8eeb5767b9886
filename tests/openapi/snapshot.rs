//! Snapshot of the OpenAPI document, so that every change of the API is visible in review.

use std::path::Path;

use charter_runtime::openapi::document;

use crate::support::{Database, Server, run};

#[test]
fn openapi_document_matches_the_repository() {
    run(Database::Sqlite, |server: Server| async move {
        let text = serde_json::to_string_pretty(&document(&server.state)).expect("JSON") + "\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).expect("the snapshot is written");
        }
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = known.lines().zip(text.lines()).position(|(known, now)| known != now);
        assert!(
            known == text,
            "the API has changed, from line {} of docs/openapi.json on; when that is meant, \
             `UPDATE=1 cargo test -p charter --test api openapi` updates it",
            differs.map_or(0, |line| line + 1)
        );
    });
}
