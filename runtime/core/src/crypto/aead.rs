//! Encryption of stored secrets with XChaCha20-Poly1305, under keys that are not in the database.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::crypto::hmac::hmac_sha256;
use crate::error::{Error, Result};

const NONCE_BYTES: usize = 24;

/// Encrypts a text and returns nonce and ciphertext in hexadecimal. The key depends on `purpose`: a text that was encrypted for one
/// purpose cannot be decrypted for another.
///
/// # Errors
/// When the operating system has no randomness.
pub fn encrypt(secret_key: &str, purpose: &str, text: &str) -> Result<String> {
    let mut nonce = [0_u8; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(Error::internal)?;
    let payload = Payload { msg: text.as_bytes(), aad: purpose.as_bytes() };
    let ciphertext = cipher(secret_key, purpose).encrypt(&XNonce::from(nonce), payload);
    let ciphertext = ciphertext.map_err(|_| Error::internal("could not encrypt the text"))?;
    Ok(hex::encode(nonce) + &hex::encode(ciphertext))
}

/// Decrypts the result of [`encrypt`]; `None` for another key or purpose, and when it was changed.
pub fn decrypt(secret_key: &str, purpose: &str, encrypted: &str) -> Option<String> {
    let bytes = hex::decode(encrypted).ok().filter(|bytes| bytes.len() > NONCE_BYTES)?;
    let (nonce, ciphertext) = bytes.split_at(NONCE_BYTES);
    let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
    let payload = Payload { msg: ciphertext, aad: purpose.as_bytes() };
    let text = cipher(secret_key, purpose).decrypt(&XNonce::from(nonce), payload).ok()?;
    String::from_utf8(text).ok()
}

/// Derives the key of a purpose: HMAC-SHA-256 of the purpose under the secret key.
fn cipher(secret_key: &str, purpose: &str) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&hmac_sha256(secret_key.as_bytes(), purpose.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encrypted_text_is_decrypted_only_with_its_key_and_purpose() {
        let encrypted = encrypt("key", "purpose", "chr_secret ä").unwrap();
        assert!(!encrypted.contains("chr_"));
        assert_eq!(decrypt("key", "purpose", &encrypted).as_deref(), Some("chr_secret ä"));
        assert_ne!(encrypt("key", "purpose", "chr_secret ä").unwrap(), encrypted, "the nonce is random");
        assert!(decrypt("other", "purpose", &encrypted).is_none() && decrypt("key", "other", &encrypted).is_none());
        for bad in ["", "00", "é", "zz", &encrypted[2..], &format!("{encrypted}00"), &encrypted[..encrypted.len() - 1]]
        {
            assert!(decrypt("key", "purpose", bad).is_none(), "{bad}");
        }
        for position in 0..encrypted.len() {
            let mut changed = encrypted.clone().into_bytes();
            changed[position] = if changed[position] == b'0' { b'1' } else { b'0' };
            assert!(decrypt("key", "purpose", &String::from_utf8(changed).unwrap()).is_none(), "digit {position}");
        }
    }
}
