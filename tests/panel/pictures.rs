//! Screenshots for the documentation, taken with `--ignored`. `CHARTER_TEST_PICTURES` is another folder, for screenshots
//! of every main page at three widths and in both themes, for review.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use charter_runtime::webhook::UrlPolicy;
use serde_json::json;

use super::admin;
use crate::support::{Browser, Database, Receiver, Server, run};

#[test]
#[ignore = "takes the screenshots of the documentation"]
fn pictures_of_the_main_pages() {
    run(Database::Sqlite, take);
}

/// Screenshots of the documentation: name, page and theme.
const DOCUMENTED: [(&str, &str, &str); 5] = [
    ("overview", "/", "light"),
    ("list", "/products?q[weight_lt]=20&sort=-weight", "light"),
    ("record", "/products/1", "light"),
    ("form", "/products/1/edit", "dark"),
    ("delivery", "/webhooks/1/logs/1", "dark"),
];

/// Further pages for review.
const FURTHER: [(&str, &str); 15] = [
    ("totals", "/products?columns=name,product_group_name,weight,replacement_charge&totals=1"),
    ("activities", "/activities"),
    ("activity", "/activities/1"),
    ("activity-form", "/activities/1/edit"),
    ("rates", "/exchange_rates"),
    ("convert", "/exchange_rates/convert?from=GBP&to=EUR&amount=100"),
    ("currencies", "/currencies"),
    ("member", "/members/1"),
    ("role", "/roles/1/edit"),
    ("token", "/tokens/new"),
    ("webhook", "/webhooks/1"),
    ("webhook-form", "/webhooks/new"),
    ("settings", "/settings"),
    ("deleted", "/products?deleted=only"),
    ("view", "/custom_views/1/edit"),
];

const HIGH: u32 = 760;

async fn take(server: Server) {
    let server = filled(&server).await;
    let mut browser = admin(&server).await;
    let Ok(other_folder) = std::env::var("CHARTER_TEST_PICTURES") else {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/panel");
        browser.size(1280, HIGH);
        for (name, page, theme) in DOCUMENTED {
            themed(&mut browser, theme);
            browser.open(page);
            picture(&mut browser, &folder.join(format!("{name}.png")));
        }
        return;
    };
    std::fs::create_dir_all(&other_folder).unwrap_or_else(|error| panic!("{other_folder}: {error}"));
    let signed_out = ("sign-in", "/products");
    for (name, page) in DOCUMENTED.map(|(name, page, _)| (name, page)).into_iter().chain(FURTHER).chain([signed_out]) {
        if name == signed_out.0 {
            browser.call("Network.clearBrowserCookies", json!({}));
        }
        for language in ["en", "de"] {
            spoken(&mut browser, language);
            for width in [390, 1024, 1680] {
                browser.size(width, HIGH);
                browser.open(page);
                for theme in ["light", "dark"] {
                    themed(&mut browser, theme);
                    let file = format!("{name}-{width}-{theme}-{language}.png");
                    picture(&mut browser, &Path::new(&other_folder).join(file));
                }
            }
        }
    }
}

/// Pages are in the language of the browser.
fn spoken(browser: &mut Browser, language: &str) {
    browser.call("Network.setExtraHTTPHeaders", json!({ "headers": { "Accept-Language": language } }));
}

fn themed(browser: &mut Browser, theme: &str) {
    let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
    browser.call("Emulation.setEmulatedMedia", scheme);
}

/// A rental business with a month of events.
async fn filled(server: &Server) -> Server {
    let policy = UrlPolicy { allow_http: true, networks: vec!["127.0.0.0/8".parse().expect("a network")] };
    let server = server.configured(|config| config.webhook_policy = policy).await;
    let client = server.admin();
    for (index, name) in ["Stage", "Lighting", "Video"].into_iter().enumerate() {
        let group = client.post("/product_groups", json!({ "name": name })).await.created("product_group");
        for (number, what) in ["lamp", "stand", "case", "cable"].into_iter().enumerate() {
            let kind = ["rental", "sale", "service"][(index + number) % 3];
            let weight = format!("{}.5", index * 7 + number * 3 + 1);
            let product = json!({
                "name": format!("{name} {what}"), "product_group_id": group["id"], "product_type": kind, "weight": weight,
                "sku": format!("{}-{:03}", &name[..2].to_uppercase(), number + 1), "replacement_charge": "149.90",
            });
            client.post("/products", product).await.created("product");
        }
    }
    client
        .post("/products/1/accessories", json!({ "accessory_product_id": 2, "quantity": 2 }))
        .await
        .created("accessory");
    client
        .put("/products/1", json!({ "description": "Goes out with its stand.", "tag_list": ["stage", "light"] }))
        .await
        .ok();
    let view = json!({ "name": "For rent", "entity_type": "products", "visibility": "system", "columns": ["name"] });
    client.post("/custom_views", view).await.created("custom_view");
    let gone = client.post("/products", json!({ "name": "Old projector", "sku": "VI-000" })).await.created("product");
    client.delete(&format!("/products/{}", gone["id"])).await.deleted();
    for name in ["Ada Lovelace", "Grace Hopper"] {
        client.post("/members", json!({ "name": name })).await.created("member");
    }
    for (subject, ends_at) in [("Call about the tent", "2026-01-07"), ("Fetch the stage", "2026-02-02")] {
        let activity = json!({
            "subject": subject, "regarding_type": "Member", "regarding_id": 1, "ends_at": format!("{ends_at}T15:30:00Z"),
            "participants": [{ "member_id": 2 }],
        });
        client.post("/activities", activity).await.created("activity");
    }
    for (target, month, rate) in
        [("EUR", 1, "1.1712"), ("EUR", 2, "1.1904"), ("EUR", 3, "1.1530"), ("USD", 1, "1.2520"), ("USD", 3, "1.2711")]
    {
        let at = format!("2026-{month:02}-01T00:00:00Z");
        let rate =
            json!({ "source_currency_code": "GBP", "target_currency_code": target, "rate": rate, "effective_at": at });
        client.post("/exchange_rates", rate).await.created("exchange_rate");
    }
    let role = json!({ "name": "Bookkeeping", "permissions": ["settings.manage"] });
    client.post("/roles", role).await.created("role");
    let receiver = Receiver::answering(200).await;
    client.post("/webhooks", json!({ "url": receiver.url(), "events": ["product.created"] })).await.created("webhook");
    client.post("/webhooks/1/test", json!({})).await.record("delivery");
    // Spreads the events over a month.
    let day = "strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '-' || (id * id * 7 % 29) || ' days')";
    server.sql(&format!("UPDATE events SET created_at = {day}")).await;
    server
}

fn picture(browser: &mut Browser, path: &Path) {
    let taken = browser.call("Page.captureScreenshot", json!({ "format": "png" }));
    let bytes = STANDARD.decode(taken["data"].as_str().expect("a picture")).expect("base64");
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
