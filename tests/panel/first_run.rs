//! First steps on the first page of an empty service: checked off by records, hidden once done, and by the user's rights.

use std::time::Duration;

use serde_json::json;

use super::signed_in;
use crate::support::{Server, on_both};

on_both!(first_steps_are_checked_off_and_disappear_once_all_are_done, first_steps_are_those_that_the_user_may_take,);

async fn first_steps_are_checked_off_and_disappear_once_all_are_done(server: Server) {
    let client = server.admin();
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/").await;
    page.says("First steps")
        .says("<a href=\"/settings\">Complete the company’s settings</a>")
        .says("<a href=\"/products/new\">Add the first product</a>")
        .says("<a href=\"/users/new\">Invite a person</a>")
        .says("<a href=\"/webhooks/new\">");
    assert!(!page.text.contains(" (done)"));
    let done = |page: &super::cookie_client::Page| page.text.matches(" (done)").count();
    // The record shows whole seconds.
    server.state.clock.advance(Duration::from_secs(2));
    client.put("/settings", json!({ "company_name": "Example Rentals" })).await.ok();
    assert_eq!(done(&panel.get("/").await), 1);
    client.post("/products", json!({ "name": "Chair" })).await.created("product");
    assert_eq!(done(&panel.get("/").await), 2);
    client.post("/users", json!({ "name": "Ada", "email": "ada@example.com" })).await.created("user");
    assert_eq!(done(&panel.get("/").await), 3);
    let webhook = json!({ "url": "https://93.184.215.14/", "events": ["product.created"] });
    client.post("/webhooks", webhook).await.created("webhook");
    assert!(!panel.get("/").await.text.contains("First steps"));
}

async fn first_steps_are_those_that_the_user_may_take(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let page = signed_in(&server, &user).await.get("/").await;
    page.says("Add the first product");
    for hidden in ["Invite a person", "Complete the company’s settings"] {
        assert!(!page.text.contains(hidden), "{hidden}");
    }
}
