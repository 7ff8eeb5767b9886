//! Rights of fields through every door: record, list, sparse fields, filter, sort, include, derived field, saved view,
//! export, bulk, total, audit log, history, webhook, panel and the form.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::{client_of, user_with};
use crate::delivery::{Receiver, deliver};
use crate::panel::signed_in;
use crate::support::{Client, Gadgets, on_both};

on_both!(
    field_is_hidden_through_every_door_without_its_right,
    field_is_shown_through_every_door_with_its_right,
    setting_a_field_needs_its_right_and_reports_it_under_its_name,
    guess_of_a_hidden_value_is_refused_right_or_wrong,
    value_that_its_writer_may_not_read_counts_as_a_change,
    record_that_was_read_can_be_sent_back,
    webhook_sends_the_fields_that_its_owner_may_read,
    derived_field_of_an_embedded_record_needs_the_right_of_its_source,
    panel_shows_the_fields_that_the_user_may_read,
    totals_and_cached_pages_differ_by_right,
);

/// The cost of the gadget, which appears nowhere else.
const COST: i64 = 987_654;

/// A gadget, a part of it, and clients of users with and without the rights.
struct World {
    server: Gadgets,
    admin: Client,
    viewer: Client,
    other: Client,
    other_user: Value,
    viewer_user: Value,
    gadget: Value,
    part: Value,
}

impl World {
    async fn new(server: Gadgets) -> World {
        let admin = server.admin();
        let viewer_user = user_with(&server, &["*"], &["costs.view", "audit.read"]).await;
        let other_user = user_with(&server, &["*"], &["audit.read"]).await;
        let (viewer, other) = (client_of(&server, &viewer_user).await, client_of(&server, &other_user).await);
        let gadget = json!({ "name": "Clock", "cost": COST });
        let gadget = admin.post("/gadgets", gadget).await.created("gadget");
        admin.put(&format!("/gadgets/{}", gadget["id"]), json!({ "cost": COST + 1 })).await.record("gadget");
        admin.put(&format!("/gadgets/{}", gadget["id"]), json!({ "cost": COST })).await.record("gadget");
        let part = admin.post("/parts", json!({ "gadget_id": gadget["id"] })).await.created("part");
        World { server, admin, viewer, other, other_user, viewer_user, gadget, part }
    }

    /// Every door that shows the cost to those who may read it, as the text that comes out.
    async fn doors(&self, client: &Client) -> Vec<(&'static str, String)> {
        let (gadget, part) = (&self.gadget["id"], &self.part["id"]);
        let view =
            json!({ "name": "Costs", "entity_type": "gadgets", "columns": ["name", "cost"], "visibility": "system" });
        let view = self.admin.post("/custom_views", view).await.created("custom_view");
        let path = |path: String| async move { client.get(&path).await.text };
        let update = json!({ "operations": [{ "method": "update", "id": gadget, "gadget": { "name": "Clock" } }] });
        let mut found = vec![
            ("record", path(format!("/gadgets/{gadget}")).await),
            ("list", path("/gadgets".into()).await),
            ("sparse fields", path("/gadgets?fields=cost".into()).await),
            ("sparse fields of a record", path(format!("/gadgets/{gadget}?fields=name,cost")).await),
            ("saved view", path(format!("/gadgets?view_id={}", view["id"])).await),
            ("summary", path("/gadgets/summary?max=cost".into()).await),
            ("group of a summary", path("/gadgets/summary?group=cost".into()).await),
            ("include of a record", path(format!("/parts/{part}?include=gadget")).await),
            ("include of a list", path("/parts?include=gadget".into()).await),
            ("derived field of a record", path(format!("/parts/{part}")).await),
            ("derived field of a list", path("/parts".into()).await),
            ("update", client.put(&format!("/gadgets/{gadget}"), json!({ "name": "Clock" })).await.text),
            ("bulk", client.post("/gadgets/bulk", update).await.text),
            ("audit log", path("/audit_entries?q[entity_type_eq]=gadgets".into()).await),
            (
                "audit log without its resource",
                path("/audit_entries?fields=changes&q[entity_type_eq]=gadgets".into()).await,
            ),
        ];
        for format in ["text/csv", "application/x-ndjson"] {
            for (door, address) in
                [("export", "/gadgets"), ("export of parts", "/parts"), ("export of the audit log", "/audit_entries")]
            {
                found.push((door, client.with("accept", format).get(address).await.text));
            }
        }
        found
    }
}

async fn field_is_hidden_through_every_door_without_its_right(server: Gadgets) {
    let world = World::new(server).await;
    let mut leaks = String::new();
    for (door, text) in world.doors(&world.other).await {
        // The audit log names the columns of the saved view.
        let names = !door.contains("audit log") && (text.contains("\"cost\"") || text.contains("gadget_cost"));
        if text.contains(&COST.to_string()) || names {
            writeln!(leaks, "{door}: {text}").expect("text grows");
        }
    }
    assert!(leaks.is_empty(), "{leaks}");
    // A name that the caller may not read is an unknown one.
    let unknown = |message: String| assert!(message.contains("unknown field `cost`"), "{message}");
    unknown(world.other.get("/gadgets?q[cost_eq]=1").await.invalid("q[cost_eq]"));
    unknown(world.other.get("/gadgets?fields=cost").await.invalid("fields"));
    unknown(world.other.get("/gadgets/summary?sum=cost").await.invalid("sum"));
    world.other.get("/parts/summary?group=gadget_cost").await.invalid("group");
    world.other.get("/parts/summary?max=gadget_cost").await.invalid("max");
    world.other.get("/gadgets?q[name_or_cost_eq]=1").await.invalid("q[name_or_cost_eq]");
    world.other.get("/parts?q[gadget_cost_eq]=1").await.invalid("q[gadget_cost_eq]");
    world.other.get("/parts?q[gadget.cost_gt]=1").await.invalid("q[gadget.cost_gt]");
    let filters = r#"[{"field":"cost","predicate":"gt","value":1}]"#;
    world.other.list("/gadgets", &[("filters", filters)]).await.invalid("filters");
    let filter = json!({ "field": "cost", "predicate": "gt", "value": 1 });
    let view = json!({ "name": "Dear", "entity_type": "gadgets", "columns": ["name"], "filters": [filter], "visibility": "system" });
    let view = world.admin.post("/custom_views", view).await.created("custom_view");
    unknown(world.other.get(&format!("/gadgets?view_id={}", view["id"])).await.invalid("view_id"));
    unknown(world.other.get(&format!("/gadgets/summary?view_id={}", view["id"])).await.invalid("view_id"));
    let view = json!({ "name": "Mine", "entity_type": "gadgets", "columns": ["cost"] });
    world.other.post("/custom_views", view).await.invalid("columns");
    // A sort by a field that the caller may not read is ignored, as one by any unknown field.
    world.admin.post("/gadgets", json!({ "name": "Bell", "cost": 1 })).await.created("gadget");
    let ids = |answer: Value| {
        answer["gadgets"].as_array().expect("a list").iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    let sorted = ids(world.other.get("/gadgets?sort=cost").await.ok());
    assert_eq!(sorted, ids(world.other.get("/gadgets").await.ok()));
    assert_ne!(sorted, ids(world.viewer.get("/gadgets?sort=cost").await.ok()));
}

async fn field_is_shown_through_every_door_with_its_right(server: Gadgets) {
    let world = World::new(server).await;
    let doors = world.doors(&world.viewer).await;
    let hidden: Vec<_> = doors.iter().filter(|(_, text)| !text.contains(&COST.to_string())).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    assert_eq!(world.viewer.get(&format!("/gadgets?q[cost_eq]={COST}")).await.ok()["meta"]["total"], 1);
    assert_eq!(world.viewer.get(&format!("/parts?q[gadget.cost_eq]={COST}")).await.ok()["meta"]["total"], 1);
    let parts = world.viewer.get("/parts/summary?max=gadget_cost").await.records("summary");
    assert_eq!(parts[0]["max"]["gadget_cost"], COST);
}

async fn setting_a_field_needs_its_right_and_reports_it_under_its_name(server: Gadgets) {
    let world = World::new(server).await;
    let path = format!("/gadgets/{}", world.gadget["id"]);
    for answer in [
        world.viewer.post("/gadgets", json!({ "name": "Bell", "cost": 1 })).await,
        world.viewer.put(&path, json!({ "cost": 1, "name": "Bell" })).await,
        world.other.put(&path, json!({ "cost": 1 })).await,
    ] {
        let body = answer.refused(403, "permission_missing");
        assert_eq!(body["errors"], json!({ "cost": ["requires the permission `costs.manage`"] }));
    }
    let bulk = json!({ "operations": [{ "method": "update", "id": world.gadget["id"], "gadget": { "cost": 1 } }] });
    let message = world.viewer.post("/gadgets/bulk", bulk).await.invalid("operations.0");
    assert!(message.contains("`costs.manage`"), "{message}");
    assert_eq!(world.admin.get(&path).await.record("gadget")["cost"], COST);
    let manager = user_with(&world.server, &["*"], &["costs.view", "costs.manage"]).await;
    let manager = client_of(&world.server, &manager).await;
    assert_eq!(manager.put(&path, json!({ "cost": 5 })).await.record("gadget")["cost"], 5);
    // Without the field, a create needs no right.
    world.other.post("/gadgets", json!({ "name": "Horn" })).await.created("gadget");
}

async fn guess_of_a_hidden_value_is_refused_right_or_wrong(server: Gadgets) {
    let world = World::new(server).await;
    let path = format!("/gadgets/{}", world.gadget["id"]);
    for guess in [COST - 1, COST] {
        world.other.put(&path, json!({ "cost": guess })).await.refused(403, "permission_missing");
        let bulk =
            json!({ "operations": [{ "method": "update", "id": world.gadget["id"], "gadget": { "cost": guess } }] });
        let message = world.other.post("/gadgets/bulk", bulk).await.invalid("operations.0");
        assert!(message.contains("`costs.manage`"), "{message}");
    }
    // A caller that reads the value can send it back.
    world.viewer.put(&path, json!({ "cost": COST })).await.record("gadget");
}

async fn value_that_its_writer_may_not_read_counts_as_a_change(server: Gadgets) {
    let world = World::new(server).await;
    let path = format!("/gadgets/{}", world.gadget["id"]);
    let writer = user_with(&world.server, &["*"], &["costs.manage"]).await;
    let writer = client_of(&world.server, &writer).await;
    for guess in [COST, COST, COST + 1, COST] {
        let before = world.admin.get(&path).await.record("gadget");
        world.server.state.clock.advance(Duration::from_secs(1));
        let after = writer.put(&path, json!({ "cost": guess })).await.record("gadget");
        assert_ne!(before["updated_at"], after["updated_at"], "{guess}");
        assert_eq!(world.admin.get(&path).await.record("gadget")["cost"], guess);
    }
}

async fn record_that_was_read_can_be_sent_back(server: Gadgets) {
    let world = World::new(server).await;
    let path = format!("/gadgets/{}", world.gadget["id"]);
    for client in [&world.viewer, &world.other] {
        let answer = client.get(&path).await;
        let version = answer.header("etag").expect("a version").to_string();
        let mut record = answer.record("gadget");
        record["name"] = json!("Clock 2");
        client.with("if-match", &version).put(&path, record).await.record("gadget");
        client.put(&path, json!({ "name": "Clock" })).await.record("gadget");
    }
}

async fn webhook_sends_the_fields_that_its_owner_may_read(server: Gadgets) {
    let world = World::new(server).await;
    for (who, client) in [("viewer", &world.viewer), ("other", &world.other)] {
        let webhook = json!({ "url": format!("https://example.com/{who}"), "events": ["*"] });
        client.post("/webhooks", webhook).await.created("webhook");
    }
    world.admin.post("/gadgets", json!({ "name": "Bell", "cost": COST })).await.created("gadget");
    let receiver = Receiver::answering(200);
    deliver(&world.server, &receiver).await;
    let sent = receiver.take();
    assert_eq!(sent.len(), 2);
    for attempt in sent {
        let body: Value = serde_json::from_str(&attempt.body).expect("JSON");
        assert_eq!(body["data"]["gadget"]["name"], "Bell");
        let is_viewer = attempt.url.ends_with("viewer");
        assert_eq!(body["data"]["gadget"].get("cost").is_some(), is_viewer, "{}", attempt.body);
    }
    // The log of deliveries shows the same.
    let webhook = world.other.get("/webhooks").await.records("webhooks")[0]["id"].clone();
    let log = world.other.get(&format!("/webhooks/{webhook}/logs")).await.records("logs")[0]["id"].clone();
    let request = world.other.get(&format!("/webhooks/{webhook}/logs/{log}/request")).await;
    assert!(request.text.contains("Bell") && !request.text.contains(&COST.to_string()), "{}", request.text);
}

async fn derived_field_of_an_embedded_record_needs_the_right_of_its_source(server: Gadgets) {
    let world = World::new(server).await;
    for (who, client) in [("viewer", &world.viewer), ("other", &world.other)] {
        let webhook = json!({ "url": format!("https://example.com/{who}"), "events": ["kit.created", "kit.updated"] });
        client.post("/webhooks", webhook).await.created("webhook");
    }
    let kit = json!({ "name": "Box", "items": [{ "gadget_id": world.gadget["id"] }] });
    let kit = world.admin.post("/kits", kit).await.created("kit");
    let path = format!("/kits/{}", kit["id"]);
    world.admin.put(&path, json!({ "name": "Bag" })).await.ok();
    let receiver = Receiver::answering(200);
    deliver(&world.server, &receiver).await;
    let sent = receiver.take();
    assert_eq!(sent.len(), 4);
    for attempt in sent {
        let body: Value = serde_json::from_str(&attempt.body).expect("JSON");
        let item = &body["data"]["kit"]["items"][0];
        assert_eq!(item["gadget_id"], world.gadget["id"], "{}", attempt.body);
        assert_eq!(item["gadget_cost"] == COST, attempt.url.ends_with("viewer"), "{}", attempt.body);
        assert_eq!(attempt.body.contains("gadget_cost"), attempt.url.ends_with("viewer"), "{}", attempt.body);
    }
    for (client, may_read) in [(&world.viewer, true), (&world.other, false)] {
        for path in [path.as_str(), "/kits", "/kits?fields=items"] {
            let text = client.get(path).await.text;
            assert_eq!(text.contains(&format!("\"gadget_cost\":{COST}")), may_read, "{path}: {text}");
        }
    }
}

async fn panel_shows_the_fields_that_the_user_may_read(server: Gadgets) {
    let world = World::new(server).await;
    let path = format!("/gadgets/{}", world.gadget["id"]);
    for (user, may_read) in [(&world.viewer_user, true), (&world.other_user, false)] {
        let mut panel = signed_in(&world.server, user).await;
        for page in [
            "/gadgets".to_string(),
            path.clone(),
            format!("{path}/edit"),
            "/gadgets/new".into(),
            "/parts".into(),
            "/audit_entries".into(),
            "/".into(),
        ] {
            let text = panel.get(&page).await.text;
            let shows = text.contains(&COST.to_string()) || text.contains("987,654");
            let names = text.contains("\"cost\"") || text.contains(">Cost<");
            assert!(may_read || !shows && !names, "{page}: {text}");
        }
        let text = panel.get(&path).await.text;
        assert_eq!(text.contains(">Cost<"), may_read, "{text}");
        // Neither of them may set it.
        let form = panel.get(&format!("{path}/edit")).await.text;
        assert!(!form.contains("name=\"cost\""), "{form}");
    }
    let mut panel = signed_in(&world.server, &json!({ "id": 1 })).await;
    assert!(panel.get(&format!("{path}/edit")).await.text.contains("name=\"cost\""));
}

async fn totals_and_cached_pages_differ_by_right(server: Gadgets) {
    let world = World::new(server).await;
    // The same address, by turns: neither the cache nor the entity tag mixes them up.
    let mut tags = Vec::new();
    for client in [&world.viewer, &world.other, &world.viewer, &world.other] {
        let answer = client.get("/gadgets").await;
        tags.push(answer.header("etag").expect("a tag").to_string());
        assert_eq!(answer.text.contains(&COST.to_string()), tags.len() % 2 == 1);
    }
    assert_eq!((tags[0] == tags[2], tags[1] == tags[3], tags[0] == tags[1]), (true, true, false));
    let seen = world.other.with("if-none-match", &tags[0]).get("/gadgets").await;
    assert_eq!(seen.status, 200, "the tag of a page with the cost is not that of a page without");
}
