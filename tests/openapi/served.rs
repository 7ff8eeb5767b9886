//! Access to the OpenAPI document: over HTTP, as a reference page, and on the command line.

use charter_runtime::openapi::path;
use reqwest::Method;
use serde_json::Value;

use super::document;
use crate::support::program::Program;
use crate::support::{Database, Server, run};

#[test]
fn openapi_document_needs_no_token_and_has_an_etag() {
    run(Database::Sqlite, |server: Server| async move {
        let anonymous = server.anonymous();
        let answer = anonymous.get("/openapi.json").await;
        assert_eq!(answer.ok()["openapi"], "3.1.0");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let etag = answer.header("etag").expect("an ETag").to_string();
        for known in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_string()] {
            let again = anonymous.with("if-none-match", &known).get("/openapi.json").await;
            assert_eq!(
                (again.status, again.text.as_str(), again.header("etag")),
                (304, "", Some(etag.as_str())),
                "{known}"
            );
        }
        anonymous.with("if-none-match", "\"x\"").get("/openapi.json").await.status(200);
        // The document does not depend on the token.
        assert_eq!(server.able(&["users:read"]).await.get("/openapi.json").await.text, answer.text);
    });
}

#[test]
fn reference_page_loads_nothing_from_other_servers() {
    run(Database::Sqlite, |server: Server| async move {
        let page = server.anonymous().get("~/docs").await;
        assert!(page.status(200).header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "{policy}");
        assert!(!page.text.contains("//"), "an address of another server: {}", page.text);
        // The policy forbids inline scripts. Without an icon, browsers would request one that does not exist.
        let scripts = page.text.matches("<script").count();
        assert!(scripts == page.text.matches("<script src=\"/docs/").count() && scripts > 0, "{}", page.text);
        assert!(page.text.contains("<link rel=\"icon\" href=\"data:,\">") && policy.contains("img-src 'self' data:"));
        let begin = server.anonymous().get("~/docs/begin.js").await.text;
        assert!(begin.contains(&format!("\"{}\"", path())) && policy.contains("connect-src 'self';"), "{begin}");
        assert!(!begin.contains("://"), "an address of another server: {begin}");
        for path in page.text.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let script = server.anonymous().get(&format!("~{path}")).await;
            assert!(script.status(200).header("content-type").is_some_and(|kind| kind.contains("javascript")));
            assert_eq!(script.header("x-content-type-options"), Some("nosniff"));
        }
        assert!(server.anonymous().get("~/docs/viewer.js").await.text.len() > 100_000);
    });
}

#[test]
fn public_paths_accept_only_get_and_head() {
    run(Database::Sqlite, |server: Server| async move {
        for path in [
            "~/api/v1/openapi.json",
            "~/docs",
            "~/docs/begin.js",
            "~/health/live",
            "~/health/ready",
            "~/health/metrics",
        ] {
            for method in [Method::POST, Method::PUT, Method::DELETE] {
                let answer = server.anonymous().send(method, path, None).await;
                answer.refused(405, "method_not_allowed");
                assert_eq!(answer.header("allow"), Some("GET, HEAD"));
            }
            server.anonymous().send(Method::HEAD, path, None).await.status(200);
        }
    });
}

#[test]
fn openapi_command_prints_the_served_document() {
    let printed: Value = serde_json::from_str(&Program::new(Database::Sqlite).done(&["openapi"])).expect("JSON");
    run(Database::Sqlite, |server: Server| async move {
        assert_eq!(printed, document(&server).await);
    });
}

#[test]
fn openapi_command_omits_the_events_on_request() {
    let program = Program::new(Database::Sqlite);
    let print = |arguments: &[&str]| serde_json::from_str::<Value>(&program.done(arguments)).expect("JSON");
    let (mut whole, without) = (print(&["openapi"]), print(&["openapi", "--without-webhooks"]));
    let events = whole.as_object_mut().and_then(|document| document.remove("webhooks")).expect("events");
    assert!(events.as_object().is_some_and(|events| events.len() > 10));
    assert_eq!(without, whole);
}
