//! What was written is kept: through another session, another theme and somebody else's change; and what was done is said.

use serde_json::json;

use super::{PASSWORD, Visitor, admin, visitor};
use crate::support::{Server, Specimens, on_both};

on_both!(
    a_form_of_another_session_is_shown_again,
    rows_are_the_same_records_however_often_a_form_is_refused,
    what_a_browser_writes_otherwise_stays_what_it_was,
    what_is_neither_yes_nor_no_stays_neither,
    the_theme_takes_nothing_away,
    what_differs_is_said_in_words,
    what_has_the_focus_is_seen_above_the_bar,
    what_was_done_is_said_once,
    what_was_written_outlives_its_record,
    what_was_pressed_while_signed_out_was_not_done,
    what_is_too_long_to_be_kept_is_said,
);

async fn a_form_of_another_session_is_shown_again(server: Server) {
    let mut first = visitor(&server, &json!({ "id": 1 })).await;
    let token = first.token().await;
    // The same browser, signed in anew in another tab.
    let mut second = visitor(&server, &json!({ "id": 1 })).await;
    let written = [("name", "Written at length"), ("_token", token.as_str())];
    let again = second.post("/product_groups", &written).await;
    again.status(409).says("Nothing is lost").says("value=\"Written at length\"");
    let total = server.admin().get("/product_groups").await.ok()["meta"]["total"].clone();
    assert_eq!(total, 0, "nothing is carried out");
    let fresh = again.text.split("name=\"_token\" value=\"").last().and_then(|rest| rest.split('"').next());
    let fresh = fresh.expect("a token").to_string();
    second.post("/product_groups", &[("name", "Written at length"), ("_token", &fresh)]).await.status(303);
    // What was pressed is to be pressed again, and the page says so.
    server.admin().post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let pressed = second.post("/activities/1/complete", &[("_token", token.as_str())]).await;
    assert_eq!(pressed.status(303).header("location"), "/activities/1");
    assert!(pressed.header("set-cookie").starts_with("charter_said=stale;"), "{}", pressed.header("set-cookie"));
    assert_eq!(server.admin().get("/activities/1").await.record("activity")["completed"], false);
    // Another site's form is none, with any token.
    let mut forged = second.with("sec-fetch-site", Some("cross-site"));
    let refused = forged.post("/product_groups", &written).await;
    assert!(!refused.status(409).text.contains("Nothing is lost"));
    second.post("/activities/1/complete", &[("_token", "0")]).await.status(409);
}

async fn rows_are_the_same_records_however_often_a_form_is_refused(server: Server) {
    let client = server.admin();
    client.post("/members", json!({ "name": "Ada" })).await.created("member");
    let call = json!({ "subject": "Call", "participants": [{ "member_id": 1, "mute": true }] });
    let participants = client.post("/activities", call).await.created("activity")["participants"].clone();
    let id = participants[0]["id"].to_string();
    let held = format!("name=\"participants[0][id]\" value=\"{id}\"");
    let row = [("participants[0][id]", id.as_str()), ("participants[0][member_id]", "1")];
    let stale = visitor(&server, &json!({ "id": 1 })).await.token().await;
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    inside.get("/activities/1/edit").await.status(200).says(&held);
    let sent = |beside: &[(&'static str, &'static str)]| [&row[..], beside].concat();
    inside.submit("/activities/1", &sent(&[("subject", "")])).await.status(422).says(&held);
    let of_before = [&row[..], &[("subject", "Call"), ("_token", stale.as_str())]].concat();
    inside.post("/activities/1", &of_before).await.status(409).says(&held);
    let late = [("subject", "Call back"), ("_version", "\"late\"")];
    inside.submit("/activities/1", &sent(&late)).await.status(412).says(&held);
    inside.submit("/activities/1", &sent(&[("subject", "Call back")])).await.status(303);
    assert_eq!(client.get("/activities/1").await.record("activity")["participants"], participants, "none is new");
    // One that somebody else has removed meanwhile is written as another.
    client.put("/activities/1", json!({ "participants": [] })).await.ok();
    let refused = inside.submit("/activities/1", &sent(&late)).await;
    refused.status(412).says("name=\"participants[0][member_id]\"");
    assert!(!refused.text.contains(&held), "{}", refused.text);
    let again = [row[1], ("subject", "Call back")];
    inside.submit("/activities/1", &again).await.status(303);
    let participants = client.get("/activities/1").await.record("activity")["participants"].clone();
    assert_eq!(participants.as_array().map(Vec::len), Some(1), "{participants}");
}

/// The ends of lines, lines where there is room for one, elements of several lines, and times that no input holds.
async fn what_a_browser_writes_otherwise_stays_what_it_was(server: Server) {
    let client = server.admin();
    client.put("/settings", json!({ "timezone": "Europe/Berlin" })).await.ok();
    let product = json!({ "name": "A\nB", "tag_list": ["a\nb", " c "] });
    let product = client.post("/products", product).await.created("product");
    let call =
        json!({ "subject": "A\r\nB", "description": "One\r\ntwo\rthree\n", "starts_at": "9999-12-31T23:59:59Z" });
    client.post("/activities", call).await.created("activity");
    let hook = json!({ "url": "https://example.com/hook", "events": ["product.updated", "member.created", "*"] });
    client.post("/webhooks", hook).await.created("webhook");
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    let page = inside.get("/products/1/edit").await;
    page.status(200).says("name=\"_was.line.name\" value=\"&quot;A\\nB&quot;\"");
    page.says("name=\"_was.list.tag_list[lines]\"");
    let page = inside.get("/activities/1/edit").await;
    page.status(200).says("name=\"_was.line.subject\"").says("name=\"_was.area.description\"");
    page.says("<input type=\"text\" id=\"field-starts_at\" name=\"starts_at\" value=\"9999-12-31T23:59:59");
    let (name, tags) = (product["name"].to_string(), product["tag_list"].to_string());
    let sent = [
        ("name", "AB"),
        ("_was.line.name", name.as_str()),
        ("tag_list[lines]", "a\r\nb\r\n c "),
        ("_was.list.tag_list[lines]", tags.as_str()),
        ("sku", "S-1"),
    ];
    inside.submit("/products/1", &sent).await.status(303);
    let saved = client.get("/products/1").await.record("product");
    assert_eq!((&saved["name"], &saved["tag_list"]), (&product["name"], &product["tag_list"]));
    assert_eq!(saved["sku"], "S-1", "and what is changed is");
    let Some(mut browser) = admin(&server).await else { return };
    for path in ["/products/1", "/activities/1", "/webhooks/1"] {
        let before = client.get(path).await.text;
        browser.open(&format!("{path}/edit"));
        browser.follow(".record .primary");
        assert_eq!(browser.address(), path, "{}", browser.text("main"));
        assert_eq!(client.get(path).await.text, before, "{path}");
    }
    browser.is_clean();
}

/// A box would say no where nothing was said.
async fn what_is_neither_yes_nor_no_stays_neither(specimens: Specimens) {
    let client = specimens.admin();
    let active = async || client.get("/specimens/3").await.record("specimen")["active"].clone();
    let mut inside = visitor(&specimens, &json!({ "id": 1 })).await;
    inside.get("/specimens/3/edit").await.status(200).says("<option value=\"\" selected>–</option>");
    for (given, kept) in [("", json!(null)), ("true", json!(true)), ("false", json!(false)), ("", json!(null))] {
        inside.submit("/specimens/3", &[("active", given)]).await.status(303);
        assert_eq!(active().await, kept, "{given:?}");
    }
    // The same for many at once.
    for (given, kept) in [("false", json!(false)), ("", json!(null))] {
        let change = [("_step", "apply"), ("id", "3"), ("_field", "active"), ("active", given)];
        inside.submit("/specimens/bulk", &change).await.status(200).says("1 specimen was changed.");
        assert_eq!(active().await, kept, "{given:?}");
    }
    let Some(mut browser) = admin(&specimens).await else { return };
    let before = client.get("/specimens/3").await.text;
    browser.open("/specimens/3/edit");
    browser.follow(".record .primary");
    assert_eq!(client.get("/specimens/3").await.text, before);
    browser.is_clean();
}

async fn the_theme_takes_nothing_away(server: Server) {
    let Some(mut browser) = admin(&server).await else { return };
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
    assert_eq!(browser.run("document.documentElement.dataset.theme"), "dark", "it is kept");
    browser.press("[name=theme][value=auto]");
    browser.until("document.documentElement.dataset.theme === undefined");
    browser.is_clean();
}

async fn what_differs_is_said_in_words(server: Server) {
    let client = server.admin();
    let field = json!({ "entity_type": "products", "name": "power", "label": "Power", "field_type": "integer" });
    client.post("/custom_fields", field).await.created("custom_field");
    for name in ["Rigging", "Furniture"] {
        client.post("/product_groups", json!({ "name": name })).await.created("product_group");
    }
    let lamp = json!({ "name": "Lamp", "product_group_id": 1, "tag_list": ["a"], "custom_fields": { "power": 1819 } });
    client.post("/products", lamp).await.created("product");
    let Some(mut browser) = admin(&server).await else { return };
    browser.open("/products/1/edit");
    let theirs = json!({ "product_group_id": 2, "product_type": "sale", "is_active": false });
    client.put("/products/1", theirs).await.ok();
    browser.fill("[name=sku]", "MINE");
    browser.follow(".record .primary");
    browser.sees("Somebody else has changed this record");
    let said = browser.text(".notice");
    for one in
        ["Product group: now Furniture, yours Rigging", "now Sale, yours Rental", "Active: now No, yours", "yours MINE"]
    {
        assert!(said.contains(one), "{one}: {said}");
    }
    for other in ["Custom fields", "Power", "Tag", "Name:"] {
        assert!(!said.contains(other), "{other} is the same: {said}");
    }
    client.put("/products/1", json!({ "custom_fields": { "power": 20 } })).await.ok();
    browser.follow(".record .primary");
    browser.sees("Power: now 20, yours");
    browser.is_clean();
}

async fn what_has_the_focus_is_seen_above_the_bar(server: Server) {
    let Some(mut browser) = admin(&server).await else { return };
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

async fn what_was_done_is_said_once(server: Server) {
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    let saved = inside.submit("/product_groups", &[("name", "Lights")]).await;
    assert!(saved.header("set-cookie").starts_with("charter_said=created;"), "{}", saved.header("set-cookie"));
    let session = inside.cookie.clone().expect("a session");
    let with = |said: &str| {
        let mut visitor = Visitor::new(&server.url());
        visitor.cookie = Some(format!("{session}; charter_said={said}"));
        visitor
    };
    let page = with("created").get("/product_groups/1").await;
    page.status(200).says("aria-live=\"polite\">Created</div>");
    assert!(page.header("set-cookie").starts_with("charter_said=;"), "{}", page.header("set-cookie"));
    // Nobody else's words are said.
    let page = with("Call+this+number").get("/product_groups/1").await;
    assert!(!page.status(200).text.contains("Call"), "{}", page.text);
    let Some(mut browser) = admin(&server).await else { return };
    browser.open("/product_groups/1/edit");
    browser.fill("[name=name]", "Lamps");
    browser.follow(".record .primary");
    browser.until("document.querySelector('#said').innerText === 'Saved'");
    browser.open("/product_groups/1");
    assert_eq!(browser.text("#said"), "");
    browser.is_clean();
}

/// A form that was refused is shown again, and leaving it is warned of; also when there is nothing to save it in any more.
async fn what_was_written_outlives_its_record(server: Server) {
    let client = server.admin();
    client.post("/products", json!({ "name": "Lamp" })).await.created("product");
    client.post("/product_groups", json!({ "name": "Lights" })).await.created("product_group");
    let mut inside = visitor(&server, &json!({ "id": 1 })).await;
    assert!(!inside.get("/products/1/edit").await.status(200).text.contains("data-unsaved"));
    inside.submit("/products", &[("name", ""), ("sku", "A-1")]).await.status(422).says("data-unsaved").says("A-1");
    client.delete("/products/1").await.deleted();
    let again = inside.submit("/products/1", &[("name", "Written at length")]).await;
    again.status(404).says("Somebody has deleted this").says("value=\"Written at length\"").says("can be restored");
    assert!(inside.get("/products/1").await.status(303).header("location").contains("deleted"));
    client.delete("/product_groups/1").await.deleted();
    let again = inside.submit("/product_groups/1", &[("name", "Written at length")]).await;
    again.status(404).says("value=\"Written at length\"").says("data-unsaved");
}

async fn what_was_pressed_while_signed_out_was_not_done(server: Server) {
    visitor(&server, &json!({ "id": 1 })).await;
    let mut stranger = Visitor::new(&server.url());
    let back = "/products?q[name_cont]=lamp";
    let draft = format!("_step=delete&id=1&_back={}", back.replace('?', "%3F").replace('=', "%3D"));
    let form = [("email", "admin@example.com"), ("password", PASSWORD), ("to", "/products/bulk"), ("draft", &draft)];
    let led = stranger.post("/panel/sign-in", &form).await;
    assert_eq!(led.status(303).header("location"), back);
    assert!(led.header("set-cookie").contains("=stale;"), "the page says that nothing was done");
}

/// Anybody may send it, and it comes back in the page.
async fn what_is_too_long_to_be_kept_is_said(server: Server) {
    let mut stranger = Visitor::new(&server.url());
    for (length, kept) in [((64 << 10) - "name=".len(), true), ((64 << 10) - "name=".len() + 1, false)] {
        let text = "x".repeat(length);
        let page = stranger.post("/product_groups", &[("name", &text)]).await;
        let said = if kept { "What you have written is kept" } else { "too long to be kept on the way" };
        page.status(401).says(said);
        assert_eq!(page.text.contains(&text), kept);
        if kept {
            let draft = format!("name={text}");
            let form =
                [("email", "nobody@example.com"), ("password", "none"), ("to", "/product_groups"), ("draft", &draft)];
            assert!(stranger.post("/panel/sign-in", &form).await.text.contains(&text), "it is kept on");
        }
    }
    stranger.post("/panel/sign-in", &[("email", &"x".repeat(1 << 20))]).await.status(413);
}
