//! Bulk restores, atomic or independent, through the API and the panel.

use serde_json::{Value, json};

use super::{Racks, gone, rack, tray};
use crate::panel::signed_in;
use crate::support::on_both;

on_both!(
    bulk_restore_is_atomic_and_reports_conflicts_by_index,
    independent_bulk_restores_each_have_a_status,
    resource_without_soft_delete_has_no_restore,
    panel_reports_the_conflicts_of_a_bulk_restore,
);

fn restore(path: &str) -> Value {
    let id: i64 = path.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an id");
    json!({ "method": "restore", "id": id })
}

async fn bulk_restore_is_atomic_and_reports_conflicts_by_index(racks: Racks) {
    let admin = racks.admin();
    let (one, two) = (rack(&admin, "R2").await, rack(&admin, "R3").await);
    gone(&admin, &one).await;
    gone(&admin, &two).await;
    let taken = rack(&admin, "R3").await;
    let both = json!({ "operations": [restore(&one), restore(&two)] });
    let refused = admin.post("/racks/bulk", both.clone()).await;
    assert_eq!(refused.invalid_fields(), ["operations.1.name"]);
    assert_eq!(refused.invalid("operations.1.name"), "is already taken");
    assert_eq!(admin.get("/racks?deleted=only&sort=name").await.column("racks", "name"), ["R2", "R3"], "none is back");
    gone(&admin, &taken).await;
    let answer = admin.post("/racks/bulk", both.clone()).await.ok();
    for (index, path) in [&one, &two].into_iter().enumerate() {
        let shown = admin.get(path).await;
        let result = &answer["results"][index];
        assert_eq!((&result["status"], &result["rack"]), (&json!(200), &shown.record("rack")));
        assert_eq!(result["etag"].as_str(), shown.header("etag"));
    }
    let listed = admin.get("/racks?sort=name").await;
    assert_eq!(
        (listed.column("racks", "name"), &listed.ok()["meta"]["total"]),
        (vec![json!("R1"), json!("R2"), json!("R3")], &json!(3))
    );
    // The repeated request changes nothing.
    let entries = || async { admin.get("/audit_entries?q[entity_type_eq]=racks").await.ok()["meta"]["total"].clone() };
    let before = entries().await;
    admin.post("/racks/bulk", both).await.ok();
    assert_eq!(entries().await, before);
    // Two records have the same unique value: the second is rejected.
    gone(&admin, &two).await;
    let third = rack(&admin, "R3").await;
    gone(&admin, &third).await;
    let refused = admin.post("/racks/bulk", json!({ "operations": [restore(&two), restore(&third)] })).await;
    assert_eq!(refused.invalid_fields(), ["operations.1.name"]);
}

async fn independent_bulk_restores_each_have_a_status(racks: Racks) {
    let admin = racks.admin();
    let (plain, broken) = (tray(&admin, 1, json!({})).await, tray(&admin, 2, json!({ "note": "broken" })).await);
    for path in [&plain, &broken] {
        gone(&admin, path).await;
    }
    let before = racks.event_bodies(0).await.len();
    let mut stale = restore(&plain);
    stale["if_match"] = json!("\"other\"");
    let mut given = restore(&plain);
    given["tray"] = json!({ "number": 9 });
    let missing = json!({ "method": "restore" });
    let all = [restore(&broken), restore("/trays/999"), stale, given, missing, restore(&plain)];
    let answer = admin.post("/trays/bulk", json!({ "atomic": false, "operations": all })).await.ok();
    let statuses: Vec<i64> =
        answer["results"].as_array().expect("results").iter().filter_map(|one| one["status"].as_i64()).collect();
    assert_eq!(statuses, [422, 404, 412, 422, 422, 200]);
    assert_eq!(answer["results"][0]["error"]["errors"]["note"][0], "stays away");
    assert!(answer["results"][3]["error"]["errors"]["tray"].is_array(), "{answer}");
    assert_eq!(answer["results"][4]["error"]["errors"]["id"][0], "is required");
    assert_eq!(answer["results"][5]["tray"]["note"], "back");
    let told = racks.event_bodies(before).await;
    assert_eq!(told.iter().map(|event| event["event"].clone()).collect::<Vec<_>>(), ["tray.restored"]);
    // Records of other users are not found.
    gone(&admin, &plain).await;
    let (_, other) = racks.user(&[], &["trays:read", "trays:write"]).await;
    let refused = other.post("/trays/bulk", json!({ "operations": [restore(&plain)] })).await;
    assert_eq!(refused.invalid_fields(), ["operations.0"]);
}

async fn resource_without_soft_delete_has_no_restore(racks: Racks) {
    let admin = racks.admin();
    let member = admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let path = format!("/members/{}", member["id"]);
    gone(&admin, &path).await;
    let refused = admin.post("/members/bulk", json!({ "operations": [restore(&path)] })).await;
    assert_eq!(refused.invalid("operations.0.method"), "must be one of create, update, delete");
    let (user, _) = racks.user(&[], &["*"]).await;
    let mut panel = signed_in(&racks, &user).await;
    for step in ["restore", "apply-restore"] {
        panel.submit("/racks/bulk", &[("_step", step), ("id", "1")]).await.status(403);
    }
}

async fn panel_reports_the_conflicts_of_a_bulk_restore(racks: Racks) {
    let admin = racks.admin();
    let (one, two) = (rack(&admin, "R2").await, rack(&admin, "R3").await);
    gone(&admin, &one).await;
    gone(&admin, &two).await;
    rack(&admin, "R3").await;
    let mut panel = signed_in(&racks, &json!({ "id": 1 })).await;
    panel.get("/racks?deleted=only").await.says("Restore…").says("Select rows to restore them");
    let ids = [("id", one.rsplit('/').next().expect("an id")), ("id", two.rsplit('/').next().expect("an id"))];
    let form = |step: &'static str| [&ids[..], &[("_step", step), ("_back", "/racks?deleted=only")]].concat();
    panel.submit("/racks/bulk", &form("restore")).await.status(200).says("2 racks will be restored").says("R2");
    let refused = panel.submit("/racks/bulk", &form("apply-restore")).await;
    refused.says("Nothing was changed").says("is already taken").says(&format!("href=\"{two}\""));
    assert!(!refused.text.contains(&format!("href=\"{one}\"")), "{}", refused.text);
    assert_eq!(admin.get("/racks?deleted=only").await.ok()["meta"]["total"], 2);
    // All matching records are restored, each independently.
    let all = [("_all", "1"), ("_query", "deleted=only")];
    let shown = panel.submit("/racks/bulk", &[&all[..], &[("_step", "restore")]].concat()).await;
    shown.status(200).says("2 racks will be restored");
    let done = panel.submit("/racks/bulk", &[&all[..], &[("_step", "apply-restore")]].concat()).await;
    done.says("1 rack was restored").says("1 rack was rejected").says("Name is already taken");
    assert_eq!(admin.get("/racks?deleted=only").await.column("racks", "name"), ["R3"]);
}
