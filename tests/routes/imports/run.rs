//! `POST /imports/{id}/run`: the records, their audit entries and events.

use serde_json::json;

use super::{Form, act, counts, errors, finished, keyed, path, report, send, total, uploaded};
use crate::support::{Server, on_both};

on_both!(
    run_writes_the_valid_rows,
    same_file_twice_makes_nothing_twice,
    export_of_the_api_imports_unchanged,
    empty_cell_clears_a_field_or_gets_its_default,
    audit_entries_of_an_import_are_a_group_that_no_header_forges,
    nested_records_have_their_parent_in_a_column,
    finished_import_neither_runs_nor_changes,
    deleted_import_loses_its_report_and_its_file,
);

async fn run_writes_the_valid_rows(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "rig", "label": "Rig", "field_type": "decimal" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let lamp = admin.post("/products", json!({ "name": "Lamp", "sku": "L1" })).await.created("product");
    let text = "name,sku,cf.rig,tag_list,stock_method\nLight,L1,1.5,\"a,b\",Serialised\nDesk,D1,,\"[\"\"x\"\"]\",2\nBad,B1,wide,,\n";
    let import = keyed(&admin, "products", "sku", text).await;
    let done = finished(&admin, &import, "run").await;
    assert_eq!((&done["status"], counts(&done)), (&json!("done"), [1, 1, 0, 1]));
    assert!(done["error"].is_null() && done["finished_at"].is_string());
    let lamp = admin.get(&format!("/products/{}", lamp["id"])).await.record("product");
    assert_eq!(
        (&lamp["name"], &lamp["tag_list"], &lamp["stock_method"]),
        (&json!("Light"), &json!(["a", "b"]), &json!(2))
    );
    assert_eq!(lamp["custom_fields"], json!({ "rig": "1.5" }));
    let desk = admin.get("/products?q[sku_eq]=D1").await.records("products");
    assert_eq!(desk.len(), 1);
    assert!(errors(&admin, &import, 4).await["custom_fields.rig"].is_array());
    assert_eq!(server.events("product.updated").await.len(), 1);
}

async fn same_file_twice_makes_nothing_twice(server: Server) {
    let admin = server.admin();
    let text = "name,sku\nLamp,L1\nDesk,D1\n";
    for expected in [[2, 0, 0, 0], [0, 0, 2, 0]] {
        let import = keyed(&admin, "products", "sku", text).await;
        assert_eq!(counts(&finished(&admin, &import, "run").await), expected);
    }
    assert_eq!(total(&admin, "/products").await, 2);
    // Without a key, the second run is refused.
    let text = "name\nChair\n";
    let first = uploaded(&admin, "products", text).await;
    assert_eq!(counts(&finished(&admin, &first, "run").await), [1, 0, 0, 0]);
    let second = uploaded(&admin, "products", text).await;
    assert!(act(&admin, &second, "run").await.invalid("match_by").contains(&format!("import {}", first["id"])));
    finished(&admin, &first, "undo").await;
    assert_eq!(counts(&finished(&admin, &second, "run").await), [1, 0, 0, 0]);
}

async fn export_of_the_api_imports_unchanged(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "members", "name": "born", "label": "Born", "field_type": "date" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let member = json!({ "name": "Ada, \"Countess\"\nof Lovelace", "custom_fields": { "born": "1815-12-10" } });
    let member = admin.post("/members", member).await.created("member");
    let group = admin.post("/product_groups", json!({ "name": "Video" })).await.created("product_group");
    let product =
        json!({ "name": " Lamp", "product_group_id": group["id"], "weight": "1.5000", "tag_list": ["a,b", "c"] });
    admin.post("/products", product).await.created("product");
    let activity = json!({ "subject": "Call", "starts_at": "2026-03-21T10:00:00.123Z", "regarding_type": "Member",
        "regarding_id": member["id"], "participants": [{ "member_id": member["id"] }] });
    admin.post("/activities", activity).await.created("activity");
    for (plural, format, file) in [
        ("members", "text/csv", "x.csv"),
        ("product_groups", "text/csv", "x.csv"),
        ("products", "text/csv", "x.csv"),
        ("activities", "text/csv", "x.csv"),
        ("products", "application/x-ndjson", "x.ndjson"),
        ("members", "application/x-ndjson", "x.ndjson"),
        ("activities", "application/x-ndjson", "x.ndjson"),
    ] {
        let text = admin.with("accept", format).get(&format!("/{plural}")).await.text;
        let form = Form::default().field("entity_type", plural).field("match_by", "id");
        let import = send(&admin, form.file(file, text.as_bytes())).await.created("import");
        let done = finished(&admin, &import, "run").await;
        assert_eq!(counts(&done), [0, 0, 1, 0], "{plural} as {format}: {:?}", super::rows(&admin, &import).await);
    }
}

async fn empty_cell_clears_a_field_or_gets_its_default(server: Server) {
    let admin = server.admin();
    let lamp = json!({ "name": "Lamp", "sku": "L1", "description": "Bright", "weight": 2, "tag_list": ["a"] });
    admin.post("/products", lamp).await.created("product");
    let text = "name,sku,description,weight,tag_list\nLamp,L1,,,\nDesk,D1,,,\n";
    let import = keyed(&admin, "products", "sku", text).await;
    assert_eq!(counts(&finished(&admin, &import, "run").await), [1, 1, 0, 0]);
    let products = admin.get("/products?sort=sku&fields=description,weight,tag_list").await.records("products");
    for (product, weight) in products.iter().zip(["0.0", "2.0"]) {
        assert!(product["description"].is_null() && product["tag_list"] == json!([]), "{product}");
        assert!(product["weight"].as_str().is_some_and(|text| text.starts_with(weight)), "{product}");
    }
}

async fn audit_entries_of_an_import_are_a_group_that_no_header_forges(server: Server) {
    let admin = server.admin();
    let import = uploaded(&admin, "products", "name\nLamp\nDesk\n").await;
    finished(&admin, &import, "run").await;
    let forged = admin.with("x-request-id", &format!("import-{}", import["id"]));
    forged.post("/products", json!({ "name": "Chair", "import_id": import["id"] })).await.invalid("import_id");
    forged.post("/products", json!({ "name": "Chair" })).await.created("product");
    let path = format!("/audit_entries?q[import_id_eq]={}&sort=id", import["id"]);
    let entries = admin.get(&path).await.records("audit_entries");
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|entry| entry["entity_type"] == "products" && entry["user_id"] == 1));
}

async fn nested_records_have_their_parent_in_a_column(server: Server) {
    let admin = server.admin();
    for name in ["Lamp", "Bulb"] {
        admin.post("/products", json!({ "name": name })).await.created("product");
    }
    let text = "Product,Accessory product,quantity\nLamp,Bulb,2\nLamp,Lamp,1\n,Bulb,1\n";
    let import = uploaded(&admin, "accessories", text).await;
    assert_eq!(counts(&finished(&admin, &import, "run").await), [1, 0, 0, 2], "{:?}", report(&admin, &import).await);
    let lamp = &admin.get("/products?q[name_eq]=Lamp").await.records("products")[0]["id"];
    assert_eq!(total(&admin, &format!("/products/{lamp}/accessories")).await, 1);
}

async fn finished_import_neither_runs_nor_changes(server: Server) {
    let admin = server.admin();
    let import = keyed(&admin, "products", "sku", "name,sku\nLamp,L1\n").await;
    act(&admin, &import, "cancel").await.refused(409, "conflict");
    act(&admin, &import, "undo").await.refused(409, "conflict");
    finished(&admin, &import, "run").await;
    for action in ["run", "rehearse", "cancel"] {
        act(&admin, &import, action).await.refused(409, "conflict");
    }
    admin.patch(&path(&import), json!({ "match_by": "name" })).await.invalid("mapping");
}

async fn deleted_import_loses_its_report_and_its_file(server: Server) {
    let admin = server.admin();
    let import = uploaded(&admin, "products", "name\nLamp\n").await;
    finished(&admin, &import, "run").await;
    admin.delete(&path(&import)).await.deleted();
    admin.get(&format!("{}/rows", path(&import))).await.refused(404, "not_found");
    super::super::attachments::until("the file is deleted", async || {
        super::super::attachments::stored(&server).is_empty()
    })
    .await;
}
