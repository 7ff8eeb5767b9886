//! CSRF token of a session: an HMAC of the session's mark, masked differently on every page.

use crate::server::ServerState;
use charter_core::crypto::hmac::hmac_sha256;
use charter_core::error::{Error, Result};

/// Length of the secret and of its mask.
const SECRET_BYTES: usize = 32;

#[derive(Debug)]
pub(crate) struct CsrfToken {
    secret: [u8; SECRET_BYTES],
    /// The token in the pages of this request: a random mask, and the secret XOR the mask. No two pages share a part of
    /// it, so that the size of compressed pages reveals nothing (BREACH).
    pub masked: String,
}

impl CsrfToken {
    /// The token of the session with this mark. It stays the same when the session secret is rotated.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub(crate) fn for_session(state: &ServerState, session_mark: &str) -> Result<CsrfToken> {
        let key = state.config.secret_key.as_deref().unwrap_or_default();
        let secret = hmac_sha256(key.as_bytes(), format!("panel form {session_mark}").as_bytes());
        let mut mask = [0_u8; SECRET_BYTES];
        getrandom::fill(&mut mask).map_err(Error::internal)?;
        let masked: Vec<u8> = secret.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
        Ok(CsrfToken { secret, masked: hex::encode(mask) + &hex::encode(masked) })
    }

    /// Returns true if a text has the format of a token, of any session.
    pub(crate) fn is_well_formed(sent: &str) -> bool {
        decode(sent).is_some()
    }

    /// Returns true if a token belongs to the session, compared in constant time.
    pub(crate) fn matches(&self, sent: &str) -> bool {
        let Some(bytes) = decode(sent) else { return false };
        let (mask, masked) = bytes.split_at(SECRET_BYTES);
        let unmasked = mask.iter().zip(masked).map(|(mask, byte)| mask ^ byte);
        unmasked.zip(self.secret).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
    }
}

fn decode(sent: &str) -> Option<[u8; 2 * SECRET_BYTES]> {
    let mut bytes = [0; 2 * SECRET_BYTES];
    hex::decode_to_slice(sent, &mut bytes).ok()?;
    Some(bytes)
}
