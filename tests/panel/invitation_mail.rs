//! Mails of invitations: sent after the commit, with their result in the panel, the audit log and the metrics.

use std::time::{Duration, Instant};

use charter_testing::postgres::free_port;
use serde_json::{Value, json};

use super::{CookieClient, PASSWORD, signed_in};
use crate::support::{Server, Smtp, logged, on_both};

on_both!(
    smtp:
    invitation_is_mailed_and_answered_as_before,
    invitation_of_a_replayed_request_is_mailed_once,
    panel_shows_the_result_of_the_mail_and_the_link,
    failed_mail_keeps_the_invitation_and_shows_no_secret,
    mail_server_that_hangs_delays_one_request_and_no_other_write,
    names_with_line_breaks_add_no_headers,
    changed_password_is_noticed_by_mail,
);

on_both!(server_without_mail_sends_and_records_none);

/// A server that sends its mail to this one, within two seconds.
pub(super) async fn mailing(server: &Server, smtp: &Smtp) -> Server {
    server
        .configured(|config| {
            config.smtp = Some(smtp.config());
            config.request_timeout = Duration::from_secs(4);
        })
        .await
}

pub(super) async fn create_user(server: &Server, name: &str, email: &str) -> Value {
    let user = json!({ "name": name, "email": email });
    server.admin().post("/users", user).await.created("user")
}

/// The audit entries of a user's mails, oldest first: action, kind and reason.
pub(super) async fn mail_entries(server: &Server, user: &Value) -> Vec<(String, String, String)> {
    let path = format!("/audit_entries?q[entity_type_eq]=users&q[record_id_eq]={}&sort=id&per_page=100", user["id"]);
    let entries = server.admin().get(&path).await.records("audit_entries");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let entries = entries.iter().filter(|entry| entry["action"].as_str().is_some_and(|one| one.starts_with("mail_")));
    entries
        .map(|entry| {
            let changes = &entry["changes"];
            (text(&entry["action"]), text(&changes["kind"]["new"]), text(&changes["reason"]["new"]))
        })
        .collect()
}

pub(super) async fn mails(server: &Server, kind: &str, result: &str) -> String {
    let metrics = server.anonymous().get("~/health/metrics").await.status(200).text.clone();
    let series = format!("charter_mails_total{{kind=\"{kind}\",result=\"{result}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(series.as_str())).unwrap_or("none").to_string()
}

async fn invitation_is_mailed_and_answered_as_before(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let ada = create_user(&server, "Ada Løvelace", "ada@example.com").await;
    let answer = server.admin().post(&format!("/users/{}/invite", ada["id"]), json!({})).await.record("user");
    let mail = smtp.mail(1).await;
    assert_eq!(mail.recipients, ["ada@example.com"]);
    assert_eq!(mail.header("From"), "Charter <charter@example.com>");
    assert_eq!(mail.header("To"), "Ada Løvelace <ada@example.com>");
    assert_eq!(mail.header("Subject"), "Your invitation to Charter");
    assert_eq!(mail.header("Auto-Submitted"), "auto-generated");
    assert!(mail.header("Message-ID").ends_with("@example.com>") && !mail.header("Date").is_empty());
    let link = mail.link(&server.url());
    assert_eq!(answer["invitation_url"].as_str(), Some(format!("{}{link}", server.url()).as_str()));
    for part in ["Hello Ada Løvelace,", "invited to Charter", "valid for 7 days", "ignore it"] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    let entry = ("mail_sent".to_string(), "invitation".to_string(), String::new());
    assert_eq!(mail_entries(&server, &ada).await, [entry]);
    assert_eq!(mails(&server, "invitation", "sent").await, "1");
    let mut panel = CookieClient::new(&server.url());
    panel.post(&link, &[("password", PASSWORD)]).await.status(303);
}

async fn invitation_of_a_replayed_request_is_mailed_once(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let ada = create_user(&server, "Ada", "ada@example.com").await;
    let (admin, path) = (server.admin().with("idempotency-key", "one"), format!("/users/{}/invite", ada["id"]));
    let first = admin.post(&path, json!({})).await.record("user");
    let second = admin.post(&path, json!({})).await.record("user");
    assert_eq!(first, second);
    assert_eq!(smtp.received().len(), 1);
}

async fn panel_shows_the_result_of_the_mail_and_the_link(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let (ada, eve) = (
        create_user(&server, "Ada", "ada@example.com").await,
        create_user(&server, "Eve", "refused@example.com").await,
    );
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    smtp.mail(1).await;
    let page = panel.submit(&format!("/users/{}/invite", ada["id"]), &[]).await;
    page.status(200)
        .says("Sent to <strong>ada@example.com</strong>")
        .says("shown only once")
        .says("/panel/invitation/");
    let page = panel.submit(&format!("/users/{}/invite", eve["id"]), &[]).await;
    page.status(200).says("could not be sent: the mail server answered 550").says("there is no such mailbox");
    page.says("shown only once").says("/panel/invitation/");
    smtp.mail(2).await;
}

async fn failed_mail_keeps_the_invitation_and_shows_no_secret(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    for (email, said) in [
        ("refused@example.com", "the mail server answered 550 5.1.1 <[hidden]>: there is no such mailbox"),
        ("quoted@example.com", "the mail server answered 550 5.7.1 denied: Hello Ada, You are invited to Charter."),
        ("hanging@example.com", "the mail server did not answer within 2 seconds"),
    ] {
        let user = create_user(&server, "Ada", email).await;
        let answer = server.admin().post(&format!("/users/{}/invite", user["id"]), json!({})).await;
        let link = answer.record("user")["invitation_url"].as_str().expect("a link").to_string();
        let entries = mail_entries(&server, &user).await;
        let [(action, kind, reason)] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!((action.as_str(), kind.as_str()), ("mail_failed", "invitation"));
        assert!(reason.starts_with(said), "{reason}");
        let secret = link.rsplit('/').next().expect("a secret");
        let line = logged(answer.header("x-request-id").expect("an id"));
        assert!(line.contains("mail could not be sent") && line.contains(said), "{line}");
        for text in [reason, &line] {
            assert!(!text.contains(secret) && !text.contains(email), "{text}");
        }
        let path = link.strip_prefix(&server.url()).expect("a link of this server");
        CookieClient::new(&server.url()).get(path).await.status(200);
    }
    assert_eq!(mails(&server, "invitation", "failed").await, "3");
    assert_eq!(smtp.received().len(), 0);
    let down = server.configured(|config| config.smtp = Some(Smtp::config_at(free_port()))).await;
    let user = create_user(&down, "Ada", "ada@example.com").await;
    down.admin().post(&format!("/users/{}/invite", user["id"]), json!({})).await.record("user");
    let (_, _, reason) = mail_entries(&down, &user).await.remove(0);
    assert!(reason.starts_with("the connection to the mail server failed: Connection refused"), "{reason}");
}

async fn mail_server_that_hangs_delays_one_request_and_no_other_write(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let user = create_user(&server, "Ada", "hanging@example.com").await;
    let (admin, path) = (server.admin(), format!("/users/{}/invite", user["id"]));
    let inviting = tokio::spawn(async move { admin.post(&path, json!({})).await.record("user") });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let start = Instant::now();
    create_user(&server, "Eve", "eve@example.com").await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(!inviting.is_finished());
    inviting.await.expect("an answer");
}

async fn names_with_line_breaks_add_no_headers(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let name = "Ada\r\nBcc: eve@example.com\r\n\r\nClick here";
    let ada = create_user(&server, name, "ada@example.com").await;
    server.admin().post(&format!("/users/{}/invite", ada["id"]), json!({})).await.record("user");
    let mail = smtp.mail(1).await;
    assert_eq!(mail.recipients, ["ada@example.com"]);
    let expected = [
        "auto-submitted",
        "content-transfer-encoding",
        "content-type",
        "date",
        "from",
        "message-id",
        "mime-version",
        "subject",
        "to",
    ];
    assert_eq!(mail.header_names(), expected);
    assert!(mail.text.starts_with("Hello Ada Bcc: eve@example.com Click here,\n\nYou are"), "{}", mail.text);
}

async fn changed_password_is_noticed_by_mail(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    smtp.mail(1).await;
    let new = "another long password";
    panel.submit("/panel/password", &[("old", PASSWORD), ("password", new)]).await.status(303);
    let mail = smtp.mail(2).await;
    assert_eq!(mail.header("Subject"), "Your password for Charter was changed");
    assert!(mail.text.contains("from the address 127.0.0.1") && mail.text.contains("tell an administrator"));
    assert!(!mail.text.contains(new) && !mail.text.contains("http"), "{}", mail.text);
}

async fn server_without_mail_sends_and_records_none(server: Server) {
    let ada = create_user(&server, "Ada", "ada@example.com").await;
    server.admin().post(&format!("/users/{}/invite", ada["id"]), json!({})).await.record("user");
    assert_eq!(mail_entries(&server, &ada).await, []);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.submit(&format!("/users/{}/invite", ada["id"]), &[]).await;
    assert!(!page.status(200).says("/panel/invitation/").text.contains("Sent to"), "{}", page.text);
    let mut stranger = CookieClient::new(&server.url());
    let page = stranger.get("/panel/sign-in").await;
    assert!(!page.status(200).says("Ask an administrator").text.contains("forgot-password"), "{}", page.text);
    assert!(stranger.get("/panel/forgot-password").await.status(303).header("location").contains("/panel/sign-in"));
    stranger.post("/panel/forgot-password", &[("email", "ada@example.com")]).await.status(303);
}
