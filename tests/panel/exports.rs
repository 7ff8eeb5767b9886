//! Exports of lists: a link with the conditions, the order and the columns of the page.

use serde_json::json;

use super::{CookieClient, signed_in};
use crate::support::{Server, on_both};

on_both!(
    export_has_the_columns_labels_and_conditions_of_the_page,
    export_with_codes_has_the_values_of_the_api,
    export_has_only_the_chosen_rows,
    name_of_the_file_has_the_view_and_the_date,
    export_of_an_unknown_format_or_of_a_stranger_is_refused,
);

/// A signed-in user, and three products in a group.
async fn panel_with_products(server: &Server) -> CookieClient {
    let client = server.admin();
    client.put("/settings", json!({ "timezone": "Asia/Tokyo" })).await.ok();
    client.post("/product_groups", json!({ "name": "Light" })).await.created("product_group");
    for (name, weight) in [("Lamp", "1.5"), ("=1+1", "2"), ("Torch, small", "0.5")] {
        let product =
            json!({ "name": name, "weight": weight, "product_type": "loss_and_damage", "product_group_id": 1 });
        client.post("/products", product).await.created("product");
    }
    let (user, _) = server.user(&[], &["*"]).await;
    signed_in(server, &user).await
}

async fn export_has_the_columns_labels_and_conditions_of_the_page(server: Server) {
    let mut panel = panel_with_products(&server).await;
    let list = "columns=weight,name,product_type,stock_method,is_active,product_group_name&sort=-weight&q[weight_lt]=2";
    let page = panel.get(&format!("/products/export?{list}&format=csv&values=labels")).await;
    let lines: Vec<&str> = page.status(200).text.trim_start_matches('\u{feff}').split("\r\n").collect();
    assert_eq!(
        lines,
        [
            "Weight,Name,Product type,Stock method,Active,Product group",
            "1.5000,Lamp,Loss and damage,Bulk,Yes,Light",
            "0.5000,\"Torch, small\",Loss and damage,Bulk,Yes,Light",
            "",
        ]
    );
    assert_eq!(page.header("content-type"), "text/csv; charset=utf-8; header=present");
    // The form of the page has the conditions, the order and the columns.
    let text = panel.get(&format!("/products?{list}")).await.status(200).text.clone();
    let form = text.split("action=\"/products/export\"").nth(1).and_then(|rest| rest.split("</form>").next());
    for input in
        ["name=\"q[weight_lt]\" value=\"2\"", "name=\"sort\" value=\"-weight\"", "name=\"columns\" value=\"weight,name"]
    {
        assert!(form.is_some_and(|form| form.contains(input)), "{input}: {text}");
    }
    // A formula is text for the spreadsheet.
    let all = panel.get("/products/export?columns=name&sort=id&format=csv").await;
    assert!(all.status(200).text.ends_with("Name\r\nLamp\r\n'=1+1\r\n\"Torch, small\"\r\n"), "{}", all.text);
    // Times are in the reader's zone.
    let time = panel.get("/products/export?columns=created_at&format=csv&q[id_eq]=1").await.status(200).text.clone();
    let created = server.admin().get("/products/1").await.record("product")["created_at"].to_string();
    assert!(!time.contains('Z') && created.contains('Z'), "{time}");
}

async fn export_with_codes_has_the_values_of_the_api(server: Server) {
    let mut panel = panel_with_products(&server).await;
    let list = "columns=name,product_type,stock_method,is_active,product_group_id,created_at&q[id_eq]=1";
    let page = panel.get(&format!("/products/export?{list}&format=csv&values=codes")).await;
    let created = server.admin().get("/products/1").await.record("product")["created_at"].clone();
    let expected = format!(
        "name,product_type,stock_method,is_active,product_group_id,created_at\r\nLamp,loss_and_damage,1,true,1,{}\r\n",
        created.as_str().expect("a time")
    );
    assert_eq!(page.status(200).text.trim_start_matches('\u{feff}'), expected);
    // A reference has its title for people.
    let page = panel.get("/products/export?columns=product_group_id&q[id_eq]=1&format=csv").await;
    assert!(page.status(200).text.ends_with("\r\nLight\r\n"), "{}", page.text);
    let lines = panel.get("/products/export?columns=name&sort=id&format=ndjson").await;
    assert_eq!(lines.status(200).text.lines().next(), Some("{\"id\":1,\"name\":\"Lamp\"}"));
}

async fn export_has_only_the_chosen_rows(server: Server) {
    let mut panel = panel_with_products(&server).await;
    let page = panel.get("/products/export?columns=name&sort=-id&ids=1,3&format=csv").await;
    assert!(page.status(200).text.ends_with("Name\r\n\"Torch, small\"\r\nLamp\r\n"), "{}", page.text);
    // The bulk form of the list leads to it.
    let chosen =
        [("_step", "export"), ("id", "1"), ("id", "3"), ("_query", "columns=name&sort=-id"), ("_back", "/products")];
    let form = panel.submit("/products/bulk", &chosen).await;
    form.status(200).says("Export 2 products").says("name=\"ids\" value=\"1,3\"").says("name=\"sort\" value=\"-id\"");
    panel.get("/products/export?ids=much&format=csv").await.status(400).says("The request is not valid");
}

async fn name_of_the_file_has_the_view_and_the_date(server: Server) {
    let mut panel = panel_with_products(&server).await;
    let view = json!({ "name": "Heavy/light", "entity_type": "products", "visibility": "system", "columns": ["name"], "filters": [] });
    server.admin().post("/custom_views", view).await.created("custom_view");
    let page = panel.get("/products/export?view_id=1&format=csv").await;
    let named = page.status(200).header("content-disposition").to_string();
    assert!(named.starts_with("attachment; filename="), "{named}");
    assert!(named.contains("Heavy-light") && named.contains(".csv") && named.contains(" - "), "{named}");
    assert!(page.text.trim_start_matches('\u{feff}').starts_with("Name\r\n"), "{}", page.text);
}

async fn export_of_an_unknown_format_or_of_a_stranger_is_refused(server: Server) {
    let mut panel = panel_with_products(&server).await;
    panel.get("/products/export?format=pdf").await.status(400);
    panel.get("/products/export").await.status(400);
    panel.get("/products/export?format=csv&q[nothing_eq]=1").await.status(400);
    panel.get("/settings/export?format=csv").await.status(404);
    let (reader, _) = server.user(&[], &["*"]).await;
    let role = json!({ "abilities": ["members:read"] });
    server.admin().put(&format!("/roles/{}", reader["role_ids"][0]), role).await.ok();
    signed_in(&server, &reader).await.get("/products/export?format=csv").await.status(403);
    CookieClient::new(&server.url()).get("/products/export?format=csv").await.status(303);
    // Another site cannot begin an export.
    panel.with("sec-fetch-site", Some("cross-site")).get("/products/export?format=csv").await.status(409);
    // Deleted records have the time of their deletion, as on the page.
    server.admin().delete("/products/1").await.status(204);
    let page = panel.get("/products/export?deleted=only&format=csv").await;
    assert!(page.status(200).text.lines().next().is_some_and(|line| line.ends_with(",Deleted")), "{}", page.text);
}
