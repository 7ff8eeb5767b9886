//! Every page, in both themes and on a phone, before axe-core. `CHARTER_TEST_AXE` names its file, which `.ci/run` installs.

use serde_json::{Value, json};

use super::admin;
use crate::support::{Database, Server, run};

/// Pages are the same on either database.
#[test]
fn no_page_has_a_violation() {
    run(Database::Sqlite, judge);
}

fn axe() -> Option<String> {
    match std::env::var("CHARTER_TEST_AXE") {
        Ok(path) => Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))),
        Err(_) => {
            eprintln!("\n!!! SKIPPED: axe-core on the panel's pages. CHARTER_TEST_AXE names no axe.min.js.\n");
            None
        }
    }
}

async fn judge(server: Server) {
    let Some(axe) = axe() else { return };
    let client = server.admin();
    let product = client.post("/products", json!({ "name": "Lamp", "tag_list": ["a"] })).await.created("product");
    let gone = client.post("/products", json!({ "name": "Gone" })).await.created("product");
    client.delete(&format!("/products/{}", gone["id"])).await.deleted();
    let member = client.post("/members", json!({ "name": "Ada" })).await.created("member");
    let participants = json!([{ "member_id": member["id"] }]);
    client.post("/activities", json!({ "subject": "Call", "participants": participants })).await.created("activity");
    let field = json!({ "entity_type": "products", "name": "colour", "field_type": "choice", "choices": ["red"] });
    client.post("/custom_fields", field).await.created("custom_field");
    client.post("/products", json!({ "name": "Another" })).await.created("product");
    let filters =
        json!([{ "field": "name", "predicate": "cont", "value": "a" }, { "field": "sku", "predicate": "present" }]);
    let view = json!({ "name": "A", "entity_type": "products", "columns": ["name"], "filters": filters });
    client.post("/custom_views", view).await.created("custom_view");
    client.put(&format!("/products/{}", product["id"]), json!({ "weight": "2" })).await.ok();
    let Some(mut browser) = admin(&server).await else { return };
    let mut pages: Vec<String> =
        ["/", "/panel/password", "/products?q[name_cont]=x", "/products?q[weight_gt]=x", "/nothing", "/settings"]
            .into_iter()
            .chain([
                "/products/1",
                "/products/1/edit",
                "/products/1/history",
                "/products/1/accessories/new",
                "/members/1",
                "/products?deleted=only",
                "/products/2?deleted=only",
            ])
            .chain([
                "/activities/1",
                "/activities/1/edit",
                "/exchange_rates/convert",
                "/users/1",
                "/tokens/1",
                "/audit_entries/1",
                "/custom_views/1/edit",
                "/products?per_page=1",
            ])
            .map(String::from)
            .collect();
    for entry in server.state.catalog.entries() {
        if entry.is_listed() && entry.meta.under.is_none() && !entry.is_attached() {
            pages.push(format!("/{}", entry.meta.path));
            if entry.meta.operations.contains(&charter_runtime::meta::Operation::Create) {
                pages.push(format!("/{}/new", entry.meta.path));
            }
        }
    }
    let mut found = Vec::new();
    for (theme, width) in [("light", 1280), ("dark", 1280), ("light", 390)] {
        browser.size(width, 900);
        let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        browser.call("Emulation.setEmulatedMedia", scheme);
        for page in &pages {
            browser.open(page);
            browser.run("document.querySelectorAll('main details').forEach(one => { one.open = true; }); 1");
            browser.run(&format!("{axe};1"));
            let violations = browser.run(
                "axe.run(document, { resultTypes: ['violations'] }).then(result => result.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))",
            );
            if violations != Value::Array(Vec::new()) {
                found.push(format!("{theme} {width} {page}: {violations}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
