//! Inputs of references in the browser: suggestions, choosing, and text that matches no record.

use serde_json::json;

use super::admin;
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    text_that_matches_no_record_is_rejected_and_clears_nothing,
    a_title_typed_in_full_is_chosen,
    enter_waits_for_the_suggestions,
    changing_the_type_clears_a_polymorphic_reference,
    several_references_are_added_one_after_the_other,
    a_condition_on_a_reference_shows_and_keeps_its_title,
    is_one_of_conditions_have_checkboxes,
);

async fn groups(server: &Server) {
    for name in ["Rigging", "Furniture", "Furniture, old"] {
        server.admin().post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    for (name, group) in [("Hoist", 1), ("Chair", 2)] {
        let product = json!({ "name": name, "product_group_id": group });
        server.admin().post("/products", product).await.created("product");
    }
}

/// Replaces the text of an input.
fn overtype(browser: &mut Browser, selector: &str, text: &str) {
    browser.run(&format!("document.querySelector({}).select(); 1", json!(selector)));
    match text {
        "" => browser.key("Backspace", 0),
        _ => browser.type_text(text),
    }
}

fn names(browser: &mut Browser) -> Vec<String> {
    let names = browser.run("[...document.querySelectorAll('[data-open]')].map(a => a.innerText)");
    serde_json::from_value(names).expect("texts")
}

async fn text_that_matches_no_record_is_rejected_and_clears_nothing(server: Server) {
    groups(&server).await;
    let client = server.admin();
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    let group = "#field-product_group_id";
    overtype(&mut browser, group, "Furnit");
    browser.follow(".record .primary");
    browser.sees("The record was not saved");
    assert!(
        browser.text(&format!("{group}-error")).contains("No product group is called Furnit."),
        "{}",
        browser.text("main")
    );
    assert_eq!(browser.run("document.querySelector('#field-product_group_id').value"), "Furnit");
    assert_eq!(client.get("/products/1").await.record("product")["product_group_id"], 1);
    overtype(&mut browser, group, "Nowhere");
    browser.until("document.querySelector('#status').innerText === 'Nothing found'");
    // An emptied input clears the field.
    overtype(&mut browser, group, "");
    browser.follow(".record .primary");
    assert_eq!(browser.address(), "/products/1");
    assert_eq!(client.get("/products/1").await.record("product")["product_group_id"], json!(null));
    browser.open("/users/new");
    browser.fill("[name=name]", "Ada");
    browser.fill("[name=email]", "ada@example.com");
    browser.run("document.querySelector('#field-role_ids').focus(); 1");
    browser.type_text("Book");
    browser.follow(".record .primary");
    browser.sees("The record was not saved");
    assert_eq!(browser.run("document.querySelector('#field-role_ids').value"), "Book");
    browser.is_clean();
}

async fn a_title_typed_in_full_is_chosen(server: Server) {
    groups(&server).await;
    let client = server.admin();
    client.post("/roles", json!({ "name": "Bookkeeping", "permissions": [] })).await.created("role");
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    // Text that is the title of a record chooses it, without a suggestion being clicked.
    overtype(&mut browser, "#field-product_group_id", "furniture");
    browser.follow(".record .primary");
    assert_eq!(client.get("/products/1").await.record("product")["product_group_id"], 2);
    browser.open("/users/new");
    browser.fill("[name=name]", "Ada");
    browser.fill("[name=email]", "ada@example.com");
    browser.run("document.querySelector('#field-role_ids').focus(); 1");
    browser.type_text("Bookkeeping");
    browser.key("Tab", 0);
    browser.until("document.querySelector('[data-several] input[type=checkbox]:checked') !== null");
    browser.follow(".record .primary");
    let user = client.get("/users?q[email_eq]=ada@example.com").await.records("users")[0].clone();
    assert_eq!(user["role_ids"], json!([3]));
    browser.open("/products");
    browser.unfold("#filter");
    browser.fill("[name='f0.field']", "product_group_id");
    browser.run("document.querySelector('#filter-form [role=combobox]').focus(); 1");
    browser.type_text("Rigging");
    browser.follow("#filter-form .primary");
    assert_eq!(browser.address(), "/products?q[product_group_id_eq]=1");
    browser.is_clean();
}

async fn enter_waits_for_the_suggestions(server: Server) {
    groups(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    browser.run(
        "const real = window.fetch; \
         window.fetch = (...asked) => new Promise((done) => setTimeout(done, 600)).then(() => real(...asked)); 1",
    );
    overtype(&mut browser, "#field-product_group_id", "furn");
    browser.key("Enter", 0);
    browser.until("document.querySelector('#field-product_group_id').value === 'Furniture'");
    assert_eq!(browser.address(), "/products/1/edit", "Enter chooses the record and does not submit the form");
    browser.follow(".record .primary");
    assert_eq!(server.admin().get("/products/1").await.record("product")["product_group_id"], 2);
    browser.is_clean();
}

async fn changing_the_type_clears_a_polymorphic_reference(server: Server) {
    groups(&server).await;
    let client = server.admin();
    client.post("/members", json!({ "name": "Ada" })).await.created("member");
    let activity = json!({ "subject": "Call", "regarding_type": "Member", "regarding_id": 1 });
    client.post("/activities", activity).await.created("activity");
    let mut browser = admin(&server).await;
    browser.open("/activities/1/edit");
    assert_eq!(browser.run("document.querySelector('#field-regarding_id').value"), "Ada");
    browser.fill("[name=regarding_type]", "Product");
    assert_eq!(browser.run("document.querySelector('#field-regarding_id').value"), "");
    assert_eq!(
        browser.run("document.querySelector('[name=regarding_id]').value"),
        "",
        "an id has no meaning for another type"
    );
    browser.fill("[name=regarding_type]", "");
    let hint = browser.run("document.querySelector('#field-regarding_id').placeholder");
    assert_eq!(hint, "Choose the type first");
    browser.fill("[name=regarding_type]", "Product");
    assert_eq!(browser.run("document.querySelector('#field-regarding_id').placeholder"), "");
    browser.run("document.querySelector('#field-regarding_id').focus(); 1");
    browser.type_text("Chair");
    browser.follow(".record .primary");
    let activity = client.get("/activities/1").await.record("activity");
    assert_eq!((&activity["regarding_type"], &activity["regarding_id"]), (&json!("Product"), &json!(2)));
    browser.is_clean();
}

async fn several_references_are_added_one_after_the_other(server: Server) {
    let client = server.admin();
    for name in ["Bookkeeping", "Warehouse"] {
        client.post("/roles", json!({ "name": name, "permissions": [] })).await.created("role");
    }
    let mut browser = admin(&server).await;
    browser.open("/users/new");
    browser.fill("[name=name]", "Ada");
    browser.fill("[name=email]", "ada@example.com");
    browser.run("document.querySelector('#field-role_ids').focus(); 1");
    for (typed, found) in [("book", "Bookkeeping"), ("ware", "Warehouse")] {
        browser.type_text(typed);
        browser.offers(found);
        browser.key("Enter", 0);
    }
    browser.follow(".record .primary");
    let user = client.get("/users?q[email_eq]=ada@example.com").await.records("users")[0].clone();
    assert_eq!(user["role_ids"], json!([3, 4]));
    browser.is_clean();
}

async fn a_condition_on_a_reference_shows_and_keeps_its_title(server: Server) {
    groups(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products?q[product_group_id_eq]=2");
    assert!(browser.text(".chips").contains("is “Furniture”"), "{}", browser.text(".chips"));
    browser.unfold("#filter");
    assert_eq!(browser.run("document.querySelector('#filter-form [role=combobox]').value"), "Furniture");
    browser.fill("[name='f0.predicate']", "not_eq");
    assert_eq!(browser.run("document.querySelector('#filter-form [role=combobox]').value"), "Furniture");
    browser.follow("#filter-form .primary");
    assert_eq!(browser.address(), "/products?q[product_group_id_not_eq]=2");
    browser.is_clean();
}

async fn is_one_of_conditions_have_checkboxes(server: Server) {
    groups(&server).await;
    let product = json!({ "name": "Nail", "product_type": "sale", "product_group_id": 3 });
    server.admin().post("/products", product).await.created("product");
    let mut browser = admin(&server).await;
    browser.open("/products?q[product_type_eq]=sale&sort=name");
    browser.unfold("#filter");
    browser.fill("[name='f0.predicate']", "in");
    let boxes =
        "[...document.querySelectorAll('[name=\"f0.value\"]')].filter(one => one.checked).map(one => one.value)";
    assert_eq!(browser.run(boxes), json!(["sale"]), "the value of the condition is checked");
    browser.press("[name='f0.value'][value=rental]");
    browser.follow("#filter-form .primary");
    assert_eq!(browser.address().replace("%2C", ","), "/products?q[product_type_in]=rental,sale&sort=name");
    assert_eq!(names(&mut browser), ["Chair", "Hoist", "Nail"]);
    browser.unfold("#filter");
    assert_eq!(browser.run(boxes), json!(["rental", "sale"]));
    // A list of references has a checkbox for each, and an input to add another.
    browser.open("/products?q[product_group_id_eq]=1&sort=name");
    browser.unfold("#filter");
    browser.fill("[name='f0.predicate']", "in");
    browser.refer("#filter-form [role=combobox]", "furniture, old", "Furniture, old");
    browser.follow("#filter-form .primary");
    assert_eq!(browser.address().replace("%2C", ","), "/products?q[product_group_id_in]=1,3&sort=name");
    assert_eq!(names(&mut browser), ["Hoist", "Nail"]);
    assert!(browser.text(".chips").contains("“Rigging”, “Furniture, old”"), "{}", browser.text(".chips"));
    browser.unfold("#filter");
    assert_eq!(browser.run(boxes), json!(["1", "3"]));
    browser.is_clean();
}
