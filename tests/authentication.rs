//! Who is let in: tokens in their two headers, what a wrong one is told, and what each ability opens.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Client, Server, on_both};

on_both!(
    a_bearer_token_opens_the_api,
    x_auth_token_is_taken_as_well,
    without_credentials_it_is_401_with_a_challenge,
    a_bad_token_is_401_with_invalid_token,
    a_missing_ability_is_403_and_named,
    every_route_needs_the_ability_that_is_listed_for_it,
    a_star_is_every_ability,
    an_administrator_has_every_permission,
    health_needs_no_token,
    no_answer_and_no_list_holds_a_secret,
);

async fn a_bearer_token_opens_the_api(server: Server) {
    let token = server.admin().post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
    let value = token["value"].as_str().expect("a value");
    for header in [format!("Bearer {value}"), format!("bearer {value}"), format!("BEARER   {value} ")] {
        server.anonymous().with("authorization", &header).get("/products").await.ok();
    }
}

async fn x_auth_token_is_taken_as_well(server: Server) {
    let token = server.admin().post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
    let value = token["value"].as_str().expect("a value");
    server.anonymous().with("X-AUTH-TOKEN", value).get("/products").await.ok();
    server.anonymous().with("x-auth-token", "chr_x").get("/products").await.refused(401, "invalid_token");
    // Where both are sent, the standard one counts.
    server.client("chr_x").with("x-auth-token", value).get("/products").await.refused(401, "invalid_token");
    server.client(value).with("x-auth-token", "chr_x").get("/products").await.ok();
}

async fn without_credentials_it_is_401_with_a_challenge(server: Server) {
    let basic = server.anonymous().with("authorization", "Basic dXNlcjpwYXNz");
    for client in [server.anonymous(), basic] {
        let answer = client.get("/products").await;
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("www-authenticate"), Some(r#"Bearer realm="charter""#));
    }
    // Neither the query string nor a cookie is a place for tokens.
    server.anonymous().get("/products?token=x&access_token=y").await.refused(401, "unauthenticated");
    server.anonymous().with("cookie", "token=x").get("/products").await.refused(401, "unauthenticated");
}

async fn a_bad_token_is_401_with_invalid_token(server: Server) {
    let well_formed = "chr_00000000000000000000000000000000000000";
    let bad = [
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer chr_",
        "Bearer chr_é",
        &format!("Bearer {well_formed}"),
        "Bearer a b",
    ];
    for header in bad {
        let answer = server.anonymous().with("authorization", header).get("/products").await;
        answer.refused(401, "invalid_token");
        let expected = r#"Bearer realm="charter", error="invalid_token""#;
        assert_eq!(answer.header("www-authenticate"), Some(expected), "{header}");
    }
    let long = format!("Bearer chr_{}", "x".repeat(10_000));
    server.anonymous().with("authorization", &long).get("/products").await.refused(401, "invalid_token");
}

async fn a_missing_ability_is_403_and_named(server: Server) {
    let reader = server.able(&["products:read"]).await;
    let answer = reader.post("/products", json!({ "name": "x" })).await;
    answer.refused(403, "ability_missing");
    let expected = r#"Bearer realm="charter", error="insufficient_scope", scope="products:write""#;
    assert_eq!(answer.header("www-authenticate"), Some(expected));
}

/// Calls a route of the server's own list with ids that lead nowhere.
async fn call(client: &Client, method: &str, path: &str) -> (u16, Value) {
    let path = path.replace("{parent_id}", "999").replace("{id}", "999");
    let path = path.strip_prefix("/api/v1").expect("a path of the API");
    let method: Method = method.parse().expect("a method");
    let body = (method != Method::GET && method != Method::DELETE).then(|| json!({ "nope": 1 }));
    let answer = client.send(method, path, body).await;
    let code = answer.text.parse::<Value>().map(|body| body["code"].clone()).unwrap_or_default();
    (answer.status, code)
}

async fn every_route_needs_the_ability_that_is_listed_for_it(server: Server) {
    let routes = charter_runtime::crud::routes(&server.state);
    assert!(routes.len() > 50, "{}", routes.len());
    let mut abilities: Vec<String> = server.state.catalog.abilities().into_iter().collect();
    for route in &routes {
        let name = format!("{} {}", route.method, route.path);
        let prefix = route.ability.split(':').next().expect("an ability has two parts");
        let writes = !matches!(route.method, "GET");
        assert_eq!(route.ability.ends_with(":write"), writes, "{name}");
        // What hangs on a record needs that record's ability.
        let attached = route.resource == "attachment" && prefix == "members";
        assert!(attached || route.path.split('/').any(|segment| segment == prefix), "{name} needs {}", route.ability);
        abilities.retain(|ability| *ability != route.ability);
    }
    // Currencies have no write operations; every other ability opens something.
    assert_eq!(abilities, ["currencies:write"]);
    let mut clients: Vec<(String, Client, Client)> = Vec::new();
    for route in &routes {
        let name = format!("{} {}", route.method, route.path);
        if !clients.iter().any(|(ability, ..)| *ability == route.ability) {
            let holds = server.able(&[&route.ability]).await;
            let others: Vec<String> =
                server.state.catalog.abilities().into_iter().filter(|a| *a != route.ability).collect();
            let others = server.able(&others.iter().map(String::as_str).collect::<Vec<_>>()).await;
            clients.push((route.ability.clone(), holds, others));
        }
        let (_, holds, lacks) = clients.iter().find(|(ability, ..)| *ability == route.ability).expect("just made");
        assert_eq!(call(lacks, route.method, &route.path).await, (403, json!("ability_missing")), "{name}");
        let (status, code) = call(holds, route.method, &route.path).await;
        let allowed = [200, 404, if route.path == "/api/v1/attachments" { 415 } else { 422 }];
        assert!(allowed.contains(&status), "{name}: {status} {code}");
    }
}

async fn a_star_is_every_ability(server: Server) {
    let all = server.able(&["*"]).await;
    for route in charter_runtime::crud::routes(&server.state) {
        let (status, code) = call(&all, route.method, &route.path).await;
        let allowed = [200, 404, if route.path == "/api/v1/attachments" { 415 } else { 422 }];
        assert!(allowed.contains(&status), "{} {}: {status} {code}", route.method, route.path);
    }
}

async fn an_administrator_has_every_permission(server: Server) {
    let (_, user) = server.user(&[], &["*"]).await;
    for route in charter_runtime::crud::routes(&server.state) {
        let name = format!("{} {}", route.method, route.path);
        let (status, code) = call(&server.admin(), route.method, &route.path).await;
        assert_ne!(status, 403, "{name}: {code}");
        let (status, code) = call(&user, route.method, &route.path).await;
        match route.permission {
            Some(_) => assert_eq!((status, code), (403, json!("permission_missing")), "{name}"),
            None => assert_ne!(status, 403, "{name}: {code}"),
        }
    }
}

async fn health_needs_no_token(server: Server) {
    for path in ["~/health/live", "~/health/ready"] {
        let answer = server.anonymous().get(path).await;
        answer.ok();
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

async fn no_answer_and_no_list_holds_a_secret(server: Server) {
    let admin = server.admin();
    let token = admin.post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
    let secret = token["value"].as_str().expect("a value");
    server.client(secret).post("/members", json!({ "name": "x" })).await.created("member");
    for route in charter_runtime::crud::routes(&server.state).iter().filter(|route| route.method == "GET") {
        let path = route.path.replace("{id}", &token["id"].to_string());
        let answer = admin.get(path.strip_prefix("/api/v1").expect("a path of the API")).await;
        assert!(!answer.text.contains(&secret[4..]) && !answer.text.contains("token_hash"), "{path}: {}", answer.text);
    }
}
