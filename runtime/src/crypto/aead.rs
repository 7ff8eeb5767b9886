//! Secrets that an answer shows, kept for its repetition: sealed under a key that is not in the database.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::error::{Error, Result};
use crate::crypto::hmac::hmac_sha256;

const NONCE: usize = 24;

/// Seals text with XChaCha20-Poly1305 and answers it in hexadecimal. `purpose` is part of the key: what was sealed for
/// one purpose cannot be opened for another.
///
/// # Errors
/// When the operating system has no randomness.
pub fn encrypt(secret_key: &str, purpose: &str, text: &str) -> Result<String> {
    let mut nonce = [0_u8; NONCE];
    getrandom::fill(&mut nonce).map_err(Error::internal)?;
    let payload = Payload { msg: text.as_bytes(), aad: purpose.as_bytes() };
    let sealed = cipher(secret_key, purpose).encrypt(&XNonce::from(nonce), payload);
    let sealed = sealed.map_err(|_| Error::internal("the text could not be sealed"))?;
    Ok(hex::encode(nonce) + &hex::encode(sealed))
}

/// Opens what [`encrypt`] made; `None` when it was sealed under another key or for another purpose, or was changed.
pub fn decrypt(secret_key: &str, purpose: &str, sealed: &str) -> Option<String> {
    let bytes = hex::decode(sealed).ok().filter(|bytes| bytes.len() > NONCE)?;
    let (nonce, sealed) = bytes.split_at(NONCE);
    let nonce: [u8; NONCE] = nonce.try_into().ok()?;
    let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
    let text = cipher(secret_key, purpose).decrypt(&XNonce::from(nonce), payload).ok()?;
    String::from_utf8(text).ok()
}

/// The key for a purpose is HMAC-SHA-256 of the purpose under the secret key.
fn cipher(secret_key: &str, purpose: &str) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&hmac_sha256(secret_key.as_bytes(), purpose.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_for_its_purpose_under_its_key_alone() {
        let sealed = encrypt("key", "purpose", "chr_secret ä").unwrap();
        assert!(!sealed.contains("chr_"));
        assert_eq!(decrypt("key", "purpose", &sealed).as_deref(), Some("chr_secret ä"));
        assert_ne!(encrypt("key", "purpose", "chr_secret ä").unwrap(), sealed, "never the same twice");
        assert!(decrypt("other", "purpose", &sealed).is_none() && decrypt("key", "other", &sealed).is_none());
        for bad in ["", "00", "é", "zz", &sealed[2..], &format!("{sealed}00"), &sealed[..sealed.len() - 1]] {
            assert!(decrypt("key", "purpose", bad).is_none(), "{bad}");
        }
        for position in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[position] = if changed[position] == b'0' { b'1' } else { b'0' };
            assert!(decrypt("key", "purpose", &String::from_utf8(changed).unwrap()).is_none(), "digit {position}");
        }
    }
}
