//! Restores with constraints: unique values, required parents, owners and hooks.

mod bulk;
mod hidden_by_parent;

use std::sync::Arc;

use charter_migrations::prelude::*;
use charter_runtime::ops::BoxFuture;
use charter_runtime::ops::State;
use serde_json::{Value, json};

use crate::panel::signed_in;
use crate::support::{Client, create, on_both, own_fixture};

mod rack {
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::Route;
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "rack", soft_delete, write_permission = "racks.manage")]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required, unique)]
        pub name: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        pub deleted_at: Option<DateTimeUtc>,
    }

    pub fn route() -> Route {
        Route::of::<Entity>()
    }
}

mod tray {
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::{Context, Draft, Route};
    use charter_runtime::{Error, Result};
    use sea_orm::ActiveValue::Set;
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "tray", soft_delete, events, owner = "kept_by")]
    #[resource(unique("rack_id", "number"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("rack"), required)]
        pub rack_id: i64,
        #[field(reference("rack"))]
        pub spare_rack_id: Option<i64>,
        #[field(required)]
        pub number: i32,
        #[field(string(20))]
        pub note: Option<String>,
        #[field(string(20), unique)]
        pub label: Option<String>,
        #[field(reference("user"), default_caller)]
        pub kept_by: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        pub deleted_at: Option<DateTimeUtc>,
    }

    /// Hooks that can reject a restore, and that record it.
    trait Behaviour {
        fn guard(context: &Context<'_>, tray: &Model) -> impl Future<Output = Result<()>> + Send;
        fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    }

    impl Behaviour for Entity {
        async fn guard(_: &Context<'_>, tray: &Model) -> Result<()> {
            match tray.note.as_deref() {
                Some("guarded") => Err(Error::Forbidden("It is guarded.".into())),
                _ => Ok(()),
            }
        }

        async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
            let Some(before) = &draft.before else { return Ok(()) };
            if before.deleted_at.is_some() && draft.model.deleted_at == Set(None) {
                match before.note.as_deref() {
                    Some("broken") => draft.error(Column::Note, "stays away"),
                    _ => draft.model.note = Set(Some("back".into())),
                }
            }
            Ok(())
        }
    }

    pub fn route() -> Route {
        charter_runtime::route!(Entity, Behaviour, hooks(guard, before_save), actions())
    }
}

mod tool {
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::Route;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "tool", soft_delete, include(name = "tray", via = "tray_id"))]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(reference("tray"))]
        #[derived("tray_number", from = "tray_id.number")]
        pub tray_id: Option<i64>,
        #[field(read_only)]
        pub created_at: sea_orm::entity::prelude::DateTimeUtc,
        #[field(read_only)]
        pub updated_at: sea_orm::entity::prelude::DateTimeUtc,
        pub deleted_at: Option<sea_orm::entity::prelude::DateTimeUtc>,
    }

    pub fn route() -> Route {
        Route::of::<Entity>()
    }
}

own_fixture! {
    /// The service with the additional resources rack, tray and tool, each a child of the one before.
    Racks, "racks", [rack::route(), tray::route(), tool::route()], fill
}

fn fill(state: &Arc<State>) -> BoxFuture<'_, ()> {
    Box::pin(async {
        create(state, "rack", &json!({ "name": "R1" })).await;
    })
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let racks = Table::on(manager, "racks");
        let times = || [timestamp("created_at"), timestamp("updated_at"), timestamp("deleted_at").nullable()];
        racks.create([id(), string("name", 50)].into_iter().chain(times())).await?;
        racks.unique_live(&["name"]).await?;
        let trays = Table::on(manager, "trays");
        let columns = [
            id(),
            reference("rack_id", "racks"),
            reference("spare_rack_id", "racks").nullable(),
            integer("number"),
            string("note", 20).nullable(),
            string("label", 20).nullable(),
            reference("kept_by", "users"),
        ];
        trays.create(columns.into_iter().chain(times())).await?;
        trays.unique_live(&["label"]).await?;
        trays.unique_live(&["rack_id", "number"]).await?;
        let columns = [id(), string("name", 50), reference("tray_id", "trays").nullable()];
        Table::on(manager, "tools").create(columns.into_iter().chain(times())).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "tools").drop().await?;
        Table::on(manager, "trays").drop().await?;
        Table::on(manager, "racks").drop().await
    }
}

on_both!(
    restore_reports_a_taken_unique_value_on_its_field,
    concurrent_creates_of_one_unique_set_report_the_conflict,
    record_can_be_restored_only_after_its_required_parent,
    child_records_reappear_when_their_parent_is_restored,
    restore_runs_the_hooks_of_the_resource,
    deleted_record_of_another_owner_is_not_found,
    user_without_the_permission_to_delete_cannot_see_or_restore_deleted_records,
);

async fn rack(client: &Client, name: &str) -> String {
    let made = client.post("/racks", json!({ "name": name })).await.created("rack");
    format!("/racks/{}", made["id"])
}

async fn tray(client: &Client, number: i64, further: Value) -> String {
    let mut body = json!({ "rack_id": 1, "number": number });
    for (name, value) in further.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    format!("/trays/{}", client.post("/trays", body).await.created("tray")["id"])
}

async fn gone(client: &Client, path: &str) {
    client.delete(path).await.deleted();
}

/// The error names the unique field whose value is taken, also by a concurrent write.
async fn concurrent_creates_of_one_unique_set_report_the_conflict(racks: Racks) {
    let admin = racks.admin();
    for number in 1..9 {
        let make = async |which: &str| {
            let body = json!({ "rack_id": 1, "number": number, "label": format!("{number}{which}") });
            admin.post("/trays", body).await
        };
        let (one, two, three) = tokio::join!(make("a"), make("b"), make("c"));
        let refused: Vec<_> = [one, two, three].into_iter().filter(|answer| answer.status != 201).collect();
        assert_eq!(refused.len(), 2);
        for answer in refused {
            assert_eq!(answer.invalid("number"), "is already taken together with rack_id");
        }
    }
}

async fn restore_reports_a_taken_unique_value_on_its_field(racks: Racks) {
    let admin = racks.admin();
    let before = racks.event_bodies(0).await.len();
    let old = rack(&admin, "R2").await;
    gone(&admin, &old).await;
    let new = rack(&admin, "R2").await;
    assert_eq!(admin.post(&format!("{old}/restore"), json!({})).await.invalid("name"), "is already taken");
    let first = tray(&admin, 1, json!({})).await;
    gone(&admin, &first).await;
    let second = tray(&admin, 1, json!({})).await;
    let told = admin.post(&format!("{first}/restore"), json!({})).await.invalid("number");
    assert_eq!(told, "is already taken together with rack_id");
    admin.get(&first).await.refused(404, "not_found");
    gone(&admin, &new).await;
    admin.put(&second, json!({ "number": 2 })).await.ok();
    assert_eq!(admin.post(&format!("{old}/restore"), json!({})).await.record("rack")["name"], "R2");
    assert_eq!(admin.post(&format!("{first}/restore"), json!({})).await.record("tray")["number"], 1);
    let told = racks.event_bodies(before).await;
    assert_eq!(told.iter().filter(|event| event["event"] == "tray.restored").count(), 1, "{told:?}");
}

async fn record_can_be_restored_only_after_its_required_parent(racks: Racks) {
    let admin = racks.admin();
    let tray = tray(&admin, 1, json!({})).await;
    gone(&admin, &tray).await;
    gone(&admin, "/racks/1").await;
    // The list of deleted records shows the reference to the deleted parent.
    assert_eq!(admin.get("/trays?deleted=only").await.column("trays", "rack_id"), [1]);
    let told = admin.post(&format!("{tray}/restore"), json!({})).await.invalid("rack_id");
    assert_eq!(told, "refers to a deleted rack; restore that record first");
    admin.post("/racks/1/restore", json!({})).await.ok();
    admin.post(&format!("{tray}/restore"), json!({})).await.ok();
    // A restored record may have a nullable reference to a deleted record, like any other record.
    let spare = rack(&admin, "R2").await;
    let id: i64 = spare.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an id");
    admin.put(&tray, json!({ "spare_rack_id": id })).await.ok();
    gone(&admin, &spare).await;
    gone(&admin, &tray).await;
    assert_eq!(admin.post(&format!("{tray}/restore"), json!({})).await.record("tray")["spare_rack_id"], id);
}

async fn child_records_reappear_when_their_parent_is_restored(racks: Racks) {
    let admin = racks.admin();
    let tray = tray(&admin, 1, json!({})).await;
    gone(&admin, "/racks/1").await;
    admin.get(&tray).await.refused(404, "not_found");
    assert_eq!(admin.get("/trays?deleted=only").await.ok()["meta"]["total"], 0, "it was not deleted itself");
    admin.post(&format!("{tray}/restore"), json!({})).await.refused(404, "not_found");
    admin.post("/racks/1/restore", json!({})).await.ok();
    admin.get(&tray).await.ok();
    assert_eq!(admin.get("/trays?per_page=1").await.ok()["meta"]["total"], 1);
}

async fn restore_runs_the_hooks_of_the_resource(racks: Racks) {
    let admin = racks.admin();
    let plain = tray(&admin, 1, json!({})).await;
    let broken = tray(&admin, 2, json!({ "note": "broken" })).await;
    let guarded = tray(&admin, 3, json!({})).await;
    for path in [&plain, &broken, &guarded] {
        gone(&admin, path).await;
    }
    racks.sql("UPDATE trays SET note = 'guarded' WHERE number = 3").await;
    assert_eq!(admin.post(&format!("{broken}/restore"), json!({})).await.invalid("note"), "stays away");
    let told = admin.post(&format!("{guarded}/restore"), json!({})).await;
    assert!(told.text.contains("\"It is guarded.\""), "{}", told.text);
    told.refused(403, "permission_missing");
    assert_eq!(admin.post(&format!("{plain}/restore"), json!({})).await.record("tray")["note"], "back");
    let entries = admin.get("/audit_entries?q[entity_type_eq]=trays&sort=-id").await.records("audit_entries");
    assert_eq!(entries[0]["changes"]["note"], json!({ "old": null, "new": "back" }));
    assert_eq!(admin.get("/trays?deleted=only").await.column("trays", "number"), [2, 3]);
}

async fn deleted_record_of_another_owner_is_not_found(racks: Racks) {
    let tray = tray(&racks.admin(), 1, json!({})).await;
    gone(&racks.admin(), &tray).await;
    let (_, other) = racks.user(&[], &["trays:read", "trays:write"]).await;
    assert_eq!(other.get("/trays?deleted=only").await.ok()["meta"]["total"], 0);
    other.get(&format!("{tray}?deleted=only")).await.refused(404, "not_found");
    other.post(&format!("{tray}/restore"), json!({})).await.refused(404, "not_found");
    racks.admin().post(&format!("{tray}/restore"), json!({})).await.ok();
}

async fn user_without_the_permission_to_delete_cannot_see_or_restore_deleted_records(racks: Racks) {
    gone(&racks.admin(), "/racks/1").await;
    let (user, other) = racks.user(&[], &["*"]).await;
    other.get("/racks?deleted=only").await.refused(403, "permission_missing");
    other.get("/racks/1?deleted=only").await.refused(403, "permission_missing");
    other.post("/racks/1/restore", json!({})).await.refused(403, "permission_missing");
    let mut panel = signed_in(&racks, &user).await;
    let list = panel.get("/racks").await;
    assert!(!list.status(200).text.contains("deleted=only"), "{}", list.text);
    for path in ["/racks?deleted=only", "/racks/1?deleted=only"] {
        panel.get(path).await.status(403).says("This requires the permission <code>racks.manage</code>");
    }
    panel.get("/racks/1").await.status(404);
    panel.submit("/racks/1/restore", &[]).await.status(403);
    let (keeper, able) = racks.user(&["racks.manage"], &["*"]).await;
    assert_eq!(able.get("/racks?deleted=only").await.column("racks", "name"), ["R1"]);
    let mut panel = signed_in(&racks, &keeper).await;
    panel.get("/racks").await.says("/racks?deleted=only");
    panel.get("/racks/1?deleted=only").await.status(200).says("Restore R1");
    panel.submit("/racks/1/restore", &[]).await.status(303);
    able.get("/racks/1").await.ok();
}
