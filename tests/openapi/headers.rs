//! Documented headers are sent with responses and deliveries. `support/openapi_validation.rs` checks in all tests that no other headers are.

use std::collections::BTreeSet;

use charter_runtime::webhook::UrlPolicy;
use reqwest::Method;
use serde_json::{Value, json};

use super::document;
use crate::support::schema::{problems, resolve};
use crate::support::{Answer, Receiver, Server, on_both};

on_both!(documented_headers_are_sent, deliveries_match_the_document);

/// The documented headers of a response.
fn described(document: &Value, path: &str, method: &str, status: u16) -> BTreeSet<String> {
    let answer = &document["paths"][path][method]["responses"][status.to_string()];
    assert!(answer.is_object(), "{method} {path} {status}");
    let headers = resolve(document, answer)["headers"].as_object().into_iter().flatten();
    headers.map(|(name, _)| name.to_ascii_lowercase()).collect()
}

async fn documented_headers_are_sent(server: Server) {
    let document = document(&server).await;
    let server = server.configured(|config| config.rate_limit = 1000).await;
    let admin = server.admin();
    let full = |answer: &Answer, method: &str, path: &str, but: &[&str]| {
        let mut all = described(&document, path, method, answer.status);
        // Responses that are too short for compression have no `Vary`.
        all.remove("vary");
        // The base URL is not HTTPS.
        all.remove("strict-transport-security");
        let missing = |name: &&String| !answer.headers.contains_key(name.as_str()) && !but.contains(&name.as_str());
        let missing: Vec<&String> = all.iter().filter(missing).collect();
        assert!(missing.is_empty() && !all.is_empty(), "{method} {path} {}: {missing:?}", answer.status);
    };
    let keyed = admin.with("idempotency-key", "one");
    let created = keyed.post("/roles", json!({ "name": "Office" })).await;
    full(&created, "post", "/api/v1/roles", &["idempotent-replayed"]);
    let again = keyed.post("/roles", json!({ "name": "Office" })).await;
    full(again.status(201), "post", "/api/v1/roles", &[]);
    full(&keyed.post("/roles", json!({ "name": "Other" })).await, "post", "/api/v1/roles", &[]);
    let (place, path) = (format!("/roles/{}", created.created("role")["id"]), "/api/v1/roles/{id}");
    full(&admin.get("/roles").await, "get", "/api/v1/roles", &["link", "content-disposition"]);
    full(&admin.get("/roles?cursor=").await, "get", "/api/v1/roles", &["content-disposition"]);
    full(&admin.with("accept", "text/csv").get("/roles").await, "get", "/api/v1/roles", &["link", "etag"]);
    let listed = admin.get("/roles").await;
    let unchanged = admin.with("if-none-match", listed.header("etag").expect("a tag")).get("/roles").await;
    full(unchanged.status(304), "get", "/api/v1/roles", &[]);
    let shown = admin.get(&place).await;
    full(&shown, "get", path, &[]);
    let tag = shown.header("etag").expect("a tag");
    full(admin.with("if-none-match", tag).get(&place).await.status(304), "get", path, &[]);
    full(admin.with("if-match", "\"x\"").get(&place).await.status(412), "get", path, &[]);
    full(admin.put(&place, json!({ "name": "Office" })).await.status(200), "put", path, &[]);
    for wrong in [("if-match", "\"x\""), ("if-none-match", "*")] {
        let refused = admin.with(wrong.0, wrong.1);
        full(refused.patch(&place, json!({})).await.status(412), "patch", path, &[]);
        full(refused.delete(&place).await.status(412), "delete", path, &[]);
        full(admin.with(wrong.0, "x").delete(&place).await.status(400), "delete", path, &[]);
    }
    full(admin.delete(&place).await.status(204), "delete", path, &[]);
    full(admin.get(&place).await.status(404), "get", path, &[]);
    full(server.able(&["users:write"]).await.get("/roles").await.status(403), "get", "/api/v1/roles", &[]);
    let counted = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
    full(server.anonymous().get("/roles").await.status(401), "get", "/api/v1/roles", &counted);

    let of_api = server.anonymous().get("/openapi.json").await;
    full(&of_api, "get", "/api/v1/openapi.json", &[]);
    let tag = of_api.header("etag").expect("a tag");
    let same = server.anonymous().with("if-none-match", tag).get("/openapi.json").await;
    full(same.status(304), "get", "/api/v1/openapi.json", &[]);
    for path in ["/health/live", "/health/ready", "/health/metrics"] {
        full(&server.anonymous().get(&format!("~{path}")).await, "get", path, &[]);
    }
    let link = attached(&server).await;
    let (anonymous, path) = (server.anonymous(), "/files/{uuid}/{part}");
    let whole = anonymous.get(&link).await;
    full(whole.status(200), "get", path, &[]);
    full(anonymous.with("range", "bytes=1-2").get(&link).await.status(206), "get", path, &[]);
    full(anonymous.with("range", "bytes=99-").get(&link).await.status(416), "get", path, &counted);
    let known = anonymous.with("if-none-match", whole.header("etag").expect("a tag"));
    full(known.get(&link).await.status(304), "get", path, &[]);
    full(
        anonymous.get(&format!("{link}0")).await.status(403),
        "get",
        path,
        &["www-authenticate", counted[0], counted[1], counted[2]],
    );
    server.state.clock.advance(std::time::Duration::from_secs(3600));
    full(anonymous.get(&link).await.status(410), "get", path, &counted);
}

/// The link to a text file that is attached to a new member.
async fn attached(server: &Server) -> String {
    let admin = server.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let part = |name: &str, value: &str| format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"{value}\r\n");
    let form = [
        part("attachable_type", "\r\n\r\nMember"),
        part("attachable_id", &format!("\r\n\r\n{}", member["id"])),
        part("file", "; filename=\"a.txt\"\r\n\r\nabcdef"),
        "--x--\r\n".to_string(),
    ];
    let kind = Some("multipart/form-data; boundary=x");
    let answer = admin.send_bytes(Method::POST, "/attachments", kind, form.concat()).await;
    let url = answer.created("attachment")["url"].as_str().expect("a link").to_string();
    format!("~{}", &url[url.find("/files/").expect("a path")..])
}

async fn deliveries_match_the_document(server: Server) {
    let networks = vec!["127.0.0.0/8".parse().expect("a network")];
    let policy = UrlPolicy { allow_http: true, networks };
    let server = server.configured(|config| config.webhook_policy = policy).await;
    let (admin, document) = (server.admin(), document(&server).await);
    let receiver = Receiver::answering(200).await;
    let hook = json!({ "url": receiver.url(), "events": ["*"] });
    let hook = format!("/webhooks/{}", admin.post("/webhooks", hook).await.created("webhook")["id"]);
    admin.post(&format!("{hook}/test"), json!({})).await.status(200);
    admin.post(&format!("{hook}/rotate_secret"), json!({})).await.status(200);
    let traced = admin.with("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    traced.post(&format!("{hook}/test"), json!({})).await.status(200);
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    for (index, sent) in received.iter().enumerate() {
        let message = &document["webhooks"][sent.header("x-service-event")]["post"];
        let parameters = message["parameters"].as_array().expect("headers");
        let parameters: Vec<&Value> = parameters.iter().map(|parameter| resolve(&document, parameter)).collect();
        for parameter in &parameters {
            let name = parameter["name"].as_str().expect("a name");
            let value = match (sent.header(name), parameter["schema"]["type"].as_str()) {
                ("", _) => {
                    assert!(index == 0 && parameter["required"] == false, "{name} is missing");
                    continue;
                }
                (text, Some("integer")) => json!(text.parse::<i64>().expect("a number")),
                (text, _) => json!(text),
            };
            assert_eq!(problems(&document, &parameter["schema"], &value, name), [""; 0]);
        }
        let plumbing = ["host", "accept", "content-type", "content-length", "user-agent"];
        for (name, _) in sent.headers.iter().filter(|(name, _)| !plumbing.contains(&name.as_str())) {
            assert!(parameters.iter().any(|parameter| parameter["name"] == name.as_str()), "{name} is not documented");
        }
        let schema = &message["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(problems(&document, schema, &sent.json(), "the body"), [""; 0]);
    }
}
