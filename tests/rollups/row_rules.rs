//! Row rules over rollups: a write is checked with the values after its embedded records are stored.

use serde_json::{Value, json};

use super::fixture::Library;
use crate::routes::imports::{finished, uploaded};
use crate::support::on_both;

on_both!(
    new_record_is_checked_with_the_rollups_of_its_embedded_records,
    changed_record_is_checked_with_the_rollups_of_its_embedded_records,
    rehearsal_leaves_a_rule_over_rollups_to_the_write,
);

/// An invoice with a line of each of these weights.
fn invoice(weights: &[i64]) -> Value {
    let line = |weight: &i64| json!({ "quantity": 1, "price": "1", "weight": weight });
    json!({ "name": "A", "lines": weights.iter().map(line).collect::<Vec<_>>() })
}

async fn new_record_is_checked_with_the_rollups_of_its_embedded_records(server: Library) {
    let (_, clerk) = server.user(&[], &["*"]).await;
    let created = clerk.post("/invoices", invoice(&[400, 599])).await.created("invoice");
    assert_eq!(created["weight"], 999);
    for weights in [&[][..], &[1000], &[500, 500]] {
        clerk.post("/invoices", invoice(weights)).await.refused(403, "permission_missing");
    }
    let create = |weights: &[i64]| json!({ "method": "create", "invoice": invoice(weights) });
    let bulk = json!({ "operations": [create(&[1]), create(&[1000])] });
    let problem = clerk.post("/invoices/bulk", bulk).await.invalid("operations.1");
    assert!(problem.contains("You may not create such a record"), "{problem}");
    // Neither a record nor an event of a refused write is stored.
    assert_eq!(clerk.get("/invoices").await.ok()["meta"]["total"], 1);
    assert_eq!(server.events("invoice.").await, ["invoice.created"]);
    let (_, lead) = server.user(&["invoices.all"], &["*"]).await;
    lead.post("/invoices", invoice(&[1000])).await.created("invoice");
}

async fn changed_record_is_checked_with_the_rollups_of_its_embedded_records(server: Library) {
    let (_, clerk) = server.user(&[], &["*"]).await;
    let created = clerk.post("/invoices", invoice(&[1])).await.created("invoice");
    let path = format!("/invoices/{}", created["id"]);
    assert_eq!(clerk.put(&path, invoice(&[998])).await.record("invoice")["weight"], 998);
    let refused = clerk.put(&path, invoice(&[4999, 1])).await.refused(403, "permission_missing");
    assert_eq!(refused["message"], "You could not read the record after this change.");
    assert_eq!(clerk.get(&path).await.record("invoice")["weight"], 998);
    // One that its caller may still read, and not change any more.
    assert_eq!(clerk.put(&path, invoice(&[1000])).await.record("invoice")["weight"], 1000);
    clerk.put(&path, invoice(&[1])).await.refused(403, "permission_missing");
    let (_, lead) = server.user(&["invoices.all"], &["*"]).await;
    lead.put(&path, invoice(&[5000])).await.record("invoice");
    clerk.get(&path).await.refused(404, "not_found");
}

async fn rehearsal_leaves_a_rule_over_rollups_to_the_write(server: Library) {
    let (_, clerk) = server.user(&[], &["*"]).await;
    let import = uploaded(&clerk, "invoices", "name\nA\n").await;
    let errors = async || {
        let rows = clerk.get(&format!("/imports/{}/rows", import["id"])).await.records("import_rows");
        rows[0]["errors"].clone()
    };
    finished(&clerk, &import, "rehearse").await;
    assert_eq!(errors().await, json!({}));
    finished(&clerk, &import, "run").await;
    assert!(errors().await.to_string().contains("You may not create such a record"), "{}", errors().await);
    assert_eq!(clerk.get("/invoices").await.ok()["meta"]["total"], 0);
}
