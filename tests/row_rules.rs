//! Row rules with a step over a reference and a permission: who reads, changes and creates which tickets.

use serde_json::{Value, json};

use crate::routes::imports::{finished, keyed, uploaded};
use crate::support::{Client, on_both};
use tickets::Tickets;

on_both!(
    caller_reads_only_the_records_of_the_rule,
    caller_changes_only_the_records_of_the_rule,
    created_record_must_be_one_that_its_caller_may_change,
    record_does_not_leave_the_sight_of_its_caller,
    bulk_keeps_the_rules,
    changed_reference_changes_the_sight_at_once,
    attachments_need_the_right_to_change_the_record,
    rehearsal_of_an_import_knows_the_rules,
    deletion_cascades_to_records_that_the_caller_may_not_see,
    filter_through_a_reference_that_no_include_shows_is_refused_with_its_field,
    filter_with_some_through_a_reference_is_refused_with_the_right_form,
    rule_names_a_permission_that_roles_can_have,
    webhook_of_a_user_gets_no_events_of_records_with_a_rule,
);

mod tickets {
    use charter_migrations::prelude::*;
    use charter_runtime::generated::Resource;
    use charter_runtime::ops::Route;
    use sea_orm::entity::prelude::DateTimeUtc;

    use crate::support::{nothing, own_fixture};

    /// A customer, who may be a user.
    pub mod patron {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "patron", soft_delete)]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub name: String,
            #[field(reference("user"))]
            pub user_id: Option<i64>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
            #[field(internal)]
            pub deleted_at: Option<DateTimeUtc>,
        }
    }

    /// A ticket is read by its patron and its assignee, and changed by its assignee.
    pub mod ticket {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "ticket", events, attachments)]
        #[resource(include(name = "patron", via = "patron_id"))]
        #[resource(read_rule = "patron.user_id = caller.id or assignee_id = caller.id or caller.can(tickets.all)")]
        #[resource(write_rule = "assignee_id = caller.id or caller.can(tickets.all)")]
        pub struct Model {
            pub id: i64,
            #[field(string(80), required)]
            pub title: String,
            #[field(reference("patron"))]
            pub patron_id: Option<i64>,
            #[field(reference("user"))]
            pub assignee_id: Option<i64>,
            #[field(reference("ticket"), on_delete = "cascade")]
            pub follows_id: Option<i64>,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
        }
    }

    own_fixture! {
        /// The service with patrons and tickets.
        Tickets, "tickets", [Route::of::<patron::Entity>(), Route::of::<ticket::Entity>()], nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            let times = || [timestamp("created_at"), timestamp("updated_at")];
            let patron = [id(), string("name", 80), reference("user_id", "users").nullable()];
            let deleted = timestamp("deleted_at").nullable();
            Table::on(manager, "patrons").create(patron.into_iter().chain([deleted]).chain(times())).await?;
            let ticket = [
                id(),
                string("title", 80),
                reference("patron_id", "patrons").nullable(),
                reference("assignee_id", "users").nullable(),
                reference("follows_id", "tickets").nullable(),
            ];
            Table::on(manager, "tickets").create(ticket.into_iter().chain(times())).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            Table::on(manager, "tickets").drop().await?;
            Table::on(manager, "patrons").drop().await
        }
    }
}

/// A ticket with a patron who is a user, an agent to whom it is assigned, a lead with the permission, and a stranger.
struct World {
    server: Tickets,
    admin: Client,
    patron: Client,
    agent: Client,
    lead: Client,
    stranger: Client,
    agent_id: Value,
    patron_id: Value,
    ticket: Value,
}

impl World {
    async fn new(server: Tickets) -> World {
        let admin = server.admin();
        let (patron_user, patron) = server.user(&[], &["*"]).await;
        let (agent_user, agent) = server.user(&[], &["*"]).await;
        let (_, lead) = server.user(&["tickets.all"], &["*"]).await;
        let (_, stranger) = server.user(&["audit.read"], &["*"]).await;
        let person = json!({ "name": "Ada", "user_id": patron_user["id"] });
        let person = admin.post("/patrons", person).await.created("patron");
        let ticket = json!({ "title": "Leak", "patron_id": person["id"], "assignee_id": agent_user["id"] });
        let ticket = admin.post("/tickets", ticket).await.created("ticket");
        let (agent_id, patron_id) = (agent_user["id"].clone(), person["id"].clone());
        World { server, admin, patron, agent, lead, stranger, agent_id, patron_id, ticket }
    }

    fn path(&self) -> String {
        format!("/tickets/{}", self.ticket["id"])
    }
}

async fn caller_reads_only_the_records_of_the_rule(server: Tickets) {
    let world = World::new(server).await;
    let (path, mine) = (world.path(), ["patron", "agent", "lead", "administrator"]);
    let callers = [&world.patron, &world.agent, &world.lead, &world.admin];
    // Twice, because a cached response must not be another caller's.
    for (who, client) in mine.into_iter().zip(callers).chain(mine.into_iter().zip(callers)) {
        let shown = client.get(&format!("{path}?include=patron")).await.record("ticket");
        assert_eq!(shown["patron"]["name"], "Ada", "{who}");
        assert_eq!(client.get("/tickets").await.ok()["meta"]["total"], 1, "{who}");
        assert_eq!(client.get("/tickets?q[patron.name_eq]=Ada&cursor=").await.records("tickets").len(), 1, "{who}");
    }
    let stranger = &world.stranger;
    stranger.get(&path).await.refused(404, "not_found");
    for query in ["", "?q[title_eq]=Leak", "?cursor=", "?sort=title&q[id_in]=1,2,3"] {
        assert_eq!(stranger.get(&format!("/tickets{query}")).await.records("tickets"), Vec::<Value>::new(), "{query}");
    }
    assert_eq!(stranger.get("/tickets").await.ok()["meta"]["total"], 0);
    for (client, rows) in [(stranger, 0), (&world.admin, 1)] {
        let answer = client.with("accept", "text/csv").get("/tickets").await;
        let csv = &answer.status(200).text;
        assert_eq!(csv.lines().count(), 1 + rows, "{csv}");
        let entries = client.get("/audit_entries?q[entity_type_eq]=tickets").await.records("audit_entries");
        assert_eq!(entries.is_empty(), rows == 0, "{entries:?}");
    }
}

async fn caller_changes_only_the_records_of_the_rule(server: Tickets) {
    let world = World::new(server).await;
    let path = world.path();
    for (client, status, code) in [(&world.patron, 403, "permission_missing"), (&world.stranger, 404, "not_found")] {
        client.put(&path, json!({ "title": "Mine" })).await.refused(status, code);
        client.delete(&path).await.refused(status, code);
    }
    for client in [&world.agent, &world.lead, &world.admin] {
        client.put(&path, json!({ "title": "Drip" })).await.ok();
        client.put(&path, json!({ "title": "Leak" })).await.ok();
    }
    world.agent.delete(&path).await.deleted();
}

async fn created_record_must_be_one_that_its_caller_may_change(server: Tickets) {
    let world = World::new(server).await;
    let own = json!({ "title": "Own", "assignee_id": world.agent_id });
    world.agent.post("/tickets", own.clone()).await.created("ticket");
    world.patron.post("/tickets", own).await.refused(403, "permission_missing");
    world.agent.post("/tickets", json!({ "title": "Nobody's" })).await.refused(403, "permission_missing");
    world.lead.post("/tickets", json!({ "title": "Nobody's" })).await.created("ticket");
    assert_eq!(world.admin.get("/tickets").await.ok()["meta"]["total"], 3);
}

async fn record_does_not_leave_the_sight_of_its_caller(server: Tickets) {
    let world = World::new(server).await;
    let path = world.path();
    let refused = world.agent.put(&path, json!({ "assignee_id": "" })).await.refused(403, "permission_missing");
    assert_eq!(refused["message"], "You could not read the record after this change.");
    assert_eq!(world.admin.get(&path).await.record("ticket")["assignee_id"], world.agent_id);
    world.lead.put(&path, json!({ "assignee_id": "" })).await.ok();
    world.agent.get(&path).await.refused(404, "not_found");
}

async fn bulk_keeps_the_rules(server: Tickets) {
    let world = World::new(server).await;
    let id = &world.ticket["id"];
    let operations = [
        json!({ "method": "update", "id": id, "ticket": { "title": "Mine" } }),
        json!({ "method": "delete", "id": id }),
        json!({ "method": "create", "ticket": { "title": "Nobody's" } }),
    ];
    for operation in operations {
        let body = json!({ "operations": [operation] });
        let answer = world.patron.post("/tickets/bulk", body).await;
        assert!(answer.text.contains("is refused: You"), "{operation}: {}", answer.text);
    }
    let listed = world.admin.get("/tickets").await.ok();
    assert_eq!((&listed["meta"]["total"], &listed["tickets"][0]["title"]), (&json!(1), &json!("Leak")));
}

async fn changed_reference_changes_the_sight_at_once(server: Tickets) {
    let world = World::new(server).await;
    assert_eq!(world.patron.get("/tickets").await.ok()["meta"]["total"], 1);
    // The other record of the step is changed, and not the ticket.
    world.admin.put(&format!("/patrons/{}", world.patron_id), json!({ "user_id": "" })).await.ok();
    assert_eq!(world.patron.get("/tickets").await.ok()["meta"]["total"], 0);
    world.patron.get(&world.path()).await.refused(404, "not_found");
}

async fn rehearsal_of_an_import_knows_the_rules(server: Tickets) {
    let world = World::new(server).await;
    let (agent, patron, ticket) = (&world.agent_id, &world.patron_id, &world.ticket["id"]);
    let refusals = async |client: &Client, text: String| -> Vec<Value> {
        let import = match text.starts_with("id,") {
            true => keyed(client, "tickets", "id", &text).await,
            false => uploaded(client, "tickets", &text).await,
        };
        finished(client, &import, "rehearse").await;
        let rows = client.get(&format!("/imports/{}/rows?sort=number", import["id"])).await.records("import_rows");
        rows.iter().map(|row| row["errors"]["row"][0].clone()).filter(|error| !error.is_null()).collect()
    };
    let mine = "is refused: You may not create such a record";
    let new = format!("title,assignee_id,patron_id\nOwn,{agent},\nNobody's,,\nOther,1,{patron}\n");
    assert_eq!(refusals(&world.agent, new.clone()).await, [json!(mine), json!(mine)]);
    // The step over the reference: the patron reads the last one, and may create none.
    assert_eq!(refusals(&world.patron, new.clone()).await, [json!(mine), json!(mine), json!(mine)]);
    assert_eq!(refusals(&world.admin, new.clone()).await, Vec::<Value>::new());
    assert_eq!(refusals(&world.lead, new).await, Vec::<Value>::new());
    let lost = format!("id,assignee_id\n{ticket},1\n");
    let gone = "is refused: You could not read the record after this change";
    assert_eq!(refusals(&world.agent, lost.clone()).await, [json!(gone)]);
    assert_eq!(refusals(&world.lead, lost).await, Vec::<Value>::new());
    assert_eq!(world.admin.get("/tickets").await.ok()["meta"]["total"], 1);
}

async fn attachments_need_the_right_to_change_the_record(server: Tickets) {
    let world = World::new(server).await;
    let attach = async |client: &Client| {
        let form = crate::routes::attachments::Form::default();
        let form = form.field("attachable_type", "Ticket").field("attachable_id", &world.ticket["id"]);
        form.file("photo.txt", b"drip").send(client).await
    };
    attach(&world.patron).await.refused(403, "permission_missing");
    attach(&world.stranger).await.refused(422, "validation_failed");
    let attachment = attach(&world.agent).await.created("attachment");
    let path = format!("/attachments/{}", attachment["id"]);
    world.patron.get(&path).await.record("attachment");
    world.patron.delete(&path).await.refused(403, "permission_missing");
    world.stranger.get(&path).await.refused(404, "not_found");
    world.stranger.delete(&path).await.refused(404, "not_found");
    world.agent.delete(&path).await.deleted();
}

async fn deletion_cascades_to_records_that_the_caller_may_not_see(server: Tickets) {
    let world = World::new(server).await;
    let hidden = json!({ "title": "Later", "follows_id": world.ticket["id"] });
    let hidden = world.admin.post("/tickets", hidden).await.created("ticket");
    world.agent.get(&format!("/tickets/{}", hidden["id"])).await.refused(404, "not_found");
    world.agent.delete(&world.path()).await.deleted();
    assert_eq!(world.admin.get("/tickets").await.ok()["meta"]["total"], 0);
}

async fn filter_through_a_reference_that_no_include_shows_is_refused_with_its_field(server: Tickets) {
    let admin = server.admin();
    for parameter in ["q[assignee.id_eq]", "q[assignee.email_eq]", "q[assignee.nothing_eq]"] {
        let problem = admin.get(&format!("/tickets?{parameter}=1")).await.invalid(parameter);
        assert_eq!(problem, "filters through `assignee`, which no include shows; filter by `assignee_id`");
    }
    let problem = admin.get("/tickets?q[patron.nmae_eq]=Ada").await.invalid("q[patron.nmae_eq]");
    assert_eq!(problem, "refers to an unknown field `nmae` of patron; did you mean `name`?");
}

async fn filter_with_some_through_a_reference_is_refused_with_the_right_form(server: Tickets) {
    let admin = server.admin();
    let reason = "refers to `patron`, which leads to one record: write";
    for quantifier in ["some", "none"] {
        let parameter = format!("q[patron.{quantifier}]");
        let problem = admin.get(&format!("/tickets?{parameter}[name_eq]=Ada")).await.invalid(&parameter);
        assert_eq!(problem, format!("{reason} `q[patron.name_eq]`"));
    }
    let inner = json!([{ "field": "name", "predicate": "eq", "value": "Ada" }]);
    let filters = json!([{ "field": "patron", "predicate": "some", "value": inner }]).to_string();
    let answer = admin.list("/tickets", &[("filters", &filters)]).await;
    assert!(
        answer.refused(422, "validation_failed").to_string().contains(&format!("{reason} `patron.name`")),
        "{}",
        answer.text
    );
    assert!(admin.get("/tickets?q[nobody.some][name_eq]=Ada").await.invalid("q[nobody.some]").contains("no relation"));
}

async fn rule_names_a_permission_that_roles_can_have(server: Tickets) {
    let role = json!({ "name": "Other", "permissions": ["tickets.some"] });
    let refused = server.admin().post("/roles", role).await.refused(422, "validation_failed");
    assert!(refused.to_string().contains("tickets.all"), "{refused}");
}

/// A delivery has no request, so that the rule cannot be evaluated for the user of the webhook.
async fn webhook_of_a_user_gets_no_events_of_records_with_a_rule(server: Tickets) {
    let world = World::new(server).await;
    let stored = world.server.texts(
        "SELECT coalesce(CAST(owner_id AS text), 'administrators') AS text FROM events WHERE name = 'ticket.created'",
    );
    assert_eq!(stored.await, ["administrators"]);
    let webhook = |events: &[&str]| json!({ "url": "https://example.com/hook", "events": events });
    let refused = world.lead.post("/webhooks", webhook(&["ticket.created"])).await.invalid("events");
    let reason = "which only webhooks of administrators receive, because a rule decides who may read the record";
    assert_eq!(refused, format!("contains `ticket.created`, {reason}"));
    // `*` leaves the event out.
    let own = world.lead.post("/webhooks", webhook(&["*"])).await.created("webhook");
    let path = format!("/webhooks/{}", own["id"]);
    assert_eq!(world.lead.put(&path, json!({ "events": ["ticket.updated"] })).await.invalid_fields(), ["events"]);
    world.admin.post("/webhooks", webhook(&["ticket.created"])).await.created("webhook");
}
