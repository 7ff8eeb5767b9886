//! Lending library over HTTP, on SQLite and PostgreSQL.

#[path = "../../../tests/support/postgres.rs"]
mod postgres;
#[path = "../../../tests/program/mod.rs"]
mod program;

use program::Program;
use reqwest::Method;
use sea_orm::{ConnectionTrait, Database, Statement};
use serde_json::{Value, json};

/// Defines two tests for each of these functions, one on SQLite and one on PostgreSQL.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                #[tokio::test]
                async fn sqlite() {
                    super::on_sqlite(super::$name).await;
                }

                charter_test_programs::needs_postgres! {
                    #[tokio::test]
                    async fn postgres() {
                        super::on_postgres(super::$name).await;
                    }
                }
            }
        )*
    };
}

async fn on_sqlite(test: impl AsyncFn(&Program)) {
    test(&Program::start(env!("CARGO_BIN_EXE_lending"), None)).await;
}

async fn on_postgres(test: impl AsyncFn(&Program)) {
    let database_url = postgres::server().create_database(None);
    test(&Program::start(env!("CARGO_BIN_EXE_lending"), Some(database_url))).await;
}

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
);

async fn add_book(library: &Program, title: &str, author: &str) -> i64 {
    let (status, answer) = library.post("books", json!({ "title": title, "author": author })).await;
    assert_eq!(status, 201, "{answer}");
    answer["book"]["id"].as_i64().unwrap()
}

async fn lend(library: &Program, book: i64, reader: &str) -> (u16, Value) {
    library.post("loans", json!({ "book_id": book, "reader": reader })).await
}

fn titles(answer: &Value) -> Vec<&str> {
    answer["books"].as_array().unwrap().iter().map(|book| book["title"].as_str().unwrap()).collect()
}

async fn books_are_filtered_sorted_and_included(library: &Program) {
    let emma = add_book(library, "Emma", "Jane Austen").await;
    add_book(library, "Persuasion", "Jane Austen").await;
    add_book(library, "Middlemarch", "George Eliot").await;
    let (status, answer) = library.get("books?q[author_cont]=AUSTEN&sort=-title").await;
    assert_eq!((status, titles(&answer)), (200, vec!["Persuasion", "Emma"]));
    assert_eq!(answer["meta"]["total"], 2);
    assert_eq!(lend(library, emma, "Ada").await.0, 201);
    let (_, answer) = library.get(&format!("books/{emma}?include=loans")).await;
    assert_eq!(answer["book"]["loans"][0]["reader"], "Ada");
    let (_, answer) = library.get("loans?q[book.title_eq]=Emma&include=book").await;
    assert_eq!(
        (&answer["loans"][0]["book"]["title"], &answer["loans"][0]["book_title"]),
        (&json!("Emma"), &json!("Emma"))
    );
}

async fn openapi_document_describes_its_own_resources(library: &Program) {
    let (status, description) = library.get("openapi.json").await;
    assert_eq!((status, &description["info"]["title"]), (200, &json!("Lending API")));
    let give_back = &description["paths"]["/api/v1/loans/{id}/give_back"]["post"];
    assert_eq!((&give_back["operationId"], &give_back["x-ability"]), (&json!("give_back_loan"), &json!("loans:write")));
    assert_eq!(description["components"]["schemas"]["Book"]["properties"]["genre"]["enum"][0], "fiction");
    let filters = description["paths"]["/api/v1/loans"]["get"]["parameters"].to_string();
    assert!(filters.contains("q[due_on_lt]") && !filters.contains("q[due_on_eq]"), "as `filters` says");
    let filters = description["paths"]["/api/v1/books"]["get"]["parameters"].as_array().unwrap();
    let deprecated = |name: &str| filters.iter().find(|one| one["name"] == name).unwrap()["deprecated"].clone();
    assert_eq!((deprecated("q[author_start]"), deprecated("q[author_cont]")), (json!(true), Value::Null));
    assert!(!description["paths"].to_string().contains("product"));
}

async fn undeclared_filters_and_sorts_are_not_applied(library: &Program) {
    let (status, answer) = library.get("loans?q[reader_start]=A&q[lent_on_null]=1").await;
    assert_eq!(status, 422);
    assert!(
        answer["errors"]["q[reader_start]"].is_array() && answer["errors"]["q[lent_on_null]"].is_array(),
        "{answer}"
    );
    // A sort that is not supported is ignored.
    assert_eq!(library.get("books?sort=genre").await.0, 200);
}

async fn a_book_is_lent_to_one_reader_at_a_time(library: &Program) {
    let book = add_book(library, "Emma", "Jane Austen").await;
    let (status, answer) = lend(library, book, "Ada").await;
    assert_eq!(status, 201, "{answer}");
    let loan = answer["loan"]["id"].as_i64().unwrap();
    let day = |field: &str| answer["loan"][field].as_str().unwrap().parse::<chrono::NaiveDate>().unwrap();
    assert_eq!((day("due_on") - day("lent_on")).num_days(), 28);
    assert_eq!(day("lent_on"), chrono::Utc::now().date_naive());

    let (status, answer) = lend(library, book, "Grace").await;
    assert_eq!((status, &answer["errors"]), (422, &json!({ "book_id": ["is lent already"] })));

    let (status, first) = library.post(&format!("loans/{loan}/give_back"), json!({})).await;
    assert_eq!(status, 200);
    assert!(first["loan"]["returned_at"].is_string(), "{first}");
    let (_, again) = library.post(&format!("loans/{loan}/give_back"), json!({})).await;
    assert_eq!(again, first);
    assert_eq!(lend(library, book, "Grace").await.0, 201);
    let (_, answer) = library.get("loans?q[returned_at_null]=1").await;
    assert_eq!((&answer["meta"]["total"], &answer["loans"][0]["reader"]), (&json!(1), &json!("Grace")));
}

async fn one_of_many_concurrent_loans_succeeds(library: &Program) {
    let book = add_book(library, "Emma", "Jane Austen").await;
    let (a, b, c, d) = tokio::join!(
        lend(library, book, "a"),
        lend(library, book, "b"),
        lend(library, book, "c"),
        lend(library, book, "d")
    );
    let mut statuses = [a.0, b.0, c.0, d.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 422, 422, 422]);
}

async fn a_token_needs_the_ability(library: &Program) {
    let reader = library.token_with(&["books:read"]);
    assert_eq!(library.call(&reader, Method::GET, "books", None).await.0, 200);
    let book = json!({ "title": "Emma", "author": "Jane Austen" });
    let (status, answer) = library.call(&reader, Method::POST, "books", Some(book)).await;
    assert_eq!((status, &answer["code"]), (403, &json!("ability_missing")));
    assert_eq!(library.call(&reader, Method::GET, "loans", None).await.0, 403);
    assert_eq!(library.call("", Method::GET, "books", None).await.0, 401);
}

async fn custom_route_has_the_same_tokens_and_errors(library: &Program) {
    let book = add_book(library, "Emma", "Jane Austen").await;
    let lent = json!({ "book_id": book, "reader": "Ada", "lent_on": "2020-01-01", "due_on": "2020-02-01" });
    assert_eq!(library.post("loans", lent).await.0, 201);
    assert_eq!(library.read(&library.token, "overdue").await, (200, "2020-02-01 Ada Emma\n".into()));
    let code = |(status, text): (u16, String)| {
        let told: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        (status, told["code"].clone())
    };
    assert_eq!(code(library.read("chr_x", "overdue").await), (401, json!("invalid_token")));
    let reader = library.token_with(&["books:read"]);
    assert_eq!(code(library.read(&reader, "overdue").await), (403, json!("ability_missing")));
}

async fn dashboard_lists_the_loans_that_are_due(library: &Program) {
    for (reader, due) in [("Ada", "2020-02-01"), ("Grace", "2099-02-01"), ("Joan", "2020-02-02")] {
        let book = add_book(library, "Emma", "Jane Austen").await;
        let lent = json!({ "book_id": book, "reader": reader, "lent_on": "2020-01-01", "due_on": due });
        assert_eq!(library.post("loans", lent).await.0, 201);
    }
    assert_eq!(library.post("loans/3/give_back", json!({})).await.0, 200);
    let (status, page) = library.page(&library.session().await, "").await;
    assert_eq!(status, 200, "{page}");
    let is_there = ["Loans due", "Ada", "Late", "Grace", "Joan"].map(|text| page.contains(text));
    assert_eq!(is_there, [true, true, true, false, false], "{page}");
}

async fn every_change_writes_an_event(library: &Program) {
    let book = add_book(library, "Emma", "Jane Austen").await;
    let (_, answer) = lend(library, book, "Ada").await;
    let loan = answer["loan"]["id"].as_i64().unwrap();
    let (_, returned) = library.post(&format!("loans/{loan}/give_back"), json!({})).await;
    assert_eq!(library.call(&library.token, Method::DELETE, &format!("loans/{loan}"), None).await.0, 204);

    let database = Database::connect(&library.database_url).await.unwrap();
    let statement =
        Statement::from_string(database.get_database_backend(), "SELECT name, body FROM events ORDER BY id");
    let rows = database.query_all_raw(statement).await.unwrap();
    let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name").unwrap()).collect();
    let ours: Vec<&str> = names.iter().map(String::as_str).filter(|name| !name.starts_with("user.")).collect();
    assert_eq!(ours, ["book.created", "loan.created", "loan.updated", "loan.deleted"]);
    let body: String = rows[names.iter().position(|name| name == "loan.updated").unwrap()].try_get("", "body").unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&body["event"], &body["data"]), (&json!("loan.updated"), &returned));
}
