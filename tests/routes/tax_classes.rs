//! `/tax_classes`.

use serde_json::json;

use crate::support::{Server, keys, on_both};

on_both!(
    a_tax_class_is_created_shown_changed_and_deleted,
    tax_percentage_is_from_0_to_100,
    a_tax_class_in_use_by_either_reference_cannot_be_deleted,
);

async fn a_tax_class_is_created_shown_changed_and_deleted(server: Server) {
    let admin = server.admin();
    let body = json!({ "tax_class": { "name": "Standard", "percentage": 20 } });
    let class = admin.post("/tax_classes", body).await.created("tax_class");
    assert_eq!(keys(&class), ["created_at", "id", "name", "percentage", "updated_at"]);
    assert_eq!(class["percentage"], "20.00");
    let path = format!("/tax_classes/{}", class["id"]);
    let changed = admin.put(&path, json!({ "percentage": "17.5" })).await.record("tax_class");
    assert_eq!(changed["percentage"], "17.50");
    assert_eq!(admin.get("/tax_classes?q[percentage_gt]=17.49").await.records("tax_classes"), [changed]);
    admin.post("/tax_classes", json!({ "name": "Standard" })).await.invalid("name");
    admin.delete(&path).await.deleted();
    admin.get(&path).await.refused(404, "not_found");
}

async fn tax_percentage_is_from_0_to_100(server: Server) {
    let admin = server.admin();
    for (number, fine) in [("0", "0.00"), ("100", "100.00"), ("99.99", "99.99")] {
        let body = json!({ "name": number, "percentage": number });
        assert_eq!(admin.post("/tax_classes", body).await.created("tax_class")["percentage"], fine);
    }
    for (bad, problem) in [("-0.01", "must be at least 0"), ("100.01", "must be at most 100")] {
        let answer = admin.post("/tax_classes", json!({ "name": "x", "percentage": bad })).await;
        assert_eq!(answer.invalid("percentage"), problem);
    }
}

async fn a_tax_class_in_use_by_either_reference_cannot_be_deleted(server: Server) {
    let admin = server.admin();
    for field in ["tax_class_id", "purchase_tax_class_id"] {
        let class = admin.post("/tax_classes", json!({ "name": field })).await.created("tax_class");
        admin.post("/products", json!({ "name": "x", field: class["id"] })).await.created("product");
        let answer = admin.delete(&format!("/tax_classes/{}", class["id"])).await;
        // A product that was deleted softly counts too.
        let told = format!(
            "1 product still refers to this record by {field}. Change or delete it first. Soft-deleted records count too."
        );
        assert_eq!(answer.refused(409, "conflict")["message"], told);
        let (_, other) = server.user(&[], &["tax_classes:read", "tax_classes:write"]).await;
        let answer = other.delete(&format!("/tax_classes/{}", class["id"])).await;
        let told = "Other records still refer to this record. Soft-deleted records count too.";
        assert_eq!(answer.refused(409, "conflict")["message"], told);
    }
}
