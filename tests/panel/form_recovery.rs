//! Input is preserved through an ended session, a theme change and a rejected form; flash messages.

use serde_json::json;

use super::{CookieClient, PASSWORD, admin, signed_in};
use crate::support::{Server, Specimens, on_both};

on_both!(
    a_form_with_the_token_of_another_session_is_shown_again,
    embedded_records_keep_their_ids_when_a_form_is_rejected,
    input_for_a_deleted_record_is_shown_again,
    a_button_pressed_while_signed_out_has_no_effect,
    a_draft_longer_than_64_kib_is_not_preserved,
);

on_both!(
    browser:
    values_that_browsers_change_are_saved_unchanged,
    a_null_boolean_stays_null_in_a_form,
    changing_the_theme_keeps_unsaved_input,
    the_sticky_button_bar_never_covers_the_focused_element,
    a_flash_message_is_shown_once,
);

async fn a_form_with_the_token_of_another_session_is_shown_again(server: Server) {
    let mut first = signed_in(&server, &json!({ "id": 1 })).await;
    let token = first.token().await;
    // The same browser, signed in again in another tab.
    let mut second = signed_in(&server, &json!({ "id": 1 })).await;
    let written = [("name", "Written at length"), ("_token", token.as_str())];
    let again = second.post("/product_groups", &written).await;
    again.status(409).says("The form was not saved").says("value=\"Written at length\"");
    let total = server.admin().get("/product_groups").await.ok()["meta"]["total"].clone();
    assert_eq!(total, 0, "nothing is saved");
    let fresh = again.text.split("name=\"_token\" value=\"").last().and_then(|rest| rest.split('"').next());
    let fresh = fresh.expect("a token").to_string();
    second.post("/product_groups", &[("name", "Written at length"), ("_token", &fresh)]).await.status(303);
    // A button must be pressed again, and the page says so.
    server.admin().post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let pressed = second.post("/activities/1/complete", &[("_token", token.as_str())]).await;
    assert_eq!(pressed.status(303).header("location"), "/activities/1");
    assert!(pressed.header("set-cookie").starts_with("charter_said=stale;"), "{}", pressed.header("set-cookie"));
    assert_eq!(server.admin().get("/activities/1").await.record("activity")["completed"], false);
    // A form of another site is rejected with any token.
    let mut forged = second.with("sec-fetch-site", Some("cross-site"));
    let refused = forged.post("/product_groups", &written).await;
    assert!(!refused.status(409).text.contains("The form was not saved"));
    second.post("/activities/1/complete", &[("_token", "0")]).await.status(409);
}

async fn embedded_records_keep_their_ids_when_a_form_is_rejected(server: Server) {
    let client = server.admin();
    client.post("/members", json!({ "name": "Ada" })).await.created("member");
    let call = json!({ "subject": "Call", "participants": [{ "member_id": 1, "mute": true }] });
    let participants = client.post("/activities", call).await.created("activity")["participants"].clone();
    let id = participants[0]["id"].to_string();
    let held = format!("name=\"participants[0][id]\" value=\"{id}\"");
    let row = [("participants[0][id]", id.as_str()), ("participants[0][member_id]", "1")];
    let stale = signed_in(&server, &json!({ "id": 1 })).await.token().await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/activities/1/edit").await.status(200).says(&held);
    let sent = |beside: &[(&'static str, &'static str)]| [&row[..], beside].concat();
    panel.submit("/activities/1", &sent(&[("subject", "")])).await.status(422).says(&held);
    let of_before = [&row[..], &[("subject", "Call"), ("_token", stale.as_str())]].concat();
    panel.post("/activities/1", &of_before).await.status(409).says(&held);
    let late = [("subject", "Call back"), ("_version", "\"late\"")];
    panel.submit("/activities/1", &sent(&late)).await.status(412).says(&held);
    panel.submit("/activities/1", &sent(&[("subject", "Call back")])).await.status(303);
    assert_eq!(client.get("/activities/1").await.record("activity")["participants"], participants, "ids are unchanged");
    // An embedded record that somebody else removed meanwhile is created again.
    client.put("/activities/1", json!({ "participants": [] })).await.ok();
    let refused = panel.submit("/activities/1", &sent(&late)).await;
    refused.status(412).says("name=\"participants[0][member_id]\"");
    assert!(!refused.text.contains(&held), "{}", refused.text);
    let again = [row[1], ("subject", "Call back")];
    panel.submit("/activities/1", &again).await.status(303);
    let participants = client.get("/activities/1").await.record("activity")["participants"].clone();
    assert_eq!(participants.as_array().map(Vec::len), Some(1), "{participants}");
}

/// Line endings, line breaks in a single-line input, multi-line list elements, and timestamps outside the input range.
async fn values_that_browsers_change_are_saved_unchanged(server: Server) {
    let client = server.admin();
    client.put("/settings", json!({ "timezone": "Europe/Berlin" })).await.ok();
    let product = json!({ "name": "A\nB", "tag_list": ["a\nb", " c "] });
    let product = client.post("/products", product).await.created("product");
    let call =
        json!({ "subject": "A\r\nB", "description": "One\r\ntwo\rthree\n", "starts_at": "9999-12-31T23:59:59Z" });
    client.post("/activities", call).await.created("activity");
    let hook = json!({ "url": "https://example.com/hook", "events": ["product.updated", "member.created", "*"] });
    client.post("/webhooks", hook).await.created("webhook");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/activities/1/edit").await;
    page.status(200).says("<input type=\"text\" id=\"field-starts_at\" name=\"starts_at\" value=\"9999-12-31T23:59:59");
    let shown =
        json!({ "zone": "Europe/Berlin", "record": { "name": product["name"], "tag_list": product["tag_list"] } });
    let shown = shown.to_string();
    let sent = [("name", "AB"), ("tag_list[lines]", "a\r\nb\r\n c "), ("sku", "S-1"), ("_shown", shown.as_str())];
    panel.submit("/products/1", &sent).await.status(303);
    let saved = client.get("/products/1").await.record("product");
    assert_eq!((&saved["name"], &saved["tag_list"]), (&product["name"], &product["tag_list"]));
    assert_eq!(saved["sku"], "S-1", "a changed field is saved");
    panel.submit("/products/1", &[("sku", "S-2"), ("_shown", "x")]).await.status(400).says("Reload the page");
    let mut browser = admin(&server).await;
    for path in ["/products/1", "/activities/1", "/webhooks/1"] {
        let before = client.get(path).await.text;
        browser.open(&format!("{path}/edit"));
        browser.follow(".record .primary");
        assert_eq!(browser.address(), path, "{}", browser.text("main"));
        assert_eq!(client.get(path).await.text, before, "{path}");
    }
    browser.is_clean();
}

/// A checkbox would turn null into false.
async fn a_null_boolean_stays_null_in_a_form(specimens: Specimens) {
    let client = specimens.admin();
    let active = async || client.get("/specimens/3").await.record("specimen")["active"].clone();
    let mut panel = signed_in(&specimens, &json!({ "id": 1 })).await;
    panel.get("/specimens/3/edit").await.status(200).says("<option value=\"\" selected>–</option>");
    for (given, kept) in [("", json!(null)), ("true", json!(true)), ("false", json!(false)), ("", json!(null))] {
        panel.submit("/specimens/3", &[("active", given)]).await.status(303);
        assert_eq!(active().await, kept, "{given:?}");
    }
    // The same in a bulk edit.
    for (given, kept) in [("false", json!(false)), ("", json!(null))] {
        let change = [("_step", "apply"), ("id", "3"), ("_field", "active"), ("active", given)];
        panel.submit("/specimens/bulk", &change).await.status(200).says("1 specimen was changed.");
        assert_eq!(active().await, kept, "{given:?}");
    }
    let mut browser = admin(&specimens).await;
    let before = client.get("/specimens/3").await.text;
    browser.open("/specimens/3/edit");
    browser.follow(".record .primary");
    assert_eq!(client.get("/specimens/3").await.text, before);
    browser.is_clean();
}

async fn changing_the_theme_keeps_unsaved_input(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/members/new");
    browser.fill("[name=name]", "Written at length");
    browser.run("window.here = true; 1");
    browser.press(".me summary");
    browser.press("[name=theme][value=dark]");
    browser.until("document.documentElement.dataset.theme === 'dark'");
    browser.until("document.querySelector('[name=theme][value=dark]').getAttribute('aria-pressed') === 'true'");
    assert_eq!(browser.run("window.here && document.querySelector('[name=name]').value"), "Written at length");
    browser.follow(".record .primary");
    browser.sees("Written at length");
    assert_eq!(browser.run("document.documentElement.dataset.theme"), "dark", "the theme is stored");
    browser.press("[name=theme][value=auto]");
    browser.until("document.documentElement.dataset.theme === undefined");
    browser.is_clean();
}

async fn the_sticky_button_bar_never_covers_the_focused_element(server: Server) {
    let mut browser = admin(&server).await;
    browser.size(1024, 600);
    browser.open("/products/new");
    browser.run("document.querySelector('[name=name]').focus(); 1");
    let last = "document.activeElement.matches('.sticky *')";
    let hidden = "(() => { const at = document.activeElement.getBoundingClientRect(), \
                  bar = document.querySelector('.sticky').getBoundingClientRect(); return at.bottom > bar.top && at.top < bar.bottom; })()";
    let mut stops = 0;
    while browser.run(last) == false {
        assert_eq!(browser.run(hidden), false, "{}", browser.run("document.activeElement.outerHTML"));
        browser.key("Tab", 0);
        stops += 1;
        assert!(stops < 100, "the bar is reached");
    }
    assert!(stops > 10, "{stops}");
    browser.is_clean();
}

async fn a_flash_message_is_shown_once(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let saved = panel.submit("/product_groups", &[("name", "Lights")]).await;
    assert!(saved.header("set-cookie").starts_with("charter_said=created;"), "{}", saved.header("set-cookie"));
    let session = panel.cookie.clone().expect("a session");
    let with = |said: &str| {
        let mut client = CookieClient::new(&server.url());
        client.cookie = Some(format!("{session}; charter_said={said}"));
        client
    };
    let page = with("created").get("/product_groups/1").await;
    page.status(200).says("aria-live=\"polite\">Created</div>");
    assert!(page.header("set-cookie").starts_with("charter_said=;"), "{}", page.header("set-cookie"));
    // Unknown codes are ignored.
    let page = with("Call+this+number").get("/product_groups/1").await;
    assert!(!page.status(200).text.contains("Call"), "{}", page.text);
    let mut browser = admin(&server).await;
    browser.open("/product_groups/1/edit");
    browser.fill("[name=name]", "Lamps");
    browser.follow(".record .primary");
    browser.until("document.querySelector('#status').innerText === 'Saved'");
    browser.open("/product_groups/1");
    assert_eq!(browser.text("#status"), "");
    browser.is_clean();
}

/// A rejected form is shown again, and the browser warns before leaving it, even if the record was deleted.
async fn input_for_a_deleted_record_is_shown_again(server: Server) {
    let client = server.admin();
    client.post("/products", json!({ "name": "Lamp" })).await.created("product");
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    assert!(!panel.get("/products/1/edit").await.status(200).text.contains("data-unsaved"));
    panel.submit("/products", &[("name", ""), ("sku", "A-1")]).await.status(422).says("data-unsaved").says("A-1");
    client.delete("/products/1").await.deleted();
    let again = panel.submit("/products/1", &[("name", "Written at length")]).await;
    again.status(404).says("Somebody deleted this record").says("value=\"Written at length\"").says("to restore it");
    assert!(panel.get("/products/1").await.status(303).header("location").contains("deleted"));
    client.delete("/product_groups/1").await.deleted();
    let again = panel.submit("/product_groups/1", &[("name", "Written at length")]).await;
    again.status(404).says("value=\"Written at length\"").says("data-unsaved");
}

async fn a_button_pressed_while_signed_out_has_no_effect(server: Server) {
    signed_in(&server, &json!({ "id": 1 })).await;
    let mut stranger = CookieClient::new(&server.url());
    let back = "/products?q[name_cont]=lamp";
    let draft = format!("_step=delete&id=1&_back={}", back.replace('?', "%3F").replace('=', "%3D"));
    let form = [("email", "admin@example.com"), ("password", PASSWORD), ("to", "/products/bulk"), ("draft", &draft)];
    let redirected = stranger.post("/panel/sign-in", &form).await;
    assert_eq!(redirected.status(303).header("location"), back);
    assert!(redirected.header("set-cookie").contains("=stale;"), "the flash message says that nothing was done");
}

/// Anybody may send a draft, and the page contains it.
async fn a_draft_longer_than_64_kib_is_not_preserved(server: Server) {
    let mut stranger = CookieClient::new(&server.url());
    for (length, kept) in [((64 << 10) - "name=".len(), true), ((64 << 10) - "name=".len() + 1, false)] {
        let text = "x".repeat(length);
        let page = stranger.post("/product_groups", &[("name", &text)]).await;
        let said = if kept { "Your input is preserved" } else { "too long to preserve" };
        page.status(401).says(said);
        assert_eq!(page.text.contains(&text), kept);
        if kept {
            let draft = format!("name={text}");
            let form =
                [("email", "nobody@example.com"), ("password", "none"), ("to", "/product_groups"), ("draft", &draft)];
            assert!(
                stranger.post("/panel/sign-in", &form).await.text.contains(&text),
                "the draft is preserved after a failed sign-in"
            );
        }
    }
    stranger.post("/panel/sign-in", &[("email", &"x".repeat(1 << 20))]).await.status(413);
}
