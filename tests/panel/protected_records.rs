//! Records that do not change, because they are frozen or a row rule keeps them from the user: the panel offers no edit, no
//! new record and no deletion that the server would refuse.

use charter_migrations::prelude::*;
use charter_runtime::ops::Route;
use serde_json::{Value, json};

use super::{CookieClient, signed_in};
use crate::support::{nothing, on_both, own_fixture};

on_both!(
    cells_and_rows_of_frozen_records_offer_no_change,
    form_question_and_cell_of_a_frozen_record_are_refused,
    bulk_change_of_a_frozen_record_names_it_and_the_reason_once,
    rows_that_a_rule_protects_offer_no_change,
    new_record_under_a_protected_parent_is_not_offered,
    files_of_a_record_that_a_rule_protects_cannot_change,
);

/// Frozen once it is paid. Its lines change only as long as it is a draft, and it changes only until it is sent.
mod bill {
    use charter_runtime::generated::Resource;
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "bill", attachments, ordered("replaces_id"))]
    #[resource(frozen = "status = paid", write_rule = "status != sent")]
    pub struct Model {
        pub id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(enumeration("draft", "sent", "paid"), default = "draft")]
        pub status: String,
        #[field(reference("bill"))]
        pub replaces_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

mod line {
    use charter_runtime::generated::Resource;
    use sea_orm::entity::prelude::DateTimeUtc;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "line", under(resource = "bill", field = "bill_id"))]
    #[resource(write_rule = "bill.status = draft")]
    pub struct Model {
        pub id: i64,
        #[field(reference("bill"), required, immutable)]
        pub bill_id: i64,
        #[field(string(50), required)]
        pub name: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with bills and their lines.
    Bills, "bills", [Route::of::<bill::Entity>(), Route::of::<line::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = || [timestamp("created_at"), timestamp("updated_at")];
        let replaces = reference("replaces_id", "bills").nullable();
        let bill = [id(), string("name", 50), enumeration("status").default("draft"), replaces];
        Table::on(manager, "bills").create(bill.into_iter().chain(times())).await?;
        Table::on(manager, "bills").order(by("replaces_id")).await?;
        let line = [id(), reference("bill_id", "bills").cascade(), string("name", 50)];
        Table::on(manager, "lines").create(line.into_iter().chain(times())).await?;
        Table::on(manager, "lines").order(by("bill_id")).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "lines").drop().await?;
        Table::on(manager, "bills").drop().await
    }
}

/// The bills 1 to 4: a draft, and one of each state that replaces it. Each has a line with its own id.
async fn bills(server: &Bills) {
    let admin = server.admin();
    for (status, replaces) in [("draft", None), ("draft", Some(1)), ("sent", Some(1)), ("paid", Some(1))] {
        let bill = json!({ "name": format!("A {status} bill"), "replaces_id": replaces });
        let id = admin.post("/bills", bill).await.created("bill")["id"].clone();
        admin.post(&format!("/bills/{id}/lines"), json!({ "name": "Work" })).await.created("line");
        admin.put(&format!("/bills/{id}"), json!({ "status": status })).await.ok();
    }
}

/// A session of a user that the rules hold for.
async fn clerk(server: &Bills) -> CookieClient {
    bills(server).await;
    let (user, _) = server.user(&[], &["*"]).await;
    signed_in(server, &user).await
}

async fn administrator(server: &Bills) -> CookieClient {
    bills(server).await;
    signed_in(server, &json!({ "id": 1 })).await
}

/// The row of the list with the link to a record.
fn row(page: &str, path: &str) -> String {
    let rows = page.split("<tr").find(|row| row.contains(&format!("href=\"{path}")));
    rows.unwrap_or_else(|| panic!("no row of {path}: {page}")).to_string()
}

async fn cells_and_rows_of_frozen_records_offer_no_change(server: Bills) {
    let mut panel = administrator(&server).await;
    let list = panel.get("/bills").await.status(200).text.clone();
    for (id, is_editable) in [(1, true), (3, true), (4, false)] {
        let row = row(&list, &format!("/bills/{id}"));
        assert_eq!(row.contains("data-field=\"status\""), is_editable, "{row}");
        assert_eq!(row.contains("Double-click to edit"), is_editable, "{row}");
    }
    let page = panel.get("/bills/1").await.status(200).text.clone();
    for (id, is_editable) in [(2, true), (4, false)] {
        let row = row(&page, &format!("/bills/{id}"));
        assert_eq!(row.contains(&format!("/bills/{id}/edit")), is_editable, "{row}");
    }
}

async fn form_question_and_cell_of_a_frozen_record_are_refused(server: Bills) {
    let mut panel = administrator(&server).await;
    panel.get("/bills/4/cell?field=name").await.status(404);
    panel.get("/bills/2/cell?field=name").await.status(200);
    // The saved cell freezes its record, and its row offers nothing any more.
    let current = server.admin().get("/bills/2").await;
    let version = current.header("etag").expect("a version");
    let form = [("_field", "status"), ("status", "paid"), ("_version", version), ("_back", "/bills")];
    let saved = panel.submit("/bills/2/cell", &form).await;
    assert!(!saved.status(200).text.contains("data-field"), "{}", saved.text);
    panel.get("/bills/2/edit").await.status(409).says("This record is frozen");
}

async fn bulk_change_of_a_frozen_record_names_it_and_the_reason_once(server: Bills) {
    let mut panel = administrator(&server).await;
    let change = [("_step", "apply"), ("_field", "name"), ("name", "Other")];
    let page = panel.submit("/bills/bulk", &[&[("id", "1"), ("id", "4")][..], &change].concat()).await;
    page.says("<a href=\"/bills/4\">A paid bill</a>: This record is frozen, because");
    assert!(!page.text.contains("is refused") && !page.text.contains("Bill 4"), "{}", page.text);
    // As a job, each record on its own, with one reason for all.
    server.admin().put("/bills/2", json!({ "status": "paid" })).await.ok();
    let all = [("_all", "1"), ("_query", "")];
    let preview =
        panel.submit("/bills/bulk", &[&all[..], &[("_step", "preview"), change[1], change[2]]].concat()).await;
    let progress = super::bulk_all_matching::progress(&preview);
    let page = panel.submit("/bills/bulk", &[&all[..], &change, &[("_progress", &progress)]].concat()).await;
    page.status(200).says("This record is frozen, because").says("2 bills, first");
}

async fn rows_that_a_rule_protects_offer_no_change(server: Bills) {
    let mut panel = clerk(&server).await;
    let list = panel.get("/bills").await.status(200).text.clone();
    for (id, is_editable) in [(1, true), (3, false), (4, false)] {
        let row = row(&list, &format!("/bills/{id}"));
        assert_eq!(row.contains("data-field=\"status\""), is_editable, "{row}");
        let page = panel.get(&format!("/bills/{id}")).await;
        for change in ["edit", "delete"] {
            let path = format!("/bills/{id}/{change}");
            assert_eq!(page.status(200).text.contains(&path), is_editable, "{path}");
        }
    }
    for change in ["edit", "delete"] {
        panel.get(&format!("/bills/3/{change}")).await.status(403).says("You may read this record, but not change it.");
    }
    panel.get("/bills/3/cell?field=name").await.status(404);
    // Lines, by the state of their bill.
    for (id, is_editable) in [(1, true), (3, false)] {
        let (page, path) = (panel.get(&format!("/bills/{id}")).await, format!("/bills/{id}/lines/{id}"));
        for change in ["edit", "delete"] {
            let change = format!("{path}/{change}");
            assert_eq!(page.status(200).text.contains(&change), is_editable, "{change}");
        }
    }
    panel.get("/bills/3/lines/3/delete").await.status(403);
}

async fn new_record_under_a_protected_parent_is_not_offered(server: Bills) {
    let mut panel = clerk(&server).await;
    for (id, is_offered) in [(1, true), (3, false)] {
        let new = format!("/bills/{id}/lines/new");
        for page in [format!("/bills/{id}"), format!("/bills/{id}/lines")] {
            let page = panel.get(&page).await;
            assert_eq!(page.status(200).text.contains(&new), is_offered, "{}", page.text);
        }
        let page = panel.get(&new).await;
        if is_offered {
            page.status(200);
        } else {
            page.status(403).says("You may not create such a record.");
        }
    }
    // No rule holds for an administrator.
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/bills/3").await.status(200).says("/bills/3/lines/new");
}

async fn files_of_a_record_that_a_rule_protects_cannot_change(server: Bills) {
    let mut panel = clerk(&server).await;
    let form = |id: &str| {
        let form = crate::routes::attachments::Form::default().file("plan.txt", b"a plan");
        form.field("attachable_type", "bill").field("attachable_id", id)
    };
    let files: Vec<Value> = vec![
        form("1").send(&server.admin()).await.created("attachment"),
        form("3").send(&server.admin()).await.created("attachment"),
    ];
    for (file, (bill, status)) in files.iter().zip([(1, 200), (3, 403)]) {
        let page = panel.get(&format!("/bills/{bill}")).await;
        let delete = format!("/bills/{bill}/attachments/{}/delete", file["id"]);
        assert_eq!(page.status(200).text.contains("data-upload"), status == 200, "{}", page.text);
        assert_eq!(page.text.contains(&delete), status == 200, "{}", page.text);
        panel.get(&delete).await.status(status);
    }
}
