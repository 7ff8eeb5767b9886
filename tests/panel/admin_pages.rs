//! Administration pages and dashboard: users, roles, tokens, webhooks and exchange rates.

use charter_runtime::webhook::UrlPolicy;
use serde_json::json;

use super::{admin, signed_in};
use crate::support::{Receiver, Server, on_both};

on_both!(
    a_delivery_is_resent_from_the_page_of_its_webhook,
    exchange_rates_are_converted_and_shown_in_a_chart,
    the_dashboard_shows_due_records_and_failing_webhooks,
    the_dashboard_counts_created_records,
);

on_both!(
    browser:
    a_token_is_created_with_abilities_and_shown_once,
    a_user_is_created_with_a_role_and_invited,
    a_webhook_is_created_and_its_deliveries_are_shown,
);

async fn a_token_is_created_with_abilities_and_shown_once(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/tokens/new");
    browser.fill("[name=name]", "For reading");
    browser.press("[value='products:read']");
    browser.follow(".record .primary");
    browser.sees("It is shown only once");
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

async fn a_user_is_created_with_a_role_and_invited(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/roles/new");
    browser.fill("[name=name]", "Bookkeeping");
    browser.press("[value='settings.manage']");
    browser.follow(".record .primary");
    browser.open("/users/new");
    browser.fill("[name=name]", "Ada");
    browser.fill("[name=email]", "ada@example.com");
    browser.refer("#field-role_ids", "book", "Bookkeeping");
    browser.follow(".record .primary");
    browser.sees("Bookkeeping");
    let user = server.admin().get("/users?q[email_eq]=ada@example.com").await.records("users")[0].clone();
    assert_eq!(user["role_ids"], json!([3]));
    browser.follow("form[action$='/invite'] button");
    let link = browser.run("document.querySelector('#secret-invitation_url').value");
    let link = link.as_str().expect("a link").to_string();
    browser.open(&link);
    browser.sees("Welcome, Ada");
    browser.is_clean();
}

async fn a_webhook_is_created_and_its_deliveries_are_shown(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/webhooks/new");
    browser.fill("[name=url]", "https://93.184.215.14/hook");
    browser.press("[value='product.created']");
    browser.follow(".record .primary");
    browser.sees("It is shown only once");
    browser.follow("p .primary");
    browser.sees("Deliveries");
    assert!(browser.text("main").contains("Logs"), "{}", browser.text("main"));
    browser.follow("a[href$='/rotate_secret']");
    browser.sees("stays valid for 24 hours");
    browser.follow("form[action$='/rotate_secret'] button");
    browser.sees("It is shown only once");
    browser.open("/webhooks/1/recover");
    browser.fill("[name=since]", "2099-01-01T00:00");
    browser.follow(".record .primary");
    assert!(browser.text("#field-since-error").contains("must not be in the future"));
    browser.is_clean();
}

async fn a_delivery_is_resent_from_the_page_of_its_webhook(server: Server) {
    let networks = vec!["127.0.0.0/8".parse().expect("a network")];
    let policy = UrlPolicy { allow_http: true, networks };
    let server = server.configured(|config| config.webhook_policy = policy).await;
    let receiver = Receiver::answering(200).await;
    let hook = json!({ "url": receiver.url(), "events": ["*"] });
    server.admin().post("/webhooks", hook).await.created("webhook");
    server.admin().post("/webhooks/1/test", json!({})).await.status(200);
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let log = server.admin().get("/webhooks/1/logs").await.records("logs")[0].clone();
    let again = format!("/webhooks/1/logs/{}/resend", log["id"]);
    admin.get("/webhooks/1").await.status(200).says(&format!("action=\"{again}\"")).says("Resend");
    admin.submit(&again, &[("_back", "/webhooks/1")]).await.status(200).says("200");
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"), "the same delivery");
    assert_eq!(server.admin().get("/webhooks/1/logs").await.ok()["meta"]["total"], 2);
    // The page of a delivery attempt shows request and response without the signatures, which would allow a replay.
    let page = admin.get(&format!("/webhooks/1/logs/{}", log["id"])).await;
    page.status(200)
        .says("<h2>Request</h2>")
        .says("webhook.test&quot;,&quot;timestamp&quot;")
        .says("webhook-timestamp");
    page.says(&receiver.url()).says("Response status").says("Response body").says(">POST<");
    for name in ["x-service-signature", "webhook-signature"] {
        assert!(!page.text.contains(name) && !page.text.contains(received[0].header(name)), "{name}");
    }
    assert!(!page.text.contains("/request\""), "the result is shown on the page without a button");
    // A table shows both ends of a long id, the page of the entry the whole id.
    let id = log["delivery_id"].as_str().expect("an id");
    page.says(&format!(">{id}<"));
    let short = format!("<code title=\"{id}\">{}…{}</code>", &id[..8], &id[id.len() - 4..]);
    for table in ["/webhooks/1", "/webhooks/1/logs?columns=event,delivery_id"] {
        let page = admin.get(table).await;
        page.status(200).says(&short);
        assert!(!page.text.contains(&format!(">{id}<")), "{table}");
    }
    let to = format!("/webhooks/1/logs/{}", log["id"]);
    assert_eq!(admin.get(&format!("{to}/request")).await.status(303).header("location"), to);
}

async fn exchange_rates_are_converted_and_shown_in_a_chart(server: Server) {
    let client = server.admin();
    for (rate, month) in [("1.17", "01"), ("1.19", "02"), ("1.15", "03")] {
        let at = format!("2026-{month}-01T00:00:00Z");
        let rate =
            json!({ "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": rate, "effective_at": at });
        client.post("/exchange_rates", rate).await.created("exchange_rate");
    }
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    // The chart does not depend on the page size and the sort order.
    for path in ["/exchange_rates", "/exchange_rates?per_page=1&sort=rate&columns=rate"] {
        admin.get(path).await.status(200).says("GBP → EUR: Rate from 1.15 to 1.19");
    }
    let page = admin.get("/exchange_rates/convert?from=GBP&to=EUR&amount=100").await;
    page.status(200).says("115.00");
    admin.get("/exchange_rates/convert?from=GBP&to=EUR").await.status(422).says("is required");
    admin.get("/exchange_rates/convert").await.status(200).says("name=\"amount\"");
}

async fn the_dashboard_shows_due_records_and_failing_webhooks(server: Server) {
    let client = server.admin();
    client
        .post("/activities", json!({ "subject": "Overdue call", "ends_at": "2020-01-01T10:00:00Z" }))
        .await
        .created("activity");
    client
        .post("/activities", json!({ "subject": "Far away", "ends_at": "2099-01-01T10:00:00Z" }))
        .await
        .created("activity");
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let page = admin.get("/").await;
    page.status(200).says("Overdue call").says("Late");
    assert!(!page.text.contains("Far away") && !page.text.contains("webhook is failing"));
    let webhook = json!({ "url": "https://93.184.215.14/hook", "events": ["*"] });
    client.post("/webhooks", webhook).await.created("webhook");
    admin.get("/").await.status(200).says("No webhook is failing");
    server.sql("UPDATE webhooks SET failing_since = '2026-01-01T00:00:00+00:00'").await;
    admin.get("/").await.status(200).says("Failing since").says("93.184.215.14");
}

async fn the_dashboard_counts_created_records(server: Server) {
    let client = server.admin();
    for name in ["Lamp", "Table", "Chair"] {
        client.post("/products", json!({ "name": name })).await.created("product");
    }
    client.put("/products/1", json!({ "name": "Light" })).await.ok();
    client.delete("/products/3").await.deleted();
    server.sql("UPDATE events SET created_at = '2020-01-01T00:00:00+00:00' WHERE id = 2").await;
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let page = admin.get("/").await;
    page.status(200).says("aria-label=\"2 products created in 30 days\"").says("0 members created in 30 days");
    // Tokens of other users are not counted, because only a part of the tokens is visible.
    assert!(!page.text.contains("tokens created in"), "{}", page.text);
    let (user, _) = server.user(&[], &["*"]).await;
    let page = signed_in(&server, &user).await.get("/").await;
    page.status(200).says("2 products created in 30 days");
    assert!(!page.text.contains("exchange rates created") && !page.text.contains("Recent changes"));
}
