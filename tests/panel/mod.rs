//! The panel, as browsers meet it: its journeys in a real one, and what it refuses over plain HTTP.

mod accessibility;
mod administration;
mod asked;
mod deleted;
mod kept;
mod keyboard;
mod lists;
mod permissions;
mod pictures;
mod records;
mod references;
mod rows;
mod sessions;
mod shown;
mod signing_in;
mod sweeps;
mod views;
mod visitor;
mod ways;
mod words;

use serde_json::{Value, json};

use crate::support::{Browser, Server};
use visitor::Visitor;

const PASSWORD: &str = "correct horse battery staple";

/// The link by which a user sets a password.
async fn invitation(server: &Server, user_id: i64) -> String {
    let user = server.admin().post(&format!("/users/{user_id}/invite"), json!({})).await.record("user");
    user["invitation_url"].as_str().expect("a link").to_string()
}

/// A browser in which the administrator is signed in; none where no browser is installed.
async fn admin(server: &Server) -> Option<Browser> {
    let link = invitation(server, 1).await;
    let mut browser = Browser::start(&server.url())?;
    browser.open(&link);
    browser.fill("#password", PASSWORD);
    browser.follow("form button");
    browser.sees("Overview");
    Some(browser)
}

/// A user without a browser who is signed in.
pub async fn visitor(server: &Server, user: &Value) -> Visitor {
    let link = invitation(server, user["id"].as_i64().expect("an id")).await;
    let path = link.strip_prefix(&server.url()).expect("a link of this server").to_string();
    let mut visitor = Visitor::new(&server.url());
    visitor.post(&path, &[("password", PASSWORD)]).await.status(303);
    visitor
}
