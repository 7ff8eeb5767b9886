//! `POST /imports/{id}/undo`: created records are deleted and changed ones set back, unless they were changed since.

use serde_json::json;

use super::{act, errors, finished, keyed, report, total, uploaded};
use crate::support::{Server, on_both};

on_both!(
    undo_deletes_created_records_and_sets_changed_ones_back,
    undo_leaves_records_that_were_changed_since,
    record_that_another_refers_to_is_left,
);

async fn undo_deletes_created_records_and_sets_changed_ones_back(server: Server) {
    let admin = server.admin();
    let definition = json!({ "entity_type": "products", "name": "rig", "label": "Rig", "field_type": "integer" });
    admin.post("/custom_fields", definition).await.created("custom_field");
    let lamp = json!({ "name": "Lamp", "sku": "L1", "weight": "2.5", "description": null, "tag_list": ["a"] });
    let lamp = admin.post("/products", lamp).await.created("product");
    let text = "name,sku,weight,description,tag_list,cf.rig\nLight,L1,3,Bright,b,7\nDesk,D1,,,,\nBad,B1,x,,,\n";
    let import = keyed(&admin, "products", "sku", text).await;
    finished(&admin, &import, "run").await;
    let undone = finished(&admin, &import, "undo").await;
    assert_eq!(
        (&undone["status"], &undone["undone_count"], &undone["left_count"]),
        (&json!("undone"), &json!(2), &json!(0))
    );
    let words = ["undone", "undone", "refused"];
    assert_eq!(report(&admin, &import).await, (2..).zip(words.map(String::from)).collect::<Vec<_>>());
    assert_eq!(total(&admin, "/products").await, 1);
    let again = admin.get(&format!("/products/{}", lamp["id"])).await.record("product");
    for field in ["name", "sku", "weight", "description", "tag_list", "custom_fields"] {
        assert_eq!(again[field], lamp[field], "{field}");
    }
    act(&admin, &import, "undo").await.refused(409, "conflict");
    act(&admin, &import, "run").await.refused(409, "conflict");
}

async fn undo_leaves_records_that_were_changed_since(server: Server) {
    let admin = server.admin();
    let lamp = admin.post("/products", json!({ "name": "Lamp", "sku": "L1" })).await.created("product");
    let import = keyed(&admin, "products", "sku", "name,sku\nLight,L1\nDesk,D1\nChair,C1\n").await;
    finished(&admin, &import, "run").await;
    let desk = &admin.get("/products?q[sku_eq]=D1").await.records("products")[0]["id"];
    admin.patch(&format!("/products/{}", lamp["id"]), json!({ "weight": 1 })).await.record("product");
    // A header of the client does not make a change one of the import.
    let forged = admin.with("x-request-id", &format!("import-{}", import["id"]));
    forged.patch(&format!("/products/{desk}"), json!({ "weight": 1 })).await.record("product");
    let undone = finished(&admin, &import, "undo").await;
    assert_eq!((&undone["undone_count"], &undone["left_count"]), (&json!(1), &json!(2)));
    assert_eq!(admin.get("/products?sort=sku").await.column("products", "name"), ["Desk", "Light"]);
    assert_eq!(errors(&admin, &import, 3).await, json!({ "row": ["is left: the record was changed since"] }));
}

async fn record_that_another_refers_to_is_left(server: Server) {
    let admin = server.admin();
    let import = uploaded(&admin, "product_groups", "name\nVideo\nAudio\n").await;
    finished(&admin, &import, "run").await;
    let video = &admin.get("/product_groups?q[name_eq]=Video").await.records("product_groups")[0]["id"];
    admin.post("/products", json!({ "name": "Lamp", "product_group_id": video })).await.created("product");
    let undone = finished(&admin, &import, "undo").await;
    assert_eq!((&undone["undone_count"], &undone["left_count"]), (&json!(1), &json!(1)));
    let problem = errors(&admin, &import, 2).await["row"][0].as_str().unwrap_or_default().to_string();
    assert!(problem.contains("still refer"), "{problem}");
}
