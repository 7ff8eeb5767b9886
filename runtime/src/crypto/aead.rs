//! Authenticated encryption of stored secrets (XChaCha20-Poly1305) under the server's secret key, which is not in the
//! database.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::error::{Error, Result};
use crate::crypto::hmac::hmac;

const NONCE_BYTES: usize = 24;

/// Encrypts a text and returns nonce and ciphertext in hexadecimal. The key is derived for `purpose`: a text encrypted
/// for one purpose cannot be decrypted for another.
///
/// # Errors
/// If the operating system's random source fails.
pub fn encrypt(secret_key: &str, purpose: &str, text: &str) -> Result<String> {
    let mut nonce = [0_u8; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(Error::internal)?;
    let payload = Payload { msg: text.as_bytes(), aad: purpose.as_bytes() };
    let ciphertext = cipher(secret_key, purpose).encrypt(&XNonce::from(nonce), payload);
    let ciphertext = ciphertext.map_err(|_| Error::internal("the text could not be encrypted"))?;
    Ok(hex::encode(nonce) + &hex::encode(ciphertext))
}

/// Decrypts the result of [`encrypt`]; `None` if the key or the purpose differs or the text was changed.
pub fn decrypt(secret_key: &str, purpose: &str, ciphertext: &str) -> Option<String> {
    let bytes = hex::decode(ciphertext).ok().filter(|bytes| bytes.len() > NONCE_BYTES)?;
    let (nonce, ciphertext) = bytes.split_at(NONCE_BYTES);
    let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
    let payload = Payload { msg: ciphertext, aad: purpose.as_bytes() };
    let text = cipher(secret_key, purpose).decrypt(&XNonce::from(nonce), payload).ok()?;
    String::from_utf8(text).ok()
}

/// Derives the key as HMAC-SHA-256 of the purpose.
fn cipher(secret_key: &str, purpose: &str) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&hmac(secret_key.as_bytes(), purpose.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphertext_decrypts_only_with_its_key_and_purpose() {
        let ciphertext = encrypt("key", "purpose", "chr_secret ä").unwrap();
        assert!(!ciphertext.contains("chr_"));
        assert_eq!(decrypt("key", "purpose", &ciphertext).as_deref(), Some("chr_secret ä"));
        assert_ne!(encrypt("key", "purpose", "chr_secret ä").unwrap(), ciphertext, "never the same twice");
        assert!(decrypt("other", "purpose", &ciphertext).is_none() && decrypt("key", "other", &ciphertext).is_none());
        for bad in ["", "00", "é", "zz", &ciphertext[2..], &format!("{ciphertext}00"), &ciphertext[..ciphertext.len() - 1]] {
            assert!(decrypt("key", "purpose", bad).is_none(), "{bad}");
        }
        for position in 0..ciphertext.len() {
            let mut changed = ciphertext.clone().into_bytes();
            changed[position] = if changed[position] == b'0' { b'1' } else { b'0' };
            assert!(decrypt("key", "purpose", &String::from_utf8(changed).unwrap()).is_none(), "digit {position}");
        }
    }
}
