//! The pictures of the documents, taken when `CHARTER_TEST_PICTURES` asks for them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::admin;
use crate::support::{Browser, Database, Server, run};

#[test]
fn pictures_of_the_main_pages() {
    if std::env::var_os("CHARTER_TEST_PICTURES").is_some() {
        run(Database::Sqlite, take);
    }
}

async fn take(server: Server) {
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
    let mut browser = admin(&server).await.expect("a browser is installed");
    browser.open("/products?q[weight_lt]=20&sort=-weight");
    picture(&mut browser, "list");
    browser.open("/products/1");
    picture(&mut browser, "record");
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    browser.open("/products/1/edit");
    picture(&mut browser, "form");
}

fn picture(browser: &mut Browser, name: &str) {
    browser.size(1280, 760);
    let taken = browser.call("Page.captureScreenshot", json!({ "format": "png" }));
    let bytes = STANDARD.decode(taken["data"].as_str().expect("a picture")).expect("base64");
    let path = format!("{}/docs/panel/{name}.png", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
}
