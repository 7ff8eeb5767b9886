//! Query parameters of lists: how the panel parses, limits and describes conditions.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::signed_in;
use crate::support::{Server, on_both};

on_both!(
    csv_and_json_lines_exports_over_http_1_0_are_rejected,
    timestamps_outside_the_input_range_reach_the_api_unchanged,
    display_names_are_loaded_for_at_most_1000_list_elements,
    conditions_are_described_with_the_logic_that_the_api_applies,
    a_condition_without_inputs_stays_active_and_is_shown_as_a_parameter,
    filters_narrow_a_saved_view_as_in_the_api,
);

/// Over HTTP/1.0 the end of a response is the end of the connection, so that a truncated export looks complete.
async fn csv_and_json_lines_exports_over_http_1_0_are_rejected(server: Server) {
    let cookie = signed_in(&server, &json!({ "id": 1 })).await.cookie.expect("a session");
    for (version, accept, expected) in [
        ("HTTP/1.0", "text/csv", " 400 "),
        ("HTTP/1.0", "application/x-ndjson", " 400 "),
        ("HTTP/1.0", "application/json", " 200 "),
        ("HTTP/1.1", "text/csv", " 200 "),
    ] {
        let mut stream = TcpStream::connect(server.address).await.expect("the server listens");
        let begin = format!("GET /panel/api/products {version}\r\nhost: test\r\nconnection: close\r\n");
        let request = format!("{begin}cookie: {cookie}\r\naccept: {accept}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("the server reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("the server answers");
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.lines().next().is_some_and(|line| line.contains(expected)), "{version} {accept}: {text}");
    }
}

async fn timestamps_outside_the_input_range_reach_the_api_unchanged(server: Server) {
    server.admin().put("/settings", json!({ "timezone": "America/New_York" })).await.ok();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    // The last minute that chrono supports; in New York it is beyond.
    let form = "apply=1&f0.logic=and&f0.field=created_at&f0.predicate=gt&f0.value=%2B262142-12-31T23:59";
    let redirected = panel.get(&format!("/products?{form}")).await;
    panel.get(redirected.status(303).header("location")).await.status(422).says("must be an RFC 3339 timestamp");
    // A `datetime-local` input does not support a time that the time zone moves before the year 1.
    let page = panel.get("/products?tool=filter&q[created_at_gt]=0001-01-01T00:00:00Z").await;
    page.status(200).says("<input type=\"text\" name=\"f0.value\" value=\"0001-01-01T00:00:00Z\"");
}

async fn display_names_are_loaded_for_at_most_1000_list_elements(server: Server) {
    server.admin().post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let ids: Vec<String> = (2..=1_000).map(|id| id.to_string()).collect();
    let ids = ids.join(",");
    panel.get(&format!("/products?q[product_group_id_in]={ids},1")).await.status(200).says("Lights");
    let page = panel.get(&format!("/products?q[product_group_id_in]={ids},1001,1")).await;
    page.status(422).says("at most 1000 elements");
    assert!(!page.text.contains("Lights"), "a rejected list loads no display names");
}

/// Logic words and values of switches are case-insensitive.
async fn conditions_are_described_with_the_logic_that_the_api_applies(server: Server) {
    let client = server.admin();
    for (name, sku) in [("Lamp", json!("A")), ("Lantern", json!(null)), ("Table", json!("C"))] {
        client.post("/products", json!({ "name": name, "sku": sku })).await.created("product");
    }
    let filters = json!([
        { "field": "name", "predicate": "cont", "value": "lam", "logic": "Or" },
        { "field": "name", "predicate": "cont", "value": "lan", "logic": "OR" },
        { "field": "sku", "predicate": "present", "value": "FALSE", "logic": "NAND" },
    ]);
    let found = client.list("/products", &[("filters", &filters.to_string())]).await;
    assert_eq!(found.column("products", "name"), [json!("Lamp")]);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let said = ["Name contains “lam”", "or Name contains “lan”", "and not SKU: not “is filled in”"];
    let page = panel.get(&format!("/products?tool=filter&filters={filters}")).await;
    for said in said {
        page.status(200).says(&format!("<li>{said} "));
    }
    // The form has the same conditions, so that applying it changes nothing.
    for chosen in ["<option value=\"or\" selected>or<", "<option value=\"nand\" selected>and not<"] {
        page.says(chosen);
    }
    let query = format!("filters={filters}");
    let all = [("_all", "1"), ("_query", query.as_str()), ("_step", "delete")];
    let page = panel.submit("/products/bulk", &all).await;
    for said in said {
        page.status(200).says(&format!("<li>{said}</li>"));
    }
}

/// Conditions of the form are combined with it.
async fn a_condition_without_inputs_stays_active_and_is_shown_as_a_parameter(server: Server) {
    let client = server.admin();
    for (name, sku) in [("Lamp", json!("Lights")), ("Lantern", json!(null))] {
        client.post("/products", json!({ "name": name, "sku": sku })).await.created("product");
    }
    let group = json!({ "field": "sku_or_barcode", "predicate": "eq", "value": "Lights", "logic": "and" });
    let named = json!({ "field": "name", "predicate": "cont", "value": "la", "logic": "and" });
    let filters = json!([named, group]).to_string();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get(&format!("/products?tool=filter&filters={filters}")).await;
    page.status(200).says("<li><code>filters=").says("aria-label=\"Remove: filters\"");
    page.says(&format!("name=\"filters\" value=\"{}\"", filters.replace('"', "&quot;")));
    assert!(page.text.contains(">Lamp<") && !page.text.contains(">Lantern<"), "{}", page.text);
    let applied = "apply=1&f0.logic=and&f0.field=name&f0.predicate=cont&f0.value=lan";
    let redirected = panel.get(&format!("/products?{applied}&filters={filters}")).await;
    let page = panel.get(redirected.status(303).header("location")).await;
    assert!(!page.status(200).text.contains(">Lantern<"), "the list is not widened: {}", page.text);
}

/// `q[...]` replaces the view's condition, and `filters` does not.
async fn filters_narrow_a_saved_view_as_in_the_api(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Lantern", "Table"] {
        client.post("/products", json!({ "name": name })).await.created("product");
    }
    let condition = |value: &str| json!([{ "field": "name", "predicate": "cont", "value": value, "logic": "and" }]);
    let view = json!({ "name": "Lights", "entity_type": "products", "columns": ["name"], "filters": condition("la") });
    let id = client.post("/custom_views", view).await.created("custom_view")["id"].to_string();
    let narrowed = condition("t").to_string();
    let found = client.list("/products", &[("view_id", &id), ("filters", &narrowed)]).await;
    assert_eq!(found.column("products", "name"), [json!("Lantern")]);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let beside = format!("view_id={id}&filters={narrowed}");
    let only = |text: &str| [">Lamp<", ">Lantern<", ">Table<"].map(|name| text.contains(name));
    let page = panel.get(&format!("/products?tool=filter&{beside}")).await;
    assert_eq!(only(&page.status(200).text), [false, true, false], "{}", page.text);
    // Every link and form of the page has the same conditions.
    page.says("name=\"listed\" value=\"1\"");
    assert!(!page.text.contains("q[name_cont]=t"), "{}", page.text);
    let form = format!("view_id={id}&apply=1&listed=1&f0.logic=and&f0.field=name&f0.predicate=cont&f0.value=t");
    let redirected = panel.get(&format!("/products?{form}")).await;
    let page = panel.get(redirected.status(303).header("location")).await;
    assert_eq!(only(&page.status(200).text), [false, true, false], "{}", page.text);
    let kept = panel.submit("/products/views", &[("name", "Both"), ("columns", "name"), ("_query", &beside)]).await;
    let page = panel.get(kept.status(303).header("location")).await;
    assert_eq!(only(&page.status(200).text), [false, true, false], "it is kept with the view: {}", page.text);
}
