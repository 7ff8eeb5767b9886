//! The second factor: set up, asked for at a sign-in, replaced by recovery codes, and removed.

use std::time::Duration;

use charter_runtime::auth::session::{self, Begun};
use charter_runtime::auth::{Proof, password};
use charter_runtime::ops::Context;
use charter_runtime::principal::Principal;
use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha1::Sha1;

use super::cookie_client::Page;
use super::sign_in::set_password;
use super::{CookieClient, PASSWORD, admin, invitation, signed_in};
use crate::support::{Server, on_both};

on_both!(
    second_factor_is_set_up_with_a_first_code_and_ends_other_sessions,
    code_is_asked_for_after_the_password_and_works_once,
    concurrent_sign_ins_with_one_code_start_one_session,
    recovery_code_signs_in_once_and_is_stored_as_a_digest,
    new_recovery_codes_need_the_password_and_a_code_and_replace_the_old_ones,
    wrong_codes_are_limited_like_passwords,
    pending_sign_in_expires_and_ends_with_a_new_password,
    input_is_preserved_through_the_code,
    invitation_sets_a_password_and_keeps_the_second_factor,
    turning_off_needs_the_password,
    administrator_removes_the_second_factor_of_a_user,
    administrator_removes_their_own_second_factor_only_with_a_token,
    secret_of_another_secret_key_signs_nobody_in,
);

on_both!(
    browser:
    second_factor_is_set_up_and_used_in_a_browser,
);

const ADMIN: &str = "admin@example.com";
const PATH: &str = "/panel/account/second-factor";
const TURN_OFF: &str = "/panel/account/second-factor/turn-off";

/// A second factor that was set up.
pub(super) struct Factor {
    pub secret: String,
    pub recovery_codes: Vec<String>,
}

/// The code of the server's time, moved by steps of 30 seconds.
pub(super) fn code(server: &Server, secret: &str, steps: i64) -> String {
    let secret = BASE32_NOPAD.decode(secret.as_bytes()).expect("Base32");
    let mut mac = Hmac::<Sha1>::new_from_slice(&secret).expect("a key");
    mac.update(&(server.state.clock.now().timestamp() / 30 + steps).to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let offset = usize::from(digest[19] & 0xf);
    let number = u32::from_be_bytes(digest[offset..offset + 4].try_into().expect("four bytes")) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

/// The value of a hidden field.
pub(super) fn hidden(page: &Page, name: &str) -> String {
    let rest = page.text.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_default();
    rest.split('"').next().unwrap_or_default().to_string()
}

/// The texts of the `code` elements.
fn codes(page: &Page) -> Vec<String> {
    let parts = page.text.split("<code class=\"code\">").skip(1);
    parts.map(|rest| rest.split('<').next().unwrap_or_default().to_string()).collect()
}

pub(super) async fn set_up(server: &Server, panel: &mut CookieClient) -> Factor {
    let page = panel.get(PATH).await;
    let (offer, secret) = (hidden(page.status(200), "offer"), codes(&page)[0].replace(' ', ""));
    let form = [("offer", offer.as_str()), ("code", &code(server, &secret, 0)), ("password", PASSWORD)];
    let page = panel.submit(PATH, &form).await;
    let recovery_codes = codes(page.status(200).says("not shown again"));
    // The code of the set-up works once.
    server.state.clock.advance(Duration::from_secs(30));
    Factor { secret, recovery_codes }
}

/// Sends the password; returns the sealed sign-in of the page that asks for the code.
async fn password_step(panel: &mut CookieClient, email: &str) -> String {
    let page = panel.post("/panel/sign-in", &[("email", email), ("password", PASSWORD)]).await;
    assert!(!page.header("set-cookie").contains("session="), "no session before the code");
    hidden(page.status(200).says("Enter your code"), "pending")
}

pub(super) async fn send(panel: &mut CookieClient, pending: &str, code: &str) -> Page {
    panel.post("/panel/sign-in/code", &[("pending", pending), ("code", code)]).await
}

async fn actions(server: &Server, id: &Value) -> Vec<String> {
    let path = format!("/audit_entries?q[entity_type_eq]=users&q[record_id_eq]={id}&sort=id&per_page=100");
    let entries = server.admin().get(&path).await.records("audit_entries");
    entries.iter().map(|entry| entry["action"].as_str().expect("a text").to_string()).collect()
}

async fn second_factor_is_set_up_with_a_first_code_and_ends_other_sessions(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut first = signed_in(&server, &user).await;
    let mut panel = signed_in(&server, &user).await;
    first = first.with("cookie", None);
    let email = user["email"].as_str().expect("an address");
    let mut other = CookieClient::new(&server.url());
    other.post("/panel/sign-in", &[("email", email), ("password", PASSWORD)]).await.status(303);
    first.get("/panel/account").await.status(303);
    let page = panel.get(PATH).await;
    page.status(200).says("<svg class=\"qr\"").says("otpauth://totp/Charter:user1%40example.com?secret=");
    let (offer, secret) = (hidden(&page, "offer"), codes(&page)[0].replace(' ', ""));
    let right = code(&server, &secret, 0);
    let wrong = if right == "000000" { "000001" } else { "000000" };
    for (code, password, said) in
        [(wrong, PASSWORD, "Code of the app is incorrect"), (&right, "wrong", "Password is incorrect")]
    {
        let page = panel.submit(PATH, &[("offer", &offer), ("code", code), ("password", password)]).await;
        assert_eq!(codes(page.status(422).says(said))[0].replace(' ', ""), secret, "the same secret is offered again");
    }
    // An offer belongs to one user.
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    let page = admin.submit(PATH, &[("offer", &offer), ("code", &right), ("password", PASSWORD)]).await;
    assert_eq!(page.status(303).header("location"), PATH);
    let page = panel.submit(PATH, &[("offer", &offer), ("code", &right), ("password", PASSWORD)]).await;
    let recovery_codes = codes(page.status(200));
    assert_eq!(recovery_codes.len(), 10);
    other.get("/panel/account").await.status(303);
    panel.get("/panel/account").await.status(200).says("10 recovery codes are left");
    panel.get(PATH).await.status(303);
    let stored = server.texts("SELECT secret AS text FROM user_second_factors").await;
    assert!(stored.len() == 1 && !stored[0].contains(&secret), "the secret is sealed: {stored:?}");
    assert_eq!(actions(&server, &user["id"]).await.iter().filter(|one| *one == "second_factor_added").count(), 1);
    let operator = Principal::operator();
    let context = Context::new(&server.state, &operator, server.state.db.reader());
    let found = password::find(&server.state, email, PASSWORD).await.expect("an answer").expect("it fits");
    assert!(matches!(session::begin(&context, &Proof::Password(found), None).await, Ok(Begun::NeedsCode)));
}

async fn code_is_asked_for_after_the_password_and_works_once(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let mut panel = CookieClient::new(&server.url());
    let pending = password_step(&mut panel, ADMIN).await;
    panel.get("/panel/account").await.status(303);
    send(&mut panel, &pending, &code(&server, &factor.secret, -1)).await.status(422).says("was used before");
    send(&mut panel, &pending, &code(&server, &factor.secret, 2)).await.status(422);
    send(&mut panel, "", &code(&server, &factor.secret, 0)).await.status(422).says("took too long");
    // People type the space that their app shows.
    let current = code(&server, &factor.secret, 0);
    let spaced = format!(" {} {}", &current[..3], &current[3..]);
    send(&mut panel, &pending, &spaced).await.status(303);
    panel.get("/panel/account").await.status(200);
    let mut again = CookieClient::new(&server.url());
    send(&mut again, &pending, &current).await.status(422);
    let next = code(&server, &factor.secret, 1);
    send(&mut again, &pending, &next).await.status(303);
    let entries = actions(&server, &json!(1)).await;
    assert_eq!(entries.iter().filter(|action| *action == "sign_in_failed").count(), 3, "{entries:?}");
    assert_eq!(entries.last().map(String::as_str), Some("sign_in"));
}

async fn concurrent_sign_ins_with_one_code_start_one_session(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let (mut one, mut other) = (CookieClient::new(&server.url()), CookieClient::new(&server.url()));
    let pending = password_step(&mut one, ADMIN).await;
    for code in [code(&server, &factor.secret, 0), factor.recovery_codes[0].clone()] {
        let (first, second) = tokio::join!(send(&mut one, &pending, &code), send(&mut other, &pending, &code));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 422]);
    }
}

async fn recovery_code_signs_in_once_and_is_stored_as_a_digest(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let stored = server.texts("SELECT digest AS text FROM user_recovery_codes").await;
    assert_eq!(stored.len(), 10);
    for code in &factor.recovery_codes {
        assert_eq!(code.len(), "ABCD-EFGH-2345-WXYZ".len());
        assert!(stored.iter().all(|digest| digest.len() == 64 && !digest.contains(&code.replace('-', ""))), "{code}");
    }
    let mut panel = CookieClient::new(&server.url());
    let pending = password_step(&mut panel, ADMIN).await;
    let typed = factor.recovery_codes[3].to_lowercase().replace('-', " ");
    send(&mut panel, &pending, &typed).await.status(303);
    panel.get("/panel/account").await.status(200).says("9 recovery codes are left");
    send(&mut CookieClient::new(&server.url()), &pending, &typed).await.status(422);
    let entries = actions(&server, &json!(1)).await;
    assert_eq!(entries[entries.len() - 3..], ["recovery_code_used", "sign_in", "sign_in_failed"]);
    let text = json!(server.admin().get("/audit_entries?per_page=100").await.records("audit_entries")).to_string();
    assert!(!text.contains(&factor.recovery_codes[3]) && !text.contains(&factor.secret), "{text}");
}

async fn new_recovery_codes_need_the_password_and_a_code_and_replace_the_old_ones(server: Server) {
    const RENEW: &str = "/panel/account/second-factor/recovery-codes";
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    owner.get(RENEW).await.status(303);
    let factor = set_up(&server, &mut owner).await;
    owner.get("/panel/account").await.status(200).says(RENEW);
    owner.get(RENEW).await.status(200).says("10 recovery codes are left").says("Old codes become invalid");
    let right = code(&server, &factor.secret, 0);
    for (code, password, said) in
        [("no code", PASSWORD, "recovery code is incorrect"), (&right, "wrong", "Password is incorrect")]
    {
        owner.submit(RENEW, &[("code", code), ("password", password)]).await.status(422).says(said);
    }
    let page = owner.submit(RENEW, &[("code", &right), ("password", PASSWORD)]).await;
    let renewed = codes(page.status(200).says("not shown again"));
    assert!(renewed.len() == 10 && renewed.iter().all(|code| !factor.recovery_codes.contains(code)), "{renewed:?}");
    // The code of the app was used, and the old recovery codes have ended.
    for code in [&right, &factor.recovery_codes[0]] {
        owner.submit(RENEW, &[("code", code), ("password", PASSWORD)]).await.status(422);
    }
    let page = owner.submit(RENEW, &[("code", &renewed[0]), ("password", PASSWORD)]).await;
    let again = codes(page.status(200));
    let mut panel = CookieClient::new(&server.url());
    let pending = password_step(&mut panel, ADMIN).await;
    send(&mut panel, &pending, &renewed[1]).await.status(422);
    send(&mut panel, &pending, &again[1]).await.status(303);
    let entries = actions(&server, &json!(1)).await;
    assert_eq!(entries.iter().filter(|action| *action == "recovery_codes_renewed").count(), 2, "{entries:?}");
}

async fn wrong_codes_are_limited_like_passwords(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let mut panel = CookieClient::at(&server.url(), [127, 0, 1, 2]);
    let pending = password_step(&mut panel, ADMIN).await;
    for _ in 0..4 {
        send(&mut panel, &pending, "no code").await.status(422);
        // A correct password alone does not reset the count.
        password_step(&mut panel, ADMIN).await;
    }
    send(&mut panel, &pending, "no code").await.status(422);
    let refused = send(&mut panel, &pending, &code(&server, &factor.secret, 0)).await;
    refused.status(429).says("Try again in").says(&pending);
    assert!(refused.header("retry-after").parse::<u64>().is_ok());
    server.state.clock.advance(Duration::from_secs(31));
    send(&mut panel, &pending, &code(&server, &factor.secret, 0)).await.status(303);
}

async fn pending_sign_in_expires_and_ends_with_a_new_password(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let mut panel = CookieClient::new(&server.url());
    let pending = password_step(&mut panel, ADMIN).await;
    let mut changed = pending.clone().into_bytes();
    changed[60] = if changed[60] == b'0' { b'1' } else { b'0' };
    let changed = String::from_utf8(changed).expect("text");
    send(&mut panel, &changed, &code(&server, &factor.secret, 0)).await.status(422).says("Sign in again");
    server.state.clock.advance(Duration::from_secs(301));
    send(&mut panel, &pending, &code(&server, &factor.secret, 0)).await.status(422).says("took too long");
    let pending = password_step(&mut panel, ADMIN).await;
    set_password(&server, 1, "another long password").await;
    send(&mut panel, &pending, &code(&server, &factor.secret, 0)).await.status(422).says("Sign in again");
    panel.get("/panel/account").await.status(303);
    let foreign = panel.with("sec-fetch-site", Some("cross-site"));
    send(&mut { foreign }, &pending, "000000").await.status(409);
    panel.get("/panel/sign-in/code").await.status(303);
}

async fn input_is_preserved_through_the_code(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let mut panel = CookieClient::new(&server.url());
    let form = [("email", ADMIN), ("password", PASSWORD), ("to", "/products"), ("draft", "name=Lamp")];
    let page = panel.post("/panel/sign-in", &form).await;
    let pending = hidden(page.status(200).says("Your input is preserved").says("value=\"name=Lamp\""), "pending");
    let form = [("pending", pending.as_str()), ("to", "/products"), ("draft", "name=Lamp"), ("code", "no code")];
    panel.post("/panel/sign-in/code", &form).await.status(422).says("value=\"name=Lamp\"");
    let code = code(&server, &factor.secret, 0);
    let form = [("pending", pending.as_str()), ("to", "/products"), ("draft", "name=Lamp"), ("code", &code)];
    panel.post("/panel/sign-in/code", &form).await.status(200).says("value=\"Lamp\"").says("The form was not saved");
}

async fn invitation_sets_a_password_and_keeps_the_second_factor(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let link = invitation(&server, 1).await;
    let path = link.strip_prefix(&server.url()).expect("a link of this server");
    let mut panel = CookieClient::new(&server.url());
    let page = panel.post(path, &[("password", "another long password")]).await;
    let pending = hidden(page.status(200).says("Enter your code"), "pending");
    panel.get("/panel/account").await.status(303);
    owner.get("/panel/account").await.status(303);
    panel.get(path).await.status(410);
    send(&mut panel, &pending, &code(&server, &factor.secret, 0)).await.status(303);
    panel.get("/panel/account").await.status(200).says("10 recovery codes are left");
    let form = [("old", "another long password"), ("password", PASSWORD)];
    panel.submit("/panel/password", &form).await.status(303);
    panel.get("/panel/account").await.status(200).says("10 recovery codes are left");
}

async fn turning_off_needs_the_password(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    owner.get(TURN_OFF).await.status(303);
    let factor = set_up(&server, &mut owner).await;
    let mut other = CookieClient::new(&server.url());
    let pending = password_step(&mut other, ADMIN).await;
    send(&mut other, &pending, &code(&server, &factor.secret, 0)).await.status(303);
    owner.get(TURN_OFF).await.status(200).says("10 recovery codes are left").says("your password alone signs in");
    owner.submit(TURN_OFF, &[("password", "wrong")]).await.status(422).says("Password is incorrect");
    other.get("/panel/account").await.status(200).says("Turn off");
    owner.submit(TURN_OFF, &[("password", PASSWORD)]).await.status(303);
    other.get("/panel/account").await.status(303);
    owner.get("/panel/account").await.status(200).says("Set up");
    assert!(server.texts("SELECT digest AS text FROM user_recovery_codes").await.is_empty());
    let entries = actions(&server, &json!(1)).await;
    assert_eq!(entries[entries.len() - 2..], ["second_factor_removed", "end_sessions"]);
    let mut panel = CookieClient::new(&server.url());
    panel.post("/panel/sign-in", &[("email", ADMIN), ("password", PASSWORD)]).await.status(303);
}

async fn administrator_removes_the_second_factor_of_a_user(server: Server) {
    let (user, client) = server.user(&["users.manage"], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    let remove = format!("/users/{}/remove_second_factor", user["id"]);
    server.admin().post(&remove, json!({})).await.refused(409, "conflict");
    set_up(&server, &mut panel).await;
    client.post(&remove, json!({})).await.refused(403, "permission_missing");
    server.able(&["users:write"]).await.post(&remove, json!({})).await.refused(403, "ability_missing");
    let page = panel.get("/users/1").await;
    assert!(!page.status(200).text.contains("remove_second_factor"), "{}", page.text);
    let mut admin = signed_in(&server, &json!({ "id": 1 })).await;
    admin.get(&format!("/users/{}", user["id"])).await.status(200).says(&format!("href=\"{remove}\""));
    admin.submit(&remove, &[]).await.status(303);
    panel.get("/panel/account").await.status(303);
    let entry = server.admin().get("/audit_entries?q[action_eq]=second_factor_removed").await.records("audit_entries");
    assert_eq!((&entry[0]["record_id"], &entry[0]["user_id"]), (&user["id"], &json!(1)));
    let form = [("email", user["email"].as_str().expect("an address")), ("password", PASSWORD)];
    panel.post("/panel/sign-in", &form).await.status(303);
}

async fn administrator_removes_their_own_second_factor_only_with_a_token(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    set_up(&server, &mut owner).await;
    let remove = "/users/1/remove_second_factor";
    let answer = owner.call("POST", remove, Some("{}".into())).await;
    answer.status(409).says("on the page of your account");
    server.admin().post(remove, json!({})).await.record("user");
    owner.get("/panel/account").await.status(303);
}

async fn secret_of_another_secret_key_signs_nobody_in(server: Server) {
    let mut owner = signed_in(&server, &json!({ "id": 1 })).await;
    let factor = set_up(&server, &mut owner).await;
    let (user, _) = server.user(&[], &["*"]).await;
    let id = user["id"].as_i64().expect("an id");
    set_password(&server, id, PASSWORD).await;
    // The secret of one user does not work in the row of another.
    server.sql(&format!("UPDATE user_second_factors SET user_id = {id}, last_step = 0")).await;
    let mut panel = CookieClient::new(&server.url());
    let pending = password_step(&mut panel, user["email"].as_str().expect("an address")).await;
    send(&mut panel, &pending, &code(&server, &factor.secret, 0)).await.status(422);
    send(&mut panel, &pending, &factor.recovery_codes[0]).await.status(422);
}

async fn second_factor_is_set_up_and_used_in_a_browser(server: Server) {
    let mut browser = admin(&server).await;
    browser.open("/panel/account");
    browser.follow(&format!("a[href='{PATH}']"));
    let secret = browser.text("code.code").replace(' ', "");
    browser.fill("#code", &code(&server, &secret, 0));
    browser.fill("#password", PASSWORD);
    browser.follow("main form .primary");
    browser.sees("not shown again");
    browser.follow("main .primary");
    browser.press(".me summary");
    browser.follow("form[action='/panel/sign-out'] button");
    browser.fill("#email", ADMIN);
    browser.fill("#password", PASSWORD);
    browser.follow("form button");
    browser.sees("Enter your code");
    browser.fill("#code", &code(&server, &secret, 1));
    browser.follow("form button");
    browser.sees("Overview");
    browser.is_clean();
}
