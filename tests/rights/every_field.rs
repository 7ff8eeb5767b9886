//! Rights of fields for every field of the application's resources, generated from their metadata: without the right, no
//! door shows a field, and its name is unknown.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Deref;
use std::sync::OnceLock;

use charter_runtime::App;
use charter_runtime::catalog::Entry;
use charter_runtime::meta::{FieldMeta, Filter, Kind, ResourceMeta, Shown};
use charter_runtime::ops::Route;
use charter_runtime::query::is_key;
use serde_json::{Value, json};

use super::{client_of, user_with};
use crate::delivery::{Receiver, deliver};
use crate::panel::{CookieClient, signed_in};
use crate::query::every_list::{List, Maker, lists};
use crate::support::{Client, Database, Fixture, Prepared, Server, nothing, on_both};

on_both!(every_field_is_hidden_through_every_door_without_its_right, every_field_is_shown_with_its_right);

/// The right that reading each field needs.
const RIGHT: &str = "secrets.view";

/// The service in which every field but the id needs [`RIGHT`].
struct Guarded(Server);

impl Deref for Guarded {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl Fixture for Guarded {
    async fn start(database: Database) -> Guarded {
        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        let routes = charter::generated::routes().into_iter().map(guarded).collect();
        let app = App::new::<charter::Migrator>("charter-test", routes)
            .seeds(charter::generated::seeds())
            .languages(charter::generated::languages());
        Guarded(Server::open(app, database, template, nothing, |_| {}).await)
    }

    fn server(&self) -> &Server {
        &self.0
    }
}

/// A route whose fields need the right. The settings stay as they are, because the panel reads them for everybody.
fn guarded(route: Route) -> Route {
    if route.meta.singleton {
        return route;
    }
    let guard = |field: &FieldMeta| if field.name == "id" { *field } else { FieldMeta { read: RIGHT, ..*field } };
    let fields: Vec<FieldMeta> = route.meta.fields.iter().map(guard).collect();
    let meta = ResourceMeta { fields: fields.leak(), ..*route.meta };
    Route { meta: Box::leak(Box::new(meta)), ..route }
}

fn is_guarded(entry: &Entry) -> bool {
    !entry.behavior.is_platform && !entry.meta.singleton
}

/// The fields of a resource that need the right.
fn secret(entry: &Entry) -> impl Iterator<Item = &'static FieldMeta> {
    entry.meta.fields.iter().filter(|field| field.name != "id" && field.shown != Shown::Never)
}

fn can_filter(field: &FieldMeta) -> bool {
    let unfit = matches!(
        field.kind,
        Kind::Embedded { .. }
            | Kind::Computed { .. }
            | Kind::CustomFields
            | Kind::Json
            | Kind::StringList { .. }
            | Kind::RefList { .. }
    );
    field.filter == Filter::Fitting && !unfit
}

/// Users with and without the right, and all other rights.
struct World<'s> {
    server: &'s Server,
    user: Value,
    client: Client,
    lists: Vec<List<'s>>,
}

impl<'s> World<'s> {
    async fn new(server: &'s Server, has_right: bool) -> World<'s> {
        let mut permissions: Vec<&str> = server.state.catalog.permissions().into_iter().collect();
        permissions.retain(|permission| has_right || *permission != RIGHT);
        let user = user_with(server, &["*"], &permissions).await;
        let client = client_of(server, &user).await.undescribed();
        // It receives the events of all records that are made from now on.
        let hook = json!({ "url": "https://example.com/hook", "events": ["*"] });
        client.post("/webhooks", hook).await.created("webhook");
        let mut lists = lists(&mut Maker::new(server)).await;
        lists.retain(|list| is_guarded(list.entry));
        assert!(lists.len() >= 8, "{}", lists.len());
        World { server, user, client, lists }
    }

    /// The first id of a list.
    async fn first(&self, path: &str, entry: &Entry) -> i64 {
        let records = self.server.admin().get(path).await.records(entry.meta.plural);
        records[0]["id"].as_i64().expect("an id")
    }
}

/// The names of members at any depth.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                found.insert(name.clone());
                names(value, found);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| names(element, found)),
        _ => {}
    }
}

/// The secret names in a part of an answer. An include has a name of its own.
fn leaked(entry: &Entry, value: &Value) -> Vec<String> {
    let mut found = BTreeSet::new();
    names(value, &mut found);
    secret(entry).filter(|field| found.contains(field.name)).map(|field| field.name.to_string()).collect()
}

async fn every_field_is_hidden_through_every_door_without_its_right(server: Guarded) {
    let world = World::new(&server, false).await;
    let mut leaks = String::new();
    for List { entry, path } in &world.lists {
        let id = world.first(path, entry).await;
        for (door, found) in answers(&world, entry, path, id).await {
            let leaked = leaked(entry, &found);
            if !leaked.is_empty() {
                writeln!(leaks, "{door} of {path}: {leaked:?}").expect("text grows");
            }
        }
        let default = ids(&world.client, entry, path).await;
        for field in secret(entry) {
            if let Some(problem) = door_of_name(&world.client, entry, path, field).await {
                writeln!(leaks, "{problem}").expect("text grows");
            }
            let sorted = ids(&world.client, entry, &format!("{path}?sort=-{}", field.name)).await;
            assert_eq!(sorted, default, "{path} sorted by {}", field.name);
        }
    }
    let mut panel = signed_in(&server, &world.user).await;
    for List { entry, path } in &world.lists {
        leaks.push_str(&leaks_of_panel(&world, &mut panel, entry, path).await);
    }
    leaks.push_str(&leaks_of_webhook(&world).await);
    assert!(leaks.is_empty(), "{leaks}");
}

async fn every_field_is_shown_with_its_right(server: Guarded) {
    let world = World::new(&server, true).await;
    for List { entry, path } in &world.lists {
        let id = world.first(path, entry).await;
        let record = world.client.get(&format!("{path}/{id}")).await.record(entry.meta.name);
        for field in secret(entry) {
            assert!(record.get(field.name).is_some(), "{path}: {}", field.name);
            if can_filter(field) {
                let filtered = world.client.get(&format!("{path}?q[{}_null]=0", field.name)).await;
                assert_eq!(filtered.status, 200, "{path} {}: {}", field.name, filtered.text);
            }
            if is_key(&entry.source(field)) {
                let grouped = world.client.get(&format!("{path}/summary?group={}", field.name)).await;
                assert!(grouped.records("summary")[0]["group"].get(field.name).is_some(), "{path} {}", field.name);
            }
        }
    }
}

async fn ids(client: &Client, entry: &Entry, path: &str) -> Vec<Value> {
    client.get(path).await.column(entry.meta.plural, "id")
}

/// The JSON that the doors show of a resource: records, lists, includes, responses to writes, exports and the audit log.
async fn answers(world: &World<'_>, entry: &Entry, path: &str, id: i64) -> Vec<(String, Value)> {
    let (client, meta) = (&world.client, entry.meta);
    let mut found = vec![
        ("list".to_string(), client.get(path).await.ok()[meta.plural].clone()),
        ("record".into(), client.get(&format!("{path}/{id}")).await.record(meta.name)),
    ];
    for include in meta.includes {
        // An include through a field that may not be read may be refused.
        let answer = client.get(&format!("{path}?include={}", include.name)).await;
        if answer.status == 200 {
            found.push((format!("include {}", include.name), answer.ok()[meta.plural].clone()));
        } else {
            answer.invalid("include");
        }
    }
    if meta.operations.contains(&charter_runtime::meta::Operation::Update) {
        let updated = client.put(&format!("{path}/{id}"), json!({})).await;
        found.push(("update".into(), updated.record(meta.name)));
        let operation = json!({ "method": "update", "id": id, meta.name: {} });
        let bulk = client.post(&format!("{path}/bulk"), json!({ "operations": [operation] })).await;
        if bulk.status == 200 {
            found.push(("bulk".into(), bulk.ok()["results"].clone()));
        }
    }
    let lines = client.with("accept", "application/x-ndjson").get(path).await.text;
    found.push((
        "ndjson".into(),
        lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")).collect(),
    ));
    let csv = client.with("accept", "text/csv").get(path).await.text;
    let heading = csv.lines().next().unwrap_or_default().trim_start_matches('\u{feff}');
    let columns = heading.split(',').map(|column| (column.trim_matches('"').to_string(), Value::Null));
    found.push(("csv".into(), Value::Object(columns.collect())));
    let audit = client.get(&format!("/audit_entries?q[entity_type_eq]={}&per_page=100", meta.plural)).await;
    let changes = audit.records("audit_entries").into_iter().map(|mut entry| entry["changes"].take());
    found.push(("audit log".into(), changes.collect()));
    found
}

/// The door through which the name of a field is known, if there is one.
async fn door_of_name(client: &Client, entry: &Entry, path: &str, field: &FieldMeta) -> Option<String> {
    let name = field.name;
    let filters = json!([{ "field": name, "predicate": "null", "value": true }]);
    let filters = filters.to_string();
    let mut answers = vec![("fields", client.get(&format!("{path}?fields={name}")).await)];
    if can_filter(field) {
        answers.push(("q", client.get(&format!("{path}?q[{name}_null]=1")).await));
        answers.push(("q of two", client.get(&format!("{path}?q[id_or_{name}_null]=1")).await));
        answers.push(("filters", client.list(path, &[("filters", &filters)]).await));
    }
    let view = |more: Value| {
        let mut view = json!({ "name": "Mine", "entity_type": entry.meta.plural, "columns": ["id"] });
        view.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        view
    };
    answers.push(("view", client.post("/custom_views", view(json!({ "columns": [name] }))).await));
    answers.push(("view's sort", client.post("/custom_views", view(json!({ "sort_column": name }))).await));
    let known = answers.iter().filter(|(_, answer)| answer.status != 422);
    let mut known: Vec<String> = known.map(|(door, answer)| format!("{door} {}", answer.status)).collect();
    for (parameter, end) in [("group", ""), ("group", ".month"), ("sum", ""), ("min", ""), ("max", ""), ("avg", "")] {
        // A known name that does not fit, such as a sum of texts, is 422 too.
        let message = client.get(&format!("{path}/summary?{parameter}={name}{end}")).await.invalid(parameter);
        let is_unknown = message.contains(&format!("unknown field `{name}{end}`"));
        known.extend((!is_unknown).then(|| format!("{parameter} {message}")));
    }
    (!known.is_empty()).then(|| format!("{path} knows {name}: {known:?}"))
}

async fn leaks_of_panel(world: &World<'_>, panel: &mut CookieClient, entry: &Entry, path: &str) -> String {
    let (id, mut leaks) = (world.first(path, entry).await, String::new());
    for page in [
        path.to_string(),
        format!("{path}/{id}"),
        format!("{path}/{id}/edit"),
        format!("{path}/new"),
        format!("{path}/{id}/history"),
    ] {
        let text = panel.get(&page).await.text;
        for field in secret(entry) {
            // The form of a saved view has a name too.
            let is_input = |form: &str| form.contains(&format!("name=\"{}\"", field.name));
            let forms = text.split("<form .record").skip(1).chain(text.split("class=\"record\"").skip(1));
            if forms.into_iter().any(is_input) || text.contains(&format!("data-column=\"{}\"", field.name)) {
                writeln!(leaks, "{page} of the panel has {}", field.name).expect("text grows");
            }
        }
    }
    leaks
}

async fn leaks_of_webhook(world: &World<'_>) -> String {
    let mut leaks = String::new();
    let entries: Vec<&Entry> = world.lists.iter().map(|list| list.entry).collect();
    let receiver = Receiver::answering(200);
    deliver(world.server, &receiver).await;
    let mut seen = BTreeSet::new();
    // Those of the administrator show everything.
    for attempt in receiver.take().into_iter().filter(|attempt| attempt.url.ends_with("/hook")) {
        let body: Value = serde_json::from_str(&attempt.body).expect("JSON");
        for entry in entries.iter().filter(|entry| body["data"].get(entry.meta.name).is_some()) {
            seen.insert(entry.meta.name);
            let leaked = leaked(entry, &body["data"][entry.meta.name]);
            if !leaked.is_empty() {
                writeln!(leaks, "webhook event {}: {leaked:?}", attempt.event).expect("text grows");
            }
        }
    }
    assert!(seen.len() >= 5, "{seen:?}");
    leaks
}
