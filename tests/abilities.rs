//! Every endpoint with every kind of credentials, in a table generated from the routes: new endpoints are included, and
//! the test fails if it cannot call one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use charter_runtime::ops::{RouteInfo, routes};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, on_both};

on_both!(
    every_endpoint_admits_exactly_the_callers_with_access,
    every_path_without_credentials_is_401,
    access_checks_run_in_the_order_401_403_404_422,
    every_path_that_is_mounted_is_a_route,
);

/// The documented challenges.
const MISSING: &str = r#"Bearer realm="charter""#;
const INVALID: &str = r#"Bearer realm="charter", error="invalid_token""#;

/// An id without a record.
const NOWHERE: &str = "999999999";

/// Expected response of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    /// 401 with this code and this challenge.
    Stranger(&'static str, &'static str),
    /// 403 `ability_missing`, with the ability in the challenge.
    Unable,
    /// 403 with this code and no challenge.
    Forbidden(&'static str),
    /// Any response after the access checks.
    LetIn,
}

/// Calls a route without an effect: the record does not exist, and query and body are invalid.
fn call(route: &RouteInfo) -> (Method, String, Option<Value>) {
    let mut path = String::new();
    for segment in route.path.strip_prefix("/api/v1/").expect("a path of the API").split('/') {
        path.push('/');
        match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) if name == "id" || name.ends_with("_id") => path.push_str(NOWHERE),
            Some(name) => panic!("{}: this test does not know what `{name}` stands for", route.path),
            None => path.push_str(segment),
        }
    }
    path.push_str("?page=0&per_page=x&q[nope_eq]=1");
    let body = match route.method {
        "GET" | "DELETE" => None,
        "POST" | "PUT" | "PATCH" => Some(json!({ "nope": 1 })),
        other => panic!("{}: this test does not know how to send {other}", route.path),
    };
    (route.method.parse().expect("a method"), path, body)
}

async fn send(client: &Client, route: &RouteInfo) -> Answer {
    let (method, path, body) = call(route);
    client.send(method, &path, body).await
}

/// Returns the problem with a response, if any.
fn mismatch(answer: &Answer, expected: Expected, route: &RouteInfo) -> Option<String> {
    let code = answer.text.parse::<Value>().map(|body| body["code"].clone()).unwrap_or_default();
    let found = (answer.status, code.as_str().unwrap_or_default(), answer.header("www-authenticate"));
    let scope = format!(r#"Bearer realm="charter", error="insufficient_scope", scope="{}""#, route.ability);
    let wanted = match expected {
        Expected::Stranger(code, challenge) => (401, code, Some(challenge)),
        Expected::Unable => (403, "ability_missing", Some(scope.as_str())),
        Expected::Forbidden(code) => (403, code, None),
        // A path with an id gets 404; some of the others succeed.
        Expected::LetIn if route.path.contains('{') && found.0 == 404 => return None,
        Expected::LetIn if !route.path.contains('{') && [200, 400, 415, 422].contains(&found.0) => return None,
        Expected::LetIn => return Some(format!("is {found:?}, and 401 and 403 are past")),
    };
    (found != wanted).then(|| format!("is {found:?} and not {wanted:?}"))
}

/// Tokens by their abilities, created once per set.
struct Tokens<'s> {
    server: &'s Server,
    made: BTreeMap<String, Client>,
}

impl Tokens<'_> {
    /// A client of a user with exactly these abilities.
    async fn of(&mut self, user: &Value, abilities: &[String]) -> Client {
        let key = format!("{user} {abilities:?}");
        if !self.made.contains_key(&key) {
            let token = json!({ "name": "Matrix", "user_id": user, "abilities": abilities });
            let token = self.server.admin().post("/tokens", token).await.created("token");
            self.made.insert(key.clone(), self.server.client(token["value"].as_str().expect("a value")));
        }
        self.made[&key].clone()
    }
}

async fn user(server: &Server, name: &str, permissions: &BTreeSet<&'static str>) -> Value {
    let admin = server.admin();
    let role = json!({ "name": name, "permissions": permissions, "abilities": ["*"] });
    let role = admin.post("/roles", role).await.created("role")["id"].clone();
    let user = json!({ "name": name, "email": format!("{name}@example.com"), "role_ids": [role] });
    admin.post("/users", user).await.created("user")["id"].clone()
}

/// A token of the administrator with the ability `*`, and its id.
async fn token(server: &Server) -> (Client, Value) {
    let token = json!({ "name": "Everything", "abilities": ["*"], "expires_at": "2999-01-01T00:00:00Z" });
    let token = server.admin().post("/tokens", token).await.created("token");
    (server.client(token["value"].as_str().expect("a value")), token["id"].clone())
}

async fn every_endpoint_admits_exactly_the_callers_with_access(server: Server) {
    use Expected::{Forbidden, LetIn, Stranger, Unable};
    let admin = server.admin();
    let all = server.state.catalog.abilities();
    let permissions = server.state.catalog.permissions();
    let plain = user(&server, "plain", &BTreeSet::new()).await;
    let permitted = user(&server, "permitted", &permissions).await;
    let gone = user(&server, "gone", &permissions).await;
    let mut tokens = Tokens { server: &server, made: BTreeMap::new() };
    let deactivated = tokens.of(&gone, &["*".to_string()]).await;
    admin.post(&format!("/users/{gone}/deactivate"), json!({})).await.ok();
    let (expired, id) = token(&server).await;
    server.sql(&format!("UPDATE tokens SET expires_at = '2026-01-01T00:00:00Z' WHERE id = {id}")).await;
    let (revoked, id) = token(&server).await;
    admin.delete(&format!("/tokens/{id}")).await.deleted();

    let routes = routes(&server.state);
    assert!(routes.len() > 60, "{}", routes.len());
    let mut wrong = String::new();
    for route in &routes {
        let others: Vec<String> = all.iter().filter(|ability| **ability != route.ability).cloned().collect();
        let own = std::slice::from_ref(&route.ability);
        let one = json!(1);
        let lacking = if route.permission.is_some() { Forbidden("permission_missing") } else { LetIn };
        let cases = [
            ("no token", server.anonymous(), Stranger("unauthenticated", MISSING)),
            (
                "a bad token",
                server.client("chr_00000000000000000000000000000000000000"),
                Stranger("invalid_token", INVALID),
            ),
            ("an expired token", expired.clone(), Stranger("invalid_token", INVALID)),
            ("a revoked token", revoked.clone(), Stranger("invalid_token", INVALID)),
            ("a deactivated user", deactivated.clone(), Forbidden("user_deactivated")),
            ("every ability but the right one", tokens.of(&one, &others).await, Unable),
            ("the right ability alone", tokens.of(&one, own).await, LetIn),
            ("every ability", tokens.of(&one, &["*".to_string()]).await, LetIn),
            ("the right ability without permissions", tokens.of(&plain, own).await, lacking),
            ("the right ability and every permission", tokens.of(&permitted, own).await, LetIn),
            ("neither ability nor permission", tokens.of(&plain, &others).await, Unable),
        ];
        for (who, client, expected) in cases {
            if let Some(problem) = mismatch(&send(&client, route).await, expected, route) {
                writeln!(wrong, "{} {} with {who} {problem}", route.method, route.path).expect("text grows");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    abilities_match_their_paths(&routes, &all);
}

/// A read endpoint that reveals more than records.
const GUARDED: &str = "/api/v1/webhooks/{webhook_id}/logs/{id}/request";

/// Abilities by the specification: `<resource>:read` to read, `<resource>:write` to write.
fn abilities_match_their_paths(routes: &[RouteInfo], all: &BTreeSet<String>) {
    let mut unused = all.clone();
    for route in routes {
        let (resource, way) = route.ability.split_once(':').expect("an ability has two parts");
        let reads = route.method == "GET" && route.path != GUARDED;
        assert_eq!(way, if reads { "read" } else { "write" }, "{} {}", route.method, route.path);
        // Attachments need the abilities of members (the specification, "Authentication").
        let resource = if route.path.contains("/attachments") { "members" } else { resource };
        let named = route.path.split('/').any(|segment| segment == resource);
        assert!(named || route.path.contains("/attachments"), "{} needs {}", route.path, route.ability);
        assert!(!route.path.contains("/attachments") || route.ability.starts_with("members:"), "{}", route.path);
        unused.remove(&route.ability);
    }
    // Read-only resources have no endpoint that writes.
    assert!(unused.contains("currencies:write"), "{unused:?}");
    // `explain` is a query parameter of all lists.
    assert!(unused.remove("system:explain"), "{unused:?}");
    assert!(unused.iter().all(|ability| ability.ends_with(":write")), "{unused:?}");
}

async fn every_path_without_credentials_is_401(server: Server) {
    let admin = server.admin();
    let unknown = [
        "",
        "/",
        "/nope",
        "/nope/1",
        "/products/1/nope/2",
        "/products/x",
        "/products/-1",
        "/products/1/",
        "/Products",
        "/products/%2e%2e/users",
        "/%00",
        "/openapi",
        "/openapi.yaml",
        "/products/openapi.json",
    ];
    for path in unknown {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = server.anonymous().send(method.clone(), path, None).await;
            answer.refused(401, "unauthenticated");
            assert_eq!(answer.header("www-authenticate"), Some(MISSING), "{method} {path}");
            server.client("chr_x").send(method.clone(), path, None).await.refused(401, "invalid_token");
            assert_ne!(admin.send(method, path, None).await.status, 401, "{path}");
        }
    }
    // 405 is only for authenticated callers.
    server.anonymous().delete("/products").await.refused(401, "unauthenticated");
    admin.delete("/products").await.refused(405, "method_not_allowed");
    assert_eq!(admin.get("/nope").await.status, 404);
}

async fn access_checks_run_in_the_order_401_403_404_422(server: Server) {
    let (reader, writer) = (server.able(&["products:read"]).await, server.able(&["products:write"]).await);
    let product = server.admin().post("/products", json!({ "name": "Lamp" })).await.created("product");
    let there = format!("/products/{}", product["id"]);
    let nowhere = format!("/products/{NOWHERE}");
    let bad = || json!({ "name": "", "nope": 1 });
    // Each request fails several checks; the first one decides.
    server.anonymous().put(&nowhere, bad()).await.refused(401, "unauthenticated");
    reader.put(&nowhere, bad()).await.refused(403, "ability_missing");
    writer.put(&nowhere, bad()).await.refused(404, "not_found");
    assert_eq!(writer.put(&there, bad()).await.invalid_fields(), ["name", "nope"]);
    writer.put(&there, json!({ "name": "Lamp 2" })).await.record("product");
    // Permissions are checked with the abilities, before any lookup.
    let (_, unpermitted) = server.user(&[], &["exchange_rates:write"]).await;
    let nowhere = format!("/exchange_rates/{NOWHERE}");
    server.anonymous().put(&nowhere, bad()).await.refused(401, "unauthenticated");
    reader.put(&nowhere, bad()).await.refused(403, "ability_missing");
    unpermitted.put(&nowhere, bad()).await.refused(403, "permission_missing");
    let (_, permitted) = server.user(&["settings.manage"], &["exchange_rates:write"]).await;
    permitted.put(&nowhere, bad()).await.refused(404, "not_found");
    assert!(permitted.post("/exchange_rates", bad()).await.invalid_fields().contains(&"nope".to_string()));
    // A missing record takes precedence over a malformed body.
    let malformed = |client: Client, path: String| async move {
        client.send_bytes(Method::PUT, &path, Some("application/json"), b"{".to_vec()).await.status
    };
    let nowhere = format!("/products/{NOWHERE}");
    for (client, path, status) in [
        (server.anonymous(), &nowhere, 401),
        (reader.clone(), &nowhere, 403),
        (writer.clone(), &nowhere, 404),
        (writer.clone(), &there, 400),
    ] {
        assert_eq!(malformed(client, path.clone()).await, status, "{path}");
    }
    // Lists: the query string is checked last.
    server.anonymous().get("/products?page=0").await.refused(401, "unauthenticated");
    writer.get("/products?page=0").await.refused(403, "ability_missing");
    reader.get("/products?page=0").await.invalid("page");
}

/// Paths of the server by the router's own description.
fn mounted(server: &Server) -> BTreeSet<String> {
    let printed = format!("{:?}", charter_runtime::app::router(&server.state));
    let mut open: Vec<String> = Vec::new();
    let mut paths = BTreeSet::new();
    for line in printed.lines() {
        let (drawing, rest) = line.split_at(line.rfind('─').map_or(0, |at| at + '─'.len_utf8()));
        let depth = (drawing.chars().count() / 4).max(1);
        let (part, goal) = rest.split_once(" -> ").map_or((rest, false), |(part, _)| (part, true));
        open.truncate(depth - 1);
        open.push(part.trim().trim_matches('/').to_string());
        if goal {
            // A named group is not a part of the path.
            let named = open.iter().filter(|part| !part.is_empty() && *part != "!NULL!" && !part.starts_with("[fn:"));
            paths.insert(format!("/{}", named.cloned().collect::<Vec<_>>().join("/")));
        }
    }
    paths
}

async fn every_path_that_is_mounted_is_a_route(server: Server) {
    let routes: BTreeSet<String> = routes(&server.state).into_iter().map(|route| route.path).collect();
    let mounted = mounted(&server);
    assert_eq!(routes.difference(&mounted).collect::<Vec<_>>(), Vec::<&String>::new(), "{mounted:?}");
    // Below `/api`, the only other paths are the public OpenAPI document and the search, which asks the list of each
    // resource with the rights of the caller (`rights::search`).
    let besides = mounted.difference(&routes).filter(|path| path.starts_with("/api"));
    let besides: Vec<&String> =
        besides.filter(|path| !matches!(path.as_str(), "/api/v1/openapi.json" | "/api/v1/search")).collect();
    assert!(besides.is_empty(), "{besides:?} is mounted, and no route tells who may call it");
}
