//! Selected rows of a list: over pages, in ranges, and records that no longer exist.

use serde_json::{Value, json};

use super::{admin, signed_in};
use crate::support::{Browser, Server, on_both};

on_both!(a_deleted_record_is_left_out_of_a_bulk_operation, a_restored_record_is_left_out_of_a_bulk_restore,);

on_both!(
    browser:
    rows_stay_selected_on_other_pages_and_in_another_order,
    a_changed_condition_and_signing_out_forget_the_selection,
    at_most_100_rows_are_selected,
    shift_selects_and_clears_ranges_of_rows,
);

const CHOSEN: &str = "document.querySelector('[data-chosen]').innerText";

/// `Lamp 001` and so on, with ids from 1.
async fn lamps(server: &Server, count: usize) {
    let product = |n: usize| json!({ "method": "create", "product": { "name": format!("Lamp {n:03}") } });
    let operations: Vec<Value> = (1..=count).map(product).collect();
    server.admin().post("/products/bulk", json!({ "operations": operations })).await.ok();
}

/// Waits for the text of the bar.
#[track_caller]
fn says(browser: &mut Browser, text: &str) {
    browser.until(&format!("{CHOSEN} === {}", json!(text)));
}

/// The names of the selected rows of this page.
fn selected(browser: &mut Browser) -> Vec<String> {
    let names = "[...document.querySelectorAll('tbody tr:has(:checked) [data-open]')].map(a => a.innerText)";
    serde_json::from_value(browser.run(names)).expect("texts")
}

/// Clicks the checkbox of a row with the mouse.
fn click(browser: &mut Browser, row: usize, shift: bool) {
    let at = browser.run(&format!(
        "(() => {{ const box = document.querySelector('tbody tr:nth-child({row}) [name=id]'); \
         box.scrollIntoView({{ block: 'center' }}); const at = box.getBoundingClientRect(); \
         return {{ x: at.x + at.width / 2, y: at.y + at.height / 2 }}; }})()"
    ));
    for kind in ["mousePressed", "mouseReleased"] {
        let modifiers = if shift { 8 } else { 0 };
        let event = json!({ "type": kind, "x": at["x"], "y": at["y"], "button": "left", "clickCount": 1, "modifiers": modifiers });
        browser.call("Input.dispatchMouseEvent", event);
    }
}

/// Presses Shift and x.
fn shift_x(browser: &mut Browser) {
    let event =
        |kind: &str| json!({ "type": kind, "key": "X", "code": "KeyX", "windowsVirtualKeyCode": 88, "modifiers": 8 });
    browser.call("Input.dispatchKeyEvent", event("rawKeyDown"));
    browser.call("Input.dispatchKeyEvent", event("keyUp"));
}

async fn rows_stay_selected_on_other_pages_and_in_another_order(server: Server) {
    lamps(&server, 25).await;
    let mut browser = admin(&server).await;
    browser.open("/products?per_page=10&sort=name");
    browser.press("tr:nth-child(1) [name=id]");
    browser.press("tr:nth-child(2) [name=id]");
    says(&mut browser, "2 selected");
    browser.follow("a[rel=next]");
    says(&mut browser, "2 selected, 2 of them on other pages");
    browser.press("tr:nth-child(1) [name=id]");
    says(&mut browser, "3 selected, 2 of them on other pages");
    browser.follow("a[rel=prev]");
    says(&mut browser, "3 selected, 1 of them on another page");
    assert_eq!(selected(&mut browser), ["Lamp 001", "Lamp 002"]);
    // The other order begins with the last rows.
    browser.follow("th.lead a");
    assert_eq!(browser.address(), "/products?sort=-name&per_page=10");
    says(&mut browser, "3 selected, 3 of them on other pages");
    browser.follow("[data-bulk] [value=delete]");
    browser.sees("3 products will be deleted");
    let preview = browser.text("main");
    assert!(["Lamp 001", "Lamp 002", "Lamp 011"].iter().all(|name| preview.contains(name)), "{preview}");
    // Nothing is forgotten before the operation is sent.
    browser.follow("form .buttons a");
    says(&mut browser, "3 selected, 3 of them on other pages");
    browser.follow("[data-bulk] [value=delete]");
    browser.follow("form .danger");
    browser.sees("3 products were deleted");
    browser.follow("p a.primary");
    says(&mut browser, "Select rows to change them");
    assert_eq!(server.admin().get("/products").await.ok()["meta"]["total"], 22);
    browser.is_clean();
}

async fn a_changed_condition_and_signing_out_forget_the_selection(server: Server) {
    lamps(&server, 25).await;
    let mut browser = admin(&server).await;
    browser.open("/products?per_page=10");
    browser.press("[data-all]");
    says(&mut browser, "10 selected");
    browser.open("/products?per_page=20&columns=name&sort=-name");
    says(&mut browser, "10 selected, 5 of them on other pages");
    browser.press("[data-clear]");
    for conditions in ["q[name_cont]=1", "search=lamp", "view_id=1", "q[name_eq]=none"] {
        let view = json!({ "name": "All", "entity_type": "products", "visibility": "system", "columns": ["name"] });
        if conditions == "view_id=1" {
            server.admin().post("/custom_views", view).await.created("custom_view");
        }
        browser.open("/products");
        browser.press("[name=id]");
        says(&mut browser, "1 selected");
        browser.open(&format!("/products?{conditions}"));
        assert_eq!(browser.run("document.querySelector('[name=id]:checked, [name=id][type=hidden]') === null"), true);
        browser.open("/products");
        says(&mut browser, "Select rows to change them");
    }
    // The button clears the rows of all pages.
    browser.open("/products?per_page=10");
    browser.press("[data-all]");
    browser.follow("a[rel=next]");
    browser.press("[name=id]");
    says(&mut browser, "11 selected, 10 of them on other pages");
    browser.press("[data-clear]");
    says(&mut browser, "Select rows to change them");
    assert_eq!(browser.run("document.activeElement.matches('[data-all]')"), true);
    browser.follow("a[rel=prev]");
    assert_eq!(selected(&mut browser), [""; 0]);
    browser.press("[name=id]");
    browser.press(".me summary");
    browser.follow("form[action='/panel/sign-out'] button");
    assert_eq!(browser.run("Object.keys(sessionStorage).filter(key => key.includes('selection'))"), json!([]));
    browser.is_clean();
}

async fn at_most_100_rows_are_selected(server: Server) {
    lamps(&server, 103).await;
    let mut browser = admin(&server).await;
    browser.open("/products?per_page=100&sort=name");
    browser.press("[data-all]");
    says(&mut browser, "100 selected");
    browser.press("tr:nth-child(100) [name=id]");
    browser.follow("a[rel=next]");
    assert_eq!(selected(&mut browser), [""; 0]);
    browser.press("[data-all]");
    says(&mut browser, "100 selected, 99 of them on other pages");
    browser.sees("At most 100 rows can be selected");
    assert_eq!(selected(&mut browser), ["Lamp 101"]);
    browser.press("tr:nth-child(2) [name=id]");
    assert_eq!(selected(&mut browser), ["Lamp 101"], "the row does not look selected");
    browser.follow("[data-bulk] [value=edit]");
    browser.sees("100 products");
    browser.is_clean();
}

async fn shift_selects_and_clears_ranges_of_rows(server: Server) {
    lamps(&server, 12).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=name");
    click(&mut browser, 2, false);
    click(&mut browser, 5, true);
    says(&mut browser, "4 selected");
    assert_eq!(selected(&mut browser), ["Lamp 002", "Lamp 003", "Lamp 004", "Lamp 005"]);
    // Upwards, in the state of the clicked row, which was selected.
    click(&mut browser, 3, true);
    assert_eq!(selected(&mut browser), ["Lamp 002"]);
    // A click on the cell's label does the same.
    click(&mut browser, 8, false);
    browser.run(
        "document.querySelector('tr:nth-child(10) .pick label') \
         .dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true })); 1",
    );
    assert_eq!(selected(&mut browser), ["Lamp 002", "Lamp 008", "Lamp 009", "Lamp 010"]);
    assert_eq!(browser.run("String(getSelection())"), "", "no text is selected");
    browser.press("[data-clear]");
    browser.run("document.activeElement.blur(); 1");
    browser.type_text("jx");
    browser.type_text("jj");
    shift_x(&mut browser);
    assert_eq!(selected(&mut browser), ["Lamp 001", "Lamp 002", "Lamp 003"]);
    browser.type_text("k");
    shift_x(&mut browser);
    assert_eq!(selected(&mut browser), ["Lamp 001"]);
    browser.is_clean();
}

async fn a_deleted_record_is_left_out_of_a_bulk_operation(server: Server) {
    lamps(&server, 5).await;
    let client = server.admin();
    client.delete("/products/2").await.status(204);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let ids = [("id", "1"), ("id", "2"), ("id", "3")];
    let change = |step: &'static str| [&ids[..], &[("_field", "weight"), ("weight", "2"), ("_step", step)]].concat();
    let left_out = "1 product is left out, because it does not exist any more.";
    panel
        .submit("/products/bulk", &change("preview"))
        .await
        .status(200)
        .says("2 products will be changed")
        .says(left_out);
    // One more is deleted after the preview.
    client.delete("/products/3").await.status(204);
    let done = panel.submit("/products/bulk", &change("apply")).await;
    done.status(200)
        .says("1 product was changed.")
        .says("2 products are left out, because they do not exist any more.");
    assert_eq!(client.get("/products/1").await.record("product")["weight"], "2.0000");
    let delete = |step: &'static str| [&ids[..], &[("_step", step)]].concat();
    let preview = panel.submit("/products/bulk", &delete("delete")).await;
    preview.status(200).says("1 product will be deleted").says("2 products are left out");
    assert!(!preview.text.contains(r#"name="id" value="2""#), "{}", preview.text);
    panel.submit("/products/bulk", &delete("apply-delete")).await.status(200).says("1 product was deleted.");
    for step in ["delete", "apply-delete"] {
        let page = panel.submit("/products/bulk", &delete(step)).await;
        page.status(200).says("Nothing was changed").says("3 products are left out").says("Back to the list");
    }
    assert_eq!(client.get("/products").await.ok()["meta"]["total"], 2);
}

async fn a_restored_record_is_left_out_of_a_bulk_restore(server: Server) {
    lamps(&server, 2).await;
    let client = server.admin();
    for path in ["/products/1", "/products/2"] {
        client.delete(path).await.status(204);
    }
    client.post("/products/1/restore", json!({})).await.ok();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = |step: &'static str| [("id", "1"), ("id", "2"), ("_step", step)];
    let left_out = "1 product is left out, because it is not deleted any more.";
    panel
        .submit("/products/bulk", &form("restore"))
        .await
        .status(200)
        .says("1 product will be restored")
        .says(left_out);
    panel.submit("/products/bulk", &form("apply-restore")).await.status(200).says("1 product was restored.");
    assert_eq!(client.get("/products").await.ok()["meta"]["total"], 2);
}
