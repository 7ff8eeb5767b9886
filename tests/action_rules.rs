//! Actions with a condition, a permission and values in YAML, with code and without, on both databases.

use serde_json::{Value, json};

use crate::support::{Answer, Client, on_both};
use library::Library;

on_both!(
    action_sets_its_values_of_the_record_before_it,
    condition_refuses_an_action_with_its_message,
    action_needs_its_own_permission,
    condition_and_permission_hold_before_the_code_of_an_action,
    condition_over_a_field_with_a_right_does_not_tell_its_value,
    rules_computed_fields_and_events_follow_what_an_action_sets,
    value_that_breaks_a_rule_is_refused_and_stores_nothing,
    can_tells_which_actions_run_and_why_not,
    of_two_concurrent_runs_the_second_sees_the_record_of_the_first,
    the_document_has_the_actions_and_the_include,
    buttons_of_the_panel_show_the_reason,
);

/// The service with shelves and loans.
mod library {
    use charter_migrations::prelude::*;
    use charter_runtime::Result;
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::{Context, Draft, Route};
    use sea_orm::ActiveValue::Set;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    pub mod shelf {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "shelf", plural = "shelves")]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub name: String,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    pub mod loan {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[allow(clippy::duplicated_attributes, reason = "all actions are on a record")]
        #[resource(name = "loan", events, include(name = "can", allowed_actions))]
        #[resource(action(
            name = "give_back",
            on = "record",
            event = "given_back",
            until = "returned_at",
            rule(
                set(field = "returned_at", expression = "coalesce(returned_at, now)"),
                set(field = "place", expression = "shelf.name"),
                set(field = "days", expression = "extra"),
                set(field = "extra", expression = "days")
            )
        ))]
        #[resource(action(
            name = "extend",
            on = "record",
            rule(
                guard = "returned_at is null",
                permission = "loans.extend",
                message = "the book is back already",
                set(field = "due_on", expression = "due_on + 7 days")
            )
        ))]
        #[resource(action(name = "stretch", on = "record", rule(set(field = "days", expression = "days * 2"))))]
        #[resource(action(name = "mark", on = "record", rule(guard = "days < 50", permission = "loans.mark")))]
        #[resource(action(name = "copy", on = "record", creates, rule(guard = "place is null")))]
        #[resource(action(
            name = "settle",
            on = "record",
            rule(guard = "fine < 5", permission = "loans.fines", set(field = "fine", expression = "0"))
        ))]
        pub struct Model {
            pub id: i64,
            #[field(reference("shelf"))]
            pub shelf_id: Option<i64>,
            #[field(required)]
            pub due_on: chrono::NaiveDate,
            pub returned_at: Option<DateTimeUtc>,
            #[field(string(80))]
            pub place: Option<String>,
            #[field(default = "14", min = "1", max = "90")]
            pub days: i32,
            #[field(default = "1", min = "1", max = "90")]
            pub extra: i32,
            #[field(default = "0", read = "loans.fines")]
            pub fine: i32,
            #[field(value = "days + extra")]
            pub total: i32,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }

        pub fn route() -> Route {
            charter_runtime::route!(Entity, Behaviour, hooks(), actions(record mark, record_created copy))
        }

        trait Behaviour {
            fn mark(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
            fn copy(
                context: &Context<'_>,
                record: &Model,
                draft: &mut Draft<Entity>,
            ) -> impl Future<Output = Result<()>> + Send;
        }

        impl Behaviour for Entity {
            async fn mark(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
                draft.model.place = Set(Some("marked".into()));
                Ok(())
            }

            async fn copy(_: &Context<'_>, record: &Model, draft: &mut Draft<Entity>) -> Result<()> {
                draft.model.due_on = Set(record.due_on);
                Ok(())
            }
        }
    }

    own_fixture! {
        /// The service with the loans.
        Library, "library", [Route::of::<shelf::Entity>(), loan::route()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let times = || [timestamp("created_at"), timestamp("updated_at")];
            let shelves = [id(), string("name", 80)].into_iter().chain(times());
            Table::on(manager, "shelves").create(shelves.collect::<Vec<_>>()).await?;
            let loans = [
                id(),
                reference("shelf_id", "shelves").nullable(),
                date("due_on"),
                timestamp("returned_at").nullable(),
                string("place", 80).nullable(),
                integer("days").default(14),
                integer("extra").default(1),
                integer("fine").default(0),
                integer("total"),
            ];
            Table::on(manager, "loans").create(loans.into_iter().chain(times()).collect::<Vec<_>>()).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            Table::on(manager, "loans").drop().await?;
            Table::on(manager, "shelves").drop().await
        }
    }
}

async fn loan(client: &Client, more: Value) -> String {
    let mut loan = json!({ "due_on": "2026-03-01" });
    loan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("/loans/{}", client.post("/loans", loan).await.created("loan")["id"])
}

async fn run(client: &Client, path: &str, name: &str) -> Answer {
    client.post(&format!("{path}/{name}"), json!({})).await
}

async fn action_sets_its_values_of_the_record_before_it(server: Library) {
    let admin = server.admin();
    let shelf = admin.post("/shelves", json!({ "name": "North" })).await.created("shelf");
    let path = loan(&admin, json!({ "shelf_id": shelf["id"], "days": 20, "extra": 5 })).await;
    let back = run(&admin, &path, "give_back").await.record("loan");
    assert_eq!((&back["place"], &back["days"], &back["extra"]), (&json!("North"), &json!(5), &json!(20)));
    assert_eq!(back["returned_at"], back["updated_at"]);
    assert_eq!(admin.get(&path).await.record("loan"), back);
    let again = run(&admin, &path, "give_back").await.record("loan");
    assert_eq!(again["returned_at"], back["returned_at"], "the first return stays");
    // Without a shelf, its name is null.
    let path = loan(&admin, json!({ "place": "South" })).await;
    assert_eq!(run(&admin, &path, "give_back").await.record("loan")["place"], Value::Null);
}

async fn condition_refuses_an_action_with_its_message(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({})).await;
    assert_eq!(run(&admin, &path, "extend").await.record("loan")["due_on"], "2026-03-08");
    run(&admin, &path, "give_back").await.ok();
    let refused = run(&admin, &path, "extend").await.refused(409, "action_refused");
    assert_eq!(refused["message"], "the book is back already");
    assert!(refused.get("state").is_none(), "{refused}");
    assert_eq!(admin.get(&path).await.record("loan")["due_on"], "2026-03-08");
    run(&admin, "/loans/999999", "extend").await.refused(404, "not_found");
}

async fn action_needs_its_own_permission(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({})).await;
    let (_, plain) = server.user(&[], &["*"]).await;
    let (_, extender) = server.user(&["loans.extend"], &["loans:read", "loans:write"]).await;
    let refused = run(&plain, &path, "extend").await.refused(403, "permission_missing");
    assert!(refused["message"].as_str().unwrap().contains("loans.extend"), "{refused}");
    run(&extender, &path, "extend").await.ok();
    run(&plain, &path, "give_back").await.ok();
}

async fn condition_and_permission_hold_before_the_code_of_an_action(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({ "days": 50 })).await;
    let refused = run(&admin, &path, "mark").await.refused(409, "action_refused");
    assert_eq!(refused["message"], "This is possible only if days < 50.");
    assert_eq!(admin.get(&path).await.record("loan")["place"], Value::Null);
    let (_, plain) = server.user(&[], &["*"]).await;
    run(&plain, &path, "mark").await.refused(403, "permission_missing");
    run(&plain, &path, "copy").await.created("loan");
    admin.patch(&path, json!({ "days": 49 })).await.ok();
    assert_eq!(run(&admin, &path, "mark").await.record("loan")["place"], "marked");
    run(&admin, &path, "copy").await.refused(409, "action_refused");
    assert_eq!(admin.get("/loans").await.ok()["meta"]["total"], 2);
}

async fn condition_over_a_field_with_a_right_does_not_tell_its_value(server: Library) {
    let admin = server.admin();
    let (low, high) = (loan(&admin, json!({ "fine": 1 })).await, loan(&admin, json!({ "fine": 9 })).await);
    let (user, plain) = server.user(&[], &["*"]).await;
    let (clerk_user, clerk) = server.user(&["loans.fines"], &["*"]).await;
    let mut panel = crate::panel::signed_in(&server, &user).await;
    let mut told = Vec::new();
    for path in [&low, &high] {
        let refused = run(&plain, path, "settle").await.refused(403, "permission_missing");
        let can = plain.get(&format!("{path}?include=can")).await.record("loan")["can"].clone();
        let listed = plain.get(&format!("/loans?include=can&q[id_eq]={}", &path[7..])).await.records("loans");
        assert_eq!(listed[0]["can"], can);
        let page = panel.get(path).await.status(200).text.clone();
        assert!(page.contains("loans.fines") && !page.contains("ine &lt; 5"), "{page}");
        told.push((refused["message"].clone(), can));
    }
    assert_eq!(told[0], told[1], "the answers about both fines are the same");
    // With the right, they differ.
    let refused = run(&clerk, &high, "settle").await.refused(409, "action_refused");
    assert_eq!(refused["message"], "This is possible only if fine < 5.");
    let mut panel = crate::panel::signed_in(&server, &clerk_user).await;
    panel.get(&high).await.status(200).says("Fine &lt; 5");
    assert_eq!(run(&clerk, &low, "settle").await.record("loan")["fine"], 0);
}

async fn rules_computed_fields_and_events_follow_what_an_action_sets(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({ "days": 20, "extra": 5 })).await;
    assert_eq!(run(&admin, &path, "stretch").await.record("loan")["total"], 45);
    run(&admin, &path, "give_back").await.record("loan");
    assert_eq!(server.events("loan.").await, ["loan.created", "loan.updated", "loan.given_back"]);
    let entries = admin.get("/audit_entries?q[entity_type_eq]=loans&sort=id").await;
    assert_eq!(entries.column("audit_entries", "action"), ["create", "stretch", "give_back"]);
}

async fn value_that_breaks_a_rule_is_refused_and_stores_nothing(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({ "days": 60 })).await;
    assert_eq!(run(&admin, &path, "stretch").await.invalid("days"), "must be at most 90");
    assert_eq!(admin.get(&path).await.record("loan")["days"], 60);
    assert_eq!(server.events("loan.").await, ["loan.created"]);
}

async fn can_tells_which_actions_run_and_why_not(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({ "days": 60 })).await;
    run(&admin, &path, "give_back").await.ok();
    let (_, plain) = server.user(&["loans.extend"], &["*"]).await;
    let can = plain.get(&format!("{path}?include=can")).await.record("loan")["can"].clone();
    let found: Vec<(&Value, &Value)> =
        can.as_array().unwrap().iter().map(|one| (&one["action"], &one["allowed"])).collect();
    let names = ["give_back", "extend", "stretch", "mark", "copy", "settle"].map(Value::from);
    let allowed = [true, false, true, false, true, false].map(Value::from);
    assert_eq!(found, names.iter().zip(&allowed).collect::<Vec<_>>(), "{can}");
    assert_eq!(can[1]["why"], "the book is back already");
    assert!(can[3]["why"].as_str().unwrap().contains("loans.mark"), "{can}");
    let list = admin.get("/loans?include=can").await.records("loans");
    assert_eq!(list[0]["can"][0], json!({ "action": "give_back", "allowed": true, "why": null }));
}

async fn of_two_concurrent_runs_the_second_sees_the_record_of_the_first(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({ "days": 10 })).await;
    let (one, two) = tokio::join!(run(&admin, &path, "stretch"), run(&admin, &path, "stretch"));
    let mut days = [one.record("loan")["days"].as_i64(), two.record("loan")["days"].as_i64()];
    days.sort_unstable();
    assert_eq!(days, [Some(20), Some(40)]);
}

async fn the_document_has_the_actions_and_the_include(server: Library) {
    let document = server.admin().get("/openapi.json").await.ok();
    let operation = &document["paths"]["/api/v1/loans/{id}/extend"]["post"];
    assert!(operation["responses"]["409"].is_object(), "{operation}");
    assert_eq!(operation["x-permission"], "loans.extend");
    let can = &document["components"]["schemas"]["Loan"]["properties"]["can"];
    let names = &can["items"]["properties"]["action"]["enum"];
    assert_eq!(*names, json!(["give_back", "extend", "stretch", "mark", "copy", "settle"]), "{can}");
}

async fn buttons_of_the_panel_show_the_reason(server: Library) {
    let admin = server.admin();
    let path = loan(&admin, json!({})).await;
    let mut panel = crate::panel::signed_in(&server, &json!({ "id": 1 })).await;
    let button = format!("action=\"{path}/extend\"");
    panel.get(&path).await.status(200).says(&button);
    run(&admin, &path, "give_back").await.ok();
    let page = panel.get(&path).await;
    page.status(200).says("title=\"the book is back already\">Extend");
    assert!(!page.text.contains(&button), "{}", page.text);
    panel.submit(&format!("{path}/extend"), &[]).await.status(409).says("the book is back already");
}
