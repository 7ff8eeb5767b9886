//! `POST /tokens`.

use serde_json::{Value, json};

use super::{created, path, value};
use crate::support::{Server, is_utc_time, keys, on_both};

on_both!(
    creating_a_token_returns_its_value_once,
    token_value_is_a_prefix_and_base62_with_a_checksum,
    new_token_authenticates_immediately,
    token_can_grant_only_its_own_abilities,
    unknown_abilities_of_a_token_are_refused,
    only_an_administrator_can_create_tokens_for_another_user,
    token_expiry_must_be_in_the_future,
    token_cannot_create_a_token_that_expires_later,
    expiring_token_cannot_strengthen_a_token_without_expiry,
    token_with_more_abilities_cannot_be_updated,
    token_requires_name_and_abilities,
    clients_cannot_set_the_value_or_digest_of_a_token,
    creating_a_token_requires_the_ability_tokens_write,
);

async fn creating_a_token_returns_its_value_once(server: Server) {
    let admin = server.admin();
    let answer = admin.post("/tokens", json!({ "name": "Mine", "abilities": ["products:read"] })).await;
    let token = answer.created("token");
    assert_eq!(answer.header("location"), Some(format!("/api/v1/tokens/{}", token["id"]).as_str()));
    let fields =
        ["abilities", "created_at", "expires_at", "id", "last_used_at", "name", "updated_at", "user_id", "value"];
    assert_eq!(keys(&token), fields);
    assert_eq!([&token["abilities"], &token["user_id"]], [&json!(["products:read"]), &json!(1)]);
    assert_eq!([&token["expires_at"], &token["last_used_at"]], [&Value::Null, &Value::Null]);
    assert!(is_utc_time(&token["created_at"]), "{token}");
    let shown = admin.get(&path(&token)).await.record("token");
    assert_eq!(keys(&shown), fields[..8]);
}

async fn token_value_is_a_prefix_and_base62_with_a_checksum(server: Server) {
    let admin = server.admin();
    let token = created(&admin, &["*"]).await;
    let text = value(&token);
    assert_eq!(text.len(), 4 + 32 + 6);
    assert!(text.strip_prefix("chr_").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric())), "{text}");
    assert_ne!(value(&created(&admin, &["*"]).await), text, "each is another");
    // With one wrong character it is not a token.
    let slip = if text.ends_with('0') { "1" } else { "0" };
    server.client(&format!("{}{slip}", &text[..41])).get("/products").await.refused(401, "invalid_token");
}

async fn new_token_authenticates_immediately(server: Server) {
    let token = created(&server.admin(), &["products:read"]).await;
    server.client(value(&token)).get("/products").await.ok();
}

async fn token_can_grant_only_its_own_abilities(server: Server) {
    let limited = server.able(&["tokens:write", "products:read", "products:write"]).await;
    let token = created(&limited, &["products:read"]).await;
    server.client(value(&token)).get("/products").await.ok();
    for more in [json!(["members:read"]), json!(["*"]), json!(["products:read", "tokens:read"])] {
        let problem = limited.post("/tokens", json!({ "name": "x", "abilities": more })).await.invalid("abilities");
        assert!(problem.contains("does not have"), "{problem}");
    }
    // A token cannot extend the abilities of another one beyond its own.
    let token = created(&limited, &["products:read"]).await;
    limited.put(&path(&token), json!({ "abilities": ["*"] })).await.invalid("abilities");
    limited.put(&path(&token), json!({ "abilities": ["products:write"] })).await.record("token");
}

async fn unknown_abilities_of_a_token_are_refused(server: Server) {
    let admin = server.admin();
    let create = async |abilities: Value| admin.post("/tokens", json!({ "name": "x", "abilities": abilities })).await;
    let problem = create(json!(["product:read"])).await.invalid("abilities");
    assert!(problem.contains("did you mean `products:read`?"), "{problem}");
    for bad in [
        json!(["products:fly"]),
        json!(["products"]),
        json!([""]),
        json!(["**"]),
        json!([1]),
        json!("*"),
        json!([]),
        json!(""),
    ] {
        create(bad).await.invalid("abilities");
    }
    for known in [
        "currencies",
        "exchange_rates",
        "products",
        "product_groups",
        "tax_classes",
        "members",
        "users",
        "roles",
        "settings",
        "tokens",
        "custom_fields",
        "custom_views",
    ] {
        create(json!([format!("{known}:read"), format!("{known}:write")])).await.created("token");
    }
}

async fn only_an_administrator_can_create_tokens_for_another_user(server: Server) {
    let (user, client) = server.user(&["users.manage"], &["*"]).await;
    let for_admin = json!({ "name": "x", "abilities": ["products:read"], "user_id": 1 });
    let problem = client.post("/tokens", for_admin).await.invalid("user_id");
    assert!(problem.contains("your own"), "{problem}");
    let own = json!({ "name": "x", "abilities": ["products:read"], "user_id": user["id"] });
    client.post("/tokens", own.clone()).await.created("token");
    let token = server.admin().post("/tokens", own).await.created("token");
    assert_eq!(token["user_id"], user["id"]);
    let nobody = json!({ "name": "x", "abilities": ["*"], "user_id": 999 });
    assert_eq!(server.admin().post("/tokens", nobody).await.invalid("user_id"), "does not refer to an existing user");
}

async fn token_expiry_must_be_in_the_future(server: Server) {
    let admin = server.admin();
    let body = |at: &str| json!({ "name": "x", "abilities": ["*"], "expires_at": at });
    let token = admin.post("/tokens", body("2999-01-01T00:00:00+01:00")).await.created("token");
    assert_eq!(token["expires_at"], "2998-12-31T23:00:00Z");
    for past in ["2020-01-01T00:00:00Z", "1970-01-01T00:00:00Z"] {
        assert_eq!(admin.post("/tokens", body(past)).await.invalid("expires_at"), "must be in the future");
    }
    admin.post("/tokens", body("tomorrow")).await.invalid("expires_at");
}

async fn token_cannot_create_a_token_that_expires_later(server: Server) {
    let body = |at: Value| json!({ "name": "x", "abilities": ["tokens:write", "products:read"], "expires_at": at });
    let limited = server.admin().post("/tokens", body(json!("2999-01-01T00:00:00Z"))).await.created("token");
    let client = server.client(value(&limited));
    client.post("/tokens", body(json!("2999-01-01T00:00:00Z"))).await.created("token");
    for later in [json!("2999-01-01T00:00:01Z"), Value::Null] {
        client.post("/tokens", body(later)).await.invalid("expires_at");
    }
    client.put(&path(&limited), json!({ "expires_at": "" })).await.invalid("expires_at");
    client.put(&path(&limited), json!({ "expires_at": "3000-01-01T00:00:00Z" })).await.invalid("expires_at");
    client.put(&path(&limited), json!({ "expires_at": "2998-01-01T00:00:00Z" })).await.record("token");
}

async fn expiring_token_cannot_strengthen_a_token_without_expiry(server: Server) {
    let admin = server.admin();
    let weak = created(&admin, &["products:read"]).await;
    let body = json!({ "name": "x", "abilities": ["*"], "expires_at": "2999-01-01T00:00:00Z" });
    let limited = server.client(value(&admin.post("/tokens", body).await.created("token")));
    limited.put(&path(&weak), json!({ "abilities": ["*"] })).await.invalid("expires_at");
    limited.put(&path(&weak), json!({ "abilities": ["products:read", "members:read"] })).await.invalid("expires_at");
    limited.put(&path(&weak), json!({ "name": "mine" })).await.record("token");
    let ending = json!({ "abilities": ["*"], "expires_at": "2999-01-01T00:00:00Z" });
    limited.put(&path(&weak), ending).await.record("token");
    // Fewer abilities or an earlier expiry are allowed.
    let strong = created(&admin, &["products:read", "members:read"]).await;
    limited.put(&path(&strong), json!({ "abilities": ["members:read"] })).await.record("token");
    // A password has no expiry.
    limited.post("/users/1/invite", json!({})).await.refused(403, "permission_missing");
    admin.post("/users/1/invite", json!({})).await.record("user");
}

async fn token_with_more_abilities_cannot_be_updated(server: Server) {
    let strong = created(&server.admin(), &["products:read", "members:read"]).await;
    let weak = server.able(&["tokens:read", "tokens:write", "products:read"]).await;
    weak.get(&path(&strong)).await.record("token");
    weak.put(&path(&strong), json!({ "name": "mine" })).await.refused(403, "ability_missing");
}

async fn token_requires_name_and_abilities(server: Server) {
    let admin = server.admin();
    assert_eq!(admin.post("/tokens", json!({})).await.invalid_fields(), ["abilities", "name"]);
    let long = json!({ "name": "x".repeat(256), "abilities": ["*"] });
    admin.post("/tokens", long).await.invalid("name");
}

async fn clients_cannot_set_the_value_or_digest_of_a_token(server: Server) {
    let admin = server.admin();
    for field in ["value", "token_hash"] {
        let mut body = json!({ "name": "x", "abilities": ["*"] });
        body[field] = json!("chr_00000000000000000000000000000000000000");
        let said = admin.post("/tokens", body).await.invalid(field);
        let expected = if field == "value" { "cannot be set: the server makes it" } else { "is not a field of token" };
        assert_eq!(said, expected);
    }
    // As null it is ignored, as any field.
    admin.post("/tokens", json!({ "name": "y", "abilities": ["*"], "value": null })).await.created("token");
    let ignored = json!({ "name": "x", "abilities": ["*"], "last_used_at": "2020-01-01T00:00:00Z", "id": 77 });
    let token = admin.post("/tokens", ignored).await.created("token");
    assert_eq!(token["last_used_at"], Value::Null);
    assert_ne!(token["id"], 77);
}

async fn creating_a_token_requires_the_ability_tokens_write(server: Server) {
    let reader = server.able(&["tokens:read", "products:read"]).await;
    let body = json!({ "name": "x", "abilities": ["products:read"] });
    reader.post("/tokens", body).await.refused(403, "ability_missing");
}
