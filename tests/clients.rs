//! Requests as existing clients send them: encoded query strings, forms, `X-AUTH-TOKEN`, trailing slashes, `q[s]`.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, on_both};

on_both!(
    percent_encoded_query_equals_the_plain_one,
    includes_can_be_listed_or_repeated,
    trailing_slash_is_ignored_on_every_path_and_method,
    token_is_accepted_in_x_auth_token,
    form_creates_and_updates_like_json,
    form_can_have_lists_embedded_records_and_custom_fields,
    empty_text_in_a_form_clears_a_field,
    form_has_the_same_validation_errors_as_json,
    action_accepts_a_form_without_fields,
    malformed_form_is_400_and_json_sent_as_form_is_415,
    sort_order_can_be_given_in_q,
    unsupported_sort_order_in_q_is_ignored,
);

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

async fn post(client: &Client, path: &str, form: &str) -> Answer {
    client.send_bytes(Method::POST, path, FORM, form).await
}

async fn put(client: &Client, path: &str, form: &str) -> Answer {
    client.send_bytes(Method::PUT, path, FORM, form).await
}

async fn members(client: &Client, names: &[&str]) {
    for name in names {
        client.post("/members", json!({ "name": name })).await.created("member");
    }
}

async fn percent_encoded_query_equals_the_plain_one(server: Server) {
    let admin = server.admin();
    members(&admin, &["Ada", "Alan", "Grace"]).await;
    let ids = async |query: &str| admin.get(&format!("/members?{query}")).await.column("members", "id");
    assert_eq!(ids("q%5Bid_in%5D%5B%5D=1&q%5Bid_in%5D%5B%5D=3").await, [1, 3]);
    assert_eq!(ids("q[id_in][]=1").await, [1]);
    assert_eq!(ids("q%5Bname_cont%5D=%41L").await, [2]);
    assert_eq!(ids("q%5bname_start%5d=G").await, [3]);
    assert_eq!(ids("q[name_eq]=Ada&per%5Fpage=5").await, [1]);
}

async fn includes_can_be_listed_or_repeated(server: Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    for query in [
        "include[]=productGroup&include[]=taxClass",
        "include%5B%5D=product_group&include%5B%5D=tax_class",
        "include=productGroup,tax_class",
        "include=productGroup&include=taxClass",
    ] {
        for path in ["/products", "/products/1"] {
            let body = admin.get(&format!("{path}?{query}")).await.ok();
            let product = body.get("product").unwrap_or(&body["products"][0]);
            assert!(product.get("product_group").is_some() && product.get("tax_class").is_some(), "{path}?{query}");
        }
    }
}

async fn trailing_slash_is_ignored_on_every_path_and_method(server: Server) {
    let admin = server.admin();
    let activity = admin.post("/activities/", json!({ "subject": "x" })).await.created("activity");
    let lamp = admin.post("/products/", json!({ "name": "Lamp" })).await.created("product");
    let bulb = admin.post("/products/", json!({ "name": "Bulb" })).await.created("product");
    assert_eq!(admin.get("/activities/?per_page=1").await.records("activities"), [activity]);
    admin.get("/activities/1/").await.record("activity");
    admin.put("/activities/1/", json!({ "subject": "y" })).await.record("activity");
    admin.patch("/activities/1/", json!({ "subject": "z" })).await.record("activity");
    admin.send(Method::POST, "/activities/1/complete/", None).await.record("activity");
    admin.delete("/activities/1/").await.deleted();
    let under = format!("/products/{}/accessories/", lamp["id"]);
    admin.post(&under, json!({ "accessory_product_id": bulb["id"] })).await.created("accessory");
    assert_eq!(admin.get(&under).await.records("accessories").len(), 1);
    admin.delete(&format!("{under}1/")).await.deleted();
    admin.get("/settings/").await.record("settings");
    admin.get("/nothing/").await.refused(404, "not_found");
}

async fn token_is_accepted_in_x_auth_token(server: Server) {
    let token = server.token(&["activities:read", "activities:write"]).await;
    let client = server.anonymous().with("X-AUTH-TOKEN", &token);
    client.post("/activities", json!({ "subject": "x" })).await.created("activity");
    post(&client, "/activities", "subject=y").await.created("activity");
    assert_eq!(client.get("/activities").await.records("activities").len(), 2);
    client.get("/products").await.refused(403, "ability_missing");
}

async fn form_creates_and_updates_like_json(server: Server) {
    let admin = server.admin();
    let answer = post(&admin, "/products", "name=Oak+Lamp%21&weight=1.5&is_active=false&stock_method=2").await;
    let product = answer.created("product");
    assert_eq!(answer.header("location"), Some("/api/v1/products/1"));
    assert_eq!([&product["name"], &product["weight"]], ["Oak Lamp!", "1.5000"]);
    assert_eq!([&product["is_active"], &product["stock_method"]], [&json!(false), &json!(2)]);
    let updated =
        put(&admin, "/products/1", "product%5Bname%5D=Steel&product%5Bis_active%5D=1").await.record("product");
    assert_eq!(
        [&updated["name"], &updated["is_active"], &updated["weight"]],
        [&json!("Steel"), &json!(true), &json!("1.5000")]
    );
    let patched = admin.send_bytes(Method::PATCH, "/products/1", FORM, "sku=S%261").await.record("product");
    assert_eq!(patched["sku"], "S&1");
    let kind = Some("application/x-www-form-urlencoded; charset=UTF-8");
    let body = "activity[subject]=Caf%C3%A9&activity[starts_at]=2026-03-21T10:00:00%2B01:00&activity[type_id]=1002";
    let activity = admin.send_bytes(Method::POST, "/activities", kind, body).await.created("activity");
    assert_eq!([&activity["subject"], &activity["starts_at"]], ["Café", "2026-03-21T09:00:00.000Z"]);
    assert_eq!(activity["activity_type_name"], "Call");
}

async fn form_can_have_lists_embedded_records_and_custom_fields(server: Server) {
    let admin = server.admin();
    for (name, kind) in [("colour", "string"), ("watts", "integer"), ("vip", "boolean"), ("rate", "decimal")] {
        for entity in ["products", "activities"] {
            let definition = json!({ "entity_type": entity, "name": name, "field_type": kind });
            admin.post("/custom_fields", definition).await.created("custom_field");
        }
    }
    members(&admin, &["Ada", "Alan", "Grace"]).await;
    let body = "product[name]=Lamp&product[tag_list][]=a&product[tag_list][]=b%2Cc\
                &product[custom_fields][colour]=red&product[custom_fields][watts]=40";
    let product = post(&admin, "/products", body).await.created("product");
    assert_eq!(product["tag_list"], json!(["a", "b,c"]));
    assert_eq!(product["custom_fields"], json!({ "colour": "red", "watts": 40 }));
    let body = "subject=Meet&custom_fields[colour]=red&custom_fields[vip]=t&custom_fields[rate]=1.50\
                &participants[][member_id]=3&participants[][mute]=1&participants[][member_id]=1";
    let activity = post(&admin, "/activities", body).await.created("activity");
    assert_eq!(activity["custom_fields"], json!({ "colour": "red", "vip": true, "rate": "1.5" }));
    let who = |activity: &Value| {
        let list = activity["participants"].as_array().expect("a list").clone();
        list.iter().map(|p| (p["member_id"].as_i64().unwrap_or(0), p["mute"] == true)).collect::<Vec<_>>()
    };
    assert_eq!(who(&activity), [(3, true), (1, false)]);
    let body =
        "activity[participants][0][id]=2&activity[participants][10][member_id]=2&activity[participants][9][id]=1";
    let updated = put(&admin, "/activities/1", body).await.record("activity");
    assert_eq!(who(&updated), [(3, true), (1, false), (2, false)]);
    let roles = "name=Desk&permissions[]=settings.manage&permissions[]=users.manage";
    let role = post(&admin, "/roles", roles).await.created("role");
    assert_eq!(role["permissions"], json!(["settings.manage", "users.manage"]));
    let user = post(&admin, "/users", "name=Eve&email=eve%40example.com&role_ids[]=1").await.created("user");
    assert_eq!(user["role_ids"], json!([1]));
}

async fn empty_text_in_a_form_clears_a_field(server: Server) {
    let admin = server.admin();
    let body = json!({ "name": "Lamp", "sku": "S", "tag_list": ["a"] });
    admin.post("/products", body).await.created("product");
    let cleared = put(&admin, "/products/1", "sku=&tag_list=").await.record("product");
    assert_eq!([&cleared["sku"], &cleared["tag_list"]], [&Value::Null, &json!([])]);
    put(&admin, "/products/1", "name=").await.invalid("name");
    put(&admin, "/products/1", "name").await.invalid("name");
    let same = put(&admin, "/products/1", "").await.record("product");
    assert_eq!(same, cleared);
}

async fn form_has_the_same_validation_errors_as_json(server: Server) {
    let admin = server.admin();
    let answer =
        post(&admin, "/activities", "activity[type_id]=call&activity[participants][][member_id]=9&activity[x]=1").await;
    assert_eq!(answer.invalid_fields(), ["participants.0.member_id", "subject", "type_id", "x"]);
    let answer = post(&admin, "/activities", "subject=x&participants[][member_id]=9").await;
    assert_eq!(answer.invalid_fields(), ["participants.0.member_id"]);
    post(&admin, "/activities", "subject=x&participants=7").await.invalid("participants");
    post(&admin, "/products", "name[]=x").await.invalid("name");
}

async fn action_accepts_a_form_without_fields(server: Server) {
    let admin = server.admin();
    post(&admin, "/activities", "subject=x").await.created("activity");
    post(&admin, "/activities/1/complete", "utf8=1").await.invalid("utf8");
    assert_eq!(post(&admin, "/activities/1/complete", "").await.record("activity")["completed"], true);
}

async fn malformed_form_is_400_and_json_sent_as_form_is_415(server: Server) {
    let admin = server.admin();
    for form in ["name=%", "name=%zz", "name=%ff", "name=a&name[b]=c", "name[b=c", "=x"] {
        post(&admin, "/products", form).await.refused(400, "malformed_request");
    }
    post(&admin, "/products", r#"{"name":"x"}"#).await.refused(415, "unsupported_media_type");
    let large = format!("name={}", "x".repeat(1 << 20));
    post(&admin, "/products", &large).await.refused(413, "payload_too_large");
    let reader = server.able(&["products:read"]).await;
    post(&reader, "/products", "name=%").await.refused(403, "ability_missing");
    put(&admin, "/products/9", "name=%").await.refused(404, "not_found");
    assert_eq!(admin.get("/products").await.ok()["meta"]["total"], 0);
}

async fn sort_order_can_be_given_in_q(server: Server) {
    let admin = server.admin();
    for (name, kind) in [("b", "venue"), ("a", "venue"), ("c", "contact")] {
        admin.post("/members", json!({ "name": name, "membership_type": kind })).await.created("member");
    }
    let names = async |query: &str| admin.get(&format!("/members?{query}")).await.column("members", "name");
    assert_eq!(names("q[s]=name+desc").await, ["c", "b", "a"]);
    assert_eq!(names("q[s]=name%20asc").await, ["a", "b", "c"]);
    assert_eq!(names("q%5Bs%5D=name").await, ["a", "b", "c"]);
    assert_eq!(names("q[s]=membership_type+desc,name+asc").await, ["a", "b", "c"]);
    assert_eq!(names("q[s][]=membership_type+asc&q[s][]=name+desc").await, ["c", "b", "a"]);
    assert_eq!(names("q[s]=name+desc&q[membership_type_eq]=venue&per_page=1").await, ["b"]);
    // `sort` precedence, and pages have a stable order.
    assert_eq!(names("q[s]=name+desc&sort=name").await, ["a", "b", "c"]);
    assert_eq!(names("q[s]=membership_type+desc&per_page=1&page=2").await, ["a"]);
}

async fn unsupported_sort_order_in_q_is_ignored(server: Server) {
    let admin = server.admin();
    members(&admin, &["b", "a"]).await;
    let ids = async |query: &str| admin.get(&format!("/members?{query}")).await.column("members", "id");
    for query in [
        "q[s]=nope+desc",
        "q[s]=custom_fields",
        "q[s]=name+down",
        "q[s]=",
        "q[s]=name+desc+id",
        "q[s]=--name",
        "q[s][]=",
    ] {
        assert_eq!(ids(query).await, [1, 2], "{query}");
    }
    assert_eq!(ids("q[s]=nope+desc,name+asc,name+desc").await, [2, 1]);
}
