//! Lending library over HTTP, on SQLite and PostgreSQL.

use charter_testing::{Client, Database, Program, Server, on_both};
use serde_json::{Value, json};

on_both!(
    books_are_filtered_sorted_and_included,
    openapi_document_describes_its_own_resources,
    undeclared_filters_and_sorts_are_not_applied,
    a_book_is_lent_to_one_reader_at_a_time,
    one_of_many_concurrent_loans_succeeds,
    a_token_needs_the_ability,
    custom_route_has_the_same_tokens_and_errors,
    dashboard_lists_the_loans_that_are_due,
    every_change_writes_an_event,
    body_over_the_limit_is_rejected,
);

async fn library(database: Database) -> Server {
    Server::start(lending::app, database).await
}

async fn add_book(library: &Client, title: &str, author: &str) -> i64 {
    let (status, answer) = library.post("books", json!({ "title": title, "author": author })).await;
    assert_eq!(status, 201, "{answer}");
    answer["book"]["id"].as_i64().unwrap()
}

async fn lend(library: &Client, book: i64, reader: &str) -> (u16, Value) {
    library.post("loans", json!({ "book_id": book, "reader": reader })).await
}

fn titles(answer: &Value) -> Vec<&str> {
    answer["books"].as_array().unwrap().iter().map(|book| book["title"].as_str().unwrap()).collect()
}

async fn books_are_filtered_sorted_and_included(database: Database) {
    let library = library(database).await;
    let emma = add_book(&library, "Emma", "Jane Austen").await;
    add_book(&library, "Persuasion", "Jane Austen").await;
    add_book(&library, "Middlemarch", "George Eliot").await;
    let (status, answer) = library.get("books?q[author_cont]=AUSTEN&sort=-title").await;
    assert_eq!((status, titles(&answer)), (200, vec!["Persuasion", "Emma"]));
    assert_eq!(answer["meta"]["total"], 2);
    assert_eq!(lend(&library, emma, "Ada").await.0, 201);
    let (_, answer) = library.get(&format!("books/{emma}?include=loans")).await;
    assert_eq!(answer["book"]["loans"][0]["reader"], "Ada");
    let (_, answer) = library.get("loans?q[book.title_eq]=Emma&include=book").await;
    assert_eq!(
        (&answer["loans"][0]["book"]["title"], &answer["loans"][0]["book_title"]),
        (&json!("Emma"), &json!("Emma"))
    );
}

async fn openapi_document_describes_its_own_resources(database: Database) {
    let library = library(database).await;
    let (status, description) = library.get("openapi.json").await;
    assert_eq!((status, &description["info"]["title"]), (200, &json!("Lending API")));
    let give_back = &description["paths"]["/api/v1/loans/{id}/give_back"]["post"];
    assert_eq!((&give_back["operationId"], &give_back["x-ability"]), (&json!("give_back_loan"), &json!("loans:write")));
    assert_eq!(description["components"]["schemas"]["Book"]["properties"]["genre"]["enum"][0], "fiction");
    let filters = &description["components"]["parameters"]["q_loans"]["schema"]["properties"];
    assert!(filters["due_on_lt"].is_object() && filters["due_on_eq"].is_null(), "as `filters` says: {filters}");
    let (_, long) = library.get("openapi.json?filters=each").await;
    let filters = long["paths"]["/api/v1/loans"]["get"]["parameters"].to_string();
    assert!(filters.contains("q[due_on_lt]") && !filters.contains("q[due_on_eq]"), "as `filters` says");
    let filters = long["paths"]["/api/v1/books"]["get"]["parameters"].as_array().unwrap();
    let deprecated = |name: &str| filters.iter().find(|one| one["name"] == name).unwrap()["deprecated"].clone();
    assert_eq!((deprecated("q[author_start]"), deprecated("q[author_cont]")), (json!(true), Value::Null));
    assert!(!description["paths"].to_string().contains("product"));
}

async fn undeclared_filters_and_sorts_are_not_applied(database: Database) {
    let library = library(database).await;
    let (status, answer) = library.get("loans?q[reader_start]=A&q[lent_on_null]=1").await;
    assert_eq!(status, 422);
    assert!(
        answer["errors"]["q[reader_start]"].is_array() && answer["errors"]["q[lent_on_null]"].is_array(),
        "{answer}"
    );
    // A sort that is not supported is ignored.
    assert_eq!(library.get("books?sort=genre").await.0, 200);
}

async fn a_book_is_lent_to_one_reader_at_a_time(database: Database) {
    let library = library(database).await;
    let book = add_book(&library, "Emma", "Jane Austen").await;
    let (status, answer) = lend(&library, book, "Ada").await;
    assert_eq!(status, 201, "{answer}");
    let loan = answer["loan"]["id"].as_i64().unwrap();
    let day = |field: &str| answer["loan"][field].as_str().unwrap().parse::<chrono::NaiveDate>().unwrap();
    assert_eq!((day("due_on") - day("lent_on")).num_days(), 28);
    assert_eq!(day("lent_on"), chrono::Utc::now().date_naive());

    let (status, answer) = lend(&library, book, "Grace").await;
    assert_eq!((status, &answer["errors"]), (422, &json!({ "book_id": ["is already taken"] })));

    let (status, first) = library.post(&format!("loans/{loan}/give_back"), json!({})).await;
    assert_eq!(status, 200);
    assert!(first["loan"]["returned_at"].is_string(), "{first}");
    let (_, again) = library.post(&format!("loans/{loan}/give_back"), json!({})).await;
    assert_eq!(again, first);
    assert_eq!(lend(&library, book, "Grace").await.0, 201);
    let (_, answer) = library.get("loans?q[returned_at_null]=1").await;
    assert_eq!((&answer["meta"]["total"], &answer["loans"][0]["reader"]), (&json!(1), &json!("Grace")));
}

async fn one_of_many_concurrent_loans_succeeds(database: Database) {
    let library = library(database).await;
    let book = add_book(&library, "Emma", "Jane Austen").await;
    let (a, b, c, d) = tokio::join!(
        lend(&library, book, "a"),
        lend(&library, book, "b"),
        lend(&library, book, "c"),
        lend(&library, book, "d")
    );
    let mut statuses = [a.0, b.0, c.0, d.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 422, 422, 422]);
}

async fn a_token_needs_the_ability(database: Database) {
    let library = library(database).await;
    let reader = library.with_token(&library.token_with(&["books:read"]).await);
    assert_eq!(reader.get("books").await.0, 200);
    let (status, answer) = reader.post("books", json!({ "title": "Emma", "author": "Jane Austen" })).await;
    assert_eq!((status, &answer["code"]), (403, &json!("ability_missing")));
    assert_eq!(reader.get("loans").await.0, 403);
    assert_eq!(library.anonymous().get("books").await.0, 401);
}

async fn custom_route_has_the_same_tokens_and_errors(database: Database) {
    let library = library(database).await;
    let book = add_book(&library, "Emma", "Jane Austen").await;
    let lent = json!({ "book_id": book, "reader": "Ada", "lent_on": "2020-01-01", "due_on": "2020-02-01" });
    assert_eq!(library.post("loans", lent).await.0, 201);
    assert_eq!(library.get("/overdue").await, (200, json!("2020-02-01 Ada Emma\n")));
    let code = |(status, answer): (u16, Value)| (status, answer["code"].clone());
    assert_eq!(code(library.with_token("chr_x").get("/overdue").await), (401, json!("invalid_token")));
    let reader = library.with_token(&library.token_with(&["books:read"]).await);
    assert_eq!(code(reader.get("/overdue").await), (403, json!("ability_missing")));
}

async fn dashboard_lists_the_loans_that_are_due(database: Database) {
    let library = Program::start(env!("CARGO_BIN_EXE_lending"), database);
    for (reader, due) in [("Ada", "2020-02-01"), ("Grace", "2099-02-01"), ("Joan", "2020-02-02")] {
        let book = add_book(&library, "Emma", "Jane Austen").await;
        let lent = json!({ "book_id": book, "reader": reader, "lent_on": "2020-01-01", "due_on": due });
        assert_eq!(library.post("loans", lent).await.0, 201);
    }
    assert_eq!(library.post("loans/3/give_back", json!({})).await.0, 200);
    let panel = library.sign_in().await;
    let (status, page) = panel.get("/").await;
    let page = page.as_str().filter(|_| status == 200).unwrap_or_else(|| panic!("{status} {page}"));
    let is_there = ["Loans due", "Ada", "Late", "Grace", "Joan"].map(|text| page.contains(text));
    assert_eq!(is_there, [true, true, true, false, false], "{page}");
    let (status, page) = panel.get("/panel/pages/overdue").await;
    let page = page.as_str().filter(|_| status == 200).unwrap_or_else(|| panic!("{status} {page}"));
    let is_there =
        ["<h1>Overdue loans</h1>", "<li>Emma, Ada, 1 Feb 2020</li>", "Grace"].map(|text| page.contains(text));
    assert_eq!(is_there, [true, true, false], "{page}");
}

async fn every_change_writes_an_event(database: Database) {
    let library = library(database).await;
    let book = add_book(&library, "Emma", "Jane Austen").await;
    let (_, answer) = lend(&library, book, "Ada").await;
    let loan = answer["loan"]["id"].as_i64().unwrap();
    let (_, returned) = library.post(&format!("loans/{loan}/give_back"), json!({})).await;
    assert_eq!(library.delete(&format!("loans/{loan}")).await.0, 204);

    let events = library.events().await;
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let ours: Vec<&str> = names.iter().copied().filter(|name| !name.starts_with("user.")).collect();
    assert_eq!(ours, ["book.created", "loan.created", "loan.updated", "loan.deleted"]);
    let (_, body) = &events[names.iter().position(|name| *name == "loan.updated").unwrap()];
    assert_eq!((&body["event"], &body["data"]), (&json!("loan.updated"), &returned));
}

async fn body_over_the_limit_is_rejected(database: Database) {
    let library = Server::start_with(lending::app, database, |config| config.body_limit = 100).await;
    let book = library.create("book", json!({ "title": "Emma", "author": "Jane Austen" })).await;
    let path = format!("books/{}", book["id"]);
    let (status, answer) = library.patch(&path, json!({ "title": "E".repeat(100) })).await;
    assert_eq!((status, &answer["code"]), (413, &json!("payload_too_large")));
    assert_eq!(library.get(&path).await.1["book"]["title"], "Emma");
    library.stop().await;
}
