//! `view_id` on every list of the service, generated from its resources.

use std::collections::BTreeMap;

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{FieldMeta, Kind, Operation, Rule, Shown};
use serde_json::{Map, Value, json};

use crate::routes::imports::uploaded;
use crate::support::{Client, Server, on_both};

on_both!(every_list_accepts_views_of_its_entity_type, view_can_show_and_sort_by_every_column_of_a_list);

/// Records of each resource in the lists.
const EACH: usize = 3;

/// Creates records from the metadata.
pub(crate) struct Maker<'s> {
    server: &'s Server,
    client: Client,
    count: usize,
    /// Ids of the created records, by singular name.
    ids: BTreeMap<&'static str, Vec<i64>>,
}

impl<'s> Maker<'s> {
    pub(crate) fn new(server: &'s Server) -> Maker<'s> {
        Maker { server, client: server.admin(), count: 0, ids: BTreeMap::new() }
    }

    fn entry(&self, name: &str) -> &'s Entry {
        self.server.state.catalog.get(name).expect("it is linked")
    }

    /// The path of a resource's list, under a parent that is created for it.
    async fn path(&mut self, entry: &'s Entry) -> String {
        if entry.is_attached() {
            let target = self.server.state.catalog.attachables().next().expect("something that they hang on");
            let id = self.some(target).await.expect("a record can be made");
            return format!("/{}/{id}/{}", target.meta.path, entry.meta.path);
        }
        let Some(under) = entry.meta.under else { return format!("/{}", entry.meta.path) };
        let parent = self.entry(under.resource);
        let id = self.some(parent).await.expect("a parent can be made");
        format!("/{}/{id}/{}", parent.meta.path, entry.meta.path)
    }

    /// The id of any record, created if there is none.
    async fn some(&mut self, entry: &'s Entry) -> Option<i64> {
        if let Some(id) = self.ids.get(entry.meta.name).and_then(|ids| ids.first()) {
            return Some(*id);
        }
        // Users and currencies exist from the start.
        if entry.meta.under.is_none() && entry.is_listed() {
            let records = self.client.get(&format!("/{}", entry.meta.path)).await.records(entry.meta.plural);
            if let Some(id) = records.first().and_then(|record| record["id"].as_i64()) {
                return Some(id);
            }
        }
        Box::pin(self.make(entry)).await
    }

    /// Creates one record, if the resource accepts a JSON body.
    async fn make(&mut self, entry: &'s Entry) -> Option<i64> {
        // Uploads are not JSON.
        if !entry.meta.operations.contains(&Operation::Create) || entry.is_attached() {
            return None;
        }
        if entry.receives_file() {
            let import = uploaded(&self.client, "products", "name\nLamp\n").await;
            return import["id"].as_i64();
        }
        let path = Box::pin(self.path(entry)).await;
        let mut body = Map::new();
        for field in entry.meta.fields.iter().filter(|field| field.required) {
            if entry.meta.under.is_none_or(|under| under.field != field.name) {
                let value = Box::pin(self.value(entry, field)).await;
                body.insert(field.name.to_string(), value);
            }
        }
        let answer = self.client.post(&path, Value::Object(body)).await;
        let id = answer.created(entry.meta.name)["id"].as_i64().expect("an id");
        self.ids.entry(entry.meta.name).or_default().push(id);
        Some(id)
    }

    /// A valid value for the field that no other record has.
    async fn value(&mut self, entry: &'s Entry, field: &'static FieldMeta) -> Value {
        self.count += 1;
        let count = self.count;
        for rule in field.rules {
            match rule {
                Rule::Email => return json!(format!("user{count}@example.com")),
                Rule::Url => return json!(format!("https://example.com/{count}")),
                Rule::Exists { resource, field } => {
                    let other = self.entry(resource);
                    let list = self.client.get(&format!("/{}?per_page=100", other.meta.path)).await;
                    return list.column(other.meta.plural, field)[count % 100].clone();
                }
                _ => {}
            }
        }
        match (field.name, field.kind) {
            ("entity_type", _) => json!("products"),
            ("columns", _) => json!(["id"]),
            ("url", _) => json!(format!("https://example.com/{count}")),
            (_, Kind::String { .. } | Kind::Text) => json!(format!("x{count}")),
            (_, Kind::Integer | Kind::BigInt | Kind::Decimal { .. }) => json!(1),
            (_, Kind::Boolean) => json!(true),
            (_, Kind::Date) => json!("2026-03-21"),
            (_, Kind::Time) => json!("14:30:00"),
            (_, Kind::Timestamp { .. }) => json!("2026-03-21T10:00:00Z"),
            (_, Kind::Enum { values }) => json!(values[0]),
            (_, Kind::Code { values }) => json!(values[0].0),
            (_, Kind::StringList { .. }) => json!(["*"]),
            (_, Kind::Ref { resource }) => {
                let other = self.entry(resource);
                // A new record each time, because pairs of references are often unique.
                json!(match Box::pin(self.make(other)).await {
                    Some(id) => Some(id),
                    None => Box::pin(self.some(other)).await,
                })
            }
            (name, kind) => panic!("this test does not know what to give {}.{name}: {kind:?}", entry.meta.name),
        }
    }
}

/// One list with its path.
pub(crate) struct List<'s> {
    pub(crate) entry: &'s Entry,
    pub(crate) path: String,
}

/// Every list, filled as far as its resource can be created.
pub(crate) async fn lists<'s>(maker: &mut Maker<'s>) -> Vec<List<'s>> {
    let mut lists = Vec::new();
    for entry in maker.server.state.catalog.entries() {
        if entry.is_listed() {
            let path = maker.path(entry).await;
            for _ in 0..EACH {
                maker.make(entry).await;
            }
            lists.push(List { entry, path });
        }
    }
    let routes = charter_runtime::ops::routes(&maker.server.state);
    let gets = routes.iter().filter(|route| route.method == "GET" && !route.path.ends_with("{id}"));
    let known = |path: &str| lists.iter().any(|list| Some(list.entry.meta.path) == path.rsplit('/').next());
    // Other GET routes return one record or an own response.
    let others: Vec<&str> = gets.map(|route| route.path.as_str()).filter(|path| !known(path)).collect();
    assert!(!others.iter().any(|path| path.ends_with('s') && !path.ends_with("/settings")), "{others:?}");
    lists
}

async fn save(client: &Client, entry: &Entry, fields: Value) -> String {
    let mut view = json!({ "name": format!("Of {}", entry.meta.plural), "entity_type": entry.meta.plural });
    view.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    client.post("/custom_views", view).await.created("custom_view")["id"].to_string()
}

fn shown(entry: &Entry) -> Vec<&'static str> {
    entry.meta.fields.iter().filter(|field| field.shown != Shown::Never).map(|field| field.name).collect()
}

async fn every_list_accepts_views_of_its_entity_type(server: Server) {
    let mut maker = Maker::new(&server);
    let client = server.admin();
    let lists = lists(&mut maker).await;
    let stranger =
        save(&client, server.state.catalog.get("currency").expect("it is linked"), json!({ "columns": ["code"] }))
            .await;
    let mut filled = 0;
    for List { entry, path } in &lists {
        let plural = entry.meta.plural;
        let column = shown(entry).into_iter().find(|name| *name != "id").expect("a field");
        let ids_from = |min: i64| json!([{ "field": "id", "predicate": "gteq", "value": min }]);
        let fields = json!({ "columns": [column], "sort_column": "id", "sort_direction": "desc", "per_page": 2,
            "filters": ids_from(0) });
        let view = save(&client, entry, fields.clone()).await;
        let total = client.get(path).await.ok()["meta"]["total"].clone();
        let answer = client.list(path, &[("view_id", &view)]).await;
        let name = json!({ "id": view.parse::<i64>().expect("an id"), "name": format!("Of {plural}") });
        let expected = json!({ "total": total, "per_page": 2, "page": 1, "view": name });
        assert_eq!(answer.ok()["meta"], expected, "{path}");
        let ids: Vec<i64> = answer.column(plural, "id").iter().filter_map(Value::as_i64).collect();
        assert!(ids.is_sorted_by(|one, next| one > next), "{path}: the view's order: {ids:?}");
        for record in answer.records(plural) {
            let keys: Vec<&String> = record.as_object().expect("a record").keys().collect();
            assert!(keys.len() == 2 && keys.iter().all(|key| *key == "id" || *key == column), "{path}: {keys:?}");
        }
        // The request's own parameters override the view.
        let explicit = client.list(path, &[("view_id", &view), ("sort", "id"), ("per_page", "100")]).await;
        let all: Vec<i64> = explicit.column(plural, "id").iter().filter_map(Value::as_i64).collect();
        assert!(all.is_sorted() && all.len() >= ids.len(), "{path}: {all:?}");
        assert_eq!(explicit.ok()["meta"]["per_page"], 100, "{path}");
        let mut fields = fields;
        fields["filters"] = ids_from(999_999_999);
        let empty = save(&client, entry, fields).await;
        assert_eq!(client.list(path, &[("view_id", &empty)]).await.ok()["meta"]["total"], 0, "{path}");
        let replaced = client.list(path, &[("view_id", &empty), ("q[id_gteq]", "1")]).await.ok();
        assert_eq!(replaced["meta"]["total"] == 0, all.is_empty(), "{path}: an explicit q replaces the view's filter");
        if plural != "currencies" {
            client.list(path, &[("view_id", &stranger)]).await.invalid("view_id");
        }
        client.list(path, &[("view_id", "999999999")]).await.invalid("view_id");
        filled += usize::from(!all.is_empty());
    }
    assert!(filled >= 12, "{filled} of {} lists hold records", lists.len());
}

async fn view_can_show_and_sort_by_every_column_of_a_list(server: Server) {
    let mut maker = Maker::new(&server);
    let client = server.admin();
    for List { entry, path } in lists(&mut maker).await {
        let plural = entry.meta.plural;
        let mut columns: Vec<String> = shown(entry).into_iter().map(String::from).collect();
        let view = save(&client, entry, json!({ "columns": columns })).await;
        for record in client.list(&path, &[("view_id", &view)]).await.records(plural) {
            let mut keys: Vec<&String> = record.as_object().expect("a record").keys().collect();
            let mut expected: Vec<&String> = columns.iter().collect();
            keys.sort();
            expected.sort();
            assert_eq!(keys, expected, "{path}");
        }
        // A view sorts and filters by each column like a request.
        for field in entry.meta.fields.iter().filter(|field| field.shown != Shown::Never && field.sortable) {
            let sorted = client.list(&path, &[("sort", field.name)]).await.column(plural, "id");
            let fields = json!({ "columns": ["id"], "sort_column": field.name });
            let id =
                client.post("/custom_views", view_of(plural, fields)).await.created("custom_view")["id"].to_string();
            let viewed = client.list(&path, &[("view_id", &id), ("per_page", "20")]).await.column(plural, "id");
            assert_eq!(viewed, sorted, "{path} sorted by {}", field.name);
        }
        if entry.meta.custom_fields {
            let definition = json!({ "entity_type": plural, "name": "seen_on", "field_type": "date" });
            client.post("/custom_fields", definition).await.created("custom_field");
            columns.push("cf.seen_on".into());
            save(&client, entry, json!({ "columns": columns, "sort_column": "cf.seen_on" })).await;
        } else {
            let view = view_of(plural, json!({ "columns": ["cf.seen_on"] }));
            client.post("/custom_views", view).await.invalid("columns");
        }
        // A field that is never shown cannot be a column.
        for field in entry.meta.fields.iter().filter(|field| field.shown == Shown::Never) {
            let view = view_of(plural, json!({ "columns": [field.name] }));
            client.post("/custom_views", view).await.invalid("columns");
        }
    }
}

fn view_of(plural: &str, fields: Value) -> Value {
    let mut view = json!({ "name": "x", "entity_type": plural, "columns": ["id"] });
    view.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    view
}
