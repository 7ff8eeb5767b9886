//! Reminders of overdue loans, on SQLite and PostgreSQL.

use std::time::Duration;

use charter_testing::{Database, Server, on_both};
use serde_json::json;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

on_both!(reader_of_an_overdue_loan_is_reminded_once_after_the_grace_period);

async fn reader_of_an_overdue_loan_is_reminded_once_after_the_grace_period(database: Database) {
    let library = Server::start(lending::app, database).await;
    let (_, answer) = library.post("books", json!({ "title": "Emma", "author": "Jane Austen" })).await;
    let loan = json!({ "book_id": answer["book"]["id"], "reader": "Ada" });
    assert_eq!(library.post("loans", loan).await.0, 201);
    for (days, reminders) in [(31, 0), (1, 1), (1, 1)] {
        library.advance_clock(days * DAY);
        job_has_run(&library).await;
        let events = library.events().await;
        assert_eq!(events.iter().filter(|(name, _)| name == "loan.updated").count(), reminders, "{events:?}");
    }
}

/// Waits until the job has run in the current hour.
async fn job_has_run(library: &Server) {
    let hour = library.state.clock.now().format("%Y-%m-%dT%H:00:00").to_string();
    for _ in 0..200 {
        let (_, answer) = library.get("background_jobs?sort=-id&q[status_eq]=done").await;
        if answer["background_jobs"][0]["scheduled_for"].as_str().is_some_and(|time| time.starts_with(&hour)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the job has not run");
}
