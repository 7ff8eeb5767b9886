//! `sequence` of a field: numbers that the server assigns, fast or gapless, on both databases.

use std::time::Duration;

use charter_migrations::prelude::*;
use charter_runtime::db::Dialect;
use charter_runtime::generated::Resource;
use charter_runtime::ops::{Body, Context, Route, Transaction, create};
use charter_runtime::principal::Principal;
use chrono::Datelike;
use sea_orm::entity::prelude::DateTimeUtc;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::routes::imports;
use crate::support::{Client, nothing, on_both, own_fixture};

mod ticket {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "ticket", soft_delete, events)]
    pub struct Model {
        pub id: i64,
        #[field(string(20), unique, sequence = "TCK-{year}-{0000}")]
        pub number: String,
        #[field(string(80), required)]
        pub title: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        pub deleted_at: Option<DateTimeUtc>,
    }
}

mod invoice {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "invoice")]
    pub struct Model {
        pub id: i64,
        #[field(string(8), unique, read_only, sequence = "R{0000}", numbering = "gapless")]
        pub number: Option<String>,
        #[field(string(80), required)]
        pub title: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with tickets, numbered fast by the year, and invoices, numbered without gaps.
    Numbered, "numbered", [Route::of::<ticket::Entity>(), Route::of::<invoice::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = || [timestamp("created_at"), timestamp("updated_at")];
        let deleted = timestamp("deleted_at").nullable();
        let tickets = Table::on(manager, "tickets");
        let columns = [id(), string("number", 20), string("title", 80), deleted];
        tickets.create(columns.into_iter().chain(times())).await?;
        tickets.unique_live(&["number"]).await?;
        let invoices = Table::on(manager, "invoices");
        let columns = [id(), string("number", 8).nullable(), string("title", 80)];
        invoices.create(columns.into_iter().chain(times())).await?;
        invoices.unique(&["number"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "invoices").drop().await?;
        Table::on(manager, "tickets").drop().await
    }
}

on_both!(
    year_is_that_of_the_company_time_zone,
    numbers_are_assigned_one_after_the_other,
    number_of_a_client_is_kept_and_skipped,
    first_number_follows_the_ones_that_are_there,
    numbers_grow_beyond_their_zeros_until_the_field_is_full,
    refused_create_leaves_no_gap_in_a_gapless_sequence,
    eight_writers_get_different_numbers,
    fast_numbers_do_not_wait_for_another_commit,
    bulk_and_import_number_their_records,
    number_of_a_read_only_field_is_the_servers_alone,
    document_says_that_the_number_is_assigned,
);

fn year() -> i32 {
    chrono::Utc::now().year()
}

async fn ticket(client: &Client, body: Value) -> String {
    let ticket = client.post("/tickets", body).await.created("ticket");
    ticket["number"].as_str().expect("a number").to_owned()
}

async fn year_is_that_of_the_company_time_zone(server: Numbered) {
    let admin = server.admin();
    let now = chrono::Utc::now();
    let evening = |year| chrono::NaiveDate::from_ymd_opt(year, 12, 31)?.and_hms_opt(20, 0, 0);
    let evenings = [evening(now.year()), evening(now.year() + 1)].map(|evening| evening.expect("a time").and_utc());
    let last = evenings.into_iter().find(|evening| *evening > now).expect("the end of this year or of the next one");
    server.state.clock.advance((last - now).to_std().expect("a later time"));
    for (zone, year, number) in [("Pacific/Kiritimati", last.year() + 1, 1), ("Europe/London", last.year(), 1)] {
        admin.put("/settings", json!({ "timezone": zone })).await.record("settings");
        assert_eq!(ticket(&admin, json!({ "title": zone })).await, format!("TCK-{year}-{number:04}"));
    }
}

async fn numbers_are_assigned_one_after_the_other(server: Numbered) {
    let admin = server.admin();
    assert_eq!(ticket(&admin, json!({ "title": "A" })).await, format!("TCK-{}-0001", year()));
    assert_eq!(ticket(&admin, json!({ "title": "B", "number": null })).await, format!("TCK-{}-0002", year()));
    assert_eq!(ticket(&admin, json!({ "title": "C", "number": " \t " })).await, format!("TCK-{}-0003", year()));
    let event = server.event_bodies(0).await.pop().expect("an event");
    assert_eq!(event["data"]["ticket"]["number"], format!("TCK-{}-0003", year()));
    let entries = admin.get("/audit_entries?q[entity_type_eq]=tickets&sort=-id").await.records("audit_entries");
    assert_eq!(entries[0]["changes"]["number"]["new"], format!("TCK-{}-0003", year()));
    let blank = admin.put("/tickets/3", json!({ "number": "  " })).await;
    assert_eq!(blank.invalid("number"), "must not be blank");
    // The counter of another year is another one.
    server.sql("UPDATE tickets SET number = replace(number, 'TCK-2', 'TCK-1')").await;
    server.sql("DELETE FROM record_numbers").await;
    assert_eq!(ticket(&admin, json!({ "title": "D" })).await, format!("TCK-{}-0001", year()));
}

async fn number_of_a_client_is_kept_and_skipped(server: Numbered) {
    let admin = server.admin();
    assert_eq!(ticket(&admin, json!({ "title": "A" })).await, format!("TCK-{}-0001", year()));
    for number in [2, 3, 9] {
        let own = format!("TCK-{}-{number:04}", year());
        assert_eq!(ticket(&admin, json!({ "title": "own", "number": own })).await, own);
    }
    assert_eq!(ticket(&admin, json!({ "title": "free", "number": "own text" })).await, "own text");
    assert_eq!(ticket(&admin, json!({ "title": "B" })).await, format!("TCK-{}-0004", year()));
    let taken = json!({ "title": "again", "number": format!("TCK-{}-0001", year()) });
    assert_eq!(admin.post("/tickets", taken).await.invalid("number"), "is already taken");
    // More numbers in a row than are tried one by one.
    for number in 5..60 {
        let own = format!("TCK-{}-{number:04}", year());
        if number != 9 {
            ticket(&admin, json!({ "title": "own", "number": own })).await;
        }
    }
    assert_eq!(ticket(&admin, json!({ "title": "C" })).await, format!("TCK-{}-0060", year()));
    assert_eq!(ticket(&admin, json!({ "title": "D" })).await, format!("TCK-{}-0061", year()));
}

async fn first_number_follows_the_ones_that_are_there(server: Numbered) {
    let admin = server.admin();
    // The last number that fits the field has no next one.
    for number in ["R0007", "R12", "R00x8", "R", "Q9999", "R-9", "R9999999"] {
        server
            .sql(&format!(
                "INSERT INTO invoices (number, title, created_at, updated_at) VALUES ('{number}', 'old', \
             '2026-01-02 03:04:05+00:00', '2026-01-02 03:04:05+00:00')"
            ))
            .await;
    }
    let first = admin.post("/invoices", json!({ "title": "new" })).await.created("invoice");
    assert_eq!(first["number"], "R0013");
}

async fn numbers_grow_beyond_their_zeros_until_the_field_is_full(server: Numbered) {
    let admin = server.admin();
    let numbered = async |last: i64| {
        server.sql(&format!("UPDATE record_numbers SET last_number = {last}")).await;
        admin.post("/invoices", json!({ "title": "A" })).await
    };
    admin.post("/invoices", json!({ "title": "first" })).await.created("invoice");
    assert_eq!(numbered(9_999).await.created("invoice")["number"], "R10000");
    assert_eq!(numbered(9_999_998).await.created("invoice")["number"], "R9999999");
    let refused = numbered(9_999_999).await.refused(409, "conflict");
    assert_eq!(refused["message"], "The next number, R10000000, is longer than number can be.");
}

async fn refused_create_leaves_no_gap_in_a_gapless_sequence(server: Numbered) {
    let admin = server.admin();
    // The second is refused; the third has the next number.
    let body = json!({ "atomic": false, "operations": [
        { "method": "create", "invoice": { "title": "A" } },
        { "method": "create", "invoice": {} },
        { "method": "create", "invoice": { "title": "C" } },
    ] });
    admin.post("/invoices/bulk", body).await.ok();
    let atomic = json!({ "operations": [
        { "method": "create", "invoice": { "title": "D" } },
        { "method": "create", "invoice": {} },
    ] });
    admin.post("/invoices/bulk", atomic).await.refused(422, "validation_failed");
    admin.post("/invoices", json!({ "title": "E" })).await.created("invoice");
    let numbers = admin.get("/invoices?sort=id").await.column("invoices", "number");
    assert_eq!(numbers, ["R0001", "R0002", "R0003"]);
}

async fn eight_writers_get_different_numbers(server: Numbered) {
    const EACH: usize = 20;
    let writers = (0..8).map(|_| {
        let admin = server.admin();
        tokio::spawn(async move {
            for _ in 0..EACH {
                admin.post("/tickets", json!({ "title": "T" })).await.created("ticket");
                admin.post("/invoices", json!({ "title": "I" })).await.created("invoice");
                admin.post("/invoices", json!({ "title": "" , "number": 7, "wrong": true })).await.status(422);
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("a writer");
    }
    for (plural, first) in [("tickets", format!("TCK-{}-", year())), ("invoices", "R".to_owned())] {
        let numbers = server.texts(&format!("SELECT number AS text FROM {plural} ORDER BY number")).await;
        let expected: Vec<String> = (1..=8 * EACH).map(|number| format!("{first}{number:04}")).collect();
        // Each create succeeded, so that neither sequence has a gap.
        assert_eq!(numbers, expected);
    }
}

async fn fast_numbers_do_not_wait_for_another_commit(server: Numbered) {
    let admin = server.admin();
    admin.post("/tickets", json!({ "title": "T" })).await.created("ticket");
    admin.post("/invoices", json!({ "title": "I" })).await.created("invoice");
    // SQLite has one writer at a time in any case.
    if server.state.db.dialect() == Dialect::Sqlite {
        return;
    }
    let principal = Principal::operator();
    let transaction = Transaction::begin(&server.state).await.expect("a transaction");
    let context = Context::new(&server.state, &principal, server.state.db.reader());
    let within = context.in_transaction(&transaction);
    for (name, body) in [("ticket", json!({ "title": "open" })), ("invoice", json!({ "title": "open" }))] {
        let entry = server.state.catalog.linked(name);
        let text = body.to_string();
        let body = Body::read(text.as_bytes(), None).expect("a body");
        create(&within, entry, &body, None).await.expect("a record");
    }
    // Both records are not committed yet.
    assert_eq!(ticket(&admin, json!({ "title": "next" })).await, format!("TCK-{}-0003", year()));
    let waiting = server.admin();
    let mut gapless = tokio::spawn(async move { waiting.post("/invoices", json!({ "title": "next" })).await });
    assert!(timeout(Duration::from_millis(300), &mut gapless).await.is_err(), "it waits for the commit");
    drop(transaction);
    let invoice = gapless.await.expect("an answer").created("invoice");
    assert_eq!(invoice["number"], "R0002", "the number of the rolled back record");
}

async fn bulk_and_import_number_their_records(server: Numbered) {
    let admin = server.admin();
    let operations: Vec<Value> =
        (0..1000).map(|n| json!({ "method": "create", "ticket": { "title": n.to_string() } })).collect();
    admin.post("/tickets/bulk", json!({ "operations": operations })).await.ok();
    let last = admin.get("/tickets?sort=-id&per_page=1").await.column("tickets", "number");
    assert_eq!(last, [format!("TCK-{}-1000", year())]);
    let import = imports::uploaded(&admin, "tickets", &format!("title,number\nA,\nB,TCK-{}-1002\nC,\n", year())).await;
    imports::finished(&admin, &import, "rehearse").await;
    imports::finished(&admin, &import, "run").await;
    let numbers = admin.get("/tickets?sort=-id&per_page=3").await.column("tickets", "number");
    assert_eq!(numbers, [1003, 1002, 1001].map(|number| format!("TCK-{}-{number}", year())));
}

async fn number_of_a_read_only_field_is_the_servers_alone(server: Numbered) {
    let admin = server.admin();
    // A value of a client for a read-only field is ignored.
    let body = json!({ "title": "A", "number": "R7777" });
    assert_eq!(admin.post("/invoices", body).await.created("invoice")["number"], "R0001");
    let changed = admin.put("/invoices/1", json!({ "title": "B", "number": "R7777" })).await.record("invoice");
    assert_eq!(changed["number"], "R0001");
}

async fn document_says_that_the_number_is_assigned(server: Numbered) {
    let document = server.admin().get("/openapi.json").await.ok();
    let schema = &document["components"]["schemas"]["TicketCreate"];
    assert_eq!(schema["required"], json!(["title"]));
    let text = schema["properties"]["number"]["description"].as_str().expect("a description");
    // An empty number is none, but not in an update.
    assert_eq!(schema["properties"]["number"].get("minLength"), None);
    let updated = &document["components"]["schemas"]["TicketUpdate"]["properties"]["number"];
    assert_eq!(updated["minLength"], 1);
    assert!(text.contains("Without a value, the server assigns the next number of `TCK-{year}-{0000}`."), "{text}");
}
