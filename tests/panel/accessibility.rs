//! Accessibility: axe-core checks every page, and every page after a form, in both themes and on a phone.
//! `CHARTER_TEST_AXE` names the axe-core file, which `.ci/run` installs.

use charter_runtime::config::Config;
use charter_runtime::webhook::UrlPolicy;
use serde_json::{Value, json};

use super::second_factor::code;
use super::{PASSWORD, admin, invitation};
use crate::routes::attachments::attach;
use crate::support::{Browser, Client, Database, Receiver, Server, Smtp, run};

charter_testing::needs_axe! {
    /// SQLite only: pages are the same on both databases.
    #[test]
    fn no_page_has_an_accessibility_violation() {
        run(Database::Sqlite, pages);
    }
}

charter_testing::needs_axe! {
    #[test]
    fn no_page_after_a_form_has_an_accessibility_violation() {
        run(Database::Sqlite, forms);
    }
}

const PHONE: u32 = 390;

/// The themes and widths in which a page is checked.
const LOOKS: [(&str, u32); 3] = [("light", 1280), ("dark", 1280), ("light", PHONE)];

/// Elements that make a page scroll sideways. Only scroll containers may be wider than the page.
const TOO_WIDE: &str = "(() => { if (document.documentElement.scrollWidth <= 390) return []; \
    return [...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > 391 && !one.closest('.scroll, nav ul')) \
    .map(one => `${one.tagName} ${one.className} ${Math.round(one.getBoundingClientRect().right)}`).concat('page').slice(0, 6); })()";

/// Menus that extend beyond the page when they are open.
const CUT_OFF: &str = "[...document.querySelectorAll('details.menu, details.tool, .me details')].filter(menu => { \
    const was = menu.open; menu.open = true; \
    const cut = [...menu.querySelectorAll('*')].some(one => { const at = one.getBoundingClientRect(); \
        return at.width > 1 && !one.closest('.scroll') && (at.left < -1 || at.right > 391); }); \
    menu.open = was; return cut; }).concat([...document.querySelectorAll('[popover]')].filter(menu => { menu.showPopover(); \
    const at = menu.getBoundingClientRect(); menu.hidePopover(); return at.left < 0 || at.right > 391 || at.height < 40; })) \
    .map(menu => menu.textContent.slice(0, 40))";

/// Opens all menus and the phone navigation, and runs axe-core.
const AXE_RUN: &str = "(() => { document.querySelectorAll('details').forEach(one => { one.open = true; }); \
    const closed = [...document.querySelectorAll('[popover]')].filter(one => !one.checkVisibility()); \
    closed.forEach(one => one.showPopover()); \
    return axe.run(document, { resultTypes: ['violations'] }).then(result => { closed.forEach(one => one.hidePopover()); \
    return result.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]); }); })()";

/// Checks pages and collects violations.
struct Checker {
    axe: String,
    found: Vec<String>,
    seen: usize,
}

impl Checker {
    fn new() -> Checker {
        let path = std::env::var("CHARTER_TEST_AXE").expect("CHARTER_TEST_AXE is the path of axe.min.js");
        let axe = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Checker { axe, found: Vec::new(), seen: 0 }
    }

    /// Checks the open page.
    fn look(&mut self, browser: &mut Browser, what: &str) {
        let tools = "document.querySelectorAll('details.tool').forEach(tool => { tool.open";
        browser.run(&format!("{tools} = true; }}); 1"));
        browser.until("!document.querySelector('[data-tool]')");
        browser.run(&format!("{tools} = false; }}); 1"));
        browser.size(PHONE, 900);
        let wide = browser.run(TOO_WIDE);
        if wide != Value::Array(Vec::new()) {
            self.found.push(format!("{what} is wider than a phone: {wide}"));
        }
        let cut = browser.run(CUT_OFF);
        if cut != Value::Array(Vec::new()) {
            self.found.push(format!("{what} has menus that a phone cuts off: {cut}"));
        }
        browser.run(&format!("{};1", self.axe));
        for (theme, width) in LOOKS {
            browser.size(width, 900);
            let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
            browser.call("Emulation.setEmulatedMedia", scheme);
            let violations = browser.run(AXE_RUN);
            assert!(violations.is_array(), "{what}: {violations}");
            if violations != Value::Array(Vec::new()) {
                self.found.push(format!("{theme} {width} {what}: {violations}"));
            }
        }
        browser.size(1280, 900);
        self.seen += 1;
    }

    fn open(&mut self, browser: &mut Browser, path: &str) {
        browser.open(path);
        self.look(browser, path);
    }

    /// Checks the page after a click.
    fn follow(&mut self, browser: &mut Browser, selector: &str, says: &str) {
        browser.follow(selector);
        browser.sees(says);
        self.look(browser, says);
    }

    fn is_content(&self, least: usize) {
        assert!(self.found.is_empty(), "{}", self.found.join("\n"));
        assert!(self.seen >= least, "only {} pages were looked at", self.seen);
    }
}

/// A server that may send webhooks to this machine, with records of each resource.
async fn filled(server: &Server) -> Server {
    let policy = UrlPolicy { allow_http: true, networks: vec!["127.0.0.0/8".parse().expect("a network")] };
    let configure = |config: &mut Config| {
        config.webhook_policy = policy;
        // For the page of a forgotten password. Nothing is sent.
        config.smtp = Some(Smtp::config_at(1));
    };
    let server = server.configured(configure).await;
    let client = server.admin();
    let product = client.post("/products", json!({ "name": "Lamp", "tag_list": ["a"] })).await.created("product");
    let gone = client.post("/products", json!({ "name": "Gone" })).await.created("product");
    client.delete(&format!("/products/{}", gone["id"])).await.deleted();
    let member = client.post("/members", json!({ "name": "Ada" })).await.created("member");
    let participants = json!([{ "member_id": member["id"] }]);
    let activity = json!({ "subject": "Call", "participants": participants, "ends_at": "2020-01-01T10:00:00Z" });
    client.post("/activities", activity).await.created("activity");
    let field = json!({ "entity_type": "products", "name": "colour", "field_type": "choice", "choices": ["red"] });
    client.post("/custom_fields", field).await.created("custom_field");
    client.post("/products", json!({ "name": "Another" })).await.created("product");
    let filters =
        json!([{ "field": "name", "predicate": "cont", "value": "a" }, { "field": "sku", "predicate": "present" }]);
    let view = json!({ "name": "A", "entity_type": "products", "columns": ["name"], "filters": filters });
    client.post("/custom_views", view).await.created("custom_view");
    client.put(&format!("/products/{}", product["id"]), json!({ "weight": "2" })).await.ok();
    client.post("/roles", json!({ "name": "Bookkeeping" })).await.created("role");
    for rate in ["1.17", "1.19"] {
        let rate = json!({ "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": rate });
        client.post("/exchange_rates", rate).await.created("exchange_rate");
    }
    accessories(&client).await;
    attach(&server, &member, "note.txt", "Minutes of the meeting.").await;
    let receiver = Receiver::answering(200).await;
    client.post("/webhooks", json!({ "url": receiver.url(), "events": ["*"] })).await.created("webhook");
    client.post("/webhooks/1/test", json!({})).await.record("delivery");
    server
}

async fn accessories(client: &Client) {
    let accessory = json!({ "accessory_product_id": 3, "quantity": 2 });
    client.post("/products/1/accessories", accessory).await.created("accessory");
}

async fn pages(server: Server) {
    let mut checker = Checker::new();
    let server = filled(&server).await;
    let mut browser = admin(&server).await;
    let mut paths: Vec<String> = [
        "/",
        "/panel/account",
        "/panel/account/second-factor",
        "/panel/account/sessions/end-others",
        "/panel/account/tokens/1/revoke",
        "/panel/password",
        "/products?totals=1",
        "/products?q[name_cont]=x",
        "/products?q[weight_gt]=x",
        "/products?q[name_cont]=a&columns=name,product_group_name,weight,is_active,tag_list",
        "/products?page=99",
        "/products?per_page=1",
        "/products?view_id=1",
        "/products?deleted=only",
        "/products/1",
        "/products/1/edit",
        "/products/1/history",
        "/products/1/accessories",
        "/products/1/accessories/new",
        "/products/1/accessories/1",
        "/products/2?deleted=only",
        "/search",
        "/search?q=a",
        "/search?q=la",
        "/products?search=la",
        "/nothing",
        "/settings",
        "/members/1",
        "/activities/1",
        "/activities/1/edit",
        "/exchange_rates/1",
        "/exchange_rates/convert",
        "/exchange_rates/convert?from=GBP&to=GBP&amount=5",
        "/exchange_rates/convert?from=GBP",
        "/currencies/1",
        "/users/1",
        "/users/1/edit",
        "/roles/1",
        "/roles/1/edit",
        "/tokens/1",
        "/tokens/1/edit",
        "/audit_entries/1",
        "/custom_fields/1",
        "/custom_views/1",
        "/custom_views/1/edit",
        "/webhooks/1",
        "/webhooks/1/edit",
        "/webhooks/1/recover",
        "/webhooks/1/delete",
        "/webhooks/1/rotate_secret",
        "/users/1/deactivate",
        "/users/1/delete",
        "/roles/2/delete",
        "/tokens/1/delete",
        "/custom_fields/1/delete",
        "/members/1/delete",
        "/members/1/attachments/1/delete",
        "/products/1/accessories/1/delete",
        "/webhooks/1/logs",
        "/webhooks/1/logs/1",
    ]
    .map(String::from)
    .to_vec();
    for entry in server.state.catalog.entries() {
        if entry.is_listed() && entry.meta.under.is_none() && !entry.is_attached() {
            paths.push(format!("/{}", entry.meta.path));
            if entry.meta.operations.contains(&charter_runtime::meta::Operation::Create) {
                paths.push(format!("/{}/new", entry.meta.path));
            }
        }
    }
    for path in &paths {
        checker.open(&mut browser, path);
    }
    browser.run("document.querySelector('#keys').showModal(); 1");
    checker.look(&mut browser, "the keys");
    browser.open("/products");
    browser.press("[data-search]");
    checker.look(&mut browser, "the search dialog");
    browser.fill(".finder input", "la");
    browser.until("document.querySelector('[aria-label=Records] [role=option]') !== null");
    checker.look(&mut browser, "the results in the search dialog");
    checker.is_content(60);
}

async fn forms(server: Server) {
    let mut checker = Checker::new();
    let server = filled(&server).await;
    let client = server.admin();
    let link = invitation(&server, 1).await;
    let mut browser = Browser::start(&server.url());
    checker.open(&mut browser, "/products");
    browser.fill("#email", "admin@example.com");
    browser.fill("#password", "not the one");
    checker.follow(&mut browser, "form button", "Sign in");
    checker.open(&mut browser, "/panel/forgot-password");
    checker.open(&mut browser, &link);
    browser.fill("#password", "short");
    checker.follow(&mut browser, "form button", "characters");
    browser.fill("#password", PASSWORD);
    browser.follow("form button");
    checker.open(&mut browser, &link);

    browser.open("/products/new");
    checker.follow(&mut browser, ".record .primary", "is required");
    browser.open("/products/1/edit");
    client.put("/products/1", json!({ "sku": "THEIRS" })).await.ok();
    browser.fill("[name=sku]", "MINE");
    checker.follow(&mut browser, ".record .primary", "Somebody else changed this record");
    checker.open(&mut browser, "/products/1/delete");
    client.put("/products/1", json!({ "sku": "AGAIN" })).await.ok();
    checker.follow(&mut browser, "main form .danger", "The record was not deleted");
    browser.open("/activities/new");
    browser.run("document.querySelector('#field-participants-0-member_id').focus(); 1");
    browser.type_text("ad");
    browser.offers("Ada");
    checker.look(&mut browser, "what is found for a reference");

    browser.open("/tokens/new");
    browser.fill("[name=name]", "For reading");
    browser.press("[value='products:read']");
    checker.follow(&mut browser, ".record .primary", "It is shown only once");
    browser.open("/webhooks/1");
    checker.follow(&mut browser, "form[action$='/test'] button", "Response status");
    browser.open("/webhooks/1/recover");
    browser.fill("[name=since]", "2099-01-01T00:00");
    checker.follow(&mut browser, ".record .primary", "must not be in the future");

    browser.open("/products?sort=name");
    browser.run("document.querySelector('[data-open]').focus(); 1");
    browser.key(" ", 0);
    browser.until("document.querySelector('#peek .facts') !== null");
    checker.look(&mut browser, "the fields of a row in a dialog");

    browser.open("/products?sort=name");
    browser.type_text("j");
    browser.key("F2", 0);
    browser.until("document.activeElement.matches('.cell [name=name]')");
    browser.key("Backspace", 0);
    browser.key("Enter", 0);
    browser.sees("Name must not be blank");
    checker.look(&mut browser, "a cell with an error");
    browser.open("/products?sort=name");
    browser.press("[data-all]");
    checker.follow(&mut browser, "[data-bulk] [value=edit]", "Field to change");
    browser.fill("#_field", "name");
    checker.follow(&mut browser, ".record .primary", "Preview");
    checker.follow(&mut browser, ".record .primary", "2 products will be changed");
    checker.follow(&mut browser, "main form .primary", "Nothing was changed");
    browser.open("/products?q[name_cont]=a");
    browser.press("[data-all]");
    checker.follow(&mut browser, "[data-bulk] [value=delete]", "2 products will be deleted");
    checker.follow(&mut browser, "main form .danger", "2 products were deleted");
    browser.open("/products?deleted=only");
    browser.press("[data-all]");
    checker.follow(&mut browser, "[data-bulk] [value=restore]", "3 products will be restored");
    checker.follow(&mut browser, "main form .primary", "3 products were restored");

    browser.open("/panel/account/second-factor");
    let secret = browser.text("code.code").replace(' ', "");
    browser.fill("#code", "no code");
    browser.fill("#password", PASSWORD);
    checker.follow(&mut browser, "main form .primary", "check the clock");
    browser.fill("#code", &code(&server, &secret, 0));
    browser.fill("#password", PASSWORD);
    checker.follow(&mut browser, "main form .primary", "not shown again");
    checker.open(&mut browser, "/panel/account");
    checker.open(&mut browser, "/panel/account/second-factor/turn-off");
    browser.press(".me summary");
    browser.follow("form[action='/panel/sign-out'] button");
    browser.fill("#email", "admin@example.com");
    browser.fill("#password", PASSWORD);
    checker.follow(&mut browser, "form button", "Enter your code");
    browser.fill("#code", "no code");
    checker.follow(&mut browser, "form button", "was used before");
    checker.is_content(20);
}
