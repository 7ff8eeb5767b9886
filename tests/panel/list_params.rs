//! What a list is asked: in the panel as in the API, however it is written, and no more than the API takes.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::visitor;
use crate::support::{Server, on_both};

on_both!(
    an_export_that_could_break_off_unseen_is_refused,
    a_time_beyond_the_calendar_is_asked_as_it_is,
    titles_are_read_of_no_more_than_a_list_takes,
    conditions_are_told_as_the_api_reads_them,
    a_condition_without_words_is_kept_and_shown_as_it_is,
    filters_beside_a_view_narrow_it_as_in_the_api,
);

/// Where the end of a connection is the end of an answer, all of a list and a part of it look the same.
async fn an_export_that_could_break_off_unseen_is_refused(server: Server) {
    let cookie = visitor(&server, &json!({ "id": 1 })).await.cookie.expect("a session");
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

async fn a_time_beyond_the_calendar_is_asked_as_it_is(server: Server) {
    server.admin().put("/settings", json!({ "timezone": "America/New_York" })).await.ok();
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    // The last minute that times are reckoned with, which New York moves beyond it.
    let form = "apply=1&f0.logic=and&f0.field=created_at&f0.predicate=gt&f0.value=%2B262142-12-31T23:59";
    let led = inside.get(&format!("/products?{form}")).await;
    inside.get(led.status(303).header("location")).await.status(422).says("must be an RFC 3339 timestamp");
    // What the zone moves before the year 1 no input for times holds.
    let page = inside.get("/products?tool=filter&q[created_at_gt]=0001-01-01T00:00:00Z").await;
    page.status(200).says("<input type=\"text\" name=\"f0.value\" value=\"0001-01-01T00:00:00Z\"");
}

async fn titles_are_read_of_no_more_than_a_list_takes(server: Server) {
    server.admin().post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    let ids: Vec<String> = (2..=1_000).map(|id| id.to_string()).collect();
    let ids = ids.join(",");
    inside.get(&format!("/products?q[product_group_id_in]={ids},1")).await.status(200).says("Lights");
    let page = inside.get(&format!("/products?q[product_group_id_in]={ids},1001,1")).await;
    page.status(422).says("at most 1000 elements");
    assert!(!page.text.contains("Lights"), "it is refused however many there are");
}

/// Words that join, and those of a switch, are written in any case.
async fn conditions_are_told_as_the_api_reads_them(server: Server) {
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
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    let said = ["Name contains “lam”", "or Name contains “lan”", "and not SKU: not “is filled in”"];
    let page = inside.get(&format!("/products?tool=filter&filters={filters}")).await;
    for said in said {
        page.status(200).says(&format!("<li>{said} "));
    }
    // The form offers what they are, so that to apply it changes nothing.
    for chosen in ["<option value=\"or\" selected>or<", "<option value=\"nand\" selected>and not<"] {
        page.says(chosen);
    }
    let query = format!("filters={filters}");
    let all = [("_all", "1"), ("_query", query.as_str()), ("_step", "delete")];
    let page = inside.submit("/products/bulk", &all).await;
    for said in said {
        page.status(200).says(&format!("<li>{said}</li>"));
    }
}

/// The form has no input for it: what is applied there holds beside it.
async fn a_condition_without_words_is_kept_and_shown_as_it_is(server: Server) {
    let client = server.admin();
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    for (name, group) in [("Lamp", json!(1)), ("Lantern", json!(null))] {
        client.post("/products", json!({ "name": name, "product_group_id": group })).await.created("product");
    }
    let group = json!({ "field": "product_group.name", "predicate": "eq", "value": "Lights", "logic": "and" });
    let named = json!({ "field": "name", "predicate": "cont", "value": "la", "logic": "and" });
    let filters = json!([named, group]).to_string();
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    let page = inside.get(&format!("/products?tool=filter&filters={filters}")).await;
    page.status(200).says("<li><code>filters=").says("aria-label=\"Remove: filters\"");
    page.says(&format!("name=\"filters\" value=\"{}\"", filters.replace('"', "&quot;")));
    assert!(page.text.contains(">Lamp<") && !page.text.contains(">Lantern<"), "{}", page.text);
    let applied = "apply=1&f0.logic=and&f0.field=name&f0.predicate=cont&f0.value=lan";
    let led = inside.get(&format!("/products?{applied}&filters={filters}")).await;
    let page = inside.get(led.status(303).header("location")).await;
    assert!(!page.status(200).text.contains(">Lantern<"), "the list is not widened: {}", page.text);
}

/// There `q[...]` takes the place of the view's condition, and `filters` does not.
async fn filters_beside_a_view_narrow_it_as_in_the_api(server: Server) {
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
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    let beside = format!("view_id={id}&filters={narrowed}");
    let only = |text: &str| [">Lamp<", ">Lantern<", ">Table<"].map(|name| text.contains(name));
    let page = inside.get(&format!("/products?tool=filter&{beside}")).await;
    assert_eq!(only(&page.status(200).text), [false, true, false], "{}", page.text);
    // Every link and form of the page asks for the same.
    page.says("name=\"listed\" value=\"1\"");
    assert!(!page.text.contains("q[name_cont]=t"), "{}", page.text);
    let form = format!("view_id={id}&apply=1&listed=1&f0.logic=and&f0.field=name&f0.predicate=cont&f0.value=t");
    let led = inside.get(&format!("/products?{form}")).await;
    let page = inside.get(led.status(303).header("location")).await;
    assert_eq!(only(&page.status(200).text), [false, true, false], "{}", page.text);
    let kept = inside.submit("/products/views", &[("name", "Both"), ("columns", "name"), ("_query", &beside)]).await;
    let page = inside.get(kept.status(303).header("location")).await;
    assert_eq!(only(&page.status(200).text), [false, true, false], "it is kept with the view: {}", page.text);
}
