//! Administration in the browser: users and their links, roles, tokens shown once, webhooks, rates, the first page.

use serde_json::json;

use super::{admin, visitor};
use crate::support::{Server, on_both};

on_both!(
    a_token_is_made_by_its_abilities_and_shown_once,
    a_user_is_made_given_a_role_and_invited,
    a_webhook_is_made_and_its_log_is_read,
    rates_are_converted_and_drawn_over_time,
    the_first_page_says_what_is_due_and_what_fails,
);

async fn a_token_is_made_by_its_abilities_and_shown_once(server: Server) {
    let Some(mut browser) = admin(&server).await else { return };
    browser.open("/tokens/new");
    browser.fill("[name=name]", "For reading");
    browser.press("[value='products:read']");
    browser.follow(".record .primary");
    browser.sees("it is shown this once");
    let secret = browser.run("document.querySelector('#secret-value').value");
    let secret = secret.as_str().expect("a token");
    let reading = server.client(secret);
    reading.get("/products").await.ok();
    reading.get("/members").await.status(403);
    browser.follow("p .primary");
    browser.sees("products:read");
    assert!(!browser.text("body").contains(secret));
    browser.is_clean();
}

async fn a_user_is_made_given_a_role_and_invited(server: Server) {
    let Some(mut browser) = admin(&server).await else { return };
    browser.open("/roles/new");
    browser.fill("[name=name]", "Bookkeeping");
    browser.press("[value='settings.manage']");
    browser.follow(".record .primary");
    browser.open("/users/new");
    browser.fill("[name=name]", "Ada");
    browser.fill("[name=email]", "ada@example.com");
    browser.run("document.querySelector('#field-role_ids').focus(); 1");
    browser.type_text("book");
    browser.until("document.querySelector('.offered:not([hidden]) li')?.innerText === 'Bookkeeping'");
    browser.key("Enter", 0);
    browser.follow(".record .primary");
    browser.sees("Bookkeeping");
    let user = server.admin().get("/users?q[email_eq]=ada@example.com").await.records("users")[0].clone();
    assert_eq!(user["role_ids"], json!([1]));
    browser.follow("form[action$='/invite'] button");
    let link = browser.run("document.querySelector('#secret-invitation_url').value");
    let link = link.as_str().expect("a link").to_string();
    browser.open(&link);
    browser.sees("Welcome, Ada");
    browser.is_clean();
}

async fn a_webhook_is_made_and_its_log_is_read(server: Server) {
    let Some(mut browser) = admin(&server).await else { return };
    browser.open("/webhooks/new");
    browser.fill("[name=url]", "https://93.184.215.14/hook");
    browser.press("[value='product.created']");
    browser.follow(".record .primary");
    browser.sees("it is shown this once");
    browser.follow("p .primary");
    browser.sees("Deliveries");
    assert!(browser.text("main").contains("Logs"), "{}", browser.text("main"));
    browser.follow("form[action$='/rotate_secret'] button");
    browser.sees("it is shown this once");
    browser.open("/webhooks/1/recover");
    browser.fill("[name=since]", "2099-01-01T00:00");
    browser.follow(".record .primary");
    assert!(browser.text("#field-since-error").contains("must not be in the future"));
    browser.is_clean();
}

async fn rates_are_converted_and_drawn_over_time(server: Server) {
    let client = server.admin();
    for (rate, month) in [("1.17", "01"), ("1.19", "02"), ("1.15", "03")] {
        let at = format!("2026-{month}-01T00:00:00Z");
        let rate =
            json!({ "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": rate, "effective_at": at });
        client.post("/exchange_rates", rate).await.created("exchange_rate");
    }
    let mut admin = visitor(&server, &json!({ "id": 1 })).await;
    admin.get("/exchange_rates").await.status(200).says("GBP → EUR: Rate from 1.15 to 1.19");
    let page = admin.get("/exchange_rates/convert?from=GBP&to=EUR&amount=100").await;
    page.status(200).says("115.00");
    admin.get("/exchange_rates/convert?from=GBP&to=EUR").await.status(422).says("is required");
    admin.get("/exchange_rates/convert").await.status(200).says("name=\"amount\"");
}

async fn the_first_page_says_what_is_due_and_what_fails(server: Server) {
    let client = server.admin();
    client
        .post("/activities", json!({ "subject": "Overdue call", "ends_at": "2020-01-01T10:00:00Z" }))
        .await
        .created("activity");
    client
        .post("/activities", json!({ "subject": "Far away", "ends_at": "2099-01-01T10:00:00Z" }))
        .await
        .created("activity");
    let mut admin = visitor(&server, &json!({ "id": 1 })).await;
    let page = admin.get("/").await;
    page.status(200).says("Overdue call").says("Late").says("No webhook fails");
    assert!(!page.text.contains("Far away"));
    let webhook = json!({ "url": "https://93.184.215.14/hook", "events": ["*"] });
    client.post("/webhooks", webhook).await.created("webhook");
    server.sql("UPDATE webhooks SET failing_since = '2026-01-01T00:00:00+00:00'").await;
    admin.get("/").await.status(200).says("Fails since").says("93.184.215.14");
}
