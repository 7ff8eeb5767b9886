//! Sign-in and sign-out: invitation links, passwords, rate limits, CSRF protection and preserved input.

use argon2::{Argon2, PasswordHasher};
use charter_runtime::auth::TokenCache;
use std::time::Duration;

use charter_runtime::auth::session::Begun;
use charter_runtime::auth::{Proof, password, session};
use charter_runtime::db::{Dialect, Sql};
use charter_runtime::ops::Context;
use charter_runtime::principal::Principal;
use serde_json::json;

use super::{CookieClient, PASSWORD, admin, invitation, signed_in};
use crate::support::{Database, Server, on_both};

on_both!(
    an_invitation_link_sets_a_password_once_and_signs_in,
    a_wrong_password_reveals_no_account_and_is_rate_limited,
    attempts_from_one_address_do_not_lock_an_account,
    an_invitation_link_expires_when_the_email_address_changes,
    a_session_ends_with_sign_out_a_new_password_and_deactivation,
    a_verified_password_begins_no_session_after_it_was_changed,
    sign_in_waits_for_a_concurrent_password_change,
    a_password_signs_in_in_any_unicode_form,
    a_planted_session_cookie_is_rejected_after_sign_in,
    forms_from_other_sites_or_without_a_csrf_token_are_rejected,
    a_form_is_limited_to_10000_fields_and_8_mib,
    clients_that_accept_no_html_get_json_errors,
    pages_are_read_while_the_session_table_rejects_writes,
    errors_before_the_session_lookup_are_html_pages,
);

on_both!(
    browser:
    signing_in_redirects_to_the_requested_page,
    input_is_preserved_when_the_session_ended,
);

async fn an_invitation_link_sets_a_password_once_and_signs_in(server: Server) {
    let link = invitation(&server, 1).await;
    let path = link.strip_prefix(&server.url()).expect("a link of this server");
    let mut panel = CookieClient::new(&server.url());
    panel.get(path).await.status(200).says("Choose a password");
    for (refused, said) in [
        ("elevenchars", "at least 12 characters"),
        ("admin@example.com", "name or address"),
        ("Administrator-Charter", "name or address"),
        ("Football2024!", "is too common"),
    ] {
        panel.post(path, &[("password", refused)]).await.status(422).says(said);
    }
    let page = panel.post(path, &[("password", PASSWORD)]).await;
    page.status(303);
    let set = page.header("set-cookie");
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax") && set.contains("Path=/"), "{set}");
    panel.get("/").await.status(200).says("Overview");
    panel.get(path).await.status(410).says("This link has expired");
    panel.post(path, &[("password", PASSWORD)]).await.status(410);
    // A newer link replaces the one before. A link expires after a week.
    let (first, second) = (invitation(&server, 1).await, invitation(&server, 1).await);
    let path = |link: &str| link.strip_prefix(&server.url()).expect("a link").to_string();
    panel.get(&path(&first)).await.status(410);
    panel.get(&path(&second)).await.status(200);
    server.state.clock.advance(std::time::Duration::from_secs(7 * 24 * 3600 + 1));
    panel.get(&path(&second)).await.status(410);
}

async fn signing_in_redirects_to_the_requested_page(server: Server) {
    let mut browser = admin(&server).await;
    browser.press(".me summary");
    browser.follow("form[action='/panel/sign-out'] button");
    browser.open("/products?sort=-name");
    browser.sees("Sign in");
    browser.fill("#email", "Admin@Example.com");
    browser.fill("#password", PASSWORD);
    browser.follow("form button");
    assert_eq!(browser.address(), "/products?sort=-name");
    browser.is_clean();
}

async fn a_wrong_password_reveals_no_account_and_is_rate_limited(server: Server) {
    signed_in(&server, &json!({ "id": 1 })).await;
    let mut stranger = CookieClient::new(&server.url());
    let attempt = |email: &'static str, password: &'static str| [("email", email), ("password", password)];
    let known = stranger.post("/panel/sign-in", &attempt("admin@example.com", "not the password")).await;
    let unknown = stranger.post("/panel/sign-in", &attempt("nobody@example.com", "not the password")).await;
    known.status(422).says("The email or password is incorrect.");
    let same = |text: &str| text.replace("nobody@example.com", "admin@example.com");
    assert_eq!(same(&unknown.status(422).text), known.text, "the response does not reveal whether the account exists");
    let long = format!("{}@example.com", "x".repeat(300));
    for address in [&long, "a\0b@example.com"] {
        stranger.post("/panel/sign-in", &[("email", address), ("password", "not the password")]).await.status(422);
    }
    for _ in 0..9 {
        stranger.post("/panel/sign-in", &attempt("admin@example.com", "not the password")).await.status(422);
    }
    let refused = stranger.post("/panel/sign-in", &attempt("admin@example.com", PASSWORD)).await;
    assert_eq!(refused.status, 429, "the correct password is rejected too");
    // The input is preserved until the user may try again.
    let attempt = [("email", "admin@example.com"), ("password", PASSWORD), ("to", "/products"), ("draft", "name=Lamp")];
    let refused = stranger.post("/panel/sign-in", &attempt).await;
    refused.status(429).says("Your input is preserved").says("value=\"name=Lamp\"").says("Try again in");
    assert!(refused.header("retry-after").parse::<u64>().is_ok());
}

async fn attempts_from_one_address_do_not_lock_an_account(server: Server) {
    signed_in(&server, &json!({ "id": 1 })).await;
    let mut stranger = CookieClient::new(&server.url());
    // More attempts than an account under attack has.
    for tried in 0..120 {
        let guess = [("email", "admin@example.com"), ("password", "not the password")];
        stranger.post("/panel/sign-in", &guess).await.status(if tried < 10 { 422 } else { 429 });
    }
    let mut owner = CookieClient::at(&server.url(), [127, 0, 1, 2]);
    owner.post("/panel/sign-in", &[("email", "admin@example.com"), ("password", PASSWORD)]).await.status(303);
}

async fn an_invitation_link_expires_when_the_email_address_changes(server: Server) {
    let client = server.admin();
    let ada = json!({ "name": "Ada", "email": "ada@example.com" });
    let id = client.post("/users", ada).await.created("user")["id"].as_i64().expect("an id");
    let user = format!("/users/{id}");
    let mut panel = CookieClient::new(&server.url());
    let changes = [
        (json!({ "name": "Ada L.", "email": "ADA@example.com" }), 200),
        (json!({ "email": "lovelace@example.com" }), 410),
        (json!({ "is_active": false }), 410),
    ];
    for (change, expected) in changes {
        let link = invitation(&server, id).await;
        let path = link.strip_prefix(&server.url()).expect("a link of this server");
        client.put(&user, change.clone()).await.ok();
        client.put(&user, json!({ "is_active": true })).await.ok();
        panel.get(path).await.status(expected);
        let sent = panel.post(path, &[("password", PASSWORD)]).await.status;
        assert_eq!(sent, if expected == 200 { 303 } else { expected }, "{change}");
    }
}

async fn a_form_is_limited_to_10000_fields_and_8_mib(server: Server) {
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let token = admin.token().await;
    let long = "x".repeat(9 << 20);
    for (count, value, status, said) in [(9_998, "", 303, ""), (10_000, "", 400, "10000 fields"), (1, &*long, 413, "")]
    {
        let mut form = vec![("_token", token.as_str()), ("name", "Lights")];
        form.extend(vec![("_other", value); count]);
        admin.post("/product_groups", &form).await.status(status).says(said);
    }
    assert_eq!(server.admin().get("/product_groups?q[name_eq]=Lights").await.ok()["meta"]["total"], 1);
}

async fn a_session_ends_with_sign_out_a_new_password_and_deactivation(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut first = signed_in(&server, &user).await;
    first.get("/products").await.status(200);
    let stolen = first.cookie.clone();
    first.submit("/panel/sign-out", &[]).await.status(303);
    first.cookie = stolen;
    first.get("/products").await.status(303);

    let mut other = signed_in(&server, &user).await;
    let mut changing = CookieClient::new(&server.url());
    let email = user["email"].as_str().expect("an address");
    changing.post("/panel/sign-in", &[("email", email), ("password", PASSWORD)]).await.status(303);
    let wrong = [("old", "not the password"), ("password", "another long password")];
    changing.submit("/panel/password", &wrong).await.status(422).says("is incorrect");
    let right = [("old", PASSWORD), ("password", "another long password")];
    let sent_before = invitation(&server, user["id"].as_i64().expect("an id")).await;
    changing.submit("/panel/password", &right).await.status(303);
    let sent_before = sent_before.strip_prefix(&server.url()).expect("a link of this server");
    CookieClient::new(&server.url()).get(sent_before).await.status(410);
    changing.get("/products").await.status(200);
    other.get("/products").await.status(303);

    server.admin().post(&format!("/users/{}/deactivate", user["id"]), json!({})).await.ok();
    changing.get("/products").await.status(303);
    let again = [("email", email), ("password", "another long password")];
    changing.post("/panel/sign-in", &again).await.status(422);
    // A reactivated user signs in again.
    server.admin().put(&format!("/users/{}", user["id"]), json!({ "is_active": true })).await.ok();
    changing.get("/products").await.status(303);
    changing.post("/panel/sign-in", &again).await.status(303);
}

const OTHER: &str = "another long password";

pub(super) async fn set_password(server: &Server, user_id: i64, text: &str) {
    let operator = Principal::operator();
    let context = Context::new(&server.state, &operator, server.state.db.reader());
    password::set(&context, user_id, text).await.expect("the password is set");
}

async fn fitting(server: &Server, email: &str, text: &str) -> password::Password {
    password::find(&server.state, email, text).await.expect("the database answers").expect("it fits")
}

async fn a_verified_password_begins_no_session_after_it_was_changed(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let (state, id) = (&server.state, user["id"].as_i64().expect("an id"));
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let email = user["email"].as_str().expect("an address");
    set_password(&server, id, PASSWORD).await;
    let old = fitting(&server, email, PASSWORD).await;
    set_password(&server, id, OTHER).await;
    // The password may change between its verification and the operation that follows.
    assert!(matches!(session::begin(&context, &Proof::Password(old.clone()), None).await, Ok(Begun::Refused)));
    assert_eq!(password::change(&context, &old, "a third long password", None).await.expect("an answer"), None);
    let new = fitting(&server, email, OTHER).await;
    assert!(matches!(session::begin(&context, &Proof::Password(new.clone()), None).await, Ok(Begun::Session(_))));
    server.admin().post(&format!("/users/{id}/deactivate"), json!({})).await.ok();
    assert!(matches!(session::begin(&context, &Proof::Password(new.clone()), None).await, Ok(Begun::Refused)));
    assert_eq!(password::change(&context, &new, "a third long password", None).await.expect("an answer"), None);
    server.admin().put(&format!("/users/{id}"), json!({ "is_active": true })).await.ok();
    assert!(password::change(&context, &new, "a third long password", None).await.expect("an answer").is_some());
    let sessions = format!("SELECT digest AS text FROM user_sessions WHERE user_id = {id}");
    assert_eq!(server.texts(&sessions).await.len(), 1, "the other sessions have ended");
}

async fn sign_in_waits_for_a_concurrent_password_change(server: Server) {
    set_password(&server, 1, PASSWORD).await;
    let old = fitting(&server, "admin@example.com", PASSWORD).await;
    let setting = server.state.db.begin().await.expect("a transaction");
    let mut sql = Sql::new(server.state.db.dialect(), "UPDATE user_passwords SET hash = 'other' WHERE user_id = ");
    sql.bind(1);
    sql.run(&setting).await.expect("the password is set");
    let state = server.state.clone();
    let begun = tokio::spawn(async move {
        let operator = Principal::operator();
        session::begin(&Context::new(&state, &operator, state.db.reader()), &Proof::Password(old), None).await
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!begun.is_finished(), "sign-in waits for the open transaction");
    setting.commit().await.expect("the commit succeeds");
    assert!(matches!(begun.await.expect("no panic"), Ok(Begun::Refused)));
}

/// Keyboards differ in the code points that they send. A hash from before normalization is verified as it was made.
async fn a_password_signs_in_in_any_unicode_form(server: Server) {
    let (composed, decomposed) = ("gr\u{fc}ne Z\u{fc}ge fahren", "gru\u{308}ne Zu\u{308}ge fahren");
    set_password(&server, 1, decomposed).await;
    let mut panel = CookieClient::new(&server.url());
    for form in [composed, decomposed] {
        panel.post("/panel/sign-in", &[("email", "admin@example.com"), ("password", form)]).await.status(303);
    }
    let hash = Argon2::default().hash_password(decomposed.as_bytes()).expect("a hash").to_string();
    server.sql(&format!("UPDATE user_passwords SET hash = '{hash}' WHERE user_id = 1")).await;
    panel.post("/panel/sign-in", &[("email", "admin@example.com"), ("password", decomposed)]).await.status(303);
    panel.post("/panel/sign-in", &[("email", "admin@example.com"), ("password", composed)]).await.status(422);
}

async fn a_planted_session_cookie_is_rejected_after_sign_in(server: Server) {
    signed_in(&server, &json!({ "id": 1 })).await;
    let mut victim = CookieClient::new(&server.url());
    let planted = "charter_session=planted0000000000000000000000000000000000000";
    victim.cookie = Some(planted.into());
    let form = [("email", "admin@example.com"), ("password", PASSWORD)];
    victim.post("/panel/sign-in", &form).await.status(303);
    assert_ne!(victim.cookie.as_deref(), Some(planted));
    let mut attacker = CookieClient::new(&server.url());
    attacker.cookie = Some(planted.into());
    attacker.get("/products").await.status(303);
}

async fn forms_from_other_sites_or_without_a_csrf_token_are_rejected(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let token = panel.token().await;
    let form = [("name", "Forged"), ("_token", token.as_str())];
    for site in ["cross-site", "same-site"] {
        let mut forged = panel.with("sec-fetch-site", Some(site));
        forged.post("/product_groups", &form).await.status(409);
        forged.post("/panel/sign-out", &form).await.status(409);
        forged.post("/panel/sign-in", &[("email", "a@example.com"), ("password", "x")]).await.status(409);
    }
    let mut old = panel.with("sec-fetch-site", None).with("origin", Some("https://evil.example.com"));
    old.post("/product_groups", &form).await.status(409);
    for wrong in ["", "0", &token.replace('a', "b")] {
        panel.post("/product_groups", &[("name", "Forged"), ("_token", wrong)]).await.status(409);
    }
    panel.post("/product_groups", &[("name", "Forged")]).await.status(409);
    let mut other = CookieClient::new(&server.url());
    other.post("/panel/sign-in", &[("email", "admin@example.com"), ("password", PASSWORD)]).await.status(303);
    let theirs = other.token().await;
    assert!(other.token().await != theirs && token.len() == theirs.len(), "every page has another token");
    let mut script = panel.with("x-panel-token", Some(&theirs));
    script.post("/panel/api/product_groups", &[("name", "Forged")]).await.status(409);
    panel.post("/panel/api/product_groups", &[("name", "Forged")]).await.status(409);
    let total = server.admin().get("/product_groups?q[name_eq]=Forged").await.ok()["meta"]["total"].clone();
    assert_eq!(total, 0);
    let mut own = panel.with("sec-fetch-site", None).with("origin", Some(&server.url()));
    own.post("/product_groups", &form).await.status(303);
}

async fn input_is_preserved_when_the_session_ended(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/members/new");
    browser.fill("[name=name]", "Written at length");
    server.sql("DELETE FROM user_sessions").await;
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    browser.follow(".record .primary");
    browser.sees("Your input is preserved");
    browser.fill("#email", "admin@example.com");
    browser.fill("#password", PASSWORD);
    browser.follow("form button");
    browser.sees("The form was not saved");
    assert_eq!(browser.run("document.querySelector('[name=name]').value"), "Written at length");
    browser.follow(".record .primary");
    browser.sees("Written at length");
    assert!(browser.address().starts_with("/members/"));
    browser.is_clean();
}

async fn clients_that_accept_no_html_get_json_errors(server: Server) {
    let mut program = CookieClient::new(&server.url()).with("accept", Some("*/*"));
    let answer = program.get("/products").await;
    answer.status(404).says("\"code\":\"not_found\"");
    let mut browser = CookieClient::new(&server.url());
    browser.get("/products").await.status(303);
    browser.get("/api/v1/products").await.status(401);
}

async fn pages_are_read_while_the_session_table_rejects_writes(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    panel.get("/products").await.status(200);
    let refuse = match server.state.db.dialect() {
        Dialect::Postgres => "ALTER TABLE user_sessions ADD CHECK (user_id = 0) NOT VALID",
        Dialect::Sqlite => {
            "CREATE TRIGGER broken BEFORE UPDATE ON user_sessions BEGIN SELECT RAISE(ABORT, 'broken'); END"
        }
    };
    server.sql(refuse).await;
    let first = panel.cookie.clone();
    // First the use of the session is due to be stored, then the rotation of its secret.
    for minutes in [6, 60] {
        server.state.clock.advance(Duration::from_secs(60 * minutes));
        panel.get("/products").await.status(200);
        assert_eq!(panel.cookie, first);
    }
    let mend = match server.state.db.dialect() {
        Dialect::Postgres => "ALTER TABLE user_sessions DROP CONSTRAINT user_sessions_user_id_check",
        Dialect::Sqlite => "DROP TRIGGER broken",
    };
    server.sql(mend).await;
    server.state.clock.advance(Duration::from_secs(31));
    panel.get("/products").await.status(200);
    assert_ne!(panel.cookie, first, "the secret is rotated once the table accepts writes");
}

async fn errors_before_the_session_lookup_are_html_pages(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let guarded = |page: &super::cookie_client::Page| {
        assert!(page.header("content-type").starts_with("text/html"), "{}", page.header("content-type"));
        assert!(page.header("content-security-policy").contains("default-src 'none'"));
        assert_eq!(page.header("cache-control"), "no-store");
    };
    let page = panel.get("/%ff").await;
    guarded(page.status(404).says("Not found"));
    server.sql("ALTER TABLE user_sessions RENAME TO away").await;
    server.state.extension::<TokenCache>().expect("a token cache").clear();
    let page = panel.get("/products").await;
    guarded(page.status(500).says("Something went wrong"));
    server.sql("ALTER TABLE away RENAME TO user_sessions").await;
    panel.get("/products").await.status(200);
}

charter_testing::needs_postgres! {
    /// The session is removed from the cache with the commit, even if the client disconnects before.
    #[test]
    fn a_session_ends_although_the_client_disconnects() {
        crate::support::run(Database::Postgres, async |server: Server| {
            let state = &server.state;
            set_password(&server, 1, PASSWORD).await;
            let password = fitting(&server, "admin@example.com", PASSWORD).await;
            let operator = Principal::operator();
            let context = Context::new(state, &operator, state.db.reader());
            let Ok(Begun::Session(secret)) = session::begin(&context, &Proof::Password(password), None).await else { panic!("it begins") };
            let found = session::find(state, &secret, false).await.expect("the database answers").expect("a session");
            server.sql("CREATE FUNCTION slow() RETURNS trigger AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END' LANGUAGE plpgsql").await;
            let when = "AFTER DELETE ON user_sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()";
            server.sql(&format!("CREATE CONSTRAINT TRIGGER slow {when}")).await;
            let left = tokio::time::timeout(Duration::from_millis(100), session::end(&context, &found.user)).await;
            assert!(left.is_err(), "the commit outlasts the client");
            tokio::time::sleep(Duration::from_millis(600)).await;
            let sql = Sql::new(state.db.dialect(), "SELECT 1 FROM \"user_sessions\"");
            assert!(sql.one(state.db.reader()).await.expect("the table is there").is_none(), "it was committed");
            assert!(
                session::find(state, &secret, false).await.expect("the database answers").is_none(),
                "the session is still cached"
            );
        });
    }
}
