//! Filters over the records that belong to a record, on both databases: children, links and embedded records.

use serde_json::{Value, json};

use crate::many_to_many::fixture::Articles;
use crate::many_to_many::{labels, made};
use crate::panel::signed_in;
use crate::support::{Client, on_both};

on_both!(
    record_matches_if_one_of_its_records_does,
    conditions_of_a_group_are_met_by_one_record,
    none_finds_records_without_such_a_record,
    lists_alternatives_and_relative_values_work,
    hidden_record_neither_matches_nor_excludes,
    soft_deleted_record_does_not_match,
    reading_needs_the_rights_of_the_include,
    unknown_names_are_reported_with_suggestions,
    number_of_conditions_is_limited,
    total_and_cached_page_follow_the_other_table,
    filters_as_json_and_saved_views_have_groups,
    summaries_exports_and_cursors_use_them,
    panel_filters_by_fields_of_the_records,
    openapi_describes_groups,
    index_serves_the_relation,
);

/// Three articles: A with the labels one and two, B with two, C without; lines and remarks of A and B.
async fn world(server: &Articles) -> Client {
    let admin = server.admin();
    let ids = labels(&admin, &["one", "two"]).await;
    let line = |quantity: i32, price: &str| json!({ "quantity": quantity, "price": price });
    let a = json!({ "title": "A", "label_ids": ids, "lines": [line(3, "9.00"), line(1, "2.00")] });
    let b = json!({ "title": "B", "label_ids": [ids[1]], "lines": [line(5, "1.50")] });
    let (a, b) = (made(&admin, "article", a).await, made(&admin, "article", b).await);
    made(&admin, "article", json!({ "title": "C" })).await;
    for (article, words, author, is_internal) in
        [(a, "leak", "Ada", false), (a, "secret", "Ada", true), (b, "drip", "Bob", false)]
    {
        let remark = json!({ "article_id": article, "words": words, "author": author, "is_internal": is_internal });
        made(&admin, "remark", remark).await;
    }
    admin
}

/// The titles of the articles that a query finds, in the order of their ids.
async fn titles(client: &Client, query: &str) -> String {
    let answer = client.get(&format!("/articles?sort=id&{query}")).await;
    let found = answer.column("articles", "title");
    assert_eq!(answer.ok()["meta"]["total"], found.len(), "{query}");
    found.iter().map(|title| title.as_str().expect("a text")).collect()
}

async fn record_matches_if_one_of_its_records_does(server: Articles) {
    let admin = world(&server).await;
    for (query, expected) in [
        ("q[labels.name_eq]=one", "A"),
        ("q[labels.name_eq]=two", "AB"),
        ("q[labels.name_cont]=o", "AB"),
        ("q[labels.name_not_eq]=two", "A"),
        ("q[labels.id_in]=1,2", "AB"),
        ("q[labels.id_not_null]=1", "AB"),
        ("q[remarks.words_start]=dr", "B"),
        ("q[remarks.is_internal_true]=1", "A"),
        ("q[lines.quantity_gt]=2", "AB"),
        ("q[lines.price_lt]=2.5", "AB"),
        ("q[lines.price_lt]=1", ""),
        // Each condition can be met by another record.
        ("q[lines.quantity_gt]=2&q[lines.price_lt]=2.5", "AB"),
        ("q[labels.name_eq]=one&q[remarks.words_eq]=drip", ""),
        ("q[labels.name_eq]=two&q[title_eq]=B", "B"),
        ("q[topics.name_eq]=x", ""),
    ] {
        assert_eq!(titles(&admin, query).await, expected, "{query}");
    }
}

async fn conditions_of_a_group_are_met_by_one_record(server: Articles) {
    let admin = world(&server).await;
    for (query, expected) in [
        ("q[lines.some][quantity_gt]=2&q[lines.some][price_lt]=2.5", "B"),
        ("q[lines.some][quantity_lt]=2&q[lines.some][price_lt]=2.5", "A"),
        ("q[lines.some][quantity_gt]=9", ""),
        ("q[labels.some][name_eq]=one&q[labels.some][is_public_true]=1", "A"),
        ("q[labels.some][name_eq]=one&q[labels.some][name_eq]=two", ""),
        ("q[labels.some][name_eq]=one&q[labels.name_eq]=two", "A"),
        ("q[remarks.some][words_eq]=leak&q[remarks.some][is_internal_false]=1", "A"),
        ("q%5Blines.some%5D%5Bquantity_in%5D%5B%5D=5&q[lines.some][quantity_in][]=9", "B"),
    ] {
        assert_eq!(titles(&admin, query).await, expected, "{query}");
    }
}

async fn none_finds_records_without_such_a_record(server: Articles) {
    let admin = world(&server).await;
    for (query, expected) in [
        ("q[lines.none][quantity_gt]=2", "C"),
        ("q[lines.none][quantity_lt]=2", "BC"),
        ("q[lines.none][id_not_null]=1", "C"),
        ("q[labels.none][name_eq]=one", "BC"),
        ("q[labels.none][name_eq]=one&q[labels.some][name_eq]=two", "B"),
        ("q[lines.none][quantity_gt]=2&q[lines.none][price_lt]=2", "AC"),
    ] {
        assert_eq!(titles(&admin, query).await, expected, "{query}");
    }
}

async fn lists_alternatives_and_relative_values_work(server: Articles) {
    let admin = world(&server).await;
    for (query, expected) in [
        ("q[labels.some][name_or_id_eq]=1", "A"),
        ("q[remarks.created_at_eq]=today", "AB"),
        ("q[remarks.some][created_at_gt]=today&q[remarks.some][words_cont_any]=leak,drip", ""),
        ("q[remarks.some][created_at_gt]=-1d&q[remarks.some][words_cont_any]=leak,drip", "AB"),
        ("q[remarks.none][created_at_gt]=-1d", "C"),
    ] {
        assert_eq!(titles(&admin, query).await, expected, "{query}");
    }
    // A list with an instant has no ETag, because the next request has another result.
    let moving = admin.get("/articles?q[remarks.some][created_at_lt]=now").await;
    assert_eq!((moving.status, moving.header("etag")), (200, None));
    assert!(admin.get("/articles?q[remarks.some][words_eq]=leak").await.header("etag").is_some());
}

async fn hidden_record_neither_matches_nor_excludes(server: Articles) {
    let admin = world(&server).await;
    let (_, other) = server.user(&["remarks.authors"], &["*"]).await;
    let (_, insider) = server.user(&["remarks.all", "remarks.authors"], &["*"]).await;
    // Twice, because a cached page must not be another caller's.
    for _ in 0..2 {
        for (query, hidden, seen) in [
            ("q[remarks.words_eq]=secret", "", "A"),
            ("q[remarks.none][words_eq]=secret", "ABC", "BC"),
            ("q[remarks.some][words_eq]=secret&q[remarks.some][is_internal_true]=1", "", "A"),
        ] {
            assert_eq!(titles(&other, query).await, hidden, "{query}");
            assert_eq!(titles(&insider, query).await, seen, "{query}");
        }
    }
    let secret = made(&admin, "label", json!({ "name": "secret", "is_public": false })).await;
    admin.put("/articles/3", json!({ "label_ids": [secret] })).await.ok();
    assert_eq!(titles(&admin, "q[labels.name_eq]=secret").await, "C");
    assert_eq!(titles(&other, "q[labels.name_eq]=secret").await, "");
    assert_eq!(titles(&other, "q[labels.none][id_not_null]=1").await, "C");
}

async fn soft_deleted_record_does_not_match(server: Articles) {
    let admin = world(&server).await;
    let topic = made(&admin, "topic", json!({ "name": "T" })).await;
    admin.put("/articles/1", json!({ "topic_ids": [topic] })).await.ok();
    assert_eq!(titles(&admin, "q[topics.name_eq]=T").await, "A");
    admin.delete(&format!("/topics/{topic}")).await.deleted();
    assert_eq!(titles(&admin, "q[topics.name_eq]=T").await, "");
    assert_eq!(titles(&admin, "q[topics.none][name_eq]=T").await, "ABC");
    admin.post(&format!("/topics/{topic}/restore"), json!({})).await.ok();
    assert_eq!(titles(&admin, "q[topics.name_eq]=T").await, "A");
}

async fn reading_needs_the_rights_of_the_include(server: Articles) {
    world(&server).await;
    let (_, reader) = server.user(&[], &["articles:read"]).await;
    let query = "q[remarks.words_eq]=leak";
    let problem = reader.get(&format!("/articles?{query}")).await.invalid("q[remarks.words_eq]");
    assert_eq!(problem, "is on remarks, which requires the ability `remarks:read`");
    let answer = reader.get("/articles?q[labels.none][name_eq]=one").await;
    assert_eq!(answer.invalid("q[labels.none][name_eq]"), "is on labels, which requires the ability `labels:read`");
    // Embedded records are a part of the article.
    assert_eq!(titles(&reader, "q[lines.quantity_eq]=5").await, "B");
    let (_, other) = server.user(&[], &["*"]).await;
    let problem = other.get("/articles?q[remarks.author_eq]=Ada").await.invalid("q[remarks.author_eq]");
    assert!(problem.contains("refers to an unknown field `author` of remarks"), "{problem}");
    let (_, knowing) = server.user(&["remarks.authors"], &["*"]).await;
    assert_eq!(titles(&knowing, "q[remarks.author_eq]=Ada").await, "A");
}

async fn unknown_names_are_reported_with_suggestions(server: Articles) {
    let admin = server.admin();
    for (parameter, expected) in [
        ("q[lables.name_eq]", "refers to an unknown relation `lables`; did you mean `labels`?"),
        ("q[labels.nmae_eq]", "refers to an unknown field `nmae` of labels; did you mean `name`?"),
        ("q[labels.some][nmae_eq]", "refers to an unknown field `nmae` of labels; did you mean `name`?"),
        ("q[remarks.article.title_eq]", "`remarks.article.title` is one step too far: name a field of remarks"),
        ("q[remarks.some][article.title_eq]", "`remarks.article.title` is one step too far: name a field of remarks"),
        ("q[lines.some][quantity_cont]", "`quantity` does not support the predicate `cont`"),
        ("q[lines.some][quantity]", "needs a predicate: `quantity_eq`, for example"),
        ("q[lines.some][quantity_gt]", "must be an integer"),
    ] {
        let problem = admin.get(&format!("/articles?{parameter}=x")).await.invalid(parameter);
        assert!(problem.contains(expected), "{parameter}: {problem}");
    }
    let problem = admin.get("/articles?q[lnes.some][quantity_gt]=1").await.invalid("q[lnes.some]");
    assert!(problem.contains("did you mean `lines`?"), "{problem}");
    for query in ["q[lines.some]=1", "q[lines.any][quantity_gt]=1", "q[lines.some][][quantity_gt]=1"] {
        let status = admin.get(&format!("/articles?{query}")).await.status;
        assert!([400, 422].contains(&status), "{query}: {status}");
    }
}

async fn number_of_conditions_is_limited(server: Articles) {
    let admin = server.admin();
    let many = |count: usize| vec!["q[lines.some][quantity_gt]=1"; count].join("&");
    admin.get(&format!("/articles?{}", many(50))).await.ok();
    let answer = admin.get(&format!("/articles?{}", many(51))).await;
    assert_eq!(answer.invalid("q"), "must have at most 50 conditions");
    let names = vec!["quantity"; 26].join("_or_");
    let query = format!("q[lines.some][{names}_gt]=1&q[lines.none][{names}_gt]=1");
    assert_eq!(admin.get(&format!("/articles?{query}")).await.invalid("q"), "must have at most 50 conditions");
}

async fn total_and_cached_page_follow_the_other_table(server: Articles) {
    let admin = world(&server).await;
    let (labelled, remarked) = ("q[labels.name_eq]=new", "q[remarks.none][words_eq]=leak");
    for _ in 0..2 {
        assert_eq!(titles(&admin, labelled).await, "");
        assert_eq!(titles(&admin, remarked).await, "BC");
    }
    admin.put("/labels/1", json!({ "name": "new" })).await.ok();
    assert_eq!(titles(&admin, labelled).await, "A");
    admin.put("/articles/3", json!({ "label_ids": [1] })).await.ok();
    assert_eq!(titles(&admin, labelled).await, "AC");
    admin.put("/remarks/1", json!({ "words": "dry" })).await.ok();
    assert_eq!(titles(&admin, remarked).await, "ABC");
    let tag = admin.get(&format!("/articles?{labelled}")).await.header("etag").expect("an ETag").to_owned();
    admin.with("if-none-match", &tag).get(&format!("/articles?{labelled}")).await.status(304);
    admin.delete("/labels/1").await.deleted();
    assert_eq!(admin.with("if-none-match", &tag).get(&format!("/articles?{labelled}")).await.status, 200);
    assert_eq!(titles(&admin, labelled).await, "");
}

async fn filters_as_json_and_saved_views_have_groups(server: Articles) {
    let admin = world(&server).await;
    let part = |field: &str, predicate: &str, value: Value, logic: &str| json!({ "field": field, "predicate": predicate, "value": value, "logic": logic });
    let group = json!([part("quantity", "gt", json!(2), "and"), part("price", "lt", json!("2.5"), "and")]);
    let either = json!([part("quantity", "gt", json!(4), "and"), part("quantity", "lt", json!(2), "or")]);
    let found = async |filters: Value| {
        let path = format!("/articles?sort=id&filters={}", filters.to_string().replace('&', "%26"));
        let titles = admin.get(&path).await.column("articles", "title");
        titles.iter().map(|title| title.as_str().expect("a text")).collect::<String>()
    };
    let some = part("lines", "some", group.clone(), "and");
    assert_eq!(found(json!([some])).await, "B");
    assert_eq!(found(json!([part("lines", "some", either, "and")])).await, "AB");
    assert_eq!(found(json!([part("lines", "none", group.clone(), "and")])).await, "AC");
    assert_eq!(found(json!([some, part("labels.name", "eq", json!("one"), "or")])).await, "AB");
    for (value, expected) in [
        (json!("x"), "needs conditions: `some` takes a list of objects like those of `filters` (filter 1)"),
        (json!([]), "needs conditions: `some` takes a list of objects like those of `filters` (filter 1)"),
        (json!([some]), "has `some` within `some`, which is one step too far (filter 1)"),
        (json!([part("id", "eq", json!("x"), "and")]), "must be an integer (condition 1 of `lines`) (filter 1)"),
    ] {
        let filters = json!([part("lines", "some", value, "and")]);
        assert_eq!(admin.get(&format!("/articles?filters={filters}")).await.invalid("filters"), expected);
    }
    let view = json!({
        "name": "Large", "entity_type": "articles", "columns": ["title"], "visibility": "personal", "filters": [some],
    });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let answer = admin.get(&format!("/articles?view_id={}", view["id"])).await;
    assert_eq!(answer.column("articles", "title"), ["B"]);
    let wrong = json!({
        "name": "Wrong", "entity_type": "articles", "columns": ["title"], "visibility": "personal",
        "filters": [part("lines", "some", json!([part("size", "eq", json!(1), "and")]), "and")],
    });
    let problem = admin.post("/custom_views", wrong).await.invalid("filters");
    assert!(problem.contains("refers to an unknown field `size` of lines"), "{problem}");
}

async fn summaries_exports_and_cursors_use_them(server: Articles) {
    let admin = world(&server).await;
    let summary = admin.get("/articles/summary?q[labels.name_eq]=two").await.ok();
    assert_eq!(summary["summary"][0]["count"], 2);
    let csv = admin.with("accept", "text/csv").get("/articles?sort=id&fields=title&q[lines.none][quantity_gt]=4").await;
    assert_eq!(csv.text, "title\r\nA\r\nC\r\n");
    let mut path = "/articles?sort=-title&per_page=1&q[labels.name_eq]=two&cursor=".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = admin.get(&path).await;
        seen.extend(page.column("articles", "title"));
        let Some(next) = page.ok()["meta"]["next_cursor"].as_str().map(str::to_owned) else { break };
        path = format!("/articles?sort=-title&per_page=1&q[labels.name_eq]=two&cursor={next}");
    }
    assert_eq!(seen, ["B", "A"]);
}

async fn panel_filters_by_fields_of_the_records(server: Articles) {
    world(&server).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/articles?q[labels.name_eq]=one&tool=filter").await;
    page.status(200).says("Labels: Name").says("Remarks: Words").says("Lines: Quantity");
    assert!(page.text.contains(">A<") && !page.text.contains(">B<"), "{}", page.text);
    // A group has no form, and stays in the address.
    let page = panel.get("/articles?q[lines.none][quantity_gt]=2").await;
    page.status(200);
    assert!(page.text.contains(">C<") && !page.text.contains(">B<"), "{}", page.text);
}

async fn openapi_describes_groups(server: Articles) {
    let document = server.admin().get("/openapi.json").await.ok();
    let q = &document["components"]["parameters"]["q_articles"]["description"];
    let described = q.as_str().expect("a text");
    assert!(
        described.contains("`labels`") && described.contains("`q[lines.some][<field>_<predicate>]`"),
        "{described}"
    );
}

async fn index_serves_the_relation(server: Articles) {
    let admin = server.admin();
    let label = |n: i64| json!({ "method": "create", "label": { "name": format!("label {n}") } });
    let operations: Vec<Value> = (1..=500).map(label).collect();
    admin.post("/labels/bulk", json!({ "operations": operations })).await.ok();
    // Many labels, each on few articles: with few labels, reading the whole table of pairs costs less than an index.
    for part in 0..4 {
        let article = |n: i64| {
            let title = format!("{part}-{n}");
            json!({ "method": "create", "article": { "title": title, "label_ids": [n] } })
        };
        let operations: Vec<Value> = (1..=500).map(article).collect();
        admin.post("/articles/bulk", json!({ "operations": operations })).await.ok();
    }
    server.sql("ANALYZE").await;
    let plan = admin.get("/articles?q[labels.name_eq]=label%207&explain=1").await.ok()["plan"].clone();
    let indexes = plan["statements"][0]["indexes"].as_array().expect("a list").clone();
    let is_of_pairs = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("article_labels_"));
    assert!(indexes.iter().any(is_of_pairs), "{plan}");
    assert_eq!(
        admin.get("/articles?sort=id&q[labels.name_eq]=label%207").await.column("articles", "title"),
        ["0-7", "1-7", "2-7", "3-7"]
    );
}
