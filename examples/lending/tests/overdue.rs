//! Overdue loans, on SQLite and PostgreSQL.

use std::time::Duration;

use charter_testing::{Database, Program, Server, on_both};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

on_both!(
    loan_is_overdue_after_four_weeks,
    overdue_loans_need_their_ability_and_are_described,
    commands_list_the_path_and_explain_its_access,
);

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
    let (status, answer) = library.post("/overdue", json!({})).await;
    assert_eq!((status, &answer["code"]), (405, &json!("method_not_allowed")), "{answer}");

    let (_, document) = library.get("/api/v1/openapi.json").await;
    let operation = &document["paths"]["/overdue"]["get"];
    assert_eq!(operation["x-ability"], "loans:read", "{operation}");
    assert_eq!(operation["summary"], "Overdue loans");
    assert!(operation["responses"]["200"]["content"]["text/plain"].is_object(), "{operation}");
    assert!(operation["responses"]["403"].is_object());
}

async fn commands_list_the_path_and_explain_its_access(database: Database) {
    let program = Program::start(env!("CARGO_BIN_EXE_lending"), database);
    let routes: Value = serde_json::from_str(&program.run(&["routes", "--format", "json"])).unwrap();
    let route = routes.as_array().unwrap().iter().find(|route| route["path"] == "/overdue").expect("it is listed");
    assert_eq!((&route["method"], &route["ability"]), (&json!("GET"), &json!("loans:read")));

    let (reader, other) = (program.token_with(&["loans:read"]), program.token_with(&["books:read"]));
    let said = program.run(&["can", &reader, "get", "/overdue", "--format", "json"]);
    let rules: Value = serde_json::from_str(&said).unwrap();
    let rules: Vec<(&str, &str)> =
        rules.as_array().unwrap().iter().map(|rule| (text(&rule["rule"]), text(&rule["verdict"]))).collect();
    assert_eq!(rules, [("token", "allows"), ("user", "allows"), ("ability", "allows")]);
    for (token, method, path, problem) in [
        (other.as_str(), "get", "/overdue", "denied: 403 ability_missing"),
        ("public", "get", "/overdue", "denied: 401 unauthenticated"),
        ("chr_nonsense", "get", "/overdue", "denied: 401 invalid_token"),
        (reader.as_str(), "post", "/overdue", "nothing is mounted at `post /overdue`; did you mean `get /overdue`?"),
        (reader.as_str(), "get", "/overdu", "nothing is mounted at `get /overdu`; did you mean `get /overdue`?"),
    ] {
        assert_eq!(program.refused(&["can", token, method, path]), problem);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
