//! Reset of a forgotten password by mail: the journey, its limits, and answers that reveal no account.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::invitation_mail::{create_user, mail_entries, mailing, mails};
use super::second_factor::{hidden, send, set_up};
use super::{CookieClient, PASSWORD, invitation, signed_in};
use crate::support::{Browser, Database, Server, Smtp, on_both, run};

on_both!(
    smtp:
    forgotten_password_is_replaced_by_a_mailed_link,
    answer_is_the_same_for_every_address_and_waits_for_no_mail,
    link_of_a_reset_expires_and_ends_with_the_next_one,
    reset_keeps_the_second_factor,
    reset_by_a_stranger_keeps_an_invitation,
    requests_are_limited_by_network_and_by_account,
    two_processes_mail_one_link,
    stop_waits_for_a_mail_in_the_background,
);

charter_testing::needs_smtp_and_browser! {
    /// SQLite only: pages are the same on both databases.
    #[test]
    fn forgotten_password_is_replaced_in_a_browser() {
        run(Database::Sqlite, in_a_browser);
    }
}

const PATH: &str = "/panel/forgot-password";
const NEW: &str = "another long password";
const SAID: &str = "If an active account has this address";

async fn ask(panel: &mut CookieClient, email: &str) {
    panel.post(PATH, &[("email", email)]).await.status(200).says(SAID);
}

async fn actions(server: &Server, user: &Value) -> Vec<String> {
    let path = format!("/audit_entries?q[entity_type_eq]=users&q[record_id_eq]={}&sort=id&per_page=100", user["id"]);
    let entries = server.admin().get(&path).await.records("audit_entries");
    entries.iter().map(|entry| entry["action"].as_str().expect("a text").to_string()).collect()
}

async fn forgotten_password_is_replaced_by_a_mailed_link(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let ada = create_user(&server, "Ada", "ada@example.com").await;
    let mut other = signed_in(&server, &ada).await;
    smtp.mail(1).await;
    let mut panel = CookieClient::new(&server.url());
    panel.get("/panel/sign-in").await.status(200).says("href=\"/panel/forgot-password\"");
    panel.get(PATH).await.status(200).says("Send the link");
    ask(&mut panel, " Ada@Example.com ").await;
    let mail = smtp.mail(2).await;
    assert_eq!(
        (mail.recipients[0].as_str(), mail.header("Subject")),
        ("ada@example.com", "A new password for Charter")
    );
    for part in ["Hello Ada,", "account at Charter", "valid for one hour", "ignore this mail"] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    let link = mail.link(&server.url());
    panel.get(&link).await.status(200).says("Choose a new password").says("signs out all your sessions");
    panel.post(&link, &[("password", "short")]).await.status(422);
    other.get("/").await.status(200);
    panel.post(&link, &[("password", NEW)]).await.status(303);
    panel.get("/").await.status(200).says("Overview");
    other.get("/").await.status(303);
    panel.get(&link).await.status(410).says("href=\"/panel/forgot-password\"");
    let notice = smtp.mail(3).await;
    assert!(notice.header("Subject") == "Your password for Charter was changed" && !notice.text.contains(&link));
    let mut fresh = CookieClient::new(&server.url());
    fresh.post("/panel/sign-in", &[("email", "ada@example.com"), ("password", PASSWORD)]).await.status(422);
    fresh.post("/panel/sign-in", &[("email", "ada@example.com"), ("password", NEW)]).await.status(303);
    let all = actions(&server, &ada).await;
    let expected = ["request_reset", "mail_sent", "accept_reset", "set_password", "sign_in"];
    let reset: Vec<&str> = all.iter().map(String::as_str).skip_while(|one| *one != "request_reset").take(5).collect();
    assert_eq!(reset, expected, "{all:?}");
    assert_eq!(mails(&server, "reset", "sent").await, "1");
    assert_eq!(mails(&server, "notice", "sent").await, "1");
}

async fn answer_is_the_same_for_every_address_and_waits_for_no_mail(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let user = create_user(&server, "Ada", "hanging@example.com").await;
    let gone = create_user(&server, "Eve", "gone@example.com").await;
    server.admin().put(&format!("/users/{}", gone["id"]), json!({ "is_active": false })).await.ok();
    let mut answers = Vec::new();
    let long = format!("{}@example.com", "a".repeat(300));
    for email in ["hanging@example.com", "gone@example.com", "nobody@example.com", "", "a\0b", &long] {
        let start = Instant::now();
        let page = CookieClient::new(&server.url()).post(PATH, &[("email", email)]).await;
        assert!(start.elapsed() < Duration::from_secs(1), "{email:?}: {:?}", start.elapsed());
        page.status(200).says(SAID);
        let headers: Vec<String> = page.headers.keys().map(ToString::to_string).collect();
        answers.push((page.text, headers));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let deadline = Instant::now() + Duration::from_secs(20);
    while mail_entries(&server, &user).await.is_empty() {
        assert!(Instant::now() < deadline, "the failure has no entry");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let expected = ("mail_failed", "reset", "the mail server did not answer within 2 seconds");
    let entry = mail_entries(&server, &user).await.remove(0);
    assert_eq!((entry.0.as_str(), entry.1.as_str(), entry.2.as_str()), expected);
    assert_eq!(actions(&server, &gone).await.iter().filter(|one| one.contains("reset")).count(), 0);
    // Nobody is mailed but the user.
    assert_eq!((smtp.received().len(), mails(&server, "reset", "sent").await.as_str()), (0, "0"));
    let foreign = CookieClient::new(&server.url()).with("sec-fetch-site", Some("cross-site"));
    foreign.with("accept", Some("text/html")).post(PATH, &[("email", "hanging@example.com")]).await.status(409);
}

async fn link_of_a_reset_expires_and_ends_with_the_next_one(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let ada = create_user(&server, "Ada", "ada@example.com").await;
    let mut panel = CookieClient::new(&server.url());
    ask(&mut panel, "ada@example.com").await;
    let first = smtp.mail(1).await.link(&server.url());
    server.state.clock.advance(Duration::from_secs(301));
    ask(&mut panel, "ada@example.com").await;
    let second = smtp.mail(2).await.link(&server.url());
    panel.get(&first).await.status(410);
    server.state.clock.advance(Duration::from_secs(3598));
    panel.get(&second).await.status(200);
    server.state.clock.advance(Duration::from_secs(3));
    panel.get(&second).await.status(410);
    panel.post(&second, &[("password", NEW)]).await.status(410);
    ask(&mut panel, "ada@example.com").await;
    let third = smtp.mail(3).await.link(&server.url());
    // A link that was sent to the old address must not work.
    server.admin().put(&format!("/users/{}", ada["id"]), json!({ "email": "new@example.com" })).await.ok();
    panel.get(&third).await.status(410);
}

async fn reset_keeps_the_second_factor(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let ada = create_user(&server, "Ada", "ada@example.com").await;
    let mut owner = signed_in(&server, &ada).await;
    let factor = set_up(&server, &mut owner).await;
    smtp.mail(1).await;
    let mut thief = CookieClient::new(&server.url());
    ask(&mut thief, "ada@example.com").await;
    let link = smtp.mail(2).await.link(&server.url());
    let page = thief.post(&link, &[("password", NEW)]).await;
    page.status(200).says("Enter your code");
    assert!(thief.cookie.is_none(), "no session before the code");
    thief.get("/").await.status(303);
    let pending = hidden(&page, "pending");
    send(&mut thief, &pending, "000000").await.status(422);
    send(&mut thief, &pending, &factor.recovery_codes[0]).await.status(303);
    let mut old = CookieClient::new(&server.url());
    old.post("/panel/sign-in", &[("email", "ada@example.com"), ("password", PASSWORD)]).await.status(422);
    let right = [("email", "ada@example.com"), ("password", NEW)];
    old.post("/panel/sign-in", &right).await.status(200).says("Enter your code");
}

async fn reset_by_a_stranger_keeps_an_invitation(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let ada = create_user(&server, "Ada", "ada@example.com").await;
    let invited = invitation(&server, ada["id"].as_i64().expect("an id")).await;
    let invited = invited.strip_prefix(&server.url()).expect("a link of this server");
    smtp.mail(1).await;
    let mut panel = CookieClient::new(&server.url());
    ask(&mut panel, "ada@example.com").await;
    let link = smtp.mail(2).await.link(&server.url());
    panel.get(invited).await.status(200).says("Choose a password");
    panel.post(invited, &[("password", PASSWORD)]).await.status(303);
    panel.get(&link).await.status(410);
}

async fn requests_are_limited_by_network_and_by_account(server: Server) {
    let smtp = Smtp::start();
    let server = server
        .configured(|config| {
            config.smtp = Some(smtp.config());
            config.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
        })
        .await;
    create_user(&server, "Ada", "ada@example.com").await;
    let from = |address: &str| CookieClient::new(&server.url()).with("x-forwarded-for", Some(address));
    for email in ["ada@example.com", "nobody@example.com"] {
        let mut panel = from("203.0.113.7");
        for _ in 0..10 {
            ask(&mut panel, email).await;
        }
        let refused = panel.post(PATH, &[("email", email)]).await;
        assert_eq!(refused.status(429).says("Send the link").header("retry-after"), "30", "{email}");
        // The limit is one of the network, and of this page.
        ask(&mut from("198.51.100.1"), email).await;
    }
    let wrong = [("email", "ada@example.com"), ("password", "not the password")];
    from("203.0.113.7").post("/panel/sign-in", &wrong).await.status(422);
    // Within five minutes the account gets one mail, whatever the networks.
    smtp.mail(1).await;
    server.state.clock.advance(Duration::from_secs(301));
    ask(&mut from("198.51.100.1"), "ada@example.com").await;
    smtp.mail(2).await;
    let mut flood = from("192.0.2.1");
    let mut last = 0;
    for number in 0..31 {
        last = flood.post(PATH, &[("email", &format!("user{number}@example.net"))]).await.status;
    }
    assert_eq!(last, 429, "an address has a limit for all accounts");
}

async fn two_processes_mail_one_link(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    let other = server.second_node_with(|config| config.smtp = Some(smtp.config())).await;
    let ada = create_user(&server, "Ada", "ada@example.com").await;
    let asking = (0..8).map(|number| {
        let mut panel = CookieClient::new(&if number % 2 == 0 { server.url() } else { other.url() });
        tokio::spawn(async move { ask(&mut panel, "ada@example.com").await })
    });
    for one in asking.collect::<Vec<_>>() {
        one.await.expect("an answer");
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while mail_entries(&server, &ada).await.is_empty() {
        assert!(Instant::now() < deadline, "no mail");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    other.stop().await;
    server.state.detached_tasks.wait().await;
    assert_eq!((smtp.received().len(), mail_entries(&server, &ada).await.len()), (1, 1));
}

async fn stop_waits_for_a_mail_in_the_background(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    create_user(&server, "Ada", "ada@example.com").await;
    ask(&mut CookieClient::new(&server.url()), "ada@example.com").await;
    server.stop().await;
    smtp.mail(1).await;
}

async fn in_a_browser(server: Server) {
    let smtp = Smtp::start();
    let server = mailing(&server, &smtp).await;
    create_user(&server, "Ada", "ada@example.com").await;
    let mut browser = Browser::start(&server.url());
    browser.open("/");
    browser.follow("a[href='/panel/forgot-password']");
    browser.fill("#email", "ada@example.com");
    browser.follow("form button");
    browser.sees(SAID);
    let link = smtp.mail(1).await.link(&server.url());
    browser.open(&link);
    browser.sees("Choose a new password");
    browser.fill("#password", NEW);
    browser.follow("form button");
    browser.sees("Overview");
    browser.is_clean();
}
