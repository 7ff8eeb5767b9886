//! Search over all resources in the panel: the page, the dialog of Ctrl+K, and the search box of a list.

use serde_json::{Value, json};

use super::{CookieClient, admin, browser_of, signed_in};
use crate::support::{Browser, Server, on_both};

on_both!(
    search_page_works_without_scripts,
    search_page_shows_what_the_user_may_read,
    every_list_with_a_text_has_a_search_box,
    search_is_saved_with_a_view_and_shown_before_a_deletion,
);

on_both!(
    browser:
    records_are_found_and_opened_by_keyboard,
    options_are_opened_by_pointer,
    recent_records_are_kept_until_the_user_signs_out,
    an_answer_to_an_earlier_text_is_dropped,
    search_link_opens_the_page_without_scripts,
);

const CTRL: u32 = 2;

async fn records(server: &Server) {
    let client = server.admin();
    client.post("/products", json!({ "name": "Desk video", "sku": "V-1" })).await.created("product");
    client.post("/products", json!({ "name": "Video camera", "sku": "<b>" })).await.created("product");
    client.post("/members", json!({ "name": "Video Friends" })).await.created("member");
}

async fn search_page_works_without_scripts(server: Server) {
    records(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/").await.status(200).says("href=\"/search\"");
    panel.get("/search").await.status(200).says("name=\"q\"");
    let page = panel.get("/search?q=video").await;
    page.status(200).says("<a href=\"/products/2\">Video camera</a>").says("<a href=\"/members/1\">Video Friends</a>");
    let position = |text: &str| page.text.find(text).expect("a record");
    assert!(position("Video camera") < position("Desk video"), "{}", page.text);
    panel.get("/search?q=%3Cb%3E").await.status(200).says("SKU: &lt;b&gt;");
    panel
        .get("/search?q=product")
        .await
        .says("href=\"/products\">Products</a>")
        .says("/products/new\">New product</a>");
    panel.get("/search?q=zzz").await.status(200).says("Nothing was found for “zzz”");
    panel.get("/search?q=a").await.status(200).says("at least 2 characters");
    panel.submit("/search", &[("q", "x")]).await.status(405);
}

async fn search_page_shows_what_the_user_may_read(server: Server) {
    records(&server).await;
    let user = crate::rights::user_with(&server, &["members:read"], &[]).await;
    let mut panel = signed_in(&server, &user).await;
    let page = panel.get("/search?q=video").await;
    page.status(200).says("Video Friends");
    assert!(!page.text.contains("Video camera") && !page.text.contains("New product"), "{}", page.text);
    let found: Value = serde_json::from_str(&panel.call("GET", "/search?q=video", None).await.text).expect("JSON");
    assert_eq!(found["data"].as_array().map(Vec::len), Some(1), "{found}");
    let mut stranger = CookieClient::new(&server.url());
    assert_ne!(stranger.get("/search?q=video").await.status, 200);
}

async fn every_list_with_a_text_has_a_search_box(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    for entry in server.state.catalog.entries() {
        if entry.is_listed() && entry.meta.under.is_none() && !entry.is_attached() {
            let caller = charter_runtime::principal::Principal::operator();
            let has_text = !charter_runtime::query::search_fields(entry, &caller).is_empty();
            let page = panel.get(&format!("/{}", entry.meta.path)).await;
            assert_eq!(page.status(200).text.contains("name=\"search\""), has_text, "{}", entry.meta.path);
        }
    }
    records(&server).await;
    let page = panel.get("/products?search=v-1&sort=-name").await;
    page.status(200).says("Desk video").says("value=\"v-1\"").says("Search by name or sku").says("Search: “v-1”");
    assert!(!page.text.contains("Video camera"), "{}", page.text);
    panel.get("/products?search=zzz").await.says("matches these conditions");
    panel.get("/products?search=+&sort=-name").await.status(303);
    let many = ["a"; 11].join("+");
    panel.get(&format!("/products?search={many}")).await.status(422).says("at most 10 words");
    // Totals, and suggestions for a reference, are those of the search.
    server.admin().put("/products/2", json!({ "weight": "2.5" })).await.record("product");
    panel.get("/products?search=camera&columns=name,weight&totals=1").await.says("2.5000</td></tr></tfoot>");
    let titles = panel.get("/panel/titles/products?q=video").await;
    let titles: Value = serde_json::from_str(&titles.text).expect("JSON");
    assert_eq!(titles[0]["title"], "Video camera", "{titles}");
}

async fn search_is_saved_with_a_view_and_shown_before_a_deletion(server: Server) {
    records(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = [("_query", "search=video+v-1"), ("name", "Videos"), ("columns", "name")];
    panel.submit("/products/views", &form).await.status(303);
    let admin = server.admin();
    let view = admin.get("/custom_views").await.records("custom_views")[0]["id"].clone();
    let found = admin.get(&format!("/products?view_id={view}")).await;
    assert_eq!(found.column("products", "name"), ["Desk video"]);
    let all = [("_all", "1"), ("_query", "search=desk"), ("_step", "delete")];
    let page = panel.submit("/products/bulk", &all).await;
    page.status(200).says("Search: “desk”").says("1 product");
    panel.submit("/products/bulk", &[("_all", "1"), ("_query", "search=desk"), ("_step", "apply-delete")]).await;
    assert_eq!(admin.get("/products").await.column("products", "name"), ["Video camera"]);
}

/// The labels of the options, without their notes.
fn options(browser: &mut Browser) -> Vec<String> {
    let options =
        browser.run("[...document.querySelectorAll('#found [role=option]')].map(one => one.firstChild.textContent)");
    serde_json::from_value(options).expect("texts")
}

/// Presses Ctrl+K.
fn open(browser: &mut Browser) {
    let event = |kind: &str| json!({ "type": kind, "key": "k", "code": "KeyK", "windowsVirtualKeyCode": 75, "modifiers": CTRL });
    browser.call("Input.dispatchKeyEvent", event("rawKeyDown"));
    browser.call("Input.dispatchKeyEvent", event("keyUp"));
}

async fn records_are_found_and_opened_by_keyboard(server: Server) {
    records(&server).await;
    let mut browser = admin(&server).await;
    browser.open("/currencies");
    // Also while typing in another input.
    browser.run("document.querySelector('#search').focus(); 1");
    open(&mut browser);
    browser.until("document.querySelector('dialog.finder[open]') && document.activeElement.role === 'combobox'");
    assert!(options(&mut browser).contains(&"New product".to_string()));
    browser.type_text("video");
    browser.until("document.querySelectorAll('[aria-label=Records] [role=option]').length === 3");
    assert_eq!(options(&mut browser)[..3], ["Video Friends", "Video camera", "Desk video"]);
    browser.until("document.querySelector('.finder [role=status]').textContent === '3 records'");
    let active = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))";
    assert_eq!(browser.run(&format!("{active}.getAttribute('aria-selected')")), "true");
    assert_eq!(browser.run("document.querySelectorAll('#found [aria-selected=true]').length"), 1);
    browser.key("ArrowDown", 0);
    assert_eq!(browser.run(&format!("{active}.firstChild.textContent")), "Video camera");
    // Escape closes the dialog, and the focus returns.
    browser.key("Escape", 0);
    browser.until("!document.querySelector('dialog[open]') && document.activeElement.id === 'search'");
    open(&mut browser);
    browser.type_text("v-1");
    browser.until("document.querySelector('[aria-label=Records] small')?.textContent.includes('Products: V-1')");
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until("!window.leaving && document.readyState === 'complete'");
    assert_eq!(browser.address(), "/products/1");
    // A page, by its name.
    open(&mut browser);
    browser.type_text("tax cl");
    browser.run("window.leaving = true; 1");
    browser.key("Enter", 0);
    browser.until("!window.leaving && document.readyState === 'complete'");
    assert_eq!(browser.address(), "/tax_classes");
    browser.is_clean();
}

async fn options_are_opened_by_pointer(server: Server) {
    records(&server).await;
    let mut browser = admin(&server).await;
    browser.press("[data-search]");
    browser.until("document.querySelector('dialog.finder[open]') !== null");
    browser.type_text("new product");
    browser.until("document.querySelector('[aria-label=Actions] [role=option]')?.textContent === 'New product'");
    browser.follow("[aria-label=Actions] [role=option]");
    assert_eq!(browser.address(), "/products/new");
    browser.press("[data-search]");
    browser.type_text("video");
    browser.until("document.querySelectorAll('[aria-label=Records] [role=option]').length === 3");
    browser.follow("[aria-label=Records] [role=option]");
    assert_eq!(browser.address(), "/members/1");
    browser.press("[data-search]");
    browser.type_text("zzz");
    browser.until("document.querySelector('.finder [role=status]').textContent === 'No records'");
    browser.follow("[aria-label=More] [role=option]");
    assert_eq!(browser.address(), "/search?q=zzz");
    browser.is_clean();
}

async fn recent_records_are_kept_until_the_user_signs_out(server: Server) {
    records(&server).await;
    let other = crate::rights::user_with(&server, &["*"], &[]).await;
    let mut browser = admin(&server).await;
    for path in ["/products/1", "/members/1", "/products/1"] {
        browser.open(path);
    }
    browser.press("[data-search]");
    let recent =
        "[...document.querySelectorAll('[aria-label=Recent] [role=option]')].map(one => one.firstChild.textContent)";
    browser.until(&format!("JSON.stringify({recent}) === '[\"Desk video\",\"Video Friends\"]'"));
    let stored = "Object.keys(localStorage).filter(key => key.startsWith('charter-recent-'))";
    assert_eq!(browser.run(stored), json!(["charter-recent-1"]));
    browser.key("Escape", 0);
    browser.press(".me summary");
    browser.follow("form[action='/panel/sign-out'] button");
    assert_eq!(browser.run(stored), json!([]));
    drop(browser);
    let mut browser = browser_of(&server, other["id"].as_i64().expect("an id")).await;
    browser.press("[data-search]");
    assert_eq!(browser.run(recent), json!([]));
    browser.is_clean();
}

async fn an_answer_to_an_earlier_text_is_dropped(server: Server) {
    records(&server).await;
    let mut browser = admin(&server).await;
    // The answer to the first text arrives last.
    browser.run(
        "(() => { const real = window.fetch; window.fetch = (path, options) => { \
         if (!String(path).includes('/search?q=desk')) return real(path, options); \
         const { signal, ...rest } = options; \
         return real(path, rest).then(answer => new Promise(done => { window.answer = () => done(answer); })); }; })(); 1",
    );
    browser.press("[data-search]");
    browser.type_text("desk");
    browser.until("window.answer !== undefined");
    browser.fill(".finder input", "friends");
    browser.until(
        "document.querySelector('[aria-label=Records] [role=option]')?.firstChild.textContent === 'Video Friends'",
    );
    browser.run("window.answer(); new Promise(done => setTimeout(done, 200))");
    assert!(!options(&mut browser).contains(&"Desk video".to_string()));
    browser.is_clean();
}

async fn search_link_opens_the_page_without_scripts(server: Server) {
    records(&server).await;
    let mut browser = admin(&server).await;
    browser.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    browser.open("/products");
    browser.run("document.querySelector('[data-search]').click(); 1");
    browser.until("location.pathname === '/search' && document.readyState === 'complete'");
    browser.run(
        "document.querySelector('[name=q]').value = 'video'; document.querySelector('.everywhere button').click(); 1",
    );
    browser.until("location.search === '?q=video' && document.readyState === 'complete'");
    assert!(browser.text("main").contains("Video camera"));
}
