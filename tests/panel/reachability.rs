//! Ways between pages: actions of a collection, rows that open records, the way back to a list, and error pages.

use serde_json::{Value, json};

use super::{admin, browser_of, signed_in};
use crate::support::{Client, Server, on_both};

on_both!(
    action_of_a_collection_is_linked_from_its_list,
    error_pages_of_a_signed_in_user_have_the_navigation,
    error_page_of_a_missing_record_links_to_its_list,
    record_leads_back_to_the_list_as_it_was,
    return_to_a_list_leads_to_no_other_host_or_collection,
    deleted_record_leads_back_to_the_list_of_deleted_records,
    records_that_nobody_makes_by_hand_are_sorted_by_name,
    names_of_related_rows_are_links,
);

on_both!(
    browser:
    whole_row_opens_the_record,
    edit_and_cancel_keep_the_way_back_to_the_list,
    related_row_opens_its_record_on_a_phone,
);

async fn products(client: &Client, names: &[&str]) {
    for name in names {
        client.post("/products", json!({ "name": name })).await.created("product");
    }
}

async fn action_of_a_collection_is_linked_from_its_list(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/exchange_rates").await.status(200).says("href=\"/exchange_rates/convert\">Convert…</a>");
    panel.get("/exchange_rates/convert").await.status(200).says("Amount");
}

async fn error_pages_of_a_signed_in_user_have_the_navigation(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    for (path, status, title) in [
        ("/nothing", 404, "Not found"),
        ("/products/99", 404, "Not found"),
        ("/panel/nothing", 404, "Not found"),
        ("/settings", 403, "Not permitted"),
        ("/users/new", 403, "Not permitted"),
    ] {
        let page = panel.get(path).await;
        page.status(status).says(title).says("aria-label=\"Main\"").says("href=\"/products\"").says("Sign out");
        assert!(!page.text.contains('`'), "{path}: {}", page.text);
    }
    let page = panel.submit("/products/99/delete", &[]).await;
    page.status(404).says("aria-label=\"Main\"");
    // Scripts still get the API's error.
    let mut script = panel.with("accept", Some("application/json"));
    let page = script.get("/products/99").await;
    assert!(page.status == 404 && page.text.contains("not_found"), "{}", page.text);
}

async fn error_page_of_a_missing_record_links_to_its_list(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/products/99").await.status(404).says("<a class=\"button\" href=\"/products\">All products</a>");
    assert!(!panel.get("/nothing").await.status(404).text.contains("All "));
}

async fn record_leads_back_to_the_list_as_it_was(server: Server) {
    products(&server.admin(), &["Lamp", "Large lamp", "Bulb"]).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let list = "/products?q[name_cont]=lamp&sort=-name&per_page=1&page=2";
    let back = "%2Fproducts%3Fq[name_cont]%3Dlamp%26sort%3D-name%26per_page%3D1%26page%3D2";
    let page = panel.get(list).await;
    page.status(200).says(&format!("href=\"/products/1?_back={back}\""));
    let record = panel.get(&format!("/products/1?_back={back}")).await;
    record
        .status(200)
        .says("<a href=\"/products?q[name_cont]=lamp&amp;sort=-name&amp;per_page=1&amp;page=2\">Products</a>");
    record.says(&format!("href=\"/products/1/delete?_back={back}\""));
    // The whole list needs no way back, and one that is too long is left out.
    panel.get("/products").await.status(200).says("href=\"/products/1\"");
    let long = format!("/products?q[name_not_eq]={}", "x".repeat(1_200));
    panel.get(&long).await.status(200).says("href=\"/products/1\"");
}

async fn return_to_a_list_leads_to_no_other_host_or_collection(server: Server) {
    products(&server.admin(), &["Lamp"]).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for back in [
        "https://evil.example.com/products",
        "//evil.example.com/products",
        "/%5Cevil.example.com",
        "/users?sort=name",
        "/products/../users",
        "/productsx",
    ] {
        let page = panel.get(&format!("/products/1?_back={back}")).await;
        page.status(200).says("<a href=\"/products\">Products</a>");
        assert!(
            !page.text.contains("<a href=\"https://evil") && !page.text.contains("<a href=\"//evil"),
            "{}",
            page.text
        );
    }
}

async fn deleted_record_leads_back_to_the_list_of_deleted_records(server: Server) {
    products(&server.admin(), &["Lamp"]).await;
    server.admin().delete("/products/1").await.deleted();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let list = "/products?deleted=only&sort=name";
    panel
        .get(list)
        .await
        .status(200)
        .says("href=\"/products/1?deleted=only&amp;_back=%2Fproducts%3Fdeleted%3Donly%26sort%3Dname\"");
    let page = panel.get("/products/1?deleted=only&_back=%2Fproducts%3Fdeleted%3Donly%26sort%3Dname").await;
    page.status(200).says("<a href=\"/products?deleted=only&amp;sort=name\">Deleted products</a>");
}

async fn records_that_nobody_makes_by_hand_are_sorted_by_name(server: Server) {
    server.admin().post("/roles", json!({ "name": "Accounting" })).await.created("role");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for (path, first, later) in
        [("/roles", ">Accounting<", ">Member<"), ("/currencies", ">Afghani<", ">Algerian Dinar<")]
    {
        let page = panel.get(path).await;
        let at =
            |text: &str| page.text.find(text).unwrap_or_else(|| panic!("{path} does not say {text}: {}", page.text));
        assert!(at(first) < at(later), "{path}");
        page.says("aria-sort=\"ascending\"");
    }
    // Records that people make come in the order in which they were made.
    products(&server.admin(), &["Lamp", "Bulb"]).await;
    let page = panel.get("/products").await;
    assert!(page.text.find(">Lamp<") < page.text.find(">Bulb<"), "{}", page.text);
    // The audit log begins with the latest entry.
    panel.get("/audit_entries").await.status(200).says("sort=");
}

async fn names_of_related_rows_are_links(server: Server) {
    let client = server.admin();
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    client.post("/products", json!({ "name": "Lamp", "product_group_id": 1 })).await.created("product");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/product_groups/1").await.status(200).says("<a href=\"/products/1\" data-open>Lamp</a>");
}

async fn whole_row_opens_the_record(server: Server) {
    products(&server.admin(), &["Lamp"]).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=name");
    browser.run("window.leaving = true; document.querySelector('tbody tr td:last-child').click(); 1");
    browser.until("!window.leaving && document.readyState === 'complete' && location.pathname === '/products/1'");
    assert_eq!(browser.address(), "/products/1?_back=%2Fproducts%3Fsort%3Dname");
    // A click on the checkbox or next to it selects the row.
    browser.open("/products");
    browser.run("document.querySelector('tbody .pick').click(); document.querySelector('tbody [name=id]').click(); 1");
    assert_eq!(browser.address(), "/products");
    assert_eq!(browser.run("document.querySelector('tbody [name=id]').checked"), true);
    browser.is_clean();
}

async fn edit_and_cancel_keep_the_way_back_to_the_list(server: Server) {
    products(&server.admin(), &["Lamp", "Bulb"]).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=-name");
    browser.follow("tbody tr:first-child a[data-open]");
    browser.follow("[data-edit]");
    browser.fill("[name=sku]", "A");
    browser.follow(".record .primary");
    browser.sees("Edit");
    browser.press(".actions .menu summary");
    browser.follow("a.danger");
    browser.follow("main form a.button");
    browser.follow(".trail a");
    assert_eq!(browser.address(), "/products?sort=-name");
    browser.is_clean();
}

async fn related_row_opens_its_record_on_a_phone(server: Server) {
    let client = server.admin();
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    client.post("/products", json!({ "name": "Lamp", "product_group_id": 1 })).await.created("product");
    let mut browser = browser_of(&server, 1).await;
    browser.size(390, 900);
    browser.open("/product_groups/1");
    let visible = "(() => { const at = document.querySelector('main td a[data-open]').getBoundingClientRect(); return at.width > 0 && at.left >= 0 && at.right <= 390; })()";
    assert_eq!(browser.run(visible), Value::Bool(true));
    browser.follow("main td a[data-open]");
    assert_eq!(browser.address(), "/products/1");
    browser.is_clean();
}
