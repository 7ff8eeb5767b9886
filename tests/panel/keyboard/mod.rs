//! Journeys by keyboard alone: Tab moves the focus, and Enter, Space or a shortcut activates an element.

use serde_json::json;

use super::{PASSWORD, admin, invitation};
use crate::support::{Browser, Server, on_both};

const CTRL: u32 = 2;

mod other_pages;

on_both!(
    browser:
    sign_in_password_change_theme_and_sign_out_work_by_keyboard,
    a_list_is_filtered_sorted_paged_and_saved_as_a_view_by_keyboard,
    columns_are_chosen_and_a_list_is_copied_by_keyboard,
    selected_and_all_matching_records_are_changed_by_keyboard,
    a_record_is_created_edited_and_deleted_by_keyboard,
    attachments_are_uploaded_and_deleted_by_keyboard,
    errors_are_focused_and_edit_conflicts_are_shown_by_keyboard,
    users_roles_tokens_and_webhooks_are_managed_by_keyboard,
    a_form_without_the_focus_is_saved_by_keyboard,
);

/// Presses Tab until the element is focused.
#[track_caller]
fn reach(browser: &mut Browser, selector: &str) {
    let at = format!("document.activeElement.matches({})", json!(selector));
    for _ in 0..150 {
        if browser.run(&at) == true {
            return;
        }
        browser.key("Tab", 0);
    }
    panic!("{selector} is not reached by Tab on {}", browser.address());
}

/// Presses a key that loads another page, and waits for it.
#[track_caller]
fn go(browser: &mut Browser, key: &str, with: u32) {
    browser.run("window.leaving = true; 1");
    match key.len() {
        1 => browser.type_text(key),
        _ => browser.key(key, with),
    }
    browser.until("!window.leaving && document.readyState === 'complete'");
}

#[track_caller]
fn press(browser: &mut Browser, selector: &str) {
    reach(browser, selector);
    browser.key("Enter", 0);
}

#[track_caller]
fn follow(browser: &mut Browser, selector: &str) {
    reach(browser, selector);
    go(browser, "Enter", 0);
}

/// Types into an input, or selects the option that begins with the text.
#[track_caller]
fn write(browser: &mut Browser, selector: &str, text: &str) {
    reach(browser, selector);
    browser.type_text(text);
}

/// Types into the input of a reference and chooses the first suggestion.
#[track_caller]
fn search(browser: &mut Browser, selector: &str, text: &str, found: &str) {
    write(browser, selector, text);
    browser.offers(found);
    browser.key("Enter", 0);
}

fn names(browser: &mut Browser) -> Vec<String> {
    let names = browser.run("[...document.querySelectorAll('[data-open]')].map(a => a.innerText)");
    serde_json::from_value(names).expect("texts")
}

async fn a_form_without_the_focus_is_saved_by_keyboard(server: Server) {
    products(&server, 1).await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    browser.fill("[name=sku]", "CTRL");
    browser.run("document.activeElement.blur(); 1");
    assert_eq!(browser.run("document.activeElement === document.body"), true);
    go(&mut browser, "Enter", CTRL);
    assert_eq!(browser.address(), "/products/1");
    assert_eq!(server.admin().get("/products/1").await.record("product")["sku"], "CTRL");
    browser.is_clean();
}

async fn products(server: &Server, count: usize) {
    let product = |n: usize| json!({ "name": format!("Lamp {n:02}"), "weight": n.to_string() });
    let operations: Vec<_> = (1..=count).map(|n| json!({ "method": "create", "product": product(n) })).collect();
    server.admin().post("/products/bulk", json!({ "operations": operations })).await.ok();
}

async fn sign_in_password_change_theme_and_sign_out_work_by_keyboard(server: Server) {
    let link = invitation(&server, 1).await;
    let mut browser = Browser::start(&server.url());
    browser.open(&link);
    write(&mut browser, "#password", PASSWORD);
    go(&mut browser, "Enter", 0);
    browser.sees("Overview");
    press(&mut browser, ".me summary");
    press(&mut browser, "[name=theme][value=dark]");
    browser.until("document.documentElement.dataset.theme === 'dark'");
    follow(&mut browser, "a[href='/panel/password']");
    write(&mut browser, "#old", PASSWORD);
    write(&mut browser, "#password", "several other words");
    follow(&mut browser, ".record .primary");
    press(&mut browser, ".me summary");
    follow(&mut browser, "form[action='/panel/sign-out'] button");
    // The first input is focused.
    browser.until("document.activeElement.id === 'email'");
    browser.type_text("admin@example.com");
    write(&mut browser, "#password", "several other words");
    go(&mut browser, "Enter", 0);
    browser.sees("Overview");
    follow(&mut browser, "nav a[href='/products']");
    browser.sees("There are no products yet");
    browser.is_clean();
}

async fn a_list_is_filtered_sorted_paged_and_saved_as_a_view_by_keyboard(server: Server) {
    products(&server, 45).await;
    let mut browser = admin(&server).await;
    browser.open("/products?columns=name,weight");
    go(&mut browser, "]", 0);
    assert!(browser.address().ends_with("&page=2"), "{}", browser.address());
    go(&mut browser, "[", 0);
    follow(&mut browser, "thead a[href*='sort=weight']");
    follow(&mut browser, "thead a[href*='sort=-weight']");
    assert_eq!(names(&mut browser)[0], "Lamp 45");
    browser.type_text("f");
    browser.until("document.activeElement.matches('#filter select')");
    write(&mut browser, "[name='f0.field']", "Weight");
    write(&mut browser, "[name='f0.predicate']", "is less");
    write(&mut browser, "[name='f0.value']", "10");
    press(&mut browser, "[data-add-condition]");
    write(&mut browser, "[name='f1.logic']", "or");
    write(&mut browser, "[name='f1.field']", "Name");
    write(&mut browser, "[name='f1.predicate']", "ends");
    write(&mut browser, "[name='f1.value']", "44");
    go(&mut browser, "Enter", 0);
    assert_eq!(names(&mut browser).len(), 10, "{}", browser.address());
    press(&mut browser, ".views details summary");
    write(&mut browser, ".views [name=name]", "Light ones");
    follow(&mut browser, ".views form:has([name=name]) .primary");
    assert!(browser.address().starts_with("/products?view_id="));
    follow(&mut browser, "a[href='/products']:not(nav.side a)");
    browser.type_text("/");
    browser.type_text("lamp 07");
    go(&mut browser, "Enter", 0);
    assert_eq!(names(&mut browser), ["Lamp 07"]);
    follow(&mut browser, ".chips a");
    assert_eq!(names(&mut browser).len(), 20);
    // The conditions of the view, in its form.
    follow(&mut browser, ".views nav a[href*='view_id']");
    press(&mut browser, ".views details summary");
    follow(&mut browser, "a[href$='/edit']");
    press(&mut browser, "[aria-label='Remove condition 2']");
    reach(&mut browser, ".record input, .record button");
    go(&mut browser, "Enter", CTRL);
    let view = server.admin().get("/custom_views").await.records("custom_views")[0].clone();
    let view = server.admin().get(&format!("/custom_views/{}", view["id"])).await.record("custom_view");
    assert_eq!(view["filters"].as_array().map(Vec::len), Some(1), "{view}");
    browser.is_clean();
}

async fn columns_are_chosen_and_a_list_is_copied_by_keyboard(server: Server) {
    products(&server, 3).await;
    let mut browser = admin(&server).await;
    browser.open("/products");
    press(&mut browser, "#columns summary");
    browser.until("document.querySelector('#columns form') !== null");
    reach(&mut browser, "[data-columns] [value=weight]");
    browser.key(" ", 0);
    press(&mut browser, "[aria-label='Move Name down']");
    write(&mut browser, "[data-columns] [name=per_page]", "50");
    follow(&mut browser, "[data-columns] .primary");
    let address = browser.address().replace("%2C", ",");
    assert!(address.contains("per_page=50") && address.contains(",name,"), "{address}");
    let before = browser.run("document.querySelectorAll('.list thead th').length");
    assert!(before.as_i64().is_some_and(|columns| columns > 3));
    press(&mut browser, ".actions .menu summary");
    press(&mut browser, "[data-copy]");
    browser.until("document.querySelector('#status').innerText === 'Copied'");
    browser.key("Escape", 0);
    browser.until("!document.querySelector('.actions .menu').open");
    browser.is_clean();
}

async fn selected_and_all_matching_records_are_changed_by_keyboard(server: Server) {
    products(&server, 30).await;
    let mut browser = admin(&server).await;
    browser.open("/products?sort=name");
    browser.type_text("jxjx");
    follow(&mut browser, "[data-bulk] [value=edit]");
    write(&mut browser, "#_field", "Weight");
    follow(&mut browser, ".record .primary");
    write(&mut browser, "#value", "99");
    go(&mut browser, "Enter", 0);
    follow(&mut browser, "main form .primary");
    browser.sees("2 products were changed");
    follow(&mut browser, "p a.primary");
    reach(&mut browser, "[data-all]");
    browser.key(" ", 0);
    browser.until("document.querySelector('[data-chosen]').innerText === '20 selected'");
    follow(&mut browser, "[data-bulk] [value=delete]");
    follow(&mut browser, "a[href^='/products?sort']:not(nav a)");
    reach(&mut browser, "[name=_all]");
    browser.key(" ", 0);
    follow(&mut browser, "[data-bulk] [value=delete]");
    browser.sees("30 products will be deleted");
    press(&mut browser, "main form .danger");
    browser.sees("30 products were deleted");
    assert_eq!(server.admin().get("/products").await.ok()["meta"]["total"], 0);
    browser.open("/products");
    follow(&mut browser, ".actions a[href*='deleted=only']");
    browser.type_text("jx");
    follow(&mut browser, "[data-bulk] [value=restore]");
    follow(&mut browser, "main form .primary");
    browser.sees("1 product was restored");
    assert_eq!(server.admin().get("/products").await.ok()["meta"]["total"], 1);
    browser.is_clean();
}

async fn a_record_is_created_edited_and_deleted_by_keyboard(server: Server) {
    for name in ["Ada Lovelace", "Grace Hopper"] {
        server.admin().post("/members", json!({ "name": name })).await.created("member");
    }
    let mut browser = admin(&server).await;
    browser.open("/activities");
    go(&mut browser, "n", 0);
    write(&mut browser, "[name=subject]", "Call about the tent");
    write(&mut browser, "[name=regarding_type]", "Member");
    search(&mut browser, "#field-regarding_id", "grace", "Grace Hopper");
    search(&mut browser, "#field-participants-0-member_id", "love", "Ada Lovelace");
    go(&mut browser, "Enter", CTRL);
    browser.sees("Grace Hopper");
    follow(&mut browser, "form[action$='/complete'] button");
    let activity = server.admin().get("/activities/1").await.record("activity");
    assert_eq!((&activity["completed"], &activity["regarding_id"]), (&json!(true), &json!(2)));
    assert_eq!(activity["participants"][0]["member_id"], 1);
    press(&mut browser, ".history li:first-child summary");
    browser.until("document.querySelector('.history li:first-child details').open");
    go(&mut browser, "e", 0);
    press(&mut browser, "[data-remove-row]");
    follow(&mut browser, ".record .primary");
    assert_eq!(server.admin().get("/activities/1").await.record("activity")["participants"], json!([]));
    press(&mut browser, ".actions .menu summary");
    follow(&mut browser, "a.danger[href$='/delete']");
    follow(&mut browser, "main form .danger");
    assert_eq!(browser.address(), "/activities");
    browser.type_text("g");
    go(&mut browser, "h", 0);
    browser.sees("Overview");
    browser.is_clean();
}

async fn attachments_are_uploaded_and_deleted_by_keyboard(server: Server) {
    server.admin().post("/members", json!({ "name": "Ada" })).await.created("member");
    let mut browser = admin(&server).await;
    let note = std::env::temp_dir().join(format!("charter-keyboard-{}.txt", server.address.port()));
    std::fs::write(&note, "Minutes of the meeting.").expect("a note");
    browser.open("/members/1");
    // The test cannot use the system's file dialog. The files are set on the focused input.
    reach(&mut browser, "[data-upload] input[type=file]");
    browser.run("window.leaving = true; 1");
    browser.choose_files(":focus", &[note.to_str().expect("text")]);
    browser.until("!window.leaving && document.querySelectorAll('.files li').length === 1");
    std::fs::remove_file(&note).expect("the note goes");
    reach(&mut browser, ".files li a");
    follow(&mut browser, ".files a[href$='/delete']");
    follow(&mut browser, "main form .danger");
    browser.until("document.querySelectorAll('.files li').length === 0");
    assert_eq!(server.admin().get("/members/1/attachments").await.ok()["meta"]["total"], 0);
    browser.is_clean();
}

async fn errors_are_focused_and_edit_conflicts_are_shown_by_keyboard(server: Server) {
    products(&server, 1).await;
    let mut browser = admin(&server).await;
    browser.open("/products/1/edit");
    server.admin().put("/products/1", json!({ "sku": "THEIRS" })).await.ok();
    write(&mut browser, "[name=sku]", "MINE");
    write(&mut browser, "[name=weight]", "-");
    go(&mut browser, "Enter", CTRL);
    browser.sees("Somebody else changed this record");
    // The value before is first; the next one is theirs.
    reach(&mut browser, "[name='_take.sku']");
    browser.key(" ", 0);
    browser.key("ArrowDown", 0);
    browser.until("document.querySelector('[name=\"_take.sku\"][value=theirs]').checked");
    go(&mut browser, "Enter", CTRL);
    // The error summary is focused and links to the field.
    browser.until("document.activeElement.matches('[data-focus]')");
    browser.key("Tab", 0);
    browser.key("Enter", 0);
    browser.until("location.hash === '#field-weight'");
    browser.key("Tab", 0);
    browser.is_clean();
}

async fn users_roles_tokens_and_webhooks_are_managed_by_keyboard(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/roles");
    go(&mut browser, "n", 0);
    write(&mut browser, "[name=name]", "Bookkeeping");
    reach(&mut browser, "[value='settings.manage']");
    browser.key(" ", 0);
    go(&mut browser, "Enter", CTRL);
    browser.open("/users/new");
    write(&mut browser, "[name=name]", "Ada");
    write(&mut browser, "[name=email]", "ada@example.com");
    search(&mut browser, "#field-role_ids", "book", "Bookkeeping");
    go(&mut browser, "Enter", CTRL);
    follow(&mut browser, "form[action$='/invite'] button");
    browser.sees("It is shown only once");
    press(&mut browser, "[data-copy]");
    browser.until("document.querySelector('#status').innerText === 'Copied'");
    follow(&mut browser, "p .primary");
    let user = server.admin().get("/users?q[email_eq]=ada@example.com").await.records("users")[0].clone();
    assert_eq!(user["role_ids"], json!([3]));
    browser.open("/tokens/new");
    write(&mut browser, "[name=name]", "For reading");
    reach(&mut browser, "[value='products:read']");
    browser.key(" ", 0);
    follow(&mut browser, ".record .primary");
    browser.sees("It is shown only once");
    browser.open("/custom_fields/new");
    write(&mut browser, "[name=entity_type]", "Products");
    write(&mut browser, "[name=name]", "power");
    write(&mut browser, "[name=field_type]", "Integer");
    go(&mut browser, "Enter", CTRL);
    browser.sees("power");
    browser.open("/settings");
    write(&mut browser, "[name=timezone]", "");
    go(&mut browser, "Enter", CTRL);
    browser.open("/webhooks/new");
    write(&mut browser, "[name=url]", "https://93.184.215.14/hook");
    reach(&mut browser, "[value='product.created']");
    browser.key(" ", 0);
    go(&mut browser, "Enter", CTRL);
    follow(&mut browser, "p .primary");
    follow(&mut browser, "a[href$='/rotate_secret']");
    follow(&mut browser, "form[action$='/rotate_secret'] button");
    browser.sees("It is shown only once");
    follow(&mut browser, "p .primary");
    follow(&mut browser, "a[href$='/recover']");
    reach(&mut browser, "[name=since]");
    browser.open("/exchange_rates/convert");
    write(&mut browser, "[name=from]", "GBP");
    write(&mut browser, "[name=to]", "GBP");
    write(&mut browser, "[name=amount]", "5");
    go(&mut browser, "Enter", 0);
    assert!(browser.address().contains("amount=5"), "{}", browser.address());
    browser.is_clean();
}
