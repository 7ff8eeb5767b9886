//! Form of a saved view: columns and conditions are edited with the inputs of a list.

use serde_json::json;

use super::{admin, signed_in};
use crate::support::{Server, on_both};

on_both!(
    rejected_conditions_stay_in_the_form,
    a_new_view_starts_with_the_default_columns_of_its_list,
    the_visibility_options_of_a_view_depend_on_the_user,
);

on_both!(
    browser:
    conditions_of_a_saved_view_are_edited_with_the_inputs_of_a_list,
    saving_an_untouched_view_changes_nothing,
    columns_of_a_saved_view_are_chosen_and_ordered,
    columns_are_ordered_without_scripts,
    the_current_list_is_saved_into_the_selected_view,
);

async fn the_current_list_is_saved_into_the_selected_view(server: Server) {
    let client = server.admin();
    for (name, weight) in [("Lamp", "1.5"), ("Lantern", "30"), ("Table", "30")] {
        client.post("/products", json!({ "name": name, "weight": weight })).await.created("product");
    }
    let filters = json!([{ "field": "name", "predicate": "cont", "value": "la", "logic": "and" }]);
    let view =
        json!({ "name": "Lights", "entity_type": "products", "columns": ["name"], "filters": filters, "per_page": 50 });
    client.post("/custom_views", view).await.created("custom_view");
    let mut browser = admin(&server).await;
    browser.open("/products?view_id=1&q[weight_gt]=10&sort=-name&columns=name,weight");
    browser.press(".views .menu summary");
    browser.follow("form:has([name=into]) button");
    assert_eq!(browser.address(), "/products?view_id=1");
    browser.until("document.querySelector('#status').innerText === 'Saved'");
    let view = client.get("/custom_views/1").await.record("custom_view");
    assert_eq!((&view["name"], &view["per_page"]), (&json!("Lights"), &json!(50)), "name and page size stay unchanged");
    assert_eq!((&view["sort_column"], &view["sort_direction"]), (&json!("name"), &json!("desc")));
    assert_eq!(view["columns"], json!(["name", "weight"]));
    assert_eq!(view["filters"].as_array().map(Vec::len), Some(2), "{view}");
    // The form offers the sortable columns, and saving it returns to the list.
    browser.press(".views .menu summary");
    browser.follow("a[href='/custom_views/1/edit']");
    let offered = browser.run("[...document.querySelector('select[name=sort_column]').options].map(one => one.value)");
    let offered = offered.as_array().expect("a list");
    assert!(offered.contains(&json!("weight")) && !offered.contains(&json!("tag_list")), "{offered:?}");
    browser.fill("[name=sort_column]", "weight");
    browser.follow(".record .primary");
    assert_eq!(browser.address(), "/products?view_id=1");
    assert_eq!(client.get("/custom_views/1").await.record("custom_view")["sort_column"], "weight");
    // A concurrent change is not overwritten.
    browser.open("/products?view_id=1&sort=sku");
    client.put("/custom_views/1", json!({ "name": "Lights of theirs" })).await.ok();
    browser.press(".views .menu summary");
    browser.follow("form:has([name=into]) button");
    browser.sees("Somebody else changed this view");
    assert_eq!(client.get("/custom_views/1").await.record("custom_view")["sort_column"], "weight");
    browser.is_clean();
}

async fn the_visibility_options_of_a_view_depend_on_the_user(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    let page = panel.get("/products").await;
    page.status(200).says("Personal: visible to me").says("Shared: visible to my roles");
    assert!(!page.text.contains("System:"), "only an administrator makes a system view");
    signed_in(&server, &json!({ "id": 1 }))
        .await
        .get("/products")
        .await
        .status(200)
        .says("System: visible to everyone");
}

async fn saving_an_untouched_view_changes_nothing(server: Server) {
    let client = server.admin();
    let numbers = json!([
        { "field": "weight", "predicate": "gt", "value": 50, "logic": "and" },
        { "field": "product_type", "predicate": "in", "value": ["sale", "rental"], "logic": "or" },
        { "field": "sku", "predicate": "present" },
    ]);
    // An element with a comma has no input: it stays JSON.
    let commas = json!([{ "field": "name", "predicate": "in", "value": ["a,b", "c"], "logic": "and" }]);
    // The same holds for a logic that a first condition cannot have. A field of a related record has an input.
    let related = json!([{ "field": "product_group.name", "predicate": "eq", "value": "Lamps", "logic": "and" }]);
    let turned = json!([{ "field": "name", "predicate": "cont", "value": "la", "logic": "nor" }]);
    let mut browser = admin(&server).await;
    let views = [(numbers, true), (commas, false), (json!([]), true), (related, true), (turned, false)];
    for (id, (filters, is_built)) in (1..).zip(views) {
        let view = json!({ "name": "A view", "entity_type": "products", "columns": ["name"], "filters": filters });
        client.post("/custom_views", view).await.created("custom_view");
        let path = format!("/custom_views/{id}");
        let before = client.get(&path).await.text;
        browser.open(&format!("{path}/edit"));
        assert_eq!(browser.run("!!document.querySelector('[data-condition]')"), is_built, "{filters}");
        browser.follow(".record .primary");
        assert_eq!(client.get(&path).await.text, before, "{}", browser.text("main"));
    }
    browser.is_clean();
}

async fn conditions_of_a_saved_view_are_edited_with_the_inputs_of_a_list(server: Server) {
    let client = server.admin();
    for (name, weight) in [("Lamp", "1.5"), ("Lantern", "2.5"), ("Table", "30")] {
        client.post("/products", json!({ "name": name, "weight": weight })).await.created("product");
    }
    let filters = json!([{ "field": "name", "predicate": "cont", "value": "la", "logic": "and" }]);
    let view = json!({ "name": "Lights", "entity_type": "products", "columns": ["name"], "filters": filters });
    client.post("/custom_views", view).await.created("custom_view");
    let mut browser = admin(&server).await;
    browser.open("/custom_views/1/edit");
    assert_eq!(browser.run("document.querySelector('[name=\"f0.value\"]').value"), "la");
    assert_eq!(browser.run("!!document.querySelector('textarea.code')"), false, "conditions have no JSON input");
    browser.fill("[name='f0.value']", "lamp");
    browser.fill("[name='f1.logic']", "or");
    browser.fill("[name='f1.field']", "weight");
    browser.fill("[name='f1.predicate']", "gt");
    browser.fill("[name='f1.value']", "10");
    browser.press("[data-add-condition]");
    browser.fill("[name='f2.field']", "product_type");
    browser.fill("[name='f2.predicate']", "eq");
    browser.fill("[name='f2.value']", "rental");
    browser.follow(".record .primary");
    let stored = client.get("/custom_views/1").await.record("custom_view")["filters"].clone();
    let expected = json!([
        { "field": "name", "predicate": "cont", "value": "lamp", "logic": "and" },
        { "field": "weight", "predicate": "gt", "value": "10", "logic": "or" },
        { "field": "product_type", "predicate": "eq", "value": "rental", "logic": "and" },
    ]);
    assert_eq!(stored, expected);
    browser.open("/products?view_id=1");
    let names = browser.run("[...document.querySelectorAll('[data-open]')].map(a => a.innerText)");
    assert_eq!(names, json!(["Lamp", "Table"]));
    // All conditions are removed.
    browser.open("/custom_views/1/edit");
    for _ in 0..3 {
        browser.press("[data-condition] [data-remove]");
    }
    browser.follow(".record .primary");
    assert_eq!(client.get("/custom_views/1").await.record("custom_view")["filters"], json!([]));
    browser.is_clean();
}

async fn rejected_conditions_stay_in_the_form(server: Server) {
    let view = json!({ "name": "Heavy", "entity_type": "products", "columns": ["name"] });
    server.admin().post("/custom_views", view).await.created("custom_view");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    admin.get("/custom_views/1/edit").await.status(200).says("name=\"f0.field\"");
    admin.get("/custom_views/new").await.status(200).says("name=\"filters[json]\"");
    admin.get("/custom_views/new?entity_type=members").await.status(200).says("value=\"membership_type\"");
    let form = [
        ("_list", "products"),
        ("_filters", "[]"),
        ("f0.logic", "and"),
        ("f0.field", "weight"),
        ("f0.predicate", "gt"),
        ("f0.value", "much"),
    ];
    let refused = admin.submit("/custom_views/1", &form).await;
    refused.status(422).says("value=\"much\"").says("Conditions ").says("name=\"f1.field\"");
    admin.submit("/custom_views/1", &[&form[..5], &[("f0.value", "7")]].concat()).await.status(303);
    let filters = server.admin().get("/custom_views/1").await.record("custom_view")["filters"].clone();
    assert_eq!(filters, json!([{ "field": "weight", "predicate": "gt", "value": "7", "logic": "and" }]));
}

/// The checked columns of a form, in their order.
const CHOSEN: &str = "[...document.querySelectorAll('.choose [name=\"columns[]\"]:checked')].map(box => box.value)";

async fn columns_of_a_saved_view_are_chosen_and_ordered(server: Server) {
    let client = server.admin();
    let colour = json!({ "entity_type": "products", "name": "colour", "label": "Colour", "field_type": "string" });
    client.post("/custom_fields", colour).await.created("custom_field");
    let columns = ["sku", "cf.colour", "name"];
    let view = json!({ "name": "Heavy", "entity_type": "products", "columns": columns });
    client.post("/custom_views", view).await.created("custom_view");
    client.post("/products", json!({ "name": "Lamp" })).await.created("product");
    let stored = async || client.get("/custom_views/1").await.record("custom_view")["columns"].clone();
    // A column that no longer exists is kept.
    client.delete("/custom_fields/1").await.deleted();
    let mut browser = admin(&server).await;
    browser.open("/custom_views/1/edit");
    assert_eq!(browser.run(CHOSEN), json!(columns));
    browser.follow(".record .primary");
    assert_eq!(stored().await, json!(columns));
    browser.open("/custom_views/1/edit");
    for column in ["weight", "cf.colour"] {
        browser.press(&format!(".choose [value='{column}']"));
    }
    // Arrows skip unchecked columns.
    for arrow in ["Weight up", "Weight up", "SKU down"] {
        browser.press(&format!("[aria-label='Move {arrow}']"));
    }
    assert!(browser.address().ends_with("/edit"), "with scripts an arrow does not submit the form");
    browser.follow(".record .primary");
    assert_eq!(stored().await, json!(["weight", "name", "sku"]));
    browser.open("/products?view_id=1");
    let heads = "[...document.querySelectorAll('.list thead th')].map(th => th.innerText).filter(text => text)";
    assert_eq!(browser.run(heads), json!(["Weight", "Name", "SKU"]));
    browser.is_clean();
}

async fn columns_are_ordered_without_scripts(server: Server) {
    let client = server.admin();
    let view = json!({ "name": "Heavy", "entity_type": "products", "columns": ["name", "sku", "weight"] });
    client.post("/custom_views", view).await.created("custom_view");
    let mut browser = admin(&server).await;
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.open("/custom_views/1/edit");
    browser.fill("[name=name]", "Light");
    browser.follow("[aria-label='Move Weight up']");
    assert_eq!(browser.run(CHOSEN), json!(["name", "weight", "sku"]));
    assert_eq!(browser.run("document.querySelector('[name=name]').value"), "Light", "input is preserved");
    // The arrow is focused, so that the next press moves the column again.
    assert_eq!(browser.run("document.activeElement.getAttribute('aria-label')"), "Move Weight up");
    browser.follow("[aria-label='Move Weight up']");
    assert_eq!(browser.run(CHOSEN), json!(["weight", "name", "sku"]));
    let before = client.get("/custom_views/1").await.record("custom_view");
    assert_eq!((&before["name"], &before["columns"]), (&json!("Heavy"), &json!(["name", "sku", "weight"])));
    // Enter saves the form and moves no column.
    browser.run("document.querySelector('[name=name]').focus(); window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until("!window.leaving && document.readyState === 'complete'");
    let after = client.get("/custom_views/1").await.record("custom_view");
    assert_eq!((&after["name"], &after["columns"]), (&json!("Light"), &json!(["weight", "name", "sku"])));
    // The same in a list.
    browser.open("/products?columns=name,sku");
    browser.run("document.querySelector('#columns').open = true; 1");
    browser.follow("[data-tool][href$='tool=columns']");
    browser.follow("[aria-label='Move Name down']");
    assert!(browser.address().contains("?columns=sku,name&"), "{}", browser.address());
    assert_eq!(browser.run("document.querySelector('#columns').open"), true);
    let seen = |label: &str| {
        let arrow = json!(format!("[aria-label='Move {label} up']"));
        format!("getComputedStyle(document.querySelector({arrow})).visibility")
    };
    assert_eq!(browser.run(&seen("SKU")), "visible");
    assert_eq!(browser.run(&seen("Weight")), "hidden", "unchecked columns have no arrows");
}

async fn a_new_view_starts_with_the_default_columns_of_its_list(server: Server) {
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    admin.get("/custom_views/new").await.status(200).says("Choose a list first").says("name=\"_again\"");
    let named = [("name", "Mine"), ("entity_type", "products")];
    let chosen = [&named[..], &[("columns[]", ""), ("filters[json]", "[]")]].concat();
    let asked = admin.submit("/custom_views", &[&chosen[..], &[("_again", "1")]].concat()).await;
    // The default columns of the list.
    asked
        .status(200)
        .says("name=\"columns[]\" value=\"name\" checked")
        .says("name=\"f0.field\"")
        .says("value=\"Mine\"");
    assert_eq!(server.admin().get("/custom_views").await.ok()["meta"]["total"], 0, "loading columns saves nothing");
    let refused =
        admin.submit("/custom_views", &[&named[..], &[("_list", "products"), ("columns[]", "")]].concat()).await;
    refused
        .status(422)
        .says("id=\"field-columns-error\">Columns must have at least 1 element")
        .says("value=\"weight\">");
    let unknown = [("_list", "products"), ("columns[]", "name"), ("columns[]", "nmae")];
    let refused = admin.submit("/custom_views", &[&named[..], &unknown].concat()).await;
    refused.status(422).says("unknown column").says("value=\"nmae\" checked");
    // Columns of another list are discarded.
    let other = [("_list", "members"), ("columns[]", "membership_type")];
    let refused = admin.submit("/custom_views", &[&named[..], &other].concat()).await;
    refused.status(422).says("id=\"field-columns-error\">Columns ").says("value=\"weight\"");
    assert!(!refused.text.contains("value=\"membership_type\""), "{}", refused.text);
    let right =
        [("_list", "products"), ("_filters", "[]"), ("columns[]", ""), ("columns[]", "weight"), ("columns[]", "name")];
    admin.submit("/custom_views", &[&named[..], &right].concat()).await.status(303);
    let view = server.admin().get("/custom_views/1").await.record("custom_view");
    assert_eq!((&view["columns"], &view["filters"]), (&json!(["weight", "name"]), &json!([])));
}
