//! Cells of a list in a browser: pointer, keyboard, focus, refused values and conflicts.

use serde_json::json;

use super::super::admin;
use super::{lamp, product};
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    a_double_click_edits_a_cell_and_a_click_opens_the_record,
    cells_of_a_row_are_edited_by_keyboard,
    a_cell_is_saved_when_the_focus_leaves_it,
    a_refused_cell_keeps_its_input,
    a_cell_asks_which_value_of_two_people_to_keep,
    input_of_a_cell_survives_the_end_of_the_session,
);

/// Clicks the middle of an element with the mouse.
fn click(browser: &mut Browser, selector: &str, times: u32) {
    let at = format!(
        "(() => {{ const at = document.querySelector({}).getBoundingClientRect(); return [at.right - 6, at.y + at.height / 2]; }})()",
        json!(selector)
    );
    let at = browser.run(&at);
    for count in 1..=times {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": count });
            browser.call("Input.dispatchMouseEvent", event);
        }
    }
}

const WEIGHT: &str = "td[data-field=weight]";
const INPUT: &str = "td > .cell input:not([type=hidden])";

#[track_caller]
fn has_input(browser: &mut Browser, field: &str) {
    browser.until(&format!("document.activeElement.matches('td[data-field={field}] > .cell [name={field}]')"));
}

#[track_caller]
fn is_saved(browser: &mut Browser) {
    browser.until("document.querySelector('#status').innerText === 'Saved' && !document.querySelector('.cell')");
}

async fn list(server: &Server) -> Browser {
    lamp(server).await;
    server.admin().post("/products", json!({ "name": "Torch", "weight": "3" })).await.created("product");
    let mut browser = admin(server).await;
    browser.open("/products?sort=id&columns=name,sku,is_active,weight");
    browser
}

async fn a_double_click_edits_a_cell_and_a_click_opens_the_record(server: Server) {
    let mut browser = list(&server).await;
    click(&mut browser, WEIGHT, 2);
    has_input(&mut browser, "weight");
    browser.fill(INPUT, "7.25");
    // A click in the cell does not open the record.
    click(&mut browser, INPUT, 1);
    browser.key("Enter", 0);
    is_saved(&mut browser);
    assert!(browser.address().starts_with("/products?"), "{}", browser.address());
    assert!(browser.text(WEIGHT).starts_with("7.25"), "{}", browser.text(WEIGHT));
    assert_eq!(product(&server).await["weight"], "7.2500");
    browser.until("document.activeElement.matches('[data-open]')");
    click(&mut browser, WEIGHT, 2);
    has_input(&mut browser, "weight");
    browser.fill(INPUT, "8");
    browser.key("Escape", 0);
    browser.until("!document.querySelector('.cell')");
    assert!(browser.text(WEIGHT).starts_with("7.25"));
    click(&mut browser, WEIGHT, 1);
    browser.until("location.pathname === '/products/1'");
    assert_eq!(product(&server).await["weight"], "7.2500");
    browser.is_clean();
}

async fn cells_of_a_row_are_edited_by_keyboard(server: Server) {
    let mut browser = list(&server).await;
    browser.type_text("jj");
    browser.key("F2", 0);
    has_input(&mut browser, "name");
    browser.type_text("Lantern");
    browser.key("Tab", 0);
    has_input(&mut browser, "sku");
    browser.type_text("TX-2");
    browser.key("Tab", 0);
    has_input(&mut browser, "is_active");
    // A key in a checkbox is no shortcut of the page.
    browser.type_text("k");
    browser.key(" ", 0);
    browser.key("Tab", 8);
    has_input(&mut browser, "sku");
    browser.key("Enter", 0);
    browser.until("!document.querySelector('.cell')");
    browser.until("document.activeElement.innerText === 'Lantern'");
    let saved = server.admin().get("/products/2").await.record("product");
    assert_eq!(
        (&saved["name"], &saved["sku"], &saved["is_active"]),
        (&json!("Lantern"), &json!("TX-2"), &json!(false))
    );
    assert_eq!(product(&server).await["name"], "Lamp");
    browser.is_clean();
}

async fn a_cell_is_saved_when_the_focus_leaves_it(server: Server) {
    let mut browser = list(&server).await;
    browser.press("tr:has(td[data-field]) [name=id]");
    click(&mut browser, WEIGHT, 2);
    has_input(&mut browser, "weight");
    // An unchanged cell closes without a request.
    click(&mut browser, "h1", 1);
    browser.until("!document.querySelector('.cell')");
    assert_eq!(browser.text("#status"), "");
    click(&mut browser, WEIGHT, 2);
    has_input(&mut browser, "weight");
    browser.fill(INPUT, "9");
    click(&mut browser, "tr:nth-child(2) td[data-field=sku]", 1);
    is_saved(&mut browser);
    assert_eq!(product(&server).await["weight"], "9.0000");
    assert_eq!(browser.run("document.querySelector('[name=id]:checked')?.value"), "1", "the row stays selected");
    // A link waits for the save.
    click(&mut browser, WEIGHT, 2);
    has_input(&mut browser, "weight");
    browser.fill(INPUT, "10");
    browser.follow("tr:nth-child(2) [data-open]");
    assert_eq!(browser.address().split('?').next(), Some("/products/2"));
    assert_eq!(product(&server).await["weight"], "10.0000");
    browser.is_clean();
}

async fn a_refused_cell_keeps_its_input(server: Server) {
    let mut browser = list(&server).await;
    click(&mut browser, WEIGHT, 2);
    has_input(&mut browser, "weight");
    browser.fill(INPUT, "-1");
    browser.key("Enter", 0);
    browser.sees("Weight must be at least 0");
    has_input(&mut browser, "weight");
    // The cell stays when the focus leaves it.
    click(&mut browser, "h1", 1);
    assert_eq!(browser.run(&format!("document.querySelector('{INPUT}').value")), "-1");
    browser.fill(INPUT, "11");
    browser.key("Enter", 0);
    is_saved(&mut browser);
    assert_eq!(product(&server).await["weight"], "11.0000");
    browser.is_clean();
}

async fn a_cell_asks_which_value_of_two_people_to_keep(server: Server) {
    let mut browser = list(&server).await;
    for (value, kept) in [("mine", "12.0000"), ("theirs", "2.0000")] {
        server.admin().put("/products/1", json!({ "weight": "1" })).await.ok();
        click(&mut browser, WEIGHT, 2);
        has_input(&mut browser, "weight");
        server.admin().put("/products/1", json!({ "weight": "2", "sku": "THEIRS" })).await.ok();
        browser.fill(INPUT, "12");
        browser.key("Enter", 0);
        browser.sees("Their value: 2");
        assert_eq!(browser.run(&format!("document.querySelector('{INPUT}').value")), "12");
        // Leaving the cell decides nothing.
        click(&mut browser, "h1", 1);
        browser.press(&format!(".cell [value={value}]"));
        is_saved(&mut browser);
        assert_eq!(product(&server).await["weight"], kept);
        assert_eq!(browser.text("td[data-field=sku]"), "THEIRS");
    }
    browser.is_clean();
}

async fn input_of_a_cell_survives_the_end_of_the_session(server: Server) {
    let mut browser = list(&server).await;
    click(&mut browser, WEIGHT, 2);
    has_input(&mut browser, "weight");
    browser.fill(INPUT, "13");
    let cookies = browser.call("Network.getCookies", json!({}))["cookies"].clone();
    browser.call("Network.clearBrowserCookies", json!({}));
    browser.key("Enter", 0);
    browser.sees("You are signed out");
    assert_eq!(browser.run(&format!("document.querySelector('{INPUT}').value")), "13");
    for cookie in cookies.as_array().expect("cookies") {
        let cookie = json!({ "name": cookie["name"], "value": cookie["value"], "url": server.url(), "httpOnly": true });
        browser.call("Network.setCookie", cookie);
    }
    browser.key("Enter", 0);
    is_saved(&mut browser);
    assert_eq!(product(&server).await["weight"], "13.0000");
    browser.is_clean();
}
