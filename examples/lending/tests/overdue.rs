//! Overdue loans, on SQLite and PostgreSQL.

use std::time::Duration;

use charter_testing::{Database, Server, on_both};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

on_both!(loan_is_overdue_after_four_weeks, overdue_loans_need_their_ability_and_are_described);

async fn loan_is_overdue_after_four_weeks(database: Database) {
    let library = Server::start(lending::app, database).await;
    let (status, answer) = library.post("books", json!({ "title": "Emma", "author": "Jane Austen" })).await;
    assert_eq!(status, 201, "{answer}");
    let loan = json!({ "book_id": answer["book"]["id"], "reader": "Ada" });
    let (status, answer) = library.post("loans", loan).await;
    assert_eq!(status, 201, "{answer}");

    library.advance_clock(28 * DAY);
    assert_eq!(library.get("/overdue").await, (200, Value::Null), "the loan is due today");
    library.advance_clock(DAY);
    let due = answer["loan"]["due_on"].as_str().unwrap();
    assert_eq!(library.get("/overdue").await, (200, json!(format!("{due} Ada Emma\n"))));
}

async fn overdue_loans_need_their_ability_and_are_described(database: Database) {
    let library = Server::start(lending::app, database).await;
    assert_eq!(library.anonymous().get("/overdue").await.0, 401);
    let other = library.with_token(&library.token_with(&["books:read"]).await);
    let (status, answer) = other.get("/overdue").await;
    assert_eq!((status, &answer["code"]), (403, &json!("ability_missing")), "{answer}");

    let (_, document) = library.get("/api/v1/openapi.json").await;
    let operation = &document["paths"]["/overdue"]["get"];
    assert_eq!(operation["x-ability"], "loans:read", "{operation}");
    assert_eq!(operation["summary"], "Overdue loans");
    assert!(operation["responses"]["200"]["content"]["text/plain"].is_object(), "{operation}");
    assert!(operation["responses"]["403"].is_object());
}
