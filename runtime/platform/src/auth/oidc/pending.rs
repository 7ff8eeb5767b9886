//! A sign-in between this server and the identity provider: sealed in a cookie of the browser that began it.

use chrono::TimeDelta;
use serde_json::{Value, json};

use charter_core::crypto::aead;
use charter_core::error::Result;
use charter_core::ops::State;

/// Purpose of the encryption key.
const PURPOSE: &str = "OpenID Connect sign-in";
/// How long the user may take at the provider.
pub(super) const LIFETIME: TimeDelta = TimeDelta::minutes(15);

/// The secrets of a sign-in that was begun.
#[derive(Debug)]
pub(super) struct Pending {
    /// Binds the callback to the browser (RFC 6749, section 10.12).
    pub(super) state: String,
    /// Binds the ID token to this sign-in.
    pub(super) nonce: String,
    /// Verifier of PKCE (RFC 7636).
    pub(super) verifier: String,
    /// The page to open after the sign-in.
    pub(super) to: String,
}

impl Pending {
    /// # Errors
    /// When the operating system has no randomness.
    pub(super) fn seal(&self, server: &State) -> Result<String> {
        let until = (server.clock.now() + LIFETIME).timestamp();
        let text = json!({
            "state": self.state, "nonce": self.nonce, "verifier": self.verifier, "to": self.to, "until": until,
        });
        aead::encrypt(server.secret_key.as_str(), PURPOSE, &text.to_string())
    }

    /// `None` if it was changed or has expired.
    pub(super) fn open(server: &State, sealed: &str) -> Option<Pending> {
        let text = aead::decrypt(server.secret_key.as_str(), PURPOSE, sealed)?;
        let value: Value = serde_json::from_str(&text).ok()?;
        if value["until"].as_i64()? < server.clock.now().timestamp() {
            return None;
        }
        let text = |name: &str| value[name].as_str().map(String::from);
        Some(Pending { state: text("state")?, nonce: text("nonce")?, verifier: text("verifier")?, to: text("to")? })
    }
}
