//! `search` of a list: words in any text field, records whose title begins with the text first.

use serde_json::{Value, json};

use super::every_list::{List, Maker, lists};
use crate::support::{Client, Server, build_trigram_indexes, on_both};

on_both!(
    search_finds_each_word_in_some_field,
    records_whose_title_begins_with_the_text_come_first,
    search_applies_to_totals_summaries_exports_views_and_cached_pages,
    invalid_search_is_rejected,
    every_list_with_a_text_is_searched,
    rare_text_is_found_by_the_trigram_index,
);

/// The names of the products that these parameters find, in order.
async fn names(client: &Client, parameters: &[(&str, &str)]) -> Vec<Value> {
    client.list("/products", parameters).await.column("products", "name")
}

async fn products(server: &Server) -> Client {
    let admin = server.admin();
    for (name, sku) in
        [("Spot Lamp", "SL-1"), ("Table", "lamp-9"), ("LAMP stand", "LS-2"), ("Chair", "C-3"), ("lamp 100%_\\", "L-4")]
    {
        admin.post("/products", json!({ "name": name, "sku": sku })).await.created("product");
    }
    admin
}

async fn search_finds_each_word_in_some_field(server: Server) {
    let admin = products(&server).await;
    for (text, found) in [
        ("lamp", vec!["LAMP stand", "lamp 100%_\\", "Spot Lamp", "Table"]),
        ("lamp stand", vec!["LAMP stand"]),
        ("stand LAMP", vec!["LAMP stand"]),
        ("  table \t LAMP ", vec!["Table"]),
        ("lamp missing", vec![]),
        ("100%_\\", vec!["lamp 100%_\\"]),
        ("%", vec!["lamp 100%_\\"]),
        (" ", vec!["Spot Lamp", "Table", "LAMP stand", "Chair", "lamp 100%_\\"]),
    ] {
        assert_eq!(names(&admin, &[("search", text)]).await, found, "{text:?}");
    }
    // Joined with other conditions by "and".
    assert_eq!(names(&admin, &[("search", "lamp"), ("q[sku_start]", "sl")]).await, ["Spot Lamp"]);
}

async fn records_whose_title_begins_with_the_text_come_first(server: Server) {
    let admin = products(&server).await;
    let prefix_first = ["LAMP stand", "lamp 100%_\\", "Spot Lamp", "Table"];
    let mut paged = Vec::new();
    for page in ["1", "2"] {
        paged.extend(names(&admin, &[("search", "lamp"), ("per_page", "3"), ("page", page)]).await);
    }
    assert_eq!(paged, prefix_first);
    let (mut walked, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = admin.list("/products", &[("search", "lamp"), ("per_page", "1"), ("cursor", &cursor)]).await;
        walked.extend(answer.column("products", "name"));
        let Some(next) = answer.json()["meta"]["next_cursor"].as_str().map(String::from) else { break };
        cursor = next;
    }
    assert_eq!(walked, prefix_first);
    let other = admin.list("/products", &[("search", "lam"), ("cursor", &first_cursor(&admin).await)]).await;
    assert!(other.invalid("cursor").contains("belongs to another list"));
    // An explicit order holds.
    let sorted = names(&admin, &[("search", "lamp"), ("sort", "-name")]).await;
    assert_eq!(sorted, ["Table", "Spot Lamp", "LAMP stand", "lamp 100%_\\"]);
    // A title begins with the whole text.
    assert_eq!(names(&admin, &[("search", "lamp s")]).await, ["LAMP stand", "Spot Lamp"]);
}

async fn first_cursor(client: &Client) -> String {
    let answer = client.list("/products", &[("search", "lamp"), ("per_page", "1"), ("cursor", "")]).await;
    answer.json()["meta"]["next_cursor"].as_str().expect("a cursor").to_string()
}

async fn search_applies_to_totals_summaries_exports_views_and_cached_pages(server: Server) {
    let admin = products(&server).await;
    for _ in 0..2 {
        let page = admin.get("/products?search=lamp&per_page=1").await;
        assert_eq!((page.json()["meta"]["total"].clone(), page.records("products").len()), (json!(4), 1));
        let other = admin.get("/products?search=spot&per_page=1").await;
        assert_eq!(other.column("products", "name"), ["Spot Lamp"], "a cached page is that of its text");
    }
    let summary = admin.get("/products/summary?search=lamp").await.ok();
    assert_eq!(summary["summary"][0]["count"], 4);
    let lines = admin.with("accept", "text/csv").get("/products?search=lamp&fields=name").await.text;
    assert_eq!(lines.lines().collect::<Vec<_>>(), ["name", "LAMP stand", "lamp 100%_\\", "Spot Lamp", "Table"]);
    let view = json!({
        "name": "By name", "entity_type": "products", "columns": ["name"], "sort_column": "name", "sort_direction": "desc",
    });
    let view = admin.post("/custom_views", view).await.created("custom_view");
    let id = view["id"].to_string();
    let viewed = names(&admin, &[("search", "lamp"), ("view_id", &id)]).await;
    assert_eq!(viewed, ["Table", "Spot Lamp", "LAMP stand", "lamp 100%_\\"], "the order of the view holds");
    // A change is seen at once.
    admin.post("/products", json!({ "name": "Lamp, new" })).await.created("product");
    assert_eq!(admin.get("/products?search=lamp&per_page=1").await.ok()["meta"]["total"], 5);
    let tag = admin.get("/products?search=lamp").await.header("etag").expect("a tag").to_string();
    admin.with("if-none-match", &tag).get("/products?search=lamp").await.status(304);
    admin.with("if-none-match", &tag).get("/products?search=lam").await.status(200);
}

async fn invalid_search_is_rejected(server: Server) {
    let admin = products(&server).await;
    let words = ["a"; 11].join(" ");
    let refused = admin.list("/products", &[("search", &words)]).await.invalid("search");
    assert!(refused.contains("at most 10 words"), "{refused}");
    let refused = admin.list("/products", &[("search", &"a".repeat(2_001))]).await.invalid("search");
    assert!(refused.contains("at most 2000 characters"), "{refused}");
    admin.list("/products", &[("search", "a\0b")]).await.invalid("search");
    let refused = admin.list("/products/1/accessories", &[("search", "a")]).await.invalid("search");
    assert!(refused.contains("have no text that you can search"), "{refused}");
    assert_eq!(
        admin.list("/products", &[("search", &words), ("q[nope_eq]", "1")]).await.invalid_fields(),
        ["q[nope_eq]", "search"]
    );
}

async fn every_list_with_a_text_is_searched(server: Server) {
    let mut maker = Maker::new(&server);
    let (mut searched, admin) = (0, server.admin());
    for List { entry, path } in lists(&mut maker).await {
        let fields = charter_runtime::query::search_fields(entry, &charter_runtime::principal::Principal::operator());
        let answer = admin.list(&path, &[("search", "zzz"), ("count", "exact")]).await;
        match fields.first() {
            None => drop(answer.invalid("search")),
            Some(title) => {
                assert_eq!(answer.ok()["meta"]["total"], 0, "{path}");
                searched += 1;
                let first = admin.get(&path).await.records(entry.meta.plural).first().cloned();
                let Some(text) = first.as_ref().and_then(|record| record[title.name].as_str()) else { continue };
                let found = admin.list(&path, &[("search", &text[..text.len().min(20)])]).await;
                assert!(!found.records(entry.meta.plural).is_empty(), "{path} {text}");
            }
        }
    }
    assert!(searched > 10, "{searched}");
}

async fn rare_text_is_found_by_the_trigram_index(server: Server) {
    let numbers = match server.state.db.dialect() {
        charter_runtime::db::Dialect::Postgres => "generate_series(1, 20000) AS s(n)",
        charter_runtime::db::Dialect::Sqlite => {
            "(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 20000) SELECT n FROM s) AS s"
        }
    };
    let rows = format!(
        "INSERT INTO products (name, sku, created_at, updated_at) SELECT 'Lamp ' || n, 'code' || n, \
         '2026-01-01 00:00:00Z', '2026-01-01 00:00:00Z' FROM {numbers}"
    );
    server.sql(&rows).await;
    build_trigram_indexes(&server.state).await.expect("the index is built");
    let admin = server.admin();
    for text in ["19998", "lamp code19998"] {
        let found = admin.list("/products", &[("search", text)]).await;
        assert_eq!(found.column("products", "name"), ["Lamp 19998"], "{text}");
        let plan = admin.list("/products", &[("search", text), ("explain", "1")]).await.ok();
        let conditions = plan["plan"]["conditions"].to_string();
        assert_eq!(plan["plan"]["order"], json!(["prefix of name", "id"]), "{plan}");
        let statement = plan["plan"]["statements"][0].to_string().replace("\\\"", "\"");
        let by_index = ["charter_search_products_", "t.\"id\" = $", "t.\"id\" = ANY("];
        assert!(by_index.iter().any(|index| statement.contains(index)), "{conditions} {statement}");
    }
}
