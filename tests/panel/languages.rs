//! Pages in the language, the time zone and the number form of their reader.

use serde_json::{Value, json};

use super::{CookieClient, admin, signed_in};
use crate::support::{Browser, Server, on_both};

on_both!(
    page_is_in_the_language_of_the_browser_until_the_user_chooses_one,
    unknown_preferences_are_refused,
    times_and_numbers_are_those_of_the_user,
);

on_both!(
    browser:
    german_pages_have_no_english_words,
    untouched_fields_stay_the_same_in_german_after_the_zone_changed,
    messages_of_a_form_are_in_german,
);

/// Stores preferences by the form of the account page.
async fn choose(panel: &mut CookieClient, language: &str, zone: &str, numbers: &str) {
    let form = [("language", language), ("time_zone", zone), ("number_form", numbers)];
    panel.submit("/panel/account/preferences", &form).await.status(303);
}

async fn page_is_in_the_language_of_the_browser_until_the_user_chooses_one(server: Server) {
    let stranger = CookieClient::new(&server.url());
    let mut german = stranger.with("accept-language", Some("de-AT,de;q=0.9,en;q=0.8"));
    german.get("/panel/sign-in").await.status(200).says("<html lang=\"de\"").says("Anmelden");
    let mut french = stranger.with("accept-language", Some("fr"));
    french.get("/panel/sign-in").await.status(200).says("<html lang=\"en\"").says("Sign in");
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await.with("accept-language", Some("de"));
    panel.get("/products").await.status(200).says("<html lang=\"de\"").says("<h1>Produkte <span");
    panel.get("/nothing").await.status(404).says("<html lang=\"de\"");
    choose(&mut panel, "en", "", "").await;
    panel.get("/products").await.status(200).says("<html lang=\"en\"").says("<h1>Products <span");
    let mut english = panel.with("accept-language", Some("en"));
    choose(&mut english, "de", "", "").await;
    english.get("/products").await.status(200).says("<h1>Produkte <span");
    choose(&mut english, "", "", "").await;
    english.get("/products").await.status(200).says("<h1>Products <span");
}

async fn unknown_preferences_are_refused(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    choose(&mut panel, "", "Asia/Tokyo", "1.234,50").await;
    for (name, value, status) in
        [("time_zone", "Atlantis/Capital", 422), ("language", "tlh", 404), ("number_form", "12,34", 404)]
    {
        let page = panel.submit("/panel/account/preferences", &[(name, value)]).await;
        page.status(status);
        if status == 422 {
            page.says("No time zone is called Atlantis/Capital.").says("value=\"Atlantis/Capital\"");
        }
    }
    // A refused form changes nothing.
    panel.get("/panel/account").await.status(200).says("value=\"Asia/Tokyo\"").says("selected>1.234,50");
}

async fn times_and_numbers_are_those_of_the_user(server: Server) {
    let client = server.admin();
    client.put("/settings", json!({ "timezone": "Europe/Berlin" })).await.ok();
    client.post("/products", json!({ "name": "Lampe", "weight": "1234.5" })).await.created("product");
    let call = json!({ "subject": "Anruf", "starts_at": "2026-07-01T14:30:00Z", "ends_at": "2026-07-01T15:30:00Z" });
    client.post("/activities", call).await.created("activity");
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    panel.get("/products/1").await.says("1,234.5000");
    panel.get("/activities/1").await.says("1 Jul 2026, 16:30");
    choose(&mut panel, "de", "Asia/Tokyo", "1.234,50").await;
    panel.get("/products/1").await.says("1.234,5000");
    panel.get("/activities/1").await.says("01.07.2026, 23:30");
    panel.get("/activities/1/edit").await.says("value=\"2026-07-01T23:30:00\"");
    // Others see what the company has.
    let (other, _) = server.user(&[], &["*"]).await;
    let mut others = signed_in(&server, &other).await;
    others.get("/products/1").await.says("1,234.5000");
    others.get("/activities/1").await.says("1 Jul 2026, 16:30");
}

/// A browser of the administrator with these preferences.
async fn german_browser(server: &Server) -> Browser {
    let mut browser = admin(server).await;
    browser.open("/panel/account");
    browser.run("document.querySelector('#language').value = 'de'");
    browser.run("document.querySelector('#number-form').value = '1.234,50'");
    browser.follow("form[action='/panel/account/preferences'] .primary");
    assert_eq!(browser.run("document.documentElement.lang"), "de");
    browser
}

/// English words of the visible text and the attributes that are read aloud.
const ENGLISH: &str = r"(() => {
    const words = /\b(the|of|and|is|are|with|this|that|not|your|you|new|delete|edit|save|cancel|search|select|show|choose|page|yet|none|from|its|by|open|close|field|fields|change|changes|value|rows|since|until|every|only|more|less)\b/i;
    const texts = document.body.innerText.split('\n').map((text) => text.trim()).filter(Boolean);
    for (const one of document.querySelectorAll('[aria-label], [placeholder], [title], [alt]')) {
        for (const name of ['aria-label', 'placeholder', 'title', 'alt']) if (one.getAttribute(name)) texts.push(one.getAttribute(name));
    }
    return texts.filter((text) => words.test(text));
})()";

async fn german_pages_have_no_english_words(server: Server) {
    let client = server.admin();
    let group = client.post("/product_groups", json!({ "name": "Licht" })).await.created("product_group");
    for name in ["Lampe", "Leuchte"] {
        let product = json!({ "name": name, "product_group_id": group["id"], "weight": "1.5" });
        client.post("/products", product).await.created("product");
    }
    client.delete("/products/2").await.status(204);
    client.put("/products/1", json!({ "sku": "L-1" })).await.ok();
    client.post("/members", json!({ "name": "Kunde" })).await.created("member");
    let call = json!({ "subject": "Anruf", "starts_at": "2026-07-01T14:30:00Z", "ends_at": "2026-07-01T15:30:00Z" });
    client.post("/activities", call).await.created("activity");
    let mut browser = german_browser(&server).await;
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    let mut found = Vec::new();
    for page in [
        "/",
        "/products",
        "/products?filter=open&columns=name",
        "/products?q[name_cont]=a&sort=-name",
        "/products?q[name_eq]=nichts",
        "/products?deleted=only",
        "/products/new",
        "/products/1",
        "/products/1/edit",
        "/products/1/history",
        "/products/1/delete",
        "/products/2?deleted=only",
        "/members/1",
        "/activities",
        "/activities/1",
        "/users",
        "/users/1",
        "/users/1/edit",
        "/users/1/deactivate",
        "/roles",
        "/roles/new",
        "/tokens",
        "/tokens/new",
        "/webhooks",
        "/webhooks/new",
        "/custom_fields/new",
        "/custom_views",
        "/imports",
        "/imports/new",
        "/settings",
        "/exchange_rates/convert",
        "/search?q=Lampe",
        "/search?q=xyz",
        "/panel/account",
        "/panel/password",
        "/nirgends",
    ] {
        browser.open(page);
        browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        for text in browser.run(ENGLISH).as_array().expect("texts") {
            found.push(format!("{page}: {text}"));
        }
    }
    assert!(found.is_empty(), "{} texts:\n{}", found.len(), found.join("\n"));
}

/// The second of two equal hours, with decimal commas, and a zone that changes before the form is saved.
async fn untouched_fields_stay_the_same_in_german_after_the_zone_changed(server: Server) {
    let client = server.admin();
    client.put("/settings", json!({ "timezone": "Europe/Berlin" })).await.ok();
    let call = json!({
        "subject": "Anruf", "description": "Eins\r\nzwei\n", "starts_at": "2026-10-25T01:30:00.250Z",
        "ends_at": "2026-10-25T02:30:00Z",
    });
    client.post("/activities", call).await.created("activity");
    client.post("/products", json!({ "name": "Lampe", "weight": "1.221" })).await.created("product");
    let mut browser = german_browser(&server).await;
    let of = async |name: &str, path: &str| client.get(path).await.record(name);
    let (activity, product) = (of("activity", "/activities/1").await, of("product", "/products/1").await);
    browser.open("/activities/1/edit");
    browser.run("document.querySelector('[name=subject]').value = 'Rückruf'");
    client.put("/settings", json!({ "timezone": "Asia/Tokyo" })).await.ok();
    browser.follow(".record .primary");
    let saved = of("activity", "/activities/1").await;
    assert_eq!(saved["subject"], "Rückruf", "{}", browser.text("main"));
    for name in ["description", "starts_at", "ends_at"] {
        assert_eq!(saved[name], activity[name], "{name}");
    }
    browser.open("/products/1/edit");
    assert_eq!(browser.run("document.querySelector('[name=weight]').value"), "1,2210");
    browser.fill("[name=sku]", "L-1");
    browser.fill("[name=replacement_charge]", "1.234,95");
    browser.follow(".record .primary");
    let saved = of("product", "/products/1").await;
    let expected = (json!("L-1"), product["weight"].clone(), json!("1234.95"));
    assert_eq!((saved["sku"].clone(), saved["weight"].clone(), saved["replacement_charge"].clone()), expected);
    browser.is_clean();
}

async fn messages_of_a_form_are_in_german(server: Server) {
    let mut browser = german_browser(&server).await;
    browser.open("/products/new");
    browser.run("document.querySelector('form.record').noValidate = true");
    for (name, value) in [("weight", "-1"), ("name", "")] {
        browser.run(&format!("document.querySelector('[name={name}]').value = '{value}'"));
    }
    browser.follow(".record .primary");
    let text = browser.text("main");
    for message in ["Gewicht muss mindestens 0 sein", "Name"] {
        assert!(text.contains(message), "{text}");
    }
    assert_eq!(browser.run(ENGLISH), Value::Array(Vec::new()), "{text}");
}
