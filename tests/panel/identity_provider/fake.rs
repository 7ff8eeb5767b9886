//! An identity provider in the test process, whose answers a test can change: claims, keys and faults.

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use charter_runtime::auth::oidc::{ClientSecret, OidcConfig};
use rcgen::{KeyPair, PKCS_ED25519, SigningKey};
use serde_json::{Value, json};

use super::{ORIGIN, Page};
use crate::panel::CookieClient;
use crate::support::{Receiver, Reply, Server};

pub const CALLBACK: &str = "/panel/sign-in/oidc/callback";

/// The provider. It gives each client a code that stands for the claims at this time.
pub struct FakeProvider {
    pub receiver: Receiver,
    pub issuer: String,
    answers: Arc<Mutex<Answers>>,
}

/// The answers of the provider.
pub struct Answers {
    /// Claims of the ID token besides the required ones, which they can replace. A null removes a claim.
    pub claims: Value,
    pub user_info: Value,
    /// Replaces the signed ID token.
    pub token: Option<fn(&str) -> String>,
    /// Status of the token endpoint.
    pub status: u16,
    /// Key that signs, and key that is published.
    keys: [KeyPair; 2],
    nonce: String,
    issuer: String,
}

impl FakeProvider {
    pub async fn start() -> FakeProvider {
        let key = || KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        let key_of_both = key();
        let published = KeyPair::try_from(key_of_both.serialize_der()).expect("the same key");
        let answers = Arc::new(Mutex::new(Answers {
            claims: json!({ "email": "ada@example.com", "email_verified": true, "name": "Ada Example" }),
            user_info: json!({ "sub": "subject-1" }),
            token: None,
            status: 200,
            keys: [key_of_both, published],
            nonce: String::new(),
            issuer: String::new(),
        }));
        let shared = answers.clone();
        let receiver = Receiver::start(move |request| {
            let mut answers = shared.lock().expect("no test failed");
            let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
            let json = Some(("content-type", "application/json".to_string()));
            match path {
                "/authorize" => Reply::Whole(302, Vec::new(), Some(("location", answers.way_back(query)))),
                "/.well-known/openid-configuration" => Reply::Whole(200, answers.description(), json),
                "/keys" => Reply::Whole(200, answers.public_keys(), json),
                "/token" => Reply::Whole(answers.status, answers.tokens(), json),
                "/userinfo" => Reply::Whole(200, answers.user_info.to_string().into_bytes(), json),
                _ => Reply::status(404),
            }
        })
        .await;
        let issuer = format!("http://{}", receiver.address);
        answers.lock().expect("no test failed").issuer.clone_from(&issuer);
        FakeProvider { receiver, issuer, answers }
    }

    /// Changes the answers.
    pub fn change(&self, change: impl FnOnce(&mut Answers)) {
        change(&mut self.answers.lock().expect("no test failed"));
    }

    pub fn config(&self) -> OidcConfig {
        OidcConfig {
            issuer: self.issuer.clone(),
            client_id: "charter".into(),
            client_secret: Some(ClientSecret("secret-of-charter".into())),
            name: "Example".into(),
            scopes: vec!["email".into(), "profile".into()],
            trusts_emails: false,
            creates_users: false,
            role_claim: None,
            roles: Vec::new(),
        }
    }

    /// A server with this provider.
    pub async fn server(&self, server: &Server, change: impl FnOnce(&mut OidcConfig)) -> Server {
        let mut oidc = self.config();
        change(&mut oidc);
        server
            .configured(|config| {
                config.base_url = Some(ORIGIN.into());
                config.oidc = Some(oidc);
            })
            .await
    }

    /// Begins a sign-in; returns the path of the callback after the provider has signed the user in.
    pub async fn begin(&self, panel: &mut CookieClient, to: &str) -> String {
        let page = panel.get(&format!("/panel/sign-in/oidc?to={to}")).await;
        let target = reqwest::Url::parse(page.status(303).header("location")).expect("a URL");
        let sent =
            |name: &str| target.query_pairs().find(|(known, _)| known == name).expect("a parameter").1.into_owned();
        assert_eq!(sent("code_challenge_method"), "S256");
        assert_eq!(sent("redirect_uri"), format!("{ORIGIN}{CALLBACK}"));
        self.change(|answers| answers.nonce = sent("nonce"));
        format!("{CALLBACK}?code=one&state={}", sent("state"))
    }

    /// A whole sign-in with a new client.
    pub async fn sign_in(&self, server: &Server) -> (CookieClient, Page) {
        let mut panel = CookieClient::new(&server.url());
        let callback = self.begin(&mut panel, "/products").await;
        let page = panel.get(&callback).await;
        (panel, page)
    }
}

impl Answers {
    /// Signs with a new key, which is published if `publishes` is true.
    pub fn new_key(&mut self, publishes: bool) {
        self.keys[0] = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        if publishes {
            self.keys[1] = KeyPair::try_from(self.keys[0].serialize_der()).expect("the same key");
        }
    }

    /// Where the provider sends a browser after the sign-in.
    fn way_back(&mut self, query: &str) -> String {
        let url = reqwest::Url::parse(&format!("http://query?{query}")).expect("a URL");
        let sent = |name: &str| url.query_pairs().find(|(known, _)| known == name).expect("a parameter").1.into_owned();
        self.nonce = sent("nonce");
        format!("{}?code=one&state={}", sent("redirect_uri"), sent("state"))
    }

    fn description(&self) -> Vec<u8> {
        let issuer = &self.issuer;
        let description = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "userinfo_endpoint": format!("{issuer}/userinfo"),
            "jwks_uri": format!("{issuer}/keys"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            // A provider may list `none`; a token without a signature is refused all the same.
            "id_token_signing_alg_values_supported": ["none", "HS256", "EdDSA"],
        });
        description.to_string().into_bytes()
    }

    /// The name of a key changes with the key.
    fn kid(key: &KeyPair) -> String {
        URL_SAFE_NO_PAD.encode(&key.public_key_raw()[..8])
    }

    fn public_keys(&self) -> Vec<u8> {
        let key = &self.keys[1];
        let x = URL_SAFE_NO_PAD.encode(key.public_key_raw());
        let key =
            json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": Answers::kid(key), "use": "sig", "alg": "EdDSA" });
        json!({ "keys": [key] }).to_string().into_bytes()
    }

    fn tokens(&self) -> Vec<u8> {
        if self.status != 200 {
            return json!({ "error": "invalid_grant" }).to_string().into_bytes();
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
        let mut claims = json!({
            "iss": self.issuer, "aud": "charter", "sub": "subject-1", "iat": now, "exp": now + 300, "nonce": self.nonce,
        });
        let object = claims.as_object_mut().expect("an object");
        for (name, value) in self.claims.as_object().expect("an object") {
            object.insert(name.clone(), value.clone());
        }
        object.retain(|_, value| !value.is_null());
        let header = json!({ "alg": "EdDSA", "kid": Answers::kid(&self.keys[0]) });
        let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = self.keys[0].sign(signed.as_bytes()).expect("a signature");
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
        let token = self.token.map_or(token.clone(), |replace| replace(&token));
        json!({ "access_token": "at", "token_type": "Bearer", "id_token": token }).to_string().into_bytes()
    }
}
