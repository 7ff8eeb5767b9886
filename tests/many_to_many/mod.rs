//! Many-to-many: links that clients read and write as ids, on both databases.

mod counted;
pub mod fixture;
mod panel;
mod tickets;

use serde_json::{Value, json};

use crate::routes::imports;
use crate::support::{Client, on_both};
use fixture::Articles;

/// Creates a record, and returns its id.
pub async fn made(client: &Client, record: &str, body: Value) -> i64 {
    let record = client.post(&format!("/{record}s"), body).await.created(record);
    record["id"].as_i64().expect("an id")
}

/// Creates labels with these names.
pub async fn labels(client: &Client, names: &[&str]) -> Vec<i64> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(made(client, "label", json!({ "name": name })).await);
    }
    ids
}

/// The label ids of an article.
pub async fn label_ids(client: &Client, article: i64) -> Value {
    client.get(&format!("/articles/{article}")).await.record("article")["label_ids"].clone()
}

on_both!(
    ids_are_set_replaced_and_removed,
    ids_that_cannot_be_linked_are_refused,
    number_of_ids_is_limited,
    include_is_accepted_only_as_a_response_has_it,
    include_embeds_the_records,
    hidden_records_are_neither_shown_nor_set_and_stay_linked,
    soft_deleted_record_comes_back_with_its_links,
    deletion_of_a_linked_record_removes_the_links,
    deletion_of_the_record_removes_its_links,
    frozen_record_keeps_its_links,
    change_is_audited_and_emits_an_event,
    version_of_the_record_changes_with_its_links,
    bulk_sets_the_ids_of_each_record,
    list_and_exports_have_the_ids,
    cached_page_follows_the_links,
    import_takes_titles_and_ids,
    openapi_describes_the_ids,
    both_writers_of_the_same_record_succeed,
);

async fn ids_are_set_replaced_and_removed(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two", "three"]).await;
    let article = admin.post("/articles", json!({ "title": "A", "label_ids": [ids[2], ids[0]] })).await;
    let article = article.created("article");
    // The order of a request does not matter: ids ascend.
    assert_eq!((&article["label_ids"], &article["topic_ids"]), (&json!([ids[0], ids[2]]), &json!([])));
    let path = format!("/articles/{}", article["id"]);
    let put = async |body: Value| admin.put(&path, body).await.record("article")["label_ids"].clone();
    assert_eq!(put(json!({ "label_ids": [ids[1], ids[2]] })).await, json!([ids[1], ids[2]]));
    assert_eq!(put(json!({ "title": "B" })).await, json!([ids[1], ids[2]]));
    assert_eq!(put(json!({ "label_ids": null })).await, json!([ids[1], ids[2]]));
    assert_eq!(put(json!({ "label_ids": [] })).await, json!([]));
    assert_eq!(put(json!({ "label_ids": [ids[0].to_string()] })).await, json!([ids[0]]));
    assert_eq!(put(json!({ "label_ids": "" })).await, json!([]));
    let none = admin.post("/articles", json!({ "title": "C" })).await.created("article");
    assert_eq!(none["label_ids"], json!([]));
    // A client may send back what it read.
    let record = admin.get(&format!("{path}?include=labels")).await.record("article");
    admin.put(&path, record).await.ok();
}

async fn ids_that_cannot_be_linked_are_refused(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one"]).await;
    let refused = async |value: Value| {
        let body = json!({ "title": "A", "label_ids": value });
        admin.post("/articles", body).await.invalid("label_ids")
    };
    assert_eq!(refused(json!([ids[0], 98, 99])).await, "does not refer to an existing label: 98, 99");
    assert_eq!(refused(json!([ids[0], ids[0]])).await, format!("has the id {} twice (element 2)", ids[0]));
    assert_eq!(refused(json!([ids[0], "x"])).await, "must be an integer (element 2)");
    assert_eq!(refused(json!([{ "id": 1 }])).await, "must be a single value (element 1)");
    assert_eq!(refused(json!({ "id": 1 })).await, "must be a list");
    assert_eq!(refused(json!(7)).await, "must be a list");
    assert_eq!(admin.get("/articles").await.ok()["meta"]["total"], 0);
}

async fn number_of_ids_is_limited(server: Articles) {
    let ids: Vec<i64> = (1..=1001).collect();
    let answer = server.admin().post("/articles", json!({ "title": "A", "label_ids": ids })).await;
    assert_eq!(answer.invalid("label_ids"), "must have at most 1000 elements");
}

async fn include_is_accepted_only_as_a_response_has_it(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one"]).await;
    let path = format!("/articles/{}", made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await);
    for value in [json!(ids), json!("one"), json!({ "id": 1 }), json!([{ "id": 1 }, 2]), json!(1), json!("")] {
        for answer in [
            admin.post("/articles", json!({ "title": "B", "labels": value })).await,
            admin.put(&path, json!({ "labels": value })).await,
        ] {
            assert_eq!(answer.invalid("labels"), "is not a field of article; did you mean `label_ids`?", "{value}");
        }
    }
    assert_eq!(admin.put(&path, json!({ "remarks": ["wet"] })).await.invalid("remarks"), "is not a field of article");
    for query in ["", "?include=labels,topics,remarks"] {
        let mut record = admin.get(&format!("{path}{query}")).await.record("article");
        record["title"] = json!(format!("A{query}"));
        assert_eq!(admin.put(&path, record).await.record("article")["label_ids"], json!(ids));
    }
    admin.put(&path, json!({ "labels": null, "topics": [] })).await.ok();
    assert_eq!(admin.get("/articles").await.ok()["meta"]["total"], 1);
}

async fn include_embeds_the_records(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    made(&admin, "article", json!({ "title": "A", "label_ids": [ids[1], ids[0]] })).await;
    made(&admin, "article", json!({ "title": "B", "label_ids": [ids[1]] })).await;
    made(&admin, "article", json!({ "title": "C" })).await;
    let articles = admin.get("/articles?include=labels,topics&sort=id").await.records("articles");
    let names = |article: &Value| -> Vec<Value> {
        article["labels"].as_array().expect("a list").iter().map(|label| label["name"].clone()).collect()
    };
    assert_eq!(articles.iter().map(names).collect::<Vec<_>>(), [vec!["one", "two"], vec!["two"], vec![]]);
    assert_eq!(articles[0]["topics"], json!([]));
    // An include needs the right to list the other records; the ids are part of the record.
    let (_, reader) = server.user(&[], &["articles:read"]).await;
    assert_eq!(reader.get("/articles/1").await.record("article")["label_ids"], json!([ids[0], ids[1]]));
    reader.get("/articles?include=labels").await.refused(403, "ability_missing");
    let sparse = admin.get("/articles?fields=label_ids&sort=id").await.records("articles");
    assert_eq!(sparse[1], json!({ "label_ids": [ids[1]] }));
}

async fn hidden_records_are_neither_shown_nor_set_and_stay_linked(server: Articles) {
    let admin = server.admin();
    let (_, other) = server.user(&[], &["*"]).await;
    let public = labels(&admin, &["public", "also public"]).await;
    let hidden = made(&admin, "label", json!({ "name": "hidden", "is_public": false })).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": [public[0], hidden] })).await;
    let path = format!("/articles/{article}");
    assert_eq!(label_ids(&other, article).await, json!([public[0]]));
    let shown = other.get(&format!("{path}?include=labels")).await.record("article");
    assert_eq!(shown["labels"].as_array().map(Vec::len), Some(1));
    let refused = other.put(&path, json!({ "label_ids": [public[0], hidden] })).await;
    assert_eq!(refused.invalid("label_ids"), format!("does not refer to an existing label: {hidden}"));
    other.put(&path, json!({ "label_ids": [public[1]] })).await.ok();
    assert_eq!(label_ids(&other, article).await, json!([public[1]]));
    assert_eq!(label_ids(&admin, article).await, json!([public[1], hidden]));
    other.put(&path, json!({ "label_ids": [] })).await.ok();
    assert_eq!(label_ids(&admin, article).await, json!([hidden]));
    // Nobody learns from a cached page what only another may see.
    for (client, expected) in [(&admin, json!([hidden])), (&other, json!([])), (&admin, json!([hidden]))] {
        assert_eq!(client.get("/articles").await.column("articles", "label_ids"), [expected]);
    }
}

async fn soft_deleted_record_comes_back_with_its_links(server: Articles) {
    let admin = server.admin();
    let topic = made(&admin, "topic", json!({ "name": "T" })).await;
    let article = made(&admin, "article", json!({ "title": "A", "topic_ids": [topic] })).await;
    let path = format!("/articles/{article}");
    let topics = async || admin.get(&path).await.record("article")["topic_ids"].clone();
    admin.delete(&format!("/topics/{topic}")).await.deleted();
    assert_eq!(topics().await, json!([]));
    let refused = admin.put(&path, json!({ "topic_ids": [topic] })).await;
    assert_eq!(refused.invalid("topic_ids"), format!("does not refer to an existing topic: {topic}"));
    admin.put(&path, json!({ "topic_ids": [] })).await.ok();
    admin.post(&format!("/topics/{topic}/restore"), json!({})).await.ok();
    assert_eq!(topics().await, json!([topic]));
}

async fn deletion_of_a_linked_record_removes_the_links(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await;
    admin.delete(&format!("/labels/{}", ids[0])).await.deleted();
    assert_eq!(label_ids(&admin, article).await, json!([ids[1]]));
    let log = admin.get("/audit_entries?q[entity_type_eq]=article_labels").await.column("audit_entries", "action");
    assert_eq!(log, ["delete"]);
}

async fn deletion_of_the_record_removes_its_links(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await;
    admin.delete(&format!("/articles/{article}")).await.deleted();
    assert_eq!(server.texts("SELECT CAST(count(*) AS TEXT) AS text FROM article_labels").await, ["0"]);
    admin.get(&format!("/labels/{}", ids[0])).await.ok();
}

async fn frozen_record_keeps_its_links(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": [ids[0]], "is_done": true })).await;
    let path = format!("/articles/{article}");
    admin.put(&path, json!({ "label_ids": [ids[1]] })).await.refused(409, "frozen");
    admin.put(&path, json!({ "label_ids": [ids[0]] })).await.ok();
    assert_eq!(label_ids(&admin, article).await, json!([ids[0]]));
}

async fn change_is_audited_and_emits_an_event(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": [ids[0]] })).await;
    let path = format!("/articles/{article}");
    admin.put(&path, json!({ "label_ids": [ids[1], ids[0]] })).await.ok();
    // The same ids again change nothing.
    admin.put(&path, json!({ "label_ids": [ids[0], ids[1]] })).await.ok();
    let log = admin.get("/audit_entries?q[entity_type_eq]=articles&sort=id").await;
    let changes: Vec<Value> =
        log.column("audit_entries", "changes").into_iter().map(|changes| changes["label_ids"].clone()).collect();
    assert_eq!(changes[0], json!({ "old": [], "new": [ids[0]] }));
    assert_eq!(changes[1], json!({ "old": [ids[0]], "new": [ids[0], ids[1]] }));
    assert_eq!(changes.len(), 2);
    assert_eq!(server.events("article.").await, ["article.created", "article.updated"]);
    let bodies = server.event_bodies(0).await;
    assert_eq!(bodies.last().expect("an event")["data"]["article"]["label_ids"], json!([ids[0], ids[1]]));
}

async fn version_of_the_record_changes_with_its_links(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await;
    let path = format!("/articles/{article}");
    let etag = |answer: &crate::support::Answer| answer.header("etag").expect("an ETag").to_owned();
    let before = etag(&admin.get(&path).await);
    admin.with("if-none-match", &before).get(&path).await.status(304);
    admin.delete(&format!("/labels/{}", ids[0])).await.deleted();
    let after = etag(&admin.get(&path).await);
    assert_ne!(before, after);
    let stale = admin.with("if-match", &before).put(&path, json!({ "label_ids": [] })).await;
    stale.refused(412, "precondition_failed");
    admin.with("if-match", &after).put(&path, json!({ "label_ids": [] })).await.ok();
}

async fn bulk_sets_the_ids_of_each_record(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A" })).await;
    let operations = |last: i64| {
        json!({ "operations": [
            { "method": "create", "article": { "title": "B", "label_ids": [ids[0]] } },
            { "method": "update", "id": article, "article": { "label_ids": [ids[1], last] } } ] })
    };
    let refused = admin.post("/articles/bulk", operations(99)).await;
    assert_eq!(refused.invalid("operations.1.label_ids"), "does not refer to an existing label: 99");
    let done = admin.post("/articles/bulk", operations(ids[0])).await.ok();
    assert_eq!(done["results"][0]["article"]["label_ids"], json!([ids[0]]));
    assert_eq!(done["results"][1]["article"]["label_ids"], json!([ids[0], ids[1]]));
}

async fn list_and_exports_have_the_ids(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await;
    made(&admin, "article", json!({ "title": "B" })).await;
    let expected = [json!([ids[0], ids[1]]), json!([])];
    assert_eq!(admin.get("/articles?sort=id").await.column("articles", "label_ids"), expected);
    let csv = admin.with("accept", "text/csv").get("/articles?sort=id&fields=title,label_ids").await;
    assert_eq!(csv.text, format!("title,label_ids\r\nA,\"[{},{}]\"\r\nB,[]\r\n", ids[0], ids[1]));
    let lines = admin.with("accept", "application/x-ndjson").get("/articles?sort=id&include=labels").await;
    let first: Value = serde_json::from_str(lines.text.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["label_ids"], &first["labels"][1]["name"]), (&expected[0], &json!("two")));
    admin.get("/articles?q[label_ids_eq]=1").await.refused(422, "validation_failed");
}

async fn cached_page_follows_the_links(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A", "label_ids": ids })).await;
    let page = async || {
        let articles = admin.get("/articles?include=labels").await.records("articles");
        (articles[0]["label_ids"].clone(), articles[0]["labels"][0]["name"].clone())
    };
    assert_eq!(page().await, (json!(ids), json!("one")));
    admin.put(&format!("/labels/{}", ids[0]), json!({ "name": "first" })).await.ok();
    assert_eq!(page().await.1, "first");
    admin.put(&format!("/articles/{article}"), json!({ "label_ids": [ids[1]] })).await.ok();
    assert_eq!(page().await, (json!([ids[1]]), json!("two")));
    admin.delete(&format!("/labels/{}", ids[1])).await.deleted();
    assert_eq!(page().await, (json!([]), Value::Null));
}

async fn import_takes_titles_and_ids(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let csv = format!("title,label_ids\nA,\"one, two\"\nB,{}\nC,\nD,\"one, none\"\n", ids[1]);
    let import = imports::uploaded(&admin, "articles", &csv).await;
    imports::finished(&admin, &import, "run").await;
    let articles = admin.get("/articles?sort=id").await;
    assert_eq!(articles.column("articles", "title"), ["A", "B", "C"]);
    assert_eq!(articles.column("articles", "label_ids"), [json!(ids), json!([ids[1]]), json!([])]);
}

async fn openapi_describes_the_ids(server: Articles) {
    let document = server.admin().get("/openapi.json").await.ok();
    let text = document.to_string();
    assert!(text.contains("The ids of its labels."), "no description");
    let create = &document["paths"]["/api/v1/articles"]["post"]["requestBody"]["content"]["application/json"];
    assert_eq!(create["example"]["label_ids"], json!([1]), "{create}");
    assert!(!text.contains("article_labels"), "the pairs have no routes");
}

async fn both_writers_of_the_same_record_succeed(server: Articles) {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let article = made(&admin, "article", json!({ "title": "A" })).await;
    let path = format!("/articles/{article}");
    for _ in 0..10 {
        let (one, two) = (json!({ "label_ids": [ids[0]] }), json!({ "label_ids": ids }));
        let (one, two) = tokio::join!(admin.put(&path, one), admin.put(&path, two));
        one.ok();
        two.ok();
        let last = label_ids(&admin, article).await;
        assert!(last == json!([ids[0]]) || last == json!(ids), "{last}");
        admin.put(&path, json!({ "label_ids": [] })).await.ok();
    }
}
