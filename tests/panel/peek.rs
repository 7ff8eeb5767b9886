//! The dialog that shows the fields of a row over its list.

use serde_json::json;

use super::admin;
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    space_shows_the_fields_of_a_row_and_arrows_those_of_its_neighbors,
    buttons_of_the_peek_work_by_pointer,
    a_peek_opens_for_rows_only_and_says_when_it_cannot_show_a_record,
);

async fn three(server: &Server) {
    for (name, weight) in [("Lamp", "1.5"), ("Lantern", "2.5"), ("Table", "30")] {
        server.admin().post("/products", json!({ "name": name, "weight": weight })).await.created("product");
    }
}

/// Waits until the dialog shows a record.
#[track_caller]
fn shows(browser: &mut Browser, name: &str, position: &str) {
    browser.until(&format!(
        "document.querySelector('#peek[open] #peek-title')?.innerText === {} \
         && document.querySelector('#peek [data-position]').innerText === {} \
         && document.querySelector('#peek [data-peeked]').ariaBusy === 'false'",
        json!(name),
        json!(position)
    ));
}

/// Waits until the dialog is closed and the link of a row has the focus.
#[track_caller]
fn is_at(browser: &mut Browser, name: &str) {
    browser.until(&format!(
        "!document.querySelector('dialog[open]') && document.activeElement.matches('tr.at [data-open]') \
         && document.activeElement.innerText === {}",
        json!(name)
    ));
}

async fn space_shows_the_fields_of_a_row_and_arrows_those_of_its_neighbors(server: Server) {
    three(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=name&columns=name");
    browser.run("document.activeElement.blur(); 1");
    browser.type_text("j");
    browser.key(" ", 0);
    shows(&mut browser, "Lamp", "1 / 3");
    let fields = browser.text("#peek [data-peeked]");
    assert!(fields.contains("Weight") && fields.contains("1.5"), "{fields}");
    assert_eq!(browser.run("document.querySelectorAll('#peek [data-peeked] [id]').length"), 0);
    browser.key("ArrowDown", 0);
    shows(&mut browser, "Lantern", "2 / 3");
    browser.type_text("jj");
    shows(&mut browser, "Table", "3 / 3");
    assert!(browser.text("#peek [data-peeked]").contains("30"));
    browser.key("ArrowUp", 0);
    shows(&mut browser, "Lantern", "2 / 3");
    browser.key("Escape", 0);
    is_at(&mut browser, "Lantern");
    // The keys of the list continue at this row.
    browser.type_text("j");
    is_at(&mut browser, "Table");
    browser.key(" ", 0);
    shows(&mut browser, "Table", "3 / 3");
    browser.type_text("k");
    shows(&mut browser, "Lantern", "2 / 3");
    browser.key(" ", 0);
    is_at(&mut browser, "Lantern");
    browser.key(" ", 0);
    shows(&mut browser, "Lantern", "2 / 3");
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until("!window.leaving && document.readyState === 'complete'");
    assert!(browser.address().starts_with("/products/2"), "{}", browser.address());
    browser.is_clean();
}

async fn buttons_of_the_peek_work_by_pointer(server: Server) {
    three(&server).await;
    let mut browser = admin(&server).await;
    browser.size(390, 800);
    browser.open("/products?sort=name");
    browser.run("document.querySelector('tbody tr:nth-child(2) [data-open]').focus(); 1");
    browser.key(" ", 0);
    shows(&mut browser, "Lantern", "2 / 3");
    browser.press("#peek [data-step='1']");
    shows(&mut browser, "Table", "3 / 3");
    assert_eq!(browser.run("document.querySelector(\"#peek [data-step='1']\").disabled"), true);
    browser.press("#peek [data-step='-1']");
    shows(&mut browser, "Lantern", "2 / 3");
    // A button with the focus takes Space for itself.
    browser.run("document.querySelector(\"#peek [data-step='-1']\").focus(); 1");
    browser.key(" ", 0);
    shows(&mut browser, "Lamp", "1 / 3");
    assert_eq!(browser.run("document.activeElement.id"), "peek", "the button is disabled now");
    browser.press("#peek form button:not([data-step])");
    is_at(&mut browser, "Lamp");
    browser.key(" ", 0);
    shows(&mut browser, "Lamp", "1 / 3");
    browser.follow("#peek [data-open-record]");
    assert!(browser.address().starts_with("/products/1"), "{}", browser.address());
    browser.is_clean();
}

async fn a_peek_opens_for_rows_only_and_says_when_it_cannot_show_a_record(server: Server) {
    three(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=name");
    browser.type_text("?");
    browser.sees("View the row");
    browser.key("Escape", 0);
    // Space selects the row of a checkbox, types into an input, and does nothing before j and k.
    let is_open = "document.querySelector('#peek').open";
    browser.run("document.activeElement.blur(); 1");
    browser.key(" ", 0);
    for focused in ["tbody [name=id]", "#search", "[data-bulk] [value=edit]"] {
        browser.run(&format!("document.querySelector('{focused}').focus(); 1"));
        let prevented = browser.run(
            "!document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true, cancelable: true }))",
        );
        assert_eq!((prevented, browser.run(is_open)), (json!(false), json!(false)), "{focused}");
    }
    browser.run("document.querySelector('tbody [name=id]').focus(); 1");
    browser.key(" ", 0);
    browser.until("document.querySelector('[data-chosen]').innerText === '1 selected'");
    // The record is deleted for good, or the session ended.
    server.admin().delete("/products/1").await.status(204);
    browser.run("document.querySelector('[data-open]').href = '/products/99'; 1");
    browser.run("document.querySelector('[data-open]').focus(); 1");
    browser.key(" ", 0);
    browser.sees("This record cannot be shown here");
    browser.key("ArrowDown", 0);
    shows(&mut browser, "Lantern", "2 / 3");
    assert_eq!(browser.run("document.querySelector('[data-failed]').hidden"), true);
    browser.is_clean();
}
