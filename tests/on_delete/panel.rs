//! The effects of a deletion in the panel: the question before it, and "Undo" after it.

use serde_json::{Value, json};

use super::shelves::Shelves;
use super::{log, made};
use crate::panel::signed_in;
use crate::support::on_both;

on_both!(question_names_the_effects, undo_brings_back_what_the_deletion_changed);

async fn question_names_the_effects(server: Shelves) {
    let admin = server.admin();
    let shelf = made(&admin, "shelf", "shelves", json!({ "name": "S" })).await;
    let bin = made(&admin, "bin", "bins", json!({ "name": "B", "shelf_id": shelf })).await;
    made(&admin, "note", "notes", json!({ "name": "N", "bin_id": bin })).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get(&format!("/shelves/{shelf}/delete")).await;
    page.status(200).says("1 bin").says("is deleted, too.").says("1 note");
    page.says("loses a reference to a record deleted with it.");
    let page = panel.get(&format!("/bins/{bin}/delete")).await;
    page.status(200).says("loses the reference to it.");
    made(&admin, "seal", "seals", json!({ "bin_id": bin })).await;
    let page = panel.get(&format!("/bins/{bin}/delete")).await;
    page.status(200).says("cannot be deleted.").says("1 seal").says("refers to it.");
    let page = panel.get(&format!("/shelves/{shelf}/delete")).await;
    page.status(200).says("cannot be deleted.").says("refers to a record deleted with it.");
}

async fn undo_brings_back_what_the_deletion_changed(server: Shelves) {
    let admin = server.admin();
    let team = made(&admin, "team", "teams", json!({ "name": "A" })).await;
    let lamp = made(&admin, "lamp", "lamps", json!({ "name": "D", "team_id": team })).await;
    let phone = made(&admin, "phone", "phones", json!({ "team_id": team })).await;
    let moved = made(&admin, "phone", "phones", json!({ "team_id": team })).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let form = [("_step", "apply-delete"), ("id", &team.to_string())];
    let page = panel.submit("/teams/bulk", &form).await;
    let rest = page.status(200).text.split_once("name=\"_undo\" value=\"").map(|(_, rest)| rest.to_owned());
    let sealed = rest.and_then(|rest| Some(rest.split('"').next()?.to_owned())).expect("an offer");
    assert_eq!(admin.get("/lamps?deleted=only").await.column("lamps", "id"), [lamp]);
    // A phone that changed since keeps its change.
    let other = made(&admin, "team", "teams", json!({ "name": "B" })).await;
    admin.put(&format!("/phones/{moved}"), json!({ "team_id": other })).await.ok();
    panel.submit("/panel/undo", &[("_undo", &sealed)]).await.status(303);
    admin.get(&format!("/teams/{team}")).await.ok();
    admin.get(&format!("/lamps/{lamp}")).await.ok();
    let team_of =
        async |id: i64| -> Value { admin.get(&format!("/phones/{id}")).await.record("phone")["team_id"].clone() };
    assert_eq!([team_of(phone).await, team_of(moved).await], [json!(team), json!(other)]);
    assert_eq!(log(&admin, "phones", phone).await, ["create", "update", "update"]);
}
