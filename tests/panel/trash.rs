//! Soft-deleted records in the browser: list, page and restore.

use serde_json::json;

use super::{admin, signed_in};
use crate::support::{Browser, Client, Server, on_both};

on_both!(
    a_failed_restore_shows_the_reason,
    the_url_of_a_deleted_record_redirects_to_its_deleted_page,
    links_and_forms_of_the_trash_stay_in_the_trash,
);

on_both!(
    browser:
    a_deleted_record_is_found_viewed_and_restored,
    a_deleted_record_is_restored_by_keyboard_alone,
    selected_records_are_restored_by_keyboard,
    all_matching_records_are_restored_in_batches,
);

async fn deleted(client: &Client, name: &str) -> String {
    let id = client.post("/products", json!({ "name": name, "sku": name })).await.created("product")["id"].clone();
    client.delete(&format!("/products/{id}")).await.deleted();
    format!("/products/{id}")
}

async fn a_deleted_record_is_found_viewed_and_restored(server: Server) {
    let client = server.admin();
    let lamp = deleted(&client, "Lamp").await;
    client.post("/products", json!({ "name": "Kept" })).await.created("product");
    let mut browser = admin(&server).await;
    browser.open("/products");
    assert!(!browser.text("main").contains("Lamp"));
    browser.follow(".actions a[href='/products?deleted=only']");
    assert_eq!(browser.text("h1"), "Deleted products 1");
    assert!(browser.text("thead").to_lowercase().contains("deleted"), "{}", browser.text("thead"));
    for nothing in ["[data-new]", "[value=edit]", "[value=delete]", ".views"] {
        assert_eq!(browser.run(&format!("document.querySelector('main {nothing}')")), json!(null), "{nothing}");
    }
    browser.follow("tbody a[data-open]");
    assert_eq!(browser.address(), format!("{lamp}?deleted=only"));
    browser.sees("This product is deleted");
    assert!(browser.text(".facts").contains("Lamp"), "{}", browser.text(".facts"));
    for nothing in ["[data-edit]", "form[action$='/delete']", "input[type=file]"] {
        assert_eq!(browser.run(&format!("document.querySelector(\"main {nothing}\")")), json!(null), "{nothing}");
    }
    // Restoring needs a confirmation.
    browser.press(".actions .menu summary");
    client.get(&lamp).await.refused(404, "not_found");
    browser.follow("form[action$='/restore'] button");
    assert_eq!(browser.address(), lamp);
    browser.sees("Edit");
    assert_eq!(client.get(&lamp).await.record("product")["name"], "Lamp");
    browser.press(".history li:first-child summary");
    assert!(browser.text(".history li:first-child").contains("restored"), "{}", browser.text(".history"));
    browser.open("/products?deleted=only");
    browser.sees("There are no deleted products");
    browser.is_clean();
}

/// Presses Tab until the element is focused.
fn tab_to(browser: &mut Browser, selector: &str) {
    for _ in 0..80 {
        if browser.run(&format!("document.activeElement.matches({})", json!(selector))) == true {
            return;
        }
        browser.key("Tab", 0);
    }
    panic!("{selector} is not reached by the Tab key");
}

async fn a_deleted_record_is_restored_by_keyboard_alone(server: Server) {
    let client = server.admin();
    let lamp = deleted(&client, "Lamp").await;
    let mut browser = admin(&server).await;
    browser.open("/products");
    let leaves = "!window.leaving && document.readyState === 'complete'";
    tab_to(&mut browser, "a[href='/products?deleted=only']");
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until(leaves);
    browser.type_text("j");
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until(&format!("{leaves} && location.pathname === '{lamp}'"));
    tab_to(&mut browser, ".actions summary");
    browser.key("Enter", 0);
    tab_to(&mut browser, "form[action$='/restore'] button");
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until(&format!("{leaves} && location.search === ''"));
    assert_eq!(client.get(&lamp).await.record("product")["name"], "Lamp");
    browser.is_clean();
}

async fn a_failed_restore_shows_the_reason(server: Server) {
    let client = server.admin();
    let lamp = deleted(&client, "Lamp").await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let page = admin.submit(&format!("{lamp}/restore"), &[("_version", "\"other\"")]).await;
    page.status(412).says("The record was not restored").says("Somebody else changed this record");
    client.get(&lamp).await.refused(404, "not_found");
    // A form without a CSRF token is rejected.
    admin.post(&format!("{lamp}/restore"), &[]).await.status(409);
    client.get(&lamp).await.refused(404, "not_found");
    admin.submit("/products/999/restore", &[]).await.status(404);
    admin.submit(&format!("{lamp}/restore"), &[]).await.status(303);
    client.get(&lamp).await.ok();
    // After a restore the page of the deleted record redirects, and a second restore is harmless.
    let moved = admin.get(&format!("{lamp}?deleted=only")).await;
    assert_eq!((moved.status, moved.header("location")), (303, lamp.as_str()));
    admin.submit(&format!("{lamp}/restore"), &[]).await.status(303);
}

async fn the_url_of_a_deleted_record_redirects_to_its_deleted_page(server: Server) {
    let lamp = deleted(&server.admin(), "Lamp").await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let moved = admin.get(&lamp).await;
    assert_eq!((moved.status, moved.header("location")), (303, format!("{lamp}?deleted=only").as_str()));
    admin.get(&format!("{lamp}?deleted=only")).await.status(200).says("This product is deleted");
    for path in ["/products/999", "/products/999?deleted=only", "/members/1?deleted=only", "/members/1"] {
        let status = admin.get(path).await.status;
        assert!([404, 400].contains(&status), "{path}: {status}");
    }
    admin.get(&format!("{lamp}/edit")).await.status(404);
}

async fn links_and_forms_of_the_trash_stay_in_the_trash(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Cable"] {
        deleted(&client, name).await;
    }
    client.post("/products", json!({ "name": "Stand" })).await.created("product");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let list = admin.get("/products?deleted=only").await;
    list.status(200).says("/products/1?deleted=only").says("/api/v1/products?");
    assert!(!list.text.contains("Stand") && list.text.contains("deleted=only&amp;"), "{}", list.text);
    let narrowed = admin.get("/products?deleted=only&q[name_cont]=lam&q[deleted_at_not_null]=1").await;
    narrowed.status(200).says("Lamp");
    assert!(!narrowed.text.contains("Cable"));
    // Search, filter and columns stay in the trash.
    for tool in ["filter", "columns"] {
        let open = admin.get(&format!("/products?deleted=only&q[name_cont]=lam&tool={tool}")).await;
        // Those of the search, of the open tool and of the export.
        assert_eq!(open.text.matches("name=\"deleted\" value=\"only\"").count(), 3, "{}", open.text);
    }
    admin.get("/products?deleted=only&q[name_eq]=x").await.says("No deleted product matches these conditions");
    admin.get("/products?deleted=all").await.status(422).says("must be only");
    let members = admin.get("/members").await;
    assert!(!members.text.contains("deleted=only"), "members have no soft delete");
    admin.get("/members?deleted=only").await.status(422);
}

async fn selected_records_are_restored_by_keyboard(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Cable", "Stand"] {
        deleted(&client, name).await;
    }
    let mut browser = admin(&server).await;
    browser.open("/products?deleted=only&sort=name");
    browser.type_text("jxjx");
    tab_to(&mut browser, "[value=restore]");
    let leaves = "!window.leaving && document.readyState === 'complete'";
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until(leaves);
    browser.sees("2 products will be restored");
    let shown = browser.text("main");
    assert!(shown.contains("Cable") && shown.contains("Lamp") && !shown.contains("Stand"), "{shown}");
    assert_eq!(client.get("/products").await.ok()["meta"]["total"], 0, "the preview changes nothing");
    tab_to(&mut browser, "form .primary");
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until(leaves);
    browser.sees("2 products were restored");
    assert_eq!(client.get("/products?sort=name").await.column("products", "name"), ["Cable", "Lamp"]);
    browser.follow("p a.primary");
    assert_eq!(browser.address(), "/products?deleted=only&sort=name");
    browser.is_clean();
}

async fn all_matching_records_are_restored_in_batches(server: Server) {
    let client = server.admin();
    let product = |n: usize| json!({ "method": "create", "product": { "name": format!("Bulk {n}") } });
    let operations: Vec<_> = (0..130).map(product).collect();
    client.post("/products/bulk", json!({ "operations": operations })).await.ok();
    let operations: Vec<_> = (1..=130).map(|id| json!({ "method": "delete", "id": id })).collect();
    client.post("/products/bulk", json!({ "operations": operations })).await.ok();
    deleted(&client, "Else").await;
    let mut browser = admin(&server).await;
    browser.open("/products?deleted=only&q[name_cont]=bulk");
    browser.press("[name=_all]");
    browser.follow("[data-bulk] [value=restore]");
    browser.sees("130 products will be restored");
    browser.press("form .primary");
    browser.sees("130 products were restored");
    assert_eq!(client.get("/products?q[name_cont]=bulk").await.ok()["meta"]["total"], 130);
    assert_eq!(client.get("/products?deleted=only").await.column("products", "name"), ["Else"]);
    browser.is_clean();
}
