//! Response cache of list pages: a page is cached while nothing it shows has changed, and invalidated by any such
//! change.

use serde_json::{Value, json};

use super::total::{disable_triggers, enable_triggers};
use crate::support::{Client, Database, Server, Specimens, on_both, run};

on_both!(
    page_is_cached_until_its_table_changes,
    recount_invalidates_every_page_of_the_table,
    change_of_a_shown_value_invalidates_the_page,
    change_of_a_filtered_or_sorted_value_invalidates_the_page,
    write_of_another_process_invalidates_the_page,
    pages_with_other_fields_or_views_are_cached_separately,
    pages_are_cached_per_caller,
    change_of_included_records_invalidates_the_page,
    cached_cursor_page_has_its_next_cursor,
);

/// The names of a list that was requested often enough to be cached.
async fn names(client: &Client, path: &str) -> Vec<Value> {
    let mut names = Vec::new();
    for _ in 0..3 {
        names = client.get(path).await.column("specimens", "name");
    }
    names
}

async fn page_is_cached_until_its_table_changes(specimens: Specimens) {
    let client = specimens.admin();
    for query in ["", "&q[name_present]=1&sort=id", "&count=none", "&cursor=", "&include=productGroup"] {
        let path = &format!("/specimens?per_page=2{query}");
        specimens.sql("UPDATE specimens SET name = 'before' WHERE id = 1").await;
        assert_eq!(names(&client, path).await[0], "before");
        // A change without triggers goes unnoticed: the page comes from the cache.
        disable_triggers(&specimens).await;
        specimens.sql("UPDATE specimens SET name = 'unnoticed' WHERE id = 1").await;
        enable_triggers(&specimens).await;
        assert_eq!(names(&client, path).await[0], "before", "{path}");
        specimens.sql("UPDATE specimens SET qty = 1 WHERE id = 9").await;
        assert_eq!(client.get(path).await.column("specimens", "name")[0], "unnoticed", "{path}");
    }
}

async fn recount_invalidates_every_page_of_the_table(specimens: Specimens) {
    let client = specimens.admin();
    names(&client, "/specimens?per_page=2").await;
    disable_triggers(&specimens).await;
    specimens.sql("UPDATE specimens SET name = 'loaded' WHERE id = 1").await;
    enable_triggers(&specimens).await;
    let state = &specimens.state;
    charter_runtime::counts::recount(&state.db, &state.catalog, Some("specimens")).await.expect("it is counted");
    assert_eq!(client.get("/specimens?per_page=2").await.column("specimens", "name")[0], "loaded");
}

/// Checks a list directly after a change and again from the cache.
async fn expect(client: &Client, path: &str, column: &str, expected: &[&str]) {
    for _ in 0..3 {
        let list = client.get(path).await.ok();
        let products = list["products"].as_array().expect("a list");
        let values: Vec<&Value> = products.iter().map(|product| &product[column]).collect();
        assert_eq!(values, expected, "{path}");
    }
}

async fn change_of_a_shown_value_invalidates_the_page(server: Server) {
    let admin = server.admin();
    let group = admin.post("/product_groups", json!({ "name": "Lamps" })).await.created("product_group")["id"].clone();
    let of_group = json!({ "name": "Spot", "product_type": "rental", "product_group_id": group });
    let product = admin.post("/products", of_group).await.created("product")["id"].clone();
    let (path, at) = ("/products", format!("/products/{product}"));
    expect(&admin, path, "name", &["Spot"]).await;
    admin.patch(&at, json!({ "name": "Flood" })).await.ok();
    expect(&admin, path, "name", &["Flood"]).await;
    expect(&admin, path, "product_group_name", &["Lamps"]).await;
    admin.put(&format!("/product_groups/{group}"), json!({ "name": "Lights" })).await.ok();
    expect(&admin, path, "product_group_name", &["Lights"]).await;
    let second = json!({ "name": "Beam", "product_type": "rental" });
    let second = admin.post("/products", second).await.created("product")["id"].clone();
    expect(&admin, path, "name", &["Flood", "Beam"]).await;
    admin.delete(&format!("/products/{second}")).await.deleted();
    expect(&admin, path, "name", &["Flood"]).await;
    admin.post(&format!("/products/{second}/restore"), json!({})).await.ok();
    expect(&admin, path, "name", &["Flood", "Beam"]).await;
    server.sql("UPDATE products SET name = 'Wash' WHERE name = 'Beam'").await;
    expect(&admin, path, "name", &["Flood", "Wash"]).await;
}

async fn change_of_a_filtered_or_sorted_value_invalidates_the_page(server: Server) {
    let admin = server.admin();
    let mut groups = Vec::new();
    for name in ["A", "B"] {
        groups
            .push(admin.post("/product_groups", json!({ "name": name })).await.created("product_group")["id"].clone());
    }
    for (name, group) in [("one", &groups[0]), ("two", &groups[1])] {
        let product = json!({ "name": name, "product_type": "rental", "product_group_id": group });
        admin.post("/products", product).await.created("product");
    }
    let sorted = "/products?fields=name&sort=product_group_name";
    let found = "/products?fields=name&q[product_group_name_in]=A,C";
    expect(&admin, sorted, "name", &["one", "two"]).await;
    expect(&admin, found, "name", &["one"]).await;
    let rename = async |group: &Value, name| {
        admin.put(&format!("/product_groups/{group}"), json!({ "name": name })).await.ok();
    };
    rename(&groups[1], "C").await;
    expect(&admin, found, "name", &["one", "two"]).await;
    rename(&groups[0], "D").await;
    expect(&admin, found, "name", &["two"]).await;
    expect(&admin, sorted, "name", &["two", "one"]).await;
}

async fn write_of_another_process_invalidates_the_page(server: Server) {
    let second = server.second_node().await;
    let (admin, other) = (server.admin(), second.admin());
    for number in 1..=6_i64 {
        admin.post("/roles", json!({ "name": format!("R{number}") })).await.created("role");
        for client in [&other, &admin, &other] {
            let list = client.get("/roles?per_page=1&sort=-id&q[name_start]=R&q[name_not_eq]=Reader").await.ok();
            assert_eq!(list["roles"][0]["name"], format!("R{number}"));
            assert_eq!(list["meta"]["total"], number);
        }
    }
    second.state.db.close().await;
}

async fn pages_with_other_fields_or_views_are_cached_separately(specimens: Specimens) {
    let client = specimens.admin();
    let view = json!({ "name": "Mine", "entity_type": "specimens", "columns": ["name"] });
    let view = client.post("/custom_views", view).await.created("custom_view")["id"].clone();
    let of_view = format!("/specimens?view_id={view}");
    let paths = [
        "/specimens?fields=name",
        "/specimens?fields=name&count=none",
        "/specimens?fields=name&per_page=50",
        "/specimens?fields=id,name",
        "/specimens?fields=custom_fields",
        "/specimens?page=922337203685477580&count=none",
        "/specimens?page=922337203685477581&count=none",
        of_view.as_str(),
    ];
    let mut first = Vec::new();
    for path in paths {
        first.push(client.get(path).await.ok());
    }
    for _ in 0..3 {
        for (path, first) in paths.iter().zip(&first) {
            assert_eq!(client.get(path).await.ok(), *first, "{path}");
        }
    }
    for (index, one) in first.iter().enumerate() {
        assert!(first[index + 1..].iter().all(|other| one != other), "{}", paths[index]);
    }
    client.put(&format!("/custom_views/{view}"), json!({ "name": "Ours" })).await.ok();
    assert_eq!(client.get(&of_view).await.ok()["meta"]["view"]["name"], "Ours");
    for (column, value) in [("cf.power", json!({ "power": "150W" })), ("cf.vip", json!({}))] {
        client.put(&format!("/custom_views/{view}"), json!({ "columns": ["name", column] })).await.ok();
        for _ in 0..3 {
            assert_eq!(client.get(&of_view).await.records("specimens")[0]["custom_fields"], value);
        }
    }
}

async fn pages_are_cached_per_caller(server: Server) {
    let admin = server.admin();
    let (_, one) = server.user(&[], &["*"]).await;
    let (_, two) = server.user(&[], &["*"]).await;
    for (client, name) in [(&one, "of one"), (&two, "of two")] {
        let view = json!({ "name": name, "entity_type": "products", "columns": ["name"] });
        client.post("/custom_views", view).await.created("custom_view");
    }
    for _ in 0..3 {
        for (client, expected) in [(&one, vec!["of one"]), (&two, vec!["of two"])] {
            assert_eq!(client.get("/custom_views").await.column("custom_views", "name"), expected);
        }
        admin.get("/custom_views").await.ok();
    }
}

async fn change_of_included_records_invalidates_the_page(server: Server) {
    let admin = server.admin();
    let ada = admin.post("/members", json!({ "name": "Ada" })).await.created("member")["id"].clone();
    let product = admin.post("/products", json!({ "name": "Spot" })).await.created("product")["id"].clone();
    let activity = json!({
        "subject": "Call", "regarding_type": "Product", "regarding_id": product, "participants": [{ "member_id": ada }]
    });
    admin.post("/activities", activity).await.created("activity");
    let holds = async |expected: Value| {
        for _ in 0..3 {
            let list = admin.get("/activities?include=regarding,owner,customFieldValues").await.records("activities");
            let [of, by, who] = [&list[0]["regarding"], &list[0]["owner"], &list[0]["participants"][0]];
            let labels: Vec<&Value> = list[0]["custom_field_values"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|value| &value["label"])
                .collect();
            assert_eq!(json!([of["name"], by["name"], who["member_name"], who["mute"], labels]), expected);
        }
    };
    holds(json!(["Spot", "Administrator", "Ada", false, []])).await;
    admin.patch(&format!("/products/{product}"), json!({ "name": "Flood" })).await.ok();
    holds(json!(["Flood", "Administrator", "Ada", false, []])).await;
    admin.patch(&format!("/members/{ada}"), json!({ "name": "Eve" })).await.ok();
    holds(json!(["Flood", "Administrator", "Eve", false, []])).await;
    server.sql("UPDATE users SET name = 'Chief'").await;
    holds(json!(["Flood", "Chief", "Eve", false, []])).await;
    server.sql("UPDATE activity_participants SET mute = TRUE").await;
    holds(json!(["Flood", "Chief", "Eve", true, []])).await;
    let field = json!({ "name": "mood", "label": "Mood", "field_type": "string", "entity_type": "activities" });
    let field = admin.post("/custom_fields", field).await.created("custom_field")["id"].clone();
    holds(json!(["Flood", "Chief", "Eve", true, ["Mood"]])).await;
    admin.put(&format!("/custom_fields/{field}"), json!({ "label": "Humour" })).await.ok();
    holds(json!(["Flood", "Chief", "Eve", true, ["Humour"]])).await;
    admin.delete(&format!("/products/{product}")).await.deleted();
    holds(json!([null, "Chief", "Eve", true, ["Humour"]])).await;
}

async fn cached_cursor_page_has_its_next_cursor(specimens: Specimens) {
    let client = specimens.admin();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (mut path, mut ids) = ("/specimens?per_page=4&sort=-name&cursor=".to_string(), Vec::new());
        loop {
            let page = client.get(&path).await;
            let link = page.header("link").expect("a link").to_string();
            let body = page.ok();
            ids.extend(body["specimens"].as_array().expect("a list").iter().map(|record| record["id"].clone()));
            let Some(next) = body["meta"]["next_cursor"].as_str() else { break };
            assert!(link.contains(&format!("cursor={next}>; rel=\"next\"")), "{link}");
            path = format!("/specimens?per_page=4&sort=-name&cursor={next}");
        }
        seen.push(ids);
    }
    assert!(seen[0].len() == 10 && seen.iter().all(|ids| *ids == seen[0]), "{seen:?}");
}

charter_testing::needs_postgres! {
    #[test]
    fn truncated_table_has_no_deleted_records() {
        run(Database::Postgres, async |server: Server| {
            let admin = server.admin();
            let product = admin.post("/products", json!({ "name": "Spot" })).await.created("product")["id"].clone();
            admin.delete(&format!("/products/{product}")).await.deleted();
            // Without triggers for deleted records, no block of them is counted.
            let state = &server.state;
            charter_runtime::counts::recount(&state.db, &state.catalog, Some("products")).await.expect("it is counted");
            for _ in 0..3 {
                assert_eq!(admin.get("/products?deleted=only").await.records("products").len(), 1);
            }
            server.sql("TRUNCATE products CASCADE").await;
            assert_eq!(admin.get("/products?deleted=only").await.records("products").len(), 0);
        });
    }
}
