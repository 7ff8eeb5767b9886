//! Rules of a whole record: `checks` at every way to write, and `frozen` records, on both databases.

use serde_json::{Value, json};

use crate::panel::signed_in;
use crate::routes::attachments::Form;
use crate::routes::imports;
use crate::support::{Client, on_both};
use bookings::Bookings;

on_both!(
    record_must_meet_the_checks_of_its_resource,
    check_holds_if_a_field_has_no_value,
    update_that_names_no_field_of_a_check_leaves_an_old_record_alone,
    action_cannot_break_a_check,
    rows_of_a_bulk_must_meet_the_checks,
    frozen_record_is_neither_changed_nor_deleted,
    action_that_changes_nothing_runs_on_a_frozen_record,
    frozen_record_is_refused_in_a_bulk,
    record_is_frozen_by_its_stored_values,
    frozen_record_can_be_restored_and_keeps_its_attachments,
    rows_of_an_import_follow_both_rules,
    panel_shows_why_a_record_is_frozen,
    document_describes_checks_and_frozen_records,
);

/// The service with bookings, which end after their start, cost at most 1000 and are frozen once closed.
mod bookings {
    use charter_migrations::prelude::*;
    use charter_runtime::Result;
    use charter_runtime::generated::{Decimal, Resource};
    use charter_runtime::ops::{Context, Draft, Route};
    use sea_orm::ActiveValue::Set;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    #[allow(clippy::duplicated_attributes, reason = "all actions are on a record")]
    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "booking", events, soft_delete, attachments)]
    #[resource(
        check(that = "ends_at > starts_at", message = "must be after the start"),
        check(that = "seats * price <= 1000", field = "price"),
        frozen = "status = closed"
    )]
    #[resource(action(name = "close", on = "record"), action(name = "raise", on = "record"))]
    #[resource(action(name = "remind", on = "record"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub title: String,
        #[field(timestamp(seconds), required)]
        pub starts_at: DateTimeUtc,
        #[field(timestamp(seconds))]
        pub ends_at: Option<DateTimeUtc>,
        #[field(integer, default = "1")]
        pub seats: i32,
        #[field(decimal(8, 2), default = "0")]
        pub price: Decimal<2>,
        #[field(enumeration("open", "closed"), default = "open")]
        pub status: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        #[field(internal)]
        pub deleted_at: Option<DateTimeUtc>,
    }

    /// `close` closes it, `raise` adds a thousand seats, `remind` changes nothing.
    trait Behaviour {
        fn close(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn raise(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
        fn remind(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    }

    impl Behaviour for Entity {
        async fn close(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
            draft.model.status = Set("closed".to_owned());
            Ok(())
        }

        async fn raise(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
            draft.model.seats = Set(draft.before.as_ref().map_or(0, |booking| booking.seats) + 1000);
            Ok(())
        }

        async fn remind(_: &Context<'_>, _: &mut Draft<Entity>) -> Result<()> {
            Ok(())
        }
    }

    fn route() -> Route {
        charter_runtime::route!(Entity, Behaviour, hooks(), actions(record close, record raise, record remind))
    }

    own_fixture! {
        /// The service with bookings.
        Bookings, "bookings", [route()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let columns = [
                id(),
                string("title", 80),
                timestamp("starts_at"),
                timestamp("ends_at").nullable(),
                integer("seats").default(1),
                decimal("price", 8, 2).default(0),
                enumeration("status").default("open"),
                timestamp("created_at"),
                timestamp("updated_at"),
                timestamp("deleted_at").nullable(),
            ];
            Table::on(manager, "bookings").create(columns).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            Table::on(manager, "bookings").drop().await
        }
    }
}

const START: &str = "2026-11-28T10:00:00Z";

/// A booking of an hour.
fn hour() -> Value {
    json!({ "title": "Hall", "starts_at": START, "ends_at": "2026-11-28T11:00:00Z" })
}

async fn booked(client: &Client, booking: Value) -> String {
    format!("/bookings/{}", client.post("/bookings", booking).await.created("booking")["id"])
}

async fn closed(client: &Client) -> String {
    let path = booked(client, hour()).await;
    assert_eq!(client.post(&format!("{path}/close"), json!({})).await.ok()["booking"]["status"], "closed");
    path
}

async fn record_must_meet_the_checks_of_its_resource(server: Bookings) {
    let admin = server.admin();
    let wrong = json!({ "title": "Hall", "starts_at": START, "ends_at": START, "seats": 2, "price": "500.01" });
    let refused = admin.post("/bookings", wrong).await.refused(422, "validation_failed");
    let expected = json!({ "ends_at": ["must be after the start"], "price": ["must satisfy seats * price <= 1000"] });
    assert_eq!(refused["errors"], expected);
    let path = booked(&admin, hour()).await;
    let refused = admin.put(&path, json!({ "starts_at": "2026-11-28T12:00:00Z" })).await;
    assert_eq!(refused.invalid("ends_at"), "must be after the start");
    admin.put(&path, json!({ "starts_at": "2026-11-28T12:00:00Z", "ends_at": "2026-11-28T13:00:00Z" })).await.ok();
    // At the edge.
    admin.put(&path, json!({ "seats": 2, "price": "500.00" })).await.ok();
    assert_eq!(admin.put(&path, json!({ "seats": 3 })).await.invalid("price"), "must satisfy seats * price <= 1000");
}

async fn check_holds_if_a_field_has_no_value(server: Bookings) {
    let admin = server.admin();
    let path = booked(&admin, json!({ "title": "Hall", "starts_at": START })).await;
    assert_eq!(admin.put(&path, json!({ "ends_at": START })).await.invalid("ends_at"), "must be after the start");
}

async fn update_that_names_no_field_of_a_check_leaves_an_old_record_alone(server: Bookings) {
    let admin = server.admin();
    let path = booked(&admin, hour()).await;
    server.sql("UPDATE bookings SET ends_at = starts_at").await;
    admin.put(&path, json!({ "title": "Big hall" })).await.ok();
    assert_eq!(
        admin.put(&path, json!({ "ends_at": "2026-11-28T09:00:00Z" })).await.invalid("ends_at"),
        "must be after the start"
    );
    admin.put(&path, json!({ "ends_at": "2026-11-28T12:00:00Z" })).await.ok();
}

async fn action_cannot_break_a_check(server: Bookings) {
    let admin = server.admin();
    let path = booked(&admin, json!({ "title": "Hall", "starts_at": START, "price": "1" })).await;
    let refused = admin.post(&format!("{path}/raise"), json!({})).await;
    assert_eq!(refused.invalid("price"), "must satisfy seats * price <= 1000");
    assert_eq!(admin.get(&path).await.ok()["booking"]["seats"], 1);
}

async fn rows_of_a_bulk_must_meet_the_checks(server: Bookings) {
    let admin = server.admin();
    let wrong = json!({ "title": "Hall", "starts_at": START, "ends_at": START });
    let operations = [hour(), wrong].map(|booking| json!({ "method": "create", "booking": booking }));
    let refused = admin.post("/bookings/bulk", json!({ "operations": operations })).await;
    assert_eq!(refused.invalid("operations.1.ends_at"), "must be after the start");
    assert_eq!(admin.get("/bookings").await.ok()["meta"]["total"], 0);
}

async fn frozen_record_is_neither_changed_nor_deleted(server: Bookings) {
    let admin = server.admin();
    let path = closed(&admin).await;
    let id = path.trim_start_matches("/bookings/").to_owned();
    let before = admin.get(&path).await.ok();
    let message = format!("Booking {id} is frozen, because status = closed.");
    for body in [json!({ "title": "Other" }), json!({ "status": "open" }), json!({ "title": "Other", "seats": "x" })] {
        assert_eq!(admin.put(&path, body).await.refused(409, "frozen")["message"], message.as_str());
    }
    assert_eq!(
        admin.post(&format!("{path}/raise"), json!({})).await.refused(409, "frozen")["message"],
        message.as_str()
    );
    assert_eq!(admin.delete(&path).await.refused(409, "frozen")["message"], message.as_str());
    assert_eq!(admin.get(&path).await.ok(), before);
    // Nothing changes.
    admin.put(&path, before["booking"].clone()).await.ok();
}

async fn action_that_changes_nothing_runs_on_a_frozen_record(server: Bookings) {
    let admin = server.admin();
    let path = closed(&admin).await;
    admin.post(&format!("{path}/remind"), json!({})).await.ok();
    admin.post(&format!("{path}/close"), json!({})).await.ok();
}

async fn frozen_record_is_refused_in_a_bulk(server: Bookings) {
    let admin = server.admin();
    let (frozen, open) = (closed(&admin).await, booked(&admin, hour()).await);
    let id = |path: &str| path.trim_start_matches("/bookings/").parse::<i64>().unwrap();
    let update = |path: &str| json!({ "method": "update", "id": id(path), "booking": { "title": "Other" } });
    let operations = [update(&open), update(&frozen), json!({ "method": "delete", "id": id(&frozen) })];
    let body = json!({ "atomic": false, "operations": operations });
    let results = admin.post("/bookings/bulk", body).await.ok()["results"].clone();
    assert_eq!(results[0]["status"], 200);
    for result in [&results[1], &results[2]] {
        assert_eq!((&result["status"], &result["error"]["code"]), (&json!(409), &json!("frozen")));
    }
    let body = json!({ "operations": [update(&frozen)] });
    let expected = format!("is refused: Booking {} is frozen, because status = closed", id(&frozen));
    assert_eq!(admin.post("/bookings/bulk", body).await.invalid("operations.0"), expected);
}

async fn record_is_frozen_by_its_stored_values(server: Bookings) {
    let admin = server.admin();
    let path = booked(&admin, hour()).await;
    let closing = admin.put(&path, json!({ "status": "closed", "title": "Done" })).await.ok();
    assert_eq!((&closing["booking"]["status"], &closing["booking"]["title"]), (&json!("closed"), &json!("Done")));
    let created = hour().as_object().cloned().map(|mut booking| {
        booking.insert("status".into(), "closed".into());
        Value::Object(booking)
    });
    let path = booked(&admin, created.unwrap()).await;
    admin.put(&path, json!({ "title": "Other" })).await.refused(409, "frozen");
}

async fn frozen_record_can_be_restored_and_keeps_its_attachments(server: Bookings) {
    let admin = server.admin();
    let path = booked(&admin, hour()).await;
    let form = Form::default().file("plan.txt", b"a plan").field("attachable_type", "booking");
    form.field("attachable_id", path.trim_start_matches("/bookings/")).send(&admin).await.created("attachment");
    admin.delete(&path).await.deleted();
    server.sql("UPDATE bookings SET status = 'closed'").await;
    admin.post(&format!("{path}/restore"), json!({})).await.ok();
    admin.put(&path, json!({ "title": "Other" })).await.refused(409, "frozen");
    assert_eq!(admin.get(&format!("{path}/attachments")).await.ok()["meta"]["total"], 1);
}

async fn rows_of_an_import_follow_both_rules(server: Bookings) {
    let admin = server.admin();
    let frozen = closed(&admin).await;
    let id = frozen.trim_start_matches("/bookings/");
    let text = format!("title,starts_at,ends_at\nHall,{START},2026-11-28T12:00:00Z\nNew,{START},{START}\n");
    let form = Form::default().field("entity_type", "bookings").field("match_by", "title");
    let form = form.file("file.csv", text.as_bytes());
    let import = imports::send(&admin, form).await.created("import");
    let rehearsed = imports::finished(&admin, &import, "rehearse").await;
    assert_eq!(rehearsed["refused_count"], 2, "{rehearsed}");
    let path = format!("/imports/{}/rows?sort=number", import["id"]);
    let errors = admin.get(&path).await.column("import_rows", "errors");
    let reason = format!("is refused: Booking {id} is frozen, because status = closed");
    assert_eq!(errors, [json!({ "row": [reason] }), json!({ "ends_at": ["must be after the start"] })]);
}

async fn panel_shows_why_a_record_is_frozen(server: Bookings) {
    let (open, frozen) = (booked(&server.admin(), hour()).await, closed(&server.admin()).await);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let (edit, delete) = (|path: &str| format!("{path}/edit"), |path: &str| format!("{path}/delete"));
    let page = panel.get(&open).await;
    assert!(page.status(200).text.contains(&edit(&open)) && !page.text.contains("is frozen"), "{}", page.text);
    let page = panel.get(&frozen).await;
    page.status(200).says("This record is frozen, because Status is Closed. Its fields no longer change.");
    for missing in [edit(&frozen), delete(&frozen)] {
        assert!(!page.text.contains(&missing), "{missing}");
        panel.get(&missing).await.status(409).says("This record is frozen, because Status is Closed.");
    }
}

async fn document_describes_checks_and_frozen_records(server: Bookings) {
    let document = server.admin().get("/openapi.json").await.ok();
    let text = |method: &str, path: &str| document["paths"][path][method]["description"].as_str().unwrap().to_owned();
    let one = "/api/v1/bookings/{id}";
    for text in [text("post", "/api/v1/bookings"), text("put", one)] {
        assert!(text.contains("A record must satisfy `ends_at > starts_at`."), "{text}");
    }
    for text in [text("put", one), text("delete", one)] {
        assert!(text.contains("Answers 409 `frozen` for a record with `status = closed`"), "{text}");
    }
}
