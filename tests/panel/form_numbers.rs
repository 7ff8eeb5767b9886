//! Forms of a company with decimal commas: values are read as they were shown, and ambiguous numbers are refused.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CookieClient, admin, browser_of, signed_in};
use crate::support::{Server, on_both};

on_both!(a_bulk_edit_reads_a_number_in_the_form_of_the_currency, a_form_of_no_page_has_numbers_in_the_form_of_the_api,);

on_both!(
    browser:
    untouched_fields_stay_the_same_after_zone_and_currency_changed,
    a_decimal_is_read_in_the_form_in_which_it_is_shown,
    an_ambiguous_number_is_refused_with_both_meanings,
);

/// The settings, in force on the pages: they are read every five seconds.
async fn settings(server: &Server, panel: &mut CookieClient, settings: Value, page: &str, shown: &str) {
    server.admin().put("/settings", settings).await.ok();
    for _ in 0..70 {
        if panel.get(page).await.status(200).text.contains(shown) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{page} does not show {shown}");
}

/// The second of two ambiguous hours, milliseconds, trailing zeros.
async fn untouched_fields_stay_the_same_after_zone_and_currency_changed(server: Server) {
    let client = server.admin();
    // A second session of a user would end the first one, because each sets the password.
    let (reader, _) = server.user(&[], &["*"]).await;
    let (editor, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &reader).await;
    let call = json!({
        "subject": "Call", "description": "One\r\ntwo\n", "starts_at": "2026-10-25T01:30:00.250Z",
        "ends_at": "2026-10-25T02:30:00Z",
    });
    client.post("/activities", call).await.created("activity");
    client
        .post("/products", json!({ "name": "Lamp", "weight": "1.221", "replacement_charge": "1234.5" }))
        .await
        .created("product");
    let berlin = json!({ "timezone": "Europe/Berlin", "base_currency": "EUR" });
    settings(&server, &mut panel, berlin, "/products/1/edit", "value=\"1,2210\"").await;
    let mut activity = admin(&server).await;
    let mut product = browser_of(&server, editor["id"].as_i64().expect("an id")).await;
    activity.open("/activities/1/edit");
    product.open("/products/1/edit");
    let starts_at = activity.run("document.querySelector('[name=starts_at]').value");
    assert!(starts_at.as_str().is_some_and(|text| text.starts_with("2026-10-25T02:30:00.25")), "{starts_at}");
    assert_eq!(product.run("document.querySelector('[name=weight]').value"), "1,2210");
    let tokyo = json!({ "timezone": "Asia/Tokyo", "base_currency": "GBP" });
    settings(&server, &mut panel, tokyo, "/products/1/edit", "value=\"1.2210\"").await;
    let (times, numbers) =
        (client.get("/activities/1").await.record("activity"), client.get("/products/1").await.record("product"));
    activity.fill("[name=subject]", "Call back");
    activity.follow(".record .primary");
    product.fill("[name=sku]", "NEW");
    product.fill("[name=replacement_charge]", "99,95");
    product.follow(".record .primary");
    let saved = client.get("/activities/1").await.record("activity");
    assert_eq!(saved["subject"], "Call back");
    for name in ["description", "starts_at", "ends_at"] {
        assert_eq!(saved[name], times[name], "{name}");
    }
    let saved = client.get("/products/1").await.record("product");
    assert_eq!((&saved["sku"], &saved["weight"]), (&json!("NEW"), &numbers["weight"]));
    assert_eq!(saved["replacement_charge"], "99.95", "an edited number has the form that the page showed");
    // An edited time is in the zone that the page showed.
    activity.open("/activities/1/edit");
    assert_eq!(activity.run("document.querySelector('[name=ends_at]').value"), "2026-10-25T11:30");
    let berlin = json!({ "timezone": "Europe/Berlin" });
    client.put("/settings", berlin).await.ok();
    activity.fill("[name=ends_at]", "2026-10-25T12:30");
    activity.follow(".record .primary");
    let saved = client.get("/activities/1").await.record("activity");
    assert_eq!((&saved["starts_at"], &saved["ends_at"]), (&times["starts_at"], &json!("2026-10-25T03:30:00.000Z")));
    activity.is_clean();
    product.is_clean();
}

async fn a_decimal_is_read_in_the_form_in_which_it_is_shown(server: Server) {
    let client = server.admin();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    client.post("/products", json!({ "name": "Lamp", "weight": "1221" })).await.created("product");
    settings(&server, &mut panel, json!({ "base_currency": "EUR" }), "/products/1/edit", "value=\"1221,0000\"").await;
    let mut browser = admin(&server).await;
    for (entered, stored, shown) in
        [("1,221", "1.2210", "1,2210"), ("1.221,5", "1221.5000", "1221,5000"), ("0", "0.0000", "0,0000")]
    {
        browser.open("/products/1/edit");
        assert!(browser.text("form.record").contains("For example 1234,50"));
        browser.fill("[name=weight]", entered);
        browser.follow(".record .primary");
        assert_eq!(browser.address(), "/products/1", "{}", browser.text("main"));
        assert_eq!(client.get("/products/1").await.record("product")["weight"], stored);
        browser.open("/products/1/edit");
        assert_eq!(browser.run("document.querySelector('[name=weight]').value"), shown);
    }
    // Defaults of a new record have the same form.
    browser.open("/products/new");
    browser.fill("[name=name]", "Torch");
    browser.fill("[name=weight]", "2,5");
    browser.follow(".record .primary");
    assert_eq!(client.get("/products/2").await.record("product")["weight"], "2.5000");
    browser.is_clean();
}

async fn an_ambiguous_number_is_refused_with_both_meanings(server: Server) {
    let client = server.admin();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    client.post("/products", json!({ "name": "Lamp", "weight": "5" })).await.created("product");
    settings(&server, &mut panel, json!({ "base_currency": "EUR" }), "/products/1/edit", "value=\"5,0000\"").await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    for (entered, message) in [
        ("1.221", "“1.221” can mean two numbers. Write 1221 or 1,221."),
        ("1.5", "“1.5” is not a number here. Write it like 1234,50."),
        ("much", "“much” is not a number here. Write it like 1234,50."),
    ] {
        browser.fill("[name=weight]", entered);
        browser.fill("[name=name]", "");
        browser.follow(".record .primary");
        assert_eq!(browser.text("#field-weight-error"), message);
        assert!(browser.text(".problem").contains(&format!("Weight: {message}")), "{}", browser.text(".problem"));
        assert!(browser.text("#field-name-error").contains("blank"), "all errors are shown at once");
        assert_eq!(browser.run("document.querySelector('[name=weight]').value"), entered, "the text is kept");
    }
    browser.fill("[name=name]", "Lamp");
    browser.fill("[name=weight]", "1221");
    browser.follow(".record .primary");
    assert_eq!(client.get("/products/1").await.record("product")["weight"], "1221.0000");
    browser.is_clean();
}

async fn a_bulk_edit_reads_a_number_in_the_form_of_the_currency(server: Server) {
    let client = server.admin();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    client.post("/products", json!({ "name": "Lamp", "weight": "5" })).await.created("product");
    settings(&server, &mut panel, json!({ "base_currency": "EUR" }), "/products/1/edit", "value=\"5,0000\"").await;
    let shown = r#"{"zone":"UTC","separators":{"decimal":",","thousands":"."}}"#;
    let change = |step: &'static str, weight: &'static str| {
        [("_step", step), ("id", "1"), ("_field", "weight"), ("weight", weight), ("_shown", shown)]
    };
    let refused = panel.submit("/products/bulk", &change("preview", "1.221")).await;
    refused.status(422).says("“1.221” can mean two numbers. Write 1221 or 1,221.").says("value=\"1.221\"");
    let preview = panel.submit("/products/bulk", &change("preview", "1,25")).await;
    preview.status(200).says("1,25").says("_shown");
    panel.submit("/products/bulk", &change("apply", "1,25")).await.status(200).says("1 product was changed.");
    assert_eq!(client.get("/products/1").await.record("product")["weight"], "1.2500");
    // Applying without a preview is refused by the API.
    panel.submit("/products/bulk", &change("apply", "1.221")).await.status(200).says("Nothing was changed");
    assert_eq!(client.get("/products/1").await.record("product")["weight"], "1.2500");
}

/// A link or a script, which has not seen the company's number format.
async fn a_form_of_no_page_has_numbers_in_the_form_of_the_api(server: Server) {
    let client = server.admin();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    client.post("/products", json!({ "name": "Lamp", "weight": "5" })).await.created("product");
    settings(&server, &mut panel, json!({ "base_currency": "EUR" }), "/products/1/edit", "value=\"5,0000\"").await;
    panel.get("/products/new?weight=1.5").await.status(200).says("value=\"1,5\"");
    panel.submit("/products/1", &[("weight", "1.221")]).await.status(303);
    assert_eq!(client.get("/products/1").await.record("product")["weight"], "1.2210");
    panel.submit("/products/1", &[("weight", "1,221")]).await.status(422);
}
