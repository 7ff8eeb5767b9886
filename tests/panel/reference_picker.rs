//! Picker of a reference: opened by pointer, touch and keyboard, cleared, and records that are opened or created next to it.

use serde_json::{Value, json};

use super::{admin, signed_in};
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    a_picker_opens_by_click_chevron_and_arrow_key,
    a_tap_opens_a_picker_and_chooses_a_record,
    an_option_shows_a_second_line_that_is_searched_too,
    a_chosen_record_is_opened_and_cleared,
    a_new_record_is_created_in_a_dialog_and_chosen,
    currencies_and_time_zones_are_suggested,
);

on_both!(a_form_has_a_plain_input_without_scripts, suggestions_need_the_right_to_list,);

const GROUP: &str = "#field-product_group_id";

async fn groups(server: &Server) {
    for name in ["Rigging", "Furniture", "Lighting"] {
        server.admin().post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    server.admin().post("/products", json!({ "name": "Hoist", "product_group_id": 1 })).await.created("product");
}

/// The center of an element, which is scrolled into view.
fn center(browser: &mut Browser, selector: &str) -> (f64, f64) {
    let script = format!(
        "(() => {{ const at = document.querySelector({}); at.scrollIntoView({{ block: 'center' }}); \
         const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
        json!(selector)
    );
    let at = browser.run(&script);
    (at[0].as_f64().expect("a number"), at[1].as_f64().expect("a number"))
}

/// A click of the mouse, unlike `press`, which calls the element's method.
fn click(browser: &mut Browser, selector: &str) {
    let (x, y) = center(browser, selector);
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
        browser.call("Input.dispatchMouseEvent", event);
    }
}

fn tap(browser: &mut Browser, selector: &str) {
    let (x, y) = center(browser, selector);
    browser.call("Input.dispatchTouchEvent", json!({ "type": "touchStart", "touchPoints": [{ "x": x, "y": y }] }));
    browser.call("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] }));
}

const IS_OPEN: &str = "document.querySelector('.offered:not([hidden])') !== null";
const IS_CLOSED: &str = "document.querySelector('.offered:not([hidden])') === null";

fn options(browser: &mut Browser) -> Value {
    browser.until(IS_OPEN);
    browser.run("[...document.querySelectorAll('.offered:not([hidden]) li')].map(one => one.innerText)")
}

fn value(browser: &mut Browser, selector: &str) -> Value {
    browser.run(&format!("document.querySelector({}).value", json!(selector)))
}

async fn a_picker_opens_by_click_chevron_and_arrow_key(server: Server) {
    groups(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    click(&mut browser, GROUP);
    // All records, though the input has the title of the chosen one.
    assert_eq!(options(&mut browser), json!(["Furniture", "Lighting", "Rigging"]));
    let highlighted = "document.querySelector('.offered [aria-selected=true]')?.innerText";
    assert_eq!(browser.run(highlighted), "Rigging");
    let states = "['role', 'aria-expanded', 'aria-autocomplete', 'aria-haspopup'].map(name => document.querySelector('#field-product_group_id').getAttribute(name))";
    assert_eq!(browser.run(states), json!(["combobox", "true", "list", "listbox"]));
    browser.key("Escape", 0);
    browser.until(IS_CLOSED);
    assert_eq!(value(&mut browser, GROUP), "Rigging");
    click(&mut browser, ".reference:has(#field-product_group_id) .chevron");
    browser.until(IS_OPEN);
    click(&mut browser, ".reference:has(#field-product_group_id) .chevron");
    browser.until(IS_CLOSED);
    browser.key("ArrowDown", 0);
    browser.until(IS_OPEN);
    browser.until("document.activeElement.getAttribute('aria-activedescendant') === document.querySelector('.offered [aria-selected=true]')?.id");
    browser.key("ArrowDown", 0);
    assert_eq!(browser.run(highlighted), "Furniture", "after the last comes the first");
    browser.key("Enter", 0);
    assert_eq!(value(&mut browser, GROUP), "Furniture");
    click(&mut browser, GROUP);
    browser.until(IS_OPEN);
    click(&mut browser, ".offered:not([hidden]) li:nth-child(2)");
    browser.until(IS_CLOSED);
    browser.follow(".record .primary");
    assert_eq!(server.admin().get("/products/1").await.record("product")["product_group_id"], 3);
    browser.is_clean();
}

async fn a_tap_opens_a_picker_and_chooses_a_record(server: Server) {
    groups(&server).await;
    let mut browser = admin(&server).await;
    browser.size(390, 800);
    browser.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
    browser.open("/products/1/edit");
    tap(&mut browser, GROUP);
    browser.until(IS_OPEN);
    let height = browser.run("document.querySelector('.offered:not([hidden]) li').getBoundingClientRect().height");
    assert!(height.as_f64() >= Some(44.0), "a finger needs 44 pixels: {height}");
    tap(&mut browser, ".offered:not([hidden]) li:first-child");
    browser.until(IS_CLOSED);
    assert_eq!(value(&mut browser, GROUP), "Furniture");
    browser.follow(".record .primary");
    assert_eq!(server.admin().get("/products/1").await.record("product")["product_group_id"], 2);
    browser.is_clean();
}

async fn an_option_shows_a_second_line_that_is_searched_too(server: Server) {
    for (name, sku) in [("Chair", "FU-001"), ("Chair, folding", "FU-002"), ("Lamp", "LI-001")] {
        server.admin().post("/products", json!({ "name": name, "sku": sku })).await.created("product");
    }
    let mut browser = admin(&server).await;
    browser.open("/products/3/accessories/new");
    let input = "#field-accessory_product_id";
    click(&mut browser, input);
    assert_eq!(options(&mut browser), json!(["Chair\nFU-001", "Chair, folding\nFU-002", "Lamp\nLI-001"]));
    browser.type_text("fu-002");
    browser.until("document.querySelectorAll('.offered:not([hidden]) li').length === 1");
    browser.key("Enter", 0);
    assert_eq!(value(&mut browser, input), "Chair, folding");
    assert_eq!(value(&mut browser, "[name=accessory_product_id]"), "2");
    browser.is_clean();
}

async fn a_chosen_record_is_opened_and_cleared(server: Server) {
    groups(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    let open = ".reference:has(#field-product_group_id) .open";
    let link = format!(
        "(() => {{ const at = document.querySelector('{open}'); return [at.hidden, at.getAttribute('href'), at.getAttribute('aria-label')]; }})()"
    );
    assert_eq!(browser.run(&link), json!([false, "/product_groups/1", "Open Rigging"]));
    click(&mut browser, ".reference:has(#field-product_group_id) .clear");
    assert_eq!((value(&mut browser, GROUP), value(&mut browser, "[name=product_group_id]")), (json!(""), json!("")));
    assert_eq!(browser.run(&link)[0], true);
    assert_eq!(browser.run("document.activeElement.id"), "field-product_group_id");
    browser.follow(".record .primary");
    assert_eq!(server.admin().get("/products/1").await.record("product")["product_group_id"], json!(null));
    browser.is_clean();
}

async fn a_new_record_is_created_in_a_dialog_and_chosen(server: Server) {
    groups(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    browser.fill("#field-sku", "HO-001");
    let create = ".reference:has(#field-product_group_id) .create";
    assert_eq!(browser.text(create), "New product group");
    click(&mut browser, create);
    browser.until("document.querySelector('dialog[open] #new-field-name') !== null");
    let form = "dialog[open] form";
    browser.press(&format!("{form} .primary"));
    browser.until("document.querySelector('dialog[open] .problem')?.innerText.includes('was not saved') === true");
    browser.fill("#new-field-name", "Rigging, new");
    // A closed dialog keeps its input.
    browser.press(&format!("{form} .sticky button[type=button]"));
    browser.until("document.querySelector('dialog[open]') === null");
    click(&mut browser, create);
    browser.until("document.querySelector('dialog[open] #new-field-name')?.value === 'Rigging, new'");
    browser.press(&format!("{form} .primary"));
    browser.until("document.querySelector('#field-product_group_id').value === 'Rigging, new'");
    assert_eq!(value(&mut browser, "#field-sku"), "HO-001", "the form below keeps its input");
    assert_eq!(browser.run("document.querySelector('dialog[open]') === null"), true);
    browser.follow(".record .primary");
    let product = server.admin().get("/products/1").await.record("product");
    assert_eq!((&product["product_group_id"], &product["sku"]), (&json!(4), &json!("HO-001")));
    browser.is_clean();
}

async fn currencies_and_time_zones_are_suggested(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/settings");
    click(&mut browser, "#field-base_currency");
    browser.until(IS_OPEN);
    browser.run("document.querySelector('#field-base_currency').select(); 1");
    browser.type_text("eur");
    browser.offers("EUR");
    browser.key("Enter", 0);
    browser.run("document.querySelector('#field-timezone').focus(); document.activeElement.select(); 1");
    browser.type_text("new york");
    browser.offers("America/New_York");
    let note = "document.querySelector('.offered:not([hidden]) small').innerText.startsWith('UTC-0')";
    assert_eq!(browser.run(note), true);
    browser.key("Enter", 0);
    browser.follow(".record .primary");
    browser.sees("Settings");
    let settings = server.admin().get("/settings").await.record("settings");
    assert_eq!((&settings["base_currency"], &settings["timezone"]), (&json!("EUR"), &json!("America/New_York")));
    // Text that is no suggestion is sent as it is, and refused by the API.
    browser.open("/settings");
    browser.run("document.querySelector('#field-timezone').focus(); document.activeElement.select(); 1");
    browser.type_text("Mars/Olympus");
    browser.follow(".record .primary");
    browser.sees("The record was not saved");
    assert_eq!(value(&mut browser, "#field-timezone"), "Mars/Olympus");
    browser.is_clean();
}

async fn a_form_has_a_plain_input_without_scripts(server: Server) {
    groups(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/products/1/edit").await;
    page.status(200)
        .says("<reference-picker class=\"reference\" data-page=\"/product_groups\" data-create=\"/product_groups/new\"")
        .says("name=\"product_group_id\" value=\"1\"");
    panel.submit("/products/1", &[("product_group_id", "2")]).await.status(303);
    assert_eq!(server.admin().get("/products/1").await.record("product")["product_group_id"], 2);
}

async fn suggestions_need_the_right_to_list(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/panel/time_zones?q=berlin").await.status(200).says("Europe/Berlin");
    panel.get("/panel/titles/currencies?by=code&q=EUR").await.status(200).says("\"id\":\"EUR\"");
    panel.get("/panel/titles/currencies?by=nothing").await.status(404);
    panel.get("/panel/titles/users?by=password_hash").await.status(404);
    panel.get("/panel/titles/products?id=99").await.status(404);
    panel.get("/panel/titles/products?id=x").await.status(404);
    let (user, _) = server.user(&[], &["*"]).await;
    let mut plain = signed_in(&server, &user).await;
    plain.get("/panel/titles/products").await.status(200);
    plain.get("/panel/titles/exchange_rates").await.status(404);
}
