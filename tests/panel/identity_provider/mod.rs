//! Sign-in with an identity provider by OpenID Connect: Canaille, a real one, and a fake one for faults.

mod canaille;
mod fake;

use charter_runtime::auth::oidc::{ClientSecret, OidcConfig};
use serde_json::{Value, json};

use super::cookie_client::Page;
use super::sign_in::set_password;
use super::{CookieClient, PASSWORD};
use crate::support::{Browser, Server, on_both};
use canaille::Canaille;
use charter_testing::postgres::free_port;
use fake::{Answers, CALLBACK, FakeProvider};

on_both!(
    identity_is_linked_by_its_verified_address_and_stays_linked,
    identity_without_an_account_is_refused_or_gets_one,
    groups_give_and_take_their_roles_only,
    token_that_does_not_verify_signs_nobody_in,
    keys_are_read_again_when_the_provider_replaces_them,
    callback_belongs_to_the_browser_that_began_and_works_once,
    answer_of_another_issuer_or_an_error_signs_nobody_in,
    provider_that_is_down_leaves_the_password,
    second_factor_is_asked_for_after_the_provider,
    administrator_unlinks_an_identity,
    page_without_a_provider_has_no_link,
    waiting_form_stays_in_its_tab,
);

on_both!(
    identity_provider:
    user_of_a_real_provider_signs_in_with_roles,
);

on_both!(
    browser:
    real_browser_comes_back_signed_in,
);

/// The origin of the service in the redirect URI.
const ORIGIN: &str = "http://records.example";

/// The path of an address of this service.
fn path(address: &str) -> String {
    address.strip_prefix(ORIGIN).unwrap_or_else(|| panic!("{address} is not of this service")).to_string()
}

async fn create_user(server: &Server, email: &str) -> Value {
    let fields = json!({ "user": { "name": "Ada", "email": email, "role_ids": [1] } });
    server.admin().post("/users", fields).await.created("user")
}

async fn audit(server: &Server, id: &Value) -> Vec<Value> {
    let path = format!("/audit_entries?q[entity_type_eq]=users&q[record_id_eq]={id}&sort=id&per_page=100");
    server.admin().get(&path).await.records("audit_entries")
}

#[track_caller]
fn is_signed_in(page: &Page) {
    page.status(303);
    assert_eq!(page.header("location"), "/products");
}

async fn identity_is_linked_by_its_verified_address_and_stays_linked(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    let user = create_user(&server, "ada@example.com").await;
    CookieClient::new(&server.url()).get("/panel/sign-in").await.status(200).says("Sign in with Example");
    // Addresses are compared without case.
    provider.change(|answers| answers.claims["email"] = json!("ADA@example.com"));
    let (mut panel, page) = provider.sign_in(&server).await;
    is_signed_in(&page);
    panel.get("/panel/account").await.status(200).says("ada@example.com");
    let requests = provider.receiver.received();
    let sent = requests.iter().find(|request| request.path == "/token").expect("the code is exchanged");
    assert!(sent.header("authorization").starts_with("Basic "));
    assert!(String::from_utf8_lossy(&sent.body).contains("code_verifier="));
    // The subject counts from now on, not the address, on either side.
    let id = user["id"].as_i64().expect("an id");
    let change = json!({ "user": { "email": "new@example.com" } });
    server.admin().patch(&format!("/users/{id}"), change).await.status(200);
    provider.change(|answers| answers.claims["email"] = json!("other@example.com"));
    let (mut panel, page) = provider.sign_in(&server).await;
    is_signed_in(&page);
    panel.get("/panel/account").await.status(200).says("new@example.com");
    let entries = audit(&server, &user["id"]).await;
    let by = |action: &str| entries.iter().filter(|entry| entry["action"] == action).collect::<Vec<_>>();
    assert_eq!(by("identity_linked").len(), 1);
    assert_eq!(by("identity_linked")[0]["changes"]["issuer"]["new"], json!(provider.issuer));
    let sign_ins = by("sign_in");
    assert_eq!((sign_ins.len(), &sign_ins[0]["changes"]["method"]["new"]), (2, &json!("identity_provider")));
    // A deactivated user is refused.
    server.admin().post(&format!("/users/{id}/deactivate"), json!({})).await.status(200);
    provider.sign_in(&server).await.1.status(422).says("Your account is deactivated");
    // An erased person is forgotten.
    server.admin().post(&format!("/users/{id}/erase"), json!({})).await.status(200);
    assert_eq!(server.texts("SELECT subject FROM user_identities").await, Vec::<String>::new());
}

async fn identity_without_an_account_is_refused_or_gets_one(server: Server) {
    let provider = FakeProvider::start().await;
    let strict = provider.server(&server, |_| {}).await;
    provider.sign_in(&strict).await.1.status(422).says("There is no account for ada@example.com");
    let open = provider.server(&server, |oidc| oidc.creates_users = true).await;
    for (change, said) in [
        (json!({ "email": "ada@example.com", "email_verified": false }), "does not confirm an email address"),
        (json!({ "email": "ada@example.com", "email_verified": null }), "does not confirm an email address"),
        (json!({ "email": null }), "does not confirm an email address"),
        (json!({ "email": "not an address" }), "No account could be created for you: email must be"),
    ] {
        provider.change(|answers| merge(&mut answers.claims, &change));
        provider.sign_in(&open).await.1.status(422).says(said);
        provider.change(|answers| {
            answers.claims = json!({ "email": "ada@example.com", "email_verified": true, "name": "Ada Example" });
        });
    }
    is_signed_in(&provider.sign_in(&open).await.1);
    is_signed_in(&provider.sign_in(&open).await.1);
    let users = open.admin().get("/users?q[email_eq]=ada@example.com").await.records("users");
    assert_eq!(users.len(), 1);
    // The default role of the service.
    assert_eq!((&users[0]["name"], &users[0]["role_ids"]), (&json!("Ada Example"), &json!([1])));
    // Another identity with this address may be another person.
    provider.change(|answers| answers.claims["sub"] = json!("subject-2"));
    provider.sign_in(&open).await.1.status(422).says("Ask an administrator to unlink the account");
    // Claims that the token lacks are read from the user info, whose subject must be the same.
    let trusting = provider.server(&server, |oidc| (oidc.creates_users, oidc.trusts_emails) = (true, true)).await;
    provider.change(|answers| {
        answers.claims = json!({});
        answers.user_info = json!({ "sub": "subject-1", "email": "ada@example.com" });
    });
    is_signed_in(&provider.sign_in(&trusting).await.1);
    provider.change(|answers| answers.user_info["sub"] = json!("subject-2"));
    provider.sign_in(&trusting).await.1.status(502).says("cannot be reached, or its answer is invalid");
}

fn merge(claims: &mut Value, change: &Value) {
    for (name, value) in change.as_object().expect("an object") {
        claims[name] = value.clone();
    }
}

async fn groups_give_and_take_their_roles_only(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider
        .server(&server, |oidc| {
            oidc.creates_users = true;
            oidc.role_claim = Some("groups".into());
            let role = |group: &str, role: &str| (group.to_string(), role.to_string());
            oidc.roles = vec![role("sales", "Member"), role("audit", "Reader"), role("audit", "No such role")];
        })
        .await;
    let own = json!({ "role": { "name": "Own", "abilities": ["products:read"] } });
    let own = server.admin().post("/roles", own).await.created("role")["id"].clone();
    let signs_in = async |groups: Value| {
        provider.change(|answers| answers.claims["groups"] = groups);
        is_signed_in(&provider.sign_in(&server).await.1);
        server.admin().get("/users?q[email_eq]=ada@example.com").await.records("users")[0].clone()
    };
    // Without a group there is no role, not even the default one.
    let user = signs_in(json!(null)).await;
    assert_eq!(user["role_ids"], json!([]));
    assert_eq!(signs_in(json!(["sales", "strangers"])).await["role_ids"], json!([1]));
    let path = format!("/users/{}", user["id"]);
    server.admin().patch(&path, json!({ "user": { "role_ids": [1, own] } })).await.status(200);
    assert_eq!(signs_in(json!("audit")).await["role_ids"], json!([own, 2]), "one group may be a text");
    assert_eq!(signs_in(json!(["audit"])).await["updated_at"], signs_in(json!(["audit"])).await["updated_at"]);
    assert_eq!(signs_in(json!({ "not": "a list" })).await["role_ids"], json!([own]));
    // An unverified token changes no role.
    provider.change(|answers| {
        answers.claims["groups"] = json!(["sales"]);
        answers.claims["aud"] = json!("another service");
    });
    provider.sign_in(&server).await.1.status(502);
    assert_eq!(server.admin().get(&path).await.record("user")["role_ids"], json!([own]));
}

async fn token_that_does_not_verify_signs_nobody_in(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    create_user(&server, "ada@example.com").await;
    let unsigned = |token: &str| {
        let claims = token.split('.').nth(1).expect("claims");
        format!("eyJhbGciOiJub25lIn0.{claims}.")
    };
    let other_claims = |token: &str| {
        let parts: Vec<&str> = token.split('.').collect();
        let digit = if parts[1].ends_with('A') { 'B' } else { 'A' };
        format!("{}.{}{digit}.{}", parts[0], &parts[1][..parts[1].len() - 1], parts[2])
    };
    type Fault = (&'static str, Box<dyn Fn(&mut Answers)>);
    let claim = |name: &'static str, value: Value| -> Fault {
        (name, Box::new(move |answers| answers.claims[name] = value.clone()))
    };
    let faults: Vec<Fault> = vec![
        claim("nonce", json!("another")),
        claim("nonce", json!(null)),
        claim("aud", json!("another")),
        claim("aud", json!(["charter", "another"])),
        claim("iss", json!("https://another.example")),
        claim("exp", json!(1_700_000_000)),
        claim("sub", json!(null)),
        ("no signature", Box::new(move |answers| answers.token = Some(unsigned))),
        ("changed claims", Box::new(move |answers| answers.token = Some(other_claims))),
        ("no token", Box::new(|answers| answers.token = Some(|_| String::new()))),
        ("an error", Box::new(|answers| answers.status = 400)),
        ("an unknown key", Box::new(|answers| answers.new_key(false))),
    ];
    let claims = json!({ "email": "ada@example.com", "email_verified": true });
    for (name, fault) in faults {
        provider.change(|answers| {
            (answers.claims, answers.token, answers.status) = (claims.clone(), None, 200);
            answers.new_key(true);
            fault(answers);
        });
        let (panel, page) = provider.sign_in(&server).await;
        assert_eq!(page.status, 502, "{name}: {}", page.text);
        page.says("cannot be reached, or its answer is invalid");
        assert!(panel.cookie.is_none(), "{name}");
    }
    assert_eq!(server.texts("SELECT subject FROM user_identities").await, Vec::<String>::new());
}

async fn keys_are_read_again_when_the_provider_replaces_them(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    create_user(&server, "ada@example.com").await;
    let reads = || provider.receiver.received().iter().filter(|request| request.path == "/keys").count();
    is_signed_in(&provider.sign_in(&server).await.1);
    is_signed_in(&provider.sign_in(&server).await.1);
    assert_eq!(reads(), 1);
    provider.change(|answers| answers.new_key(true));
    is_signed_in(&provider.sign_in(&server).await.1);
    assert_eq!(reads(), 2);
}

async fn callback_belongs_to_the_browser_that_began_and_works_once(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    create_user(&server, "ada@example.com").await;
    let mut panel = CookieClient::new(&server.url());
    let callback = provider.begin(&mut panel, "/products").await;
    let expired = "was begun in another browser";
    CookieClient::new(&server.url()).get(&callback).await.status(422).says(expired);
    panel.get(&format!("{CALLBACK}?code=one&state=guessed")).await.status(422).says(expired);
    // A refused attempt uses up the cookie.
    panel.get(&callback).await.status(422).says(expired);
    let callback = provider.begin(&mut panel, "https://evil.example").await;
    let page = panel.get(&callback).await;
    assert_eq!(page.status(303).header("location"), "/", "only pages of this service");
    let callback = provider.begin(&mut panel, "/products").await;
    server.state.clock.advance(std::time::Duration::from_secs(15 * 60 + 1));
    panel.get(&callback).await.status(422).says("took too long");
    CookieClient::new(&server.url()).post(CALLBACK, &[]).await.status(303);
}

async fn answer_of_another_issuer_or_an_error_signs_nobody_in(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    create_user(&server, "ada@example.com").await;
    let mut panel = CookieClient::new(&server.url());
    let callback = provider.begin(&mut panel, "/products").await;
    panel.get(&format!("{callback}&iss=https%3A%2F%2Fanother.example")).await.status(502);
    let callback = provider.begin(&mut panel, "/products").await;
    let denied = callback.replace("code=one", "error=access_denied");
    panel.get(&denied).await.status(422).says("Example did not sign you in.");
    let callback = provider.begin(&mut panel, "/products").await;
    let issuer = provider.issuer.replace(':', "%3A").replace('/', "%2F");
    is_signed_in(&panel.get(&format!("{callback}&iss={issuer}")).await);
}

async fn provider_that_is_down_leaves_the_password(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |oidc| oidc.issuer = "http://127.0.0.1:1".into()).await;
    let user = create_user(&server, "ada@example.com").await;
    set_password(&server, user["id"].as_i64().expect("an id"), PASSWORD).await;
    let mut panel = CookieClient::new(&server.url());
    panel.get("/panel/sign-in/oidc").await.status(502).says("or sign in with your password");
    panel.post("/panel/sign-in", &[("email", "ada@example.com"), ("password", PASSWORD)]).await.status(303);
}

async fn second_factor_is_asked_for_after_the_provider(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    let user = create_user(&server, "ada@example.com").await;
    set_password(&server, user["id"].as_i64().expect("an id"), PASSWORD).await;
    let mut panel = CookieClient::new(&server.url());
    panel.post("/panel/sign-in", &[("email", "ada@example.com"), ("password", PASSWORD)]).await.status(303);
    let factor = super::second_factor::set_up(&server, &mut panel).await;
    let (mut panel, page) = provider.sign_in(&server).await;
    page.status(200).says("Enter your code");
    assert!(panel.cookie.is_none(), "no session before the code");
    let pending = super::second_factor::hidden(&page, "pending");
    let code = super::second_factor::code(&server, &factor.secret, 0);
    let form = [("pending", pending.as_str()), ("code", &code), ("to", "/products")];
    is_signed_in(&panel.post("/panel/sign-in/code", &form).await);
}

async fn administrator_unlinks_an_identity(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    let user = create_user(&server, "ada@example.com").await;
    let path = format!("/users/{}/unlink_identity", user["id"]);
    server.admin().post(&path, json!({})).await.status(409);
    let (mut panel, page) = provider.sign_in(&server).await;
    is_signed_in(&page);
    server.admin().put(&format!("/users/{}", user["id"]), json!({ "is_admin": true })).await.ok();
    panel.get("/users/1").await.status(200).says("/users/1/unlink_identity");
    server.able(&["users:update"]).await.post(&path, json!({})).await.status(403);
    server.admin().post(&path, json!({})).await.status(200);
    panel.get("/panel/account").await.status(303);
    let entries = audit(&server, &user["id"]).await;
    assert!(entries.iter().any(|entry| entry["action"] == "identity_unlinked"));
    provider.change(|answers| answers.claims["sub"] = json!("subject-2"));
    is_signed_in(&provider.sign_in(&server).await.1);
}

async fn page_without_a_provider_has_no_link(server: Server) {
    let mut panel = CookieClient::new(&server.url());
    assert!(!panel.get("/panel/sign-in").await.status(200).text.contains("oidc"));
    panel.get("/panel/sign-in/oidc").await.status(404);
    panel.get(CALLBACK).await.status(404);
}

async fn waiting_form_stays_in_its_tab(server: Server) {
    let provider = FakeProvider::start().await;
    let server = provider.server(&server, |_| {}).await;
    let mut panel = CookieClient::new(&server.url());
    let page = panel.post("/products/new", &[("name", "Kept")]).await;
    page.status(401).says("It opens in a new tab").says("target=\"_blank\"").says("name=Kept");
}

fn canaille_config(provider: &Canaille) -> OidcConfig {
    OidcConfig {
        issuer: provider.issuer.clone(),
        client_id: "charter".into(),
        client_secret: Some(ClientSecret("secret-of-charter".into())),
        name: "Canaille".into(),
        scopes: ["email", "profile", "groups"].map(String::from).into(),
        // Canaille has no `email_verified`.
        trusts_emails: true,
        creates_users: true,
        role_claim: Some("groups".into()),
        roles: vec![("sales".into(), "Member".into())],
    }
}

async fn user_of_a_real_provider_signs_in_with_roles(server: Server) {
    let provider = Canaille::start(&format!("{ORIGIN}{CALLBACK}"));
    let server = server
        .configured(|config| {
            config.base_url = Some(ORIGIN.into());
            config.oidc = Some(canaille_config(&provider));
        })
        .await;
    for (name, roles) in [("ada", json!([1])), ("bob", json!([]))] {
        let mut panel = CookieClient::new(&server.url());
        let page = panel.get("/panel/sign-in/oidc?to=/products").await;
        let back = provider.sign_in(page.status(303).header("location"), name).await;
        is_signed_in(&panel.get(&path(&back)).await);
        let users = server.admin().get(&format!("/users?q[email_eq]={name}@example.com")).await.records("users");
        assert_eq!(users[0]["role_ids"], roles);
        // The code works once, at the provider too.
        panel.get(&path(&back)).await.status(422);
    }
}

async fn real_browser_comes_back_signed_in(server: Server) {
    let provider = FakeProvider::start().await;
    let port = free_port();
    let server = server
        .configured(|config| {
            config.listen = format!("127.0.0.1:{port}");
            config.oidc = Some(provider.config());
        })
        .await;
    create_user(&server, "ada@example.com").await;
    let mut browser = Browser::start(&server.url());
    browser.open("/products");
    browser.sees("Sign in with Example");
    browser.follow("a[href^='/panel/sign-in/oidc']");
    browser.until("location.pathname === '/products'");
    browser.sees("Products");
    browser.is_clean();
}
