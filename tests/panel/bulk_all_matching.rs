//! Bulk operations on all matching records: preview, then batches.

use serde_json::json;

use super::cookie_client::Page;
use super::{CookieClient, admin, signed_in};
use crate::support::{Server, on_both};

on_both!(
    rejected_records_are_reported_and_the_others_are_changed,
    records_created_meanwhile_are_unaffected_and_deleted_ones_are_skipped,
    stopped_operation_shows_what_is_done_and_can_be_undone,
    invalid_conditions_change_nothing,
    a_list_with_another_sort_order_is_processed_completely,
    changing_the_saved_view_ends_a_bulk_operation,
    deleting_a_custom_field_of_the_saved_view_ends_a_bulk_operation,
);

on_both!(
    browser:
    all_matching_records_are_changed_in_batches,
    stop_during_a_batch_ends_the_operation_after_it,
);

async fn bulks(server: &Server, count: usize) {
    let product = |n: usize| json!({ "name": format!("Bulk {n}"), "product_type": "rental" });
    let operations: Vec<_> = (0..count).map(|n| json!({ "method": "create", "product": product(n) })).collect();
    server.admin().post("/products/bulk", json!({ "operations": operations })).await.ok();
    server.admin().post("/products", json!({ "name": "Else", "product_type": "rental" })).await.created("product");
}

async fn total(server: &Server, query: &str) -> i64 {
    server.admin().get(&format!("/products?{query}")).await.ok()["meta"]["total"].as_i64().expect("a total")
}

/// The progress that a page passes to the next.
pub fn progress(page: &Page) -> String {
    let rest = page.text.split("name=\"_progress\" value=\"").nth(1).unwrap_or_else(|| panic!("none: {}", page.text));
    rest.split('"').next().expect("an end").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Sends a step for all products whose name contains `bulk`.
async fn step(panel: &mut CookieClient, step: &str, further: &[(&str, &str)]) -> Page {
    let known = [("_all", "1"), ("_query", "q[name_cont]=bulk&sort=-name"), ("_step", step)];
    panel.submit("/products/bulk", &[&known[..], further].concat()).await
}

/// Runs the next batch of a deletion.
async fn next(panel: &mut CookieClient, known: &[(&str, &str)], shown: &Page) -> Page {
    let progress = progress(shown);
    let form = [known, &[("_step", "apply-delete"), ("_progress", &progress)]].concat();
    panel.submit("/products/bulk", &form).await
}

async fn all_matching_records_are_changed_in_batches(server: Server) {
    bulks(&server, 230).await;
    let mut browser = admin(&server).await;
    browser.open("/products?q[name_cont]=bulk&sort=-name");
    browser.press("[name=_all]");
    browser.follow("[data-bulk] [value=edit]");
    browser.fill("#_field", "product_type");
    browser.follow(".record .primary");
    browser.fill("#value", "sale");
    browser.follow(".record .primary");
    let shown = browser.text("main");
    for said in ["230 products will be changed", "processed on its own", "Name contains “bulk”", "and 210 more"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert_eq!(total(&server, "q[product_type_eq]=sale").await, 0, "the preview changes nothing");
    browser.press("form .primary");
    browser.sees("230 products were changed");
    assert_eq!(total(&server, "q[product_type_eq]=sale&q[name_cont]=bulk").await, 230);
    assert_eq!(total(&server, "q[product_type_eq]=sale").await, 230, "other products stay unchanged");
    browser.follow("p a.primary");
    assert_eq!(browser.address(), "/products?q[name_cont]=bulk&sort=-name");
    // The whole list, without conditions.
    browser.open("/products");
    browser.press("[name=_all]");
    browser.follow("[data-bulk] [value=delete]");
    browser.sees("231 products will be deleted");
    browser.press("form .danger");
    browser.sees("231 products were deleted");
    assert_eq!(total(&server, "").await, 0);
    browser.is_clean();
}

async fn a_list_with_another_sort_order_is_processed_completely(server: Server) {
    for number in 0..3 {
        let activity = json!({ "subject": format!("Call {number}"), "starts_at": "2026-03-21T10:00:00Z" });
        server.admin().post("/activities", activity).await.created("activity");
    }
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let known = [("_all", "1"), ("_query", "")];
    let page = admin.submit("/activities/bulk", &[&known[..], &[("_step", "delete")]].concat()).await;
    page.status(200).says("3 activities will be deleted");
    let progress = progress(&page);
    let next = [("_step", "apply-delete"), ("_progress", progress.as_str())];
    let page = admin.submit("/activities/bulk", &[&known[..], &next].concat()).await;
    page.status(200).says("3 activities were deleted");
}

async fn rejected_records_are_reported_and_the_others_are_changed(server: Server) {
    let group = |n: usize| json!({ "method": "create", "product_group": { "name": format!("Bulk {n}") } });
    let operations: Vec<_> = (0..120).map(group).collect();
    let groups = server.admin().post("/product_groups/bulk", json!({ "operations": operations })).await.ok();
    let first = groups["results"][0]["product_group"]["id"].clone();
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let known = [("_all", "1"), ("_query", "q[name_cont]=bulk"), ("_field", "name"), ("name", "One")];
    let mut page = admin.submit("/product_groups/bulk", &[&known[..], &[("_step", "preview")]].concat()).await;
    page.status(200).says("120 product groups will be changed").says("One");
    let mut turns = 0;
    while page.text.contains("_progress") {
        let progress = progress(&page);
        let next = [("_step", "apply"), ("_progress", progress.as_str())];
        page = admin.submit("/product_groups/bulk", &[&known[..], &next].concat()).await;
        turns += 1;
        if turns == 1 {
            page.status(200)
                .says("100 of 120 product groups")
                .says("data-continue")
                .says("1 product group was changed");
        }
    }
    assert_eq!(turns, 2);
    page.says("1 product group was changed")
        .says("119 product groups were rejected")
        .says(": 119 product groups, first");
    page.says("Name ").says("taken");
    assert_eq!(server.admin().get("/product_groups?q[name_eq]=One").await.records("product_groups")[0]["id"], first);
    // A user without the permission is rejected.
    let (user, _) = server.user(&[], &["*"]).await;
    let mut plain = signed_in(&server, &user).await;
    let rates = [("_all", "1"), ("_query", ""), ("_step", "apply-delete")];
    plain.submit("/users/bulk", &rates).await.status(403);
    assert_eq!(server.admin().get("/users?q[is_active_eq]=false").await.ok()["meta"]["total"], 0);
}

async fn records_created_meanwhile_are_unaffected_and_deleted_ones_are_skipped(server: Server) {
    bulks(&server, 150).await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let shown = step(&mut admin, "delete", &[]).await;
    shown.status(200).says("150 products will be deleted");
    server.admin().post("/products", json!({ "name": "Bulk, and late" })).await.created("product");
    let first = step(&mut admin, "apply-delete", &[("_progress", &progress(&shown))]).await;
    first.status(200).says("100 of 150 products").says("100 products were deleted");
    server.admin().delete("/products/150").await.deleted();
    let known = progress(&first);
    let last = step(&mut admin, "apply-delete", &[("_progress", &known)]).await;
    last.status(200).says("149 products were deleted").says("1 product was skipped").says("Back to the list");
    assert!(!last.text.contains("_progress"), "the job has ended");
    let left = server.admin().get("/products?sort=name").await;
    assert_eq!(left.column("products", "name"), [json!("Bulk, and late"), json!("Else")]);
    // Sending a page twice has no further effect.
    step(&mut admin, "apply-delete", &[("_progress", &known)]).await.status(200).says("Back to the list");
    assert_eq!(total(&server, "").await, 2);
}

async fn stopped_operation_shows_what_is_done_and_can_be_undone(server: Server) {
    bulks(&server, 150).await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let shown = step(&mut admin, "delete", &[]).await;
    let first = step(&mut admin, "apply-delete", &[("_progress", &progress(&shown))]).await;
    first.status(200).says("data-continue").says("name=\"_stop\"");
    let stopped = step(&mut admin, "apply-delete", &[("_progress", &progress(&first)), ("_stop", "1")]).await;
    stopped.status(200).says("<h1>Stopped</h1>").says("100 products were deleted").says("Back to the list");
    assert!(!stopped.text.contains("data-continue"), "{}", stopped.text);
    assert_eq!(total(&server, "").await, 51);
    let undo = super::undo::offer(&stopped.text).expect("an offer");
    admin.submit("/panel/undo", &[("_undo", &undo), ("_back", "/products")]).await.says("100 products were set back.");
    assert_eq!(total(&server, "").await, 151);
}

/// The press arrives while the batch is under way, whose page is then the last one.
async fn stop_during_a_batch_ends_the_operation_after_it(server: Server) {
    bulks(&server, 230).await;
    let mut browser = admin(&server).await;
    browser.open("/products?q[name_cont]=bulk&sort=-name");
    browser.press("[name=_all]");
    browser.follow("[data-bulk] [value=delete]");
    // The next page takes it for the press of the page before.
    browser.run("sessionStorage.setItem('stopping', 'yes'); 1");
    browser.run("window.leaving = true; document.querySelector('main form .danger').click(); 1");
    browser.until("!window.leaving && document.querySelector('h1').innerText === 'Stopped'");
    browser.sees("100 products were deleted");
    assert_eq!(total(&server, "").await, 131);
    browser.is_clean();
}

async fn invalid_conditions_change_nothing(server: Server) {
    bulks(&server, 30).await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    for query in ["q[nope_eq]=1", "q[weight_gt]=x", "filters=[{", "view_id=99"] {
        for step in ["delete", "apply-delete"] {
            let form = [("_all", "1"), ("_query", query), ("_step", step)];
            let refused = admin.submit("/products/bulk", &form).await;
            assert!((400..500).contains(&refused.status), "{query}: {} {}", refused.status, refused.text);
        }
    }
    let broken = [("_all", "1"), ("_query", ""), ("_step", "apply-delete"), ("_progress", "{")];
    admin.submit("/products/bulk", &broken).await.status(400).says("Start again");
    assert_eq!(total(&server, "").await, 31);
}

async fn changing_the_saved_view_ends_a_bulk_operation(server: Server) {
    bulks(&server, 150).await;
    let client = server.admin();
    let named = |what: &str| json!({ "filters": [{ "field": "name", "predicate": "cont", "value": what }] });
    let mut view = json!({ "name": "Mine", "entity_type": "products", "columns": ["name"] });
    view["filters"] = named("bulk")["filters"].clone();
    let view = client.post("/custom_views", view).await.created("custom_view");
    let (path, query) = (format!("/custom_views/{}", view["id"]), format!("view_id={}", view["id"]));
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let known = [("_all", "1"), ("_query", query.as_str())];
    let delete = [&known[..], &[("_step", "delete")]].concat();
    let shown = admin.submit("/products/bulk", &delete).await;
    shown.status(200).says("150 products will be deleted");
    // Now the view matches another record.
    client.put(&path, named("else")).await.ok();
    let ended = next(&mut admin, &known, &shown).await;
    ended.status(200).says("Somebody changed the view").says("0 products were deleted");
    assert!(!ended.text.contains("_progress") && !ended.text.contains("data-continue"), "the job does not continue");
    assert_eq!(total(&server, "").await, 151);
    // The view is also checked between batches. Changes of its name and columns do not matter.
    client.put(&path, named("bulk")).await.ok();
    let shown = admin.submit("/products/bulk", &delete).await;
    client.put(&path, json!({ "name": "Ours", "columns": ["name", "sku"] })).await.ok();
    let first = next(&mut admin, &known, &shown).await;
    first.status(200).says("100 of 150 products");
    client.put(&path, json!({ "filters": [] })).await.ok();
    let ended = next(&mut admin, &known, &first).await;
    ended.status(200).says("Somebody changed the view").says("100 products were deleted");
    // The view is deleted.
    let shown = admin.submit("/products/bulk", &delete).await;
    shown.says("51 products will be deleted");
    client.delete(&path).await.deleted();
    next(&mut admin, &known, &shown).await.status(200).says("Somebody changed the view");
    assert_eq!(total(&server, "").await, 51);
}

async fn deleting_a_custom_field_of_the_saved_view_ends_a_bulk_operation(server: Server) {
    let client = server.admin();
    let field = json!({ "entity_type": "members", "name": "to_go", "field_type": "boolean" });
    let field = client.post("/custom_fields", field).await.created("custom_field");
    for (name, to_go) in [("Ada", false), ("Bea", true), ("Cleo", false)] {
        let member = json!({ "name": name, "custom_fields": { "to_go": to_go } });
        client.post("/members", member).await.created("member");
    }
    let filters = json!([{ "field": "cf.to_go", "predicate": "true" }]);
    let view = json!({ "name": "To go", "entity_type": "members", "columns": ["name"], "filters": filters });
    let view = client.post("/custom_views", view).await.created("custom_view");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let query = format!("view_id={}", view["id"]);
    let known = [("_all", "1"), ("_query", query.as_str())];
    let shown = admin.submit("/members/bulk", &[&known[..], &[("_step", "delete")]].concat()).await;
    shown.status(200).says("1 member will be deleted");
    // The conditions of the view are unchanged, but without the field they cannot be applied.
    client.delete(&format!("/custom_fields/{}", field["id"])).await.deleted();
    client.get(&format!("/members?{query}")).await.invalid("view_id");
    let progress = progress(&shown);
    let known = [&known[..], &[("_step", "apply-delete"), ("_progress", &progress)]].concat();
    let ended = admin.submit("/members/bulk", &known).await;
    ended.status(200).says("Somebody changed the view").says("0 members were deleted");
    assert_eq!(client.get("/members").await.ok()["meta"]["total"], 3);
}
