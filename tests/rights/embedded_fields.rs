//! Rights of fields of embedded records: in a body, in a bulk write and in the form of the panel.

use serde_json::{Value, json};

use super::{client_of, user_with};
use crate::panel::signed_in;
use crate::support::{Client, on_both};
use kits::Kits;

on_both!(
    record_with_embedded_records_can_be_sent_back_by_a_caller_who_may_not_write_a_field_of_them,
    changed_field_of_an_embedded_record_needs_its_right_and_is_reported_with_those_of_the_record,
    new_embedded_record_needs_the_right_of_each_field_that_is_sent,
    form_has_inputs_for_the_fields_of_embedded_records_that_the_user_may_set,
    form_without_an_input_in_a_row_keeps_the_embedded_record,
    form_has_no_rows_for_a_user_who_may_set_none_of_their_fields,
);

/// The service with kits, whose pieces are embedded: their cost can be set with `costs.manage`, and their note with
/// `notes.manage`.
mod kits {
    use charter_migrations::prelude::*;
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::Route;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    pub mod kit {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "kit", events)]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            #[embedded("pieces", resource = "piece", by = "kit_id")]
            pub name: String,
            #[field(integer, default = "0", write = "costs.manage")]
            pub price: i32,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    pub mod piece {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "piece", operations())]
        pub struct Model {
            pub id: i64,
            #[field(reference("kit"), required)]
            pub kit_id: i64,
            #[field(string(80), write = "notes.manage")]
            pub note: Option<String>,
            #[field(integer, default = "0", write = "costs.manage")]
            pub cost: i32,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    own_fixture! {
        /// The service with kits.
        Kits, "kits", [Route::of::<kit::Entity>(), Route::of::<piece::Entity>()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let times = || [timestamp("created_at"), timestamp("updated_at")];
            let kits = [id(), string("name", 80), integer("price").default(0)];
            Table::on(manager, "kits").create(kits.into_iter().chain(times())).await?;
            let pieces = [id(), reference("kit_id", "kits"), string("note", 80).nullable(), integer("cost").default(0)];
            Table::on(manager, "pieces").create(pieces.into_iter().chain(times())).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            Table::on(manager, "pieces").drop().await?;
            Table::on(manager, "kits").drop().await
        }
    }
}

/// A kit with two pieces, the second of which has a cost alone.
async fn kit(server: &Kits) -> Value {
    let kit = json!({ "name": "Camera", "pieces": [{ "note": "Lens", "cost": 900 }, { "cost": 30 }] });
    server.admin().post("/kits", kit).await.created("kit")
}

/// A user with these permissions, and a client of it.
async fn user(server: &Kits, permissions: &[&str]) -> (Value, Client) {
    let user = user_with(server, &["*"], permissions).await;
    let client = client_of(server, &user).await;
    (user, client)
}

async fn pieces(server: &Kits, path: &str) -> Vec<(Value, Value)> {
    let kit = server.admin().get(path).await.record("kit");
    let pieces = kit["pieces"].as_array().expect("a list").clone();
    pieces.into_iter().map(|piece| (piece["note"].clone(), piece["cost"].clone())).collect()
}

async fn record_with_embedded_records_can_be_sent_back_by_a_caller_who_may_not_write_a_field_of_them(server: Kits) {
    let path = format!("/kits/{}", kit(&server).await["id"]);
    let (_, client) = user(&server, &["notes.manage"]).await;
    let mut record = client.get(&path).await.record("kit");
    record["name"] = json!("Camera 2");
    record["pieces"][0]["note"] = json!("Long lens");
    let written = client.put(&path, record.clone()).await.record("kit");
    assert_eq!((&written["name"], &written["pieces"][0]["note"]), (&json!("Camera 2"), &json!("Long lens")));
    record["name"] = json!("Camera 3");
    let bulk = json!({ "operations": [{ "method": "update", "id": record["id"], "kit": record }] });
    client.post("/kits/bulk", bulk).await.ok();
    assert_eq!(client.get(&path).await.record("kit")["name"], "Camera 3");
    // A piece that is left out is removed, for which no field is written.
    record["pieces"] = json!([record["pieces"][1]]);
    client.put(&path, record).await.ok();
    assert_eq!(pieces(&server, &path).await, [(Value::Null, json!(30))]);
}

async fn changed_field_of_an_embedded_record_needs_its_right_and_is_reported_with_those_of_the_record(server: Kits) {
    let path = format!("/kits/{}", kit(&server).await["id"]);
    let (_, client) = user(&server, &["notes.manage"]).await;
    let mut record = client.get(&path).await.record("kit");
    record["price"] = json!(5);
    record["pieces"][1]["cost"] = json!(31);
    let refused = client.put(&path, record).await;
    let reason = json!(["requires the permission `costs.manage`"]);
    let errors = json!({ "price": reason, "pieces.1.cost": reason });
    assert_eq!(refused.refused(403, "permission_missing")["errors"], errors);
    assert_eq!(pieces(&server, &path).await[1].1, 30);
}

async fn new_embedded_record_needs_the_right_of_each_field_that_is_sent(server: Kits) {
    let path = format!("/kits/{}", kit(&server).await["id"]);
    let (_, client) = user(&server, &["notes.manage"]).await;
    let refused = client.post("/kits", json!({ "name": "Light", "pieces": [{ "note": "Bulb", "cost": 0 }] })).await;
    let errors = json!({ "pieces.0.cost": ["requires the permission `costs.manage`"] });
    assert_eq!(refused.refused(403, "permission_missing")["errors"], errors);
    client.post("/kits", json!({ "name": "Light", "pieces": [{ "note": "Bulb" }] })).await.created("kit");
    // The id of a piece of another kit matches no stored piece.
    let other = client.get("/kits?q[name_eq]=Light").await.records("kits")[0]["id"].clone();
    let other = client.get(&format!("/kits/{other}")).await.record("kit")["pieces"].clone();
    let refused = client.put(&path, json!({ "pieces": other })).await;
    assert_eq!(refused.refused(403, "permission_missing")["errors"], errors);
}

async fn form_has_inputs_for_the_fields_of_embedded_records_that_the_user_may_set(server: Kits) {
    let kit = kit(&server).await;
    let edit = format!("/kits/{}/edit", kit["id"]);
    for (permissions, note, cost) in
        [(&["notes.manage"][..], true, false), (&["notes.manage", "costs.manage"], true, true)]
    {
        let (user, _) = user(&server, permissions).await;
        let form = signed_in(&server, &user).await.get(&edit).await.text;
        assert_eq!(form.contains("name=\"pieces[0][note]\""), note, "{permissions:?}: {form}");
        assert_eq!(form.contains("name=\"pieces[0][cost]\""), cost, "{permissions:?}: {form}");
    }
}

async fn form_without_an_input_in_a_row_keeps_the_embedded_record(server: Kits) {
    let kit = kit(&server).await;
    let path = format!("/kits/{}", kit["id"]);
    let (user, _) = user(&server, &["notes.manage"]).await;
    let mut panel = signed_in(&server, &user).await;
    // The second piece has no value that the form shows.
    let [first, second] = [0, 1].map(|index| kit["pieces"][index]["id"].clone());
    let shown = json!([{ "id": first, "note": "Lens" }, { "id": second, "note": null }]);
    let shown = json!({ "zone": "Etc/UTC", "record": { "name": "Camera", "pieces": shown } }).to_string();
    let [first, second] = [first, second].map(|id| id.to_string());
    let mut rows = vec![("name", "Camera 2"), ("pieces[0][id]", first.as_str()), ("pieces[0][note]", "Long lens")];
    rows.extend([("pieces[1][id]", second.as_str()), ("pieces[1][note]", ""), ("_shown", shown.as_str())]);
    panel.submit(&path, &rows).await.status(303);
    assert_eq!(pieces(&server, &path).await, [(json!("Long lens"), json!(900)), (Value::Null, json!(30))]);
}

async fn form_has_no_rows_for_a_user_who_may_set_none_of_their_fields(server: Kits) {
    let path = format!("/kits/{}", kit(&server).await["id"]);
    let (user, _) = user(&server, &[]).await;
    let mut panel = signed_in(&server, &user).await;
    let form = panel.get(&format!("{path}/edit")).await.text;
    assert!(form.contains("name=\"name\"") && !form.contains("pieces["), "{form}");
    panel.submit(&path, &[("name", "Camera 2")]).await.status(303);
    assert_eq!(pieces(&server, &path).await.len(), 2);
}
