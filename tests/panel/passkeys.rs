//! Passkeys: created on the account page and used to sign in, with Chromium's virtual authenticator.

use std::time::Duration;

use charter_testing::postgres::free_port;
use serde_json::{Value, json};

use super::sign_in::set_password;
use super::{CookieClient, PASSWORD, signed_in};
use crate::support::{Browser, Server, on_both};

on_both!(
    browser:
    passkey_is_created_with_the_password_and_signs_in_without_it,
    answer_of_a_passkey_works_once_and_only_unchanged,
);

on_both!(pages_of_a_service_without_a_domain_name_offer_no_passkeys, ceremony_belongs_to_its_user,);

const ADMIN: &str = "admin@example.com";
const CARD: &str = "/panel/account/passkeys";

/// The service at `localhost`, where browsers allow passkeys without HTTPS.
async fn at_localhost(server: &Server) -> Server {
    let port = free_port();
    let server = server
        .configured(|config| {
            config.listen = format!("127.0.0.1:{port}");
            config.base_url = Some(format!("http://localhost:{port}"));
        })
        .await;
    set_password(&server, 1, PASSWORD).await;
    server
}

/// A browser with an authenticator that verifies its user, as a fingerprint reader does.
fn browser(server: &Server) -> Browser {
    let mut browser = Browser::start(&server.state.base_url());
    browser.call("WebAuthn.enable", json!({}));
    let options = json!({
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
        "isUserVerified": true, "automaticPresenceSimulation": true,
    });
    browser.call("WebAuthn.addVirtualAuthenticator", json!({ "options": options }));
    browser
}

fn sign_in_with_password(browser: &mut Browser) {
    browser.open("/panel/sign-in");
    browser.fill("#email", ADMIN);
    browser.fill("#password", PASSWORD);
    browser.follow("form[action='/panel/sign-in'] button");
    browser.sees("Overview");
}

fn create_passkey(browser: &mut Browser, name: &str) {
    browser.open("/panel/account");
    browser.follow(&format!("a[href='{CARD}/new']"));
    browser.fill("#name", name);
    browser.fill("#password", PASSWORD);
    browser.follow("form.record button");
    browser.follow("form[data-passkey] button");
    browser.sees("Your account");
    browser.sees(name);
}

fn sign_out(browser: &mut Browser) {
    browser.follow("form[action='/panel/sign-out'] button");
    browser.sees("Sign in with a passkey");
}

async fn audit(server: &Server) -> Vec<(String, Value)> {
    let path = "/audit_entries?q[entity_type_eq]=users&q[record_id_eq]=1&sort=id&per_page=100";
    let entries = server.admin().get(path).await.records("audit_entries");
    let action = |entry: &Value| entry["action"].as_str().expect("a text").to_string();
    entries.iter().map(|entry| (action(entry), entry["changes"]["method"]["new"].clone())).collect()
}

async fn passkey_is_created_with_the_password_and_signs_in_without_it(server: Server) {
    let server = at_localhost(&server).await;
    let mut browser = browser(&server);
    sign_in_with_password(&mut browser);
    browser.open(&format!("{CARD}/new"));
    browser.fill("#password", "wrong");
    browser.follow("form.record button");
    browser.sees("Password is incorrect");
    create_passkey(&mut browser, "My <laptop>");
    // The authenticator has a passkey for this account already.
    browser.open(&format!("{CARD}/new"));
    browser.fill("#password", PASSWORD);
    browser.follow("form.record button");
    browser.press("form[data-passkey] button");
    browser.sees("already has a passkey");
    browser.open("/panel/account");
    sign_out(&mut browser);
    browser.open("/products?sort=-name");
    browser.follow("form[data-passkey] button");
    browser.until("location.pathname + location.search === '/products?sort=-name'");
    let entries = audit(&server).await;
    assert_eq!(entries.iter().filter(|(action, _)| action == "passkey_added").count(), 1);
    assert_eq!(entries.last().expect("entries"), &("sign_in".to_string(), json!("passkey")));
    // A passkey needs no code besides.
    let mut panel = CookieClient::new(&server.url());
    panel.post("/panel/sign-in", &[("email", ADMIN), ("password", PASSWORD)]).await.status(303);
    super::second_factor::set_up(&server, &mut panel).await;
    browser.open("/panel/sign-in");
    browser.follow("form[data-passkey] button");
    browser.sees("Overview");
    // Without the passkey, the authenticator's answer is refused.
    browser.open("/panel/account");
    browser.follow(&format!("a[href^='{CARD}/'][href$='/remove']"));
    browser.sees("no longer signs you in");
    browser.follow("form:has(button.danger) button");
    browser.sees("without a password and without a code");
    sign_out(&mut browser);
    browser.follow("form[data-passkey] button");
    browser.sees("This passkey is not known here");
    assert!(audit(&server).await.iter().any(|(action, _)| action == "passkey_removed"));
    browser.is_clean();
}

/// Signs the challenge of a new sign-in, and returns the form.
fn answer(browser: &mut Browser) -> [(&'static str, String); 2] {
    let script = "(async () => { const answer = await (await fetch('/panel/sign-in/passkey/options')).json(); \
                  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(answer.options); \
                  const credential = await navigator.credentials.get({ publicKey }); \
                  return [answer.ceremony, JSON.stringify(credential.toJSON())]; })()";
    let answer = browser.run(script);
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    [("ceremony", text(&answer[0])), ("credential", text(&answer[1]))]
}

async fn answer_of_a_passkey_works_once_and_only_unchanged(server: Server) {
    let server = at_localhost(&server).await;
    let mut browser = browser(&server);
    sign_in_with_password(&mut browser);
    create_passkey(&mut browser, "Laptop");
    sign_out(&mut browser);
    let send = async |[ceremony, credential]: [(&'static str, String); 2], status: u16| {
        let form = [(ceremony.0, ceremony.1.as_str()), (credential.0, credential.1.as_str())];
        let mut panel = CookieClient::new(&server.url());
        panel.post("/panel/sign-in/passkey", &form).await.status(status);
    };
    let good = answer(&mut browser);
    let change = |path: &[&str], value: Value| {
        let mut credential: Value = serde_json::from_str(&good[1].1).expect("JSON");
        let last = path.iter().fold(&mut credential, |at, name| &mut at[*name]);
        *last = value;
        [good[0].clone(), ("credential", credential.to_string())]
    };
    let other_signature = {
        let credential: Value = serde_json::from_str(&good[1].1).expect("JSON");
        let signature = credential["response"]["signature"].as_str().expect("a text");
        let digit = if signature.as_bytes()[20] == b'A' { "B" } else { "A" };
        format!("{}{digit}{}", &signature[..20], &signature[21..])
    };
    send(change(&["response", "signature"], json!(other_signature)), 422).await;
    send(change(&["rawId"], json!("AAAA")), 422).await;
    send(change(&["response", "authenticatorData"], json!("AAAA")), 422).await;
    send([good[0].clone(), ("credential", "no JSON".into())], 422).await;
    send([("ceremony", "00".into()), good[1].clone()], 422).await;
    // An answer to the challenge of another sign-in.
    let other = answer(&mut browser);
    send([other[0].clone(), good[1].clone()], 422).await;
    send(good.clone(), 303).await;
    send(good.clone(), 422).await;
    // It was made before the last use.
    send(other, 422).await;
    let late = answer(&mut browser);
    server.state.clock.advance(Duration::from_secs(5 * 60 + 1));
    send(late, 422).await;
    let of_deactivated = answer(&mut browser);
    let another = json!({ "user": { "name": "B", "email": "b@example.com", "is_admin": true } });
    server.admin().post("/users", another).await.created("user");
    server.sql("UPDATE users SET is_active = FALSE WHERE id = 1").await;
    send(of_deactivated, 422).await;
}

async fn pages_of_a_service_without_a_domain_name_offer_no_passkeys(server: Server) {
    let mut panel = CookieClient::new(&server.url());
    assert!(!panel.get("/panel/sign-in").await.status(200).text.contains("passkey\""));
    panel.get("/panel/sign-in/passkey/options").await.status(404);
    panel.post("/panel/sign-in/passkey", &[]).await.status(404);
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    assert!(!panel.get("/panel/account").await.status(200).text.contains(CARD));
    panel.get(&format!("{CARD}/new")).await.status(404);
    let secure = server.configured(|config| config.base_url = Some("https://records.example.com".into())).await;
    let page = CookieClient::new(&secure.url()).get("/panel/sign-in").await;
    page.status(200).says("Sign in with a passkey");
    let options = CookieClient::new(&secure.url()).get("/panel/sign-in/passkey/options").await;
    let options: Value = serde_json::from_str(&options.status(200).text).expect("JSON");
    assert_eq!(options["options"]["rpId"], "records.example.com");
    assert_eq!(options["options"]["userVerification"], "required");
}

async fn ceremony_belongs_to_its_user(server: Server) {
    let server = at_localhost(&server).await;
    let mut panel = CookieClient::new(&server.url());
    panel.post("/panel/sign-in", &[("email", ADMIN), ("password", PASSWORD)]).await.status(303);
    let form = [("name", "One"), ("password", PASSWORD)];
    let page = panel.submit(&format!("{CARD}/new"), &form).await;
    let ceremony = super::second_factor::hidden(page.status(200), "ceremony");
    for (ceremony, credential) in [(ceremony.as_str(), "{}"), ("", "{}"), (ceremony.as_str(), "no JSON")] {
        let form = [("ceremony", ceremony), ("credential", credential), ("name", "One")];
        panel.submit(CARD, &form).await.status(409).says("The passkey was not created");
    }
    panel.submit(&format!("{CARD}/1/remove"), &[]).await.status(404);
    // One attempt to set up uses one attempt at the password.
    panel.submit(&format!("{CARD}/new"), &[("password", "wrong")]).await.status(422).says("Password is incorrect");
    panel.post(&format!("{CARD}/new"), &form).await.status(409);
}
