//! What forms send back, so that no other site can send them: it follows from the session, and looks different on every page.

use crate::context::State;
use crate::error::{Error, Result};
use crate::mac::hmac;

/// Bytes of the secret, and of its mask.
const BYTES: usize = 32;

/// The token of a session.
#[derive(Debug)]
pub struct Token {
    secret: [u8; BYTES],
    /// As the pages of this request have it: a mask, and the secret under it. Two pages have no part of it in common, so that
    /// nobody can guess it from how long they are once they are compressed (BREACH).
    pub shown: String,
}

impl Token {
    /// The token of the session with this mark, also when the session's own secret has changed since.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn of(state: &State, session: &str) -> Result<Token> {
        let key = state.config.secret_key.as_deref().unwrap_or_default();
        let secret = hmac(key.as_bytes(), format!("panel form {session}").as_bytes());
        let mut mask = [0_u8; BYTES];
        getrandom::fill(&mut mask).map_err(Error::internal)?;
        let masked: Vec<u8> = secret.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
        Ok(Token { secret, shown: hex::encode(mask) + &hex::encode(masked) })
    }

    /// Whether this has the form of a token, of whichever session.
    pub fn is_one(sent: &str) -> bool {
        read(sent).is_some()
    }

    /// Whether this was on a page of the session; in the same time wherever it differs.
    pub fn is(&self, sent: &str) -> bool {
        let Some(bytes) = read(sent) else { return false };
        let (mask, masked) = bytes.split_at(BYTES);
        let unmasked = mask.iter().zip(masked).map(|(mask, byte)| mask ^ byte);
        unmasked.zip(self.secret).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
    }
}

fn read(sent: &str) -> Option<[u8; 2 * BYTES]> {
    let mut bytes = [0; 2 * BYTES];
    hex::decode_to_slice(sent, &mut bytes).ok()?;
    Some(bytes)
}
