//! Unique sets with a condition, or without regard to case: at every way to write, and under concurrency, on both databases.

use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::routes::imports;
use crate::support::{Client, on_both};
use leases::Leases;

on_both!(
    only_records_with_the_condition_are_compared,
    update_that_makes_a_record_count_is_checked,
    concurrent_creates_of_one_value_leave_one_record,
    rows_of_a_bulk_are_compared_with_each_other,
    rows_of_an_import_are_compared_with_each_other,
    texts_are_compared_without_regard_to_case,
    concurrent_texts_of_another_case_leave_one_record,
    deleted_records_do_not_count_until_they_are_restored,
    condition_over_decimals_has_the_meaning_of_the_database,
    index_of_the_database_refuses_what_the_server_does_not_see,
    document_describes_unique_sets,
);

/// The service with leases: one open lease of an asset, one mail address in any case, one large lease of a code.
mod leases {
    use charter_migrations::prelude::*;
    use charter_runtime::generated::{Decimal, Resource};
    use charter_runtime::ops::Route;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    #[allow(clippy::duplicated_attributes, reason = "two sets ignore the case")]
    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "lease", soft_delete)]
    #[resource(
        unique(fields("asset"), where = "returned_on is null"),
        unique(fields("mail"), ignore_case),
        unique(fields("code", "size"), where = "hours * 2 > 2.5 and size != 'S'", ignore_case)
    )]
    pub struct Model {
        pub id: i64,
        #[field(integer)]
        pub asset: Option<i32>,
        #[field(string(80))]
        pub mail: Option<String>,
        #[field(string(20))]
        pub code: Option<String>,
        #[field(enumeration("S", "L"), default = "S")]
        pub size: String,
        #[field(decimal(8, 2), default = "0")]
        pub hours: Decimal<2>,
        pub returned_on: Option<chrono::NaiveDate>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        #[field(internal)]
        pub deleted_at: Option<DateTimeUtc>,
    }

    own_fixture! {
        /// The service with leases.
        Leases, "leases", [Route::of::<Entity>()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let columns = [
                id(),
                integer("asset").nullable(),
                string("mail", 80).nullable(),
                string("code", 20).nullable(),
                enumeration("size").default("S"),
                decimal("hours", 8, 2).default(0),
                date("returned_on").nullable(),
                timestamp("created_at"),
                timestamp("updated_at"),
                timestamp("deleted_at").nullable(),
            ];
            let leases = Table::on(manager, "leases");
            leases.create(columns).await?;
            let open = "\"returned_on\" IS NULL";
            leases.unique_set(set(&["asset"]).rows(open, open).live()).await?;
            leases.unique_set(set(&["mail"]).ignore_case(&["mail"]).live()).await?;
            let large = ("\"hours\" * 2 > 250 AND \"size\" <> 'S'", "\"hours\" * 2 > 2.50 AND \"size\" <> 'S'");
            let columns = &["code", "size"];
            leases.unique_set(set(columns).ignore_case(columns).rows(large.0, large.1).live()).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            Table::on(manager, "leases").drop().await
        }
    }
}

async fn created(client: &Client, lease: Value) -> String {
    format!("/leases/{}", client.post("/leases", lease).await.created("lease")["id"])
}

const RETURNED: &str = "2026-11-28";

async fn only_records_with_the_condition_are_compared(server: Leases) {
    let admin = server.admin();
    created(&admin, json!({ "asset": 1, "returned_on": RETURNED })).await;
    created(&admin, json!({ "asset": 1, "returned_on": RETURNED })).await;
    let open = created(&admin, json!({ "asset": 1 })).await;
    created(&admin, json!({ "asset": 2 })).await;
    // A set with a null may repeat.
    created(&admin, json!({})).await;
    created(&admin, json!({})).await;
    assert_eq!(admin.post("/leases", json!({ "asset": 1 })).await.invalid("asset"), "is already taken");
    admin.put(&open, json!({ "returned_on": RETURNED })).await.ok();
    created(&admin, json!({ "asset": 1 })).await;
}

async fn update_that_makes_a_record_count_is_checked(server: Leases) {
    let admin = server.admin();
    let past = created(&admin, json!({ "asset": 1, "returned_on": RETURNED })).await;
    let open = created(&admin, json!({ "asset": 1 })).await;
    assert_eq!(admin.put(&past, json!({ "returned_on": "" })).await.invalid("asset"), "is already taken");
    admin.put(&open, json!({ "hours": "1" })).await.ok();
    admin.put(&open, json!({ "asset": 2 })).await.ok();
    admin.put(&past, json!({ "returned_on": "" })).await.ok();
}

/// Posts all at once. One is created, and the others are 422 under the field.
async fn one_wins(server: &Leases, leases: &[Value], field: &str) {
    let admin = server.admin();
    let posts = leases.iter().map(|lease| admin.post("/leases", lease.clone()));
    let answers = futures_util::future::join_all(posts).await;
    let won = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(won, 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(answer.invalid(field), "is already taken");
    }
    assert_eq!(admin.get("/leases").await.ok()["meta"]["total"], 1);
}

async fn concurrent_creates_of_one_value_leave_one_record(server: Leases) {
    one_wins(&server, &vec![json!({ "asset": 7 }); 12], "asset").await;
}

async fn rows_of_a_bulk_are_compared_with_each_other(server: Leases) {
    let admin = server.admin();
    let rows = [json!({ "asset": 1, "returned_on": RETURNED }), json!({ "asset": 1 }), json!({ "asset": 1 })];
    let operations = rows.map(|lease| json!({ "method": "create", "lease": lease }));
    let refused = admin.post("/leases/bulk", json!({ "operations": operations })).await;
    assert_eq!(refused.invalid("operations.2.asset"), "is already taken");
    let rows = [json!({ "mail": "Ä@example.com" }), json!({ "mail": "ä@EXAMPLE.com" })];
    let operations = rows.map(|lease| json!({ "method": "create", "lease": lease }));
    let refused = admin.post("/leases/bulk", json!({ "operations": operations })).await;
    assert_eq!(refused.invalid_fields(), ["operations.1.mail"]);
}

async fn rows_of_an_import_are_compared_with_each_other(server: Leases) {
    let admin = server.admin();
    created(&admin, json!({ "asset": 1, "mail": "Zoë@example.com" })).await;
    let text = format!("asset,mail,returned_on\n1,a@x.org,\n1,A@X.org,{RETURNED}\n2,ZOË@example.com,\n2,,\n");
    let import = imports::uploaded(&admin, "leases", &text).await;
    imports::finished(&admin, &import, "rehearse").await;
    let path = format!("/imports/{}/rows?sort=number", import["id"]);
    let errors = admin.get(&path).await.column("import_rows", "errors");
    let taken = |field: &str| json!({ field: ["is already taken"] });
    // The second row does not count for the asset, and the first has no mail address to itself because it is refused.
    assert_eq!(errors, [taken("asset"), json!({}), taken("mail"), json!({})]);
}

async fn texts_are_compared_without_regard_to_case(server: Leases) {
    let admin = server.admin();
    let ada = created(&admin, json!({ "mail": "Ada@example.com" })).await;
    assert_eq!(admin.post("/leases", json!({ "mail": "ADA@example.COM" })).await.invalid("mail"), "is already taken");
    created(&admin, json!({ "mail": "Zoë@example.com" })).await;
    assert_eq!(admin.put(&ada, json!({ "mail": "ZOË@example.com" })).await.invalid("mail"), "is already taken");
    // Its own value in another case.
    admin.put(&ada, json!({ "mail": "ADA@example.com" })).await.ok();
}

async fn concurrent_texts_of_another_case_leave_one_record(server: Leases) {
    let mails = ["ärger@example.com", "Ärger@example.com", "ÄRGER@example.com", "ärger@Example.com"];
    one_wins(&server, &mails.map(|mail| json!({ "mail": mail })), "mail").await;
}

async fn deleted_records_do_not_count_until_they_are_restored(server: Leases) {
    let admin = server.admin();
    let first = created(&admin, json!({ "asset": 1 })).await;
    admin.delete(&first).await.deleted();
    let second = created(&admin, json!({ "asset": 1 })).await;
    assert_eq!(admin.post(&format!("{first}/restore"), json!({})).await.invalid("asset"), "is already taken");
    admin.put(&second, json!({ "returned_on": RETURNED })).await.ok();
    admin.post(&format!("{first}/restore"), json!({})).await.ok();
}

async fn condition_over_decimals_has_the_meaning_of_the_database(server: Leases) {
    let admin = server.admin();
    let lease = |size: &str, hours: &str| json!({ "code": "x", "size": size, "hours": hours });
    // The first two do not count: at the edge, and small.
    for one in [lease("L", "1.25"), lease("S", "9"), lease("L", "1.26"), lease("L", "1.25")] {
        created(&admin, one).await;
    }
    let refused = admin.post("/leases", json!({ "code": "X", "size": "L", "hours": "2" })).await;
    assert_eq!(refused.invalid("size"), "is already taken together with code");
}

async fn index_of_the_database_refuses_what_the_server_does_not_see(server: Leases) {
    created(&server.admin(), json!({ "asset": 1, "mail": "a@example.com" })).await;
    let copy = |what: &str| {
        format!(
            "INSERT INTO leases ({what}, size, hours, created_at, updated_at) SELECT {what}, size, hours, created_at, updated_at FROM leases"
        )
    };
    for what in ["asset", "mail"] {
        let inserted = server.state.db.writer().execute_unprepared(&copy(what)).await;
        assert!(inserted.is_err(), "{what}");
    }
}

async fn document_describes_unique_sets(server: Leases) {
    let document = server.admin().get("/openapi.json").await.ok();
    let text = document["paths"]["/api/v1/leases"]["post"]["description"].as_str().unwrap();
    assert!(text.contains("`asset` is unique among records with `returned_on is null`."), "{text}");
    assert!(text.contains("`mail` is unique without regard to case."), "{text}");
}
