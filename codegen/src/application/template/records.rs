//! Requests to `/api/v1/RESOURCES`, on SQLite and PostgreSQL.

use charter_testing::{Database, Server, on_both};

on_both!(an_empty_table_is_an_empty_list, a_token_needs_the_ability_to_read);

async fn an_empty_table_is_an_empty_list(database: Database) {
    let server = Server::start(APPLICATION::app, database).await;
    let (status, answer) = server.get("RESOURCES").await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["meta"]["total"], 0, "{answer}");
}

async fn a_token_needs_the_ability_to_read(database: Database) {
    let server = Server::start(APPLICATION::app, database).await;
    let token = server.token_with(&["users:read"]).await;
    let (status, answer) = server.with_token(&token).get("RESOURCES").await;
    assert_eq!(status, 403, "{answer}");
}
