//! Token secrets: `chr_`, 32 random base62 characters, and the CRC-32 of both in 6 characters.

use sha2::{Digest, Sha256};

use charter_core::error::{Error, Result};

const PREFIX: &str = "chr_";
const RANDOM_CHARACTERS: usize = 32;
const CHECKSUM_CHARACTERS: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A token as text, shown once. It has no `Debug`, which keeps it out of logs.
pub struct Secret(String);

impl Secret {
    /// Generates a token from the operating system's random source.
    pub fn generate() -> Result<Secret> {
        let mut text = format!("{PREFIX}{}", random_base62(RANDOM_CHARACTERS)?);
        let check = checksum(&text);
        text.push_str(&check);
        Ok(Secret(text))
    }

    /// Parses a token; `None` if it is malformed, which saves a database query.
    pub fn parse(text: &str) -> Option<Secret> {
        let well_formed = text.len() == PREFIX.len() + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS
            && text.starts_with(PREFIX)
            && text[PREFIX.len()..].bytes().all(|b| b.is_ascii_alphanumeric());
        (well_formed && checksum(&text[..PREFIX.len() + RANDOM_CHARACTERS]) == text[PREFIX.len() + RANDOM_CHARACTERS..])
            .then(|| Secret(text.to_string()))
    }

    /// The token as text.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// SHA-256, stored in place of the token.
    pub fn digest(&self) -> [u8; 32] {
        digest(&self.0)
    }

    /// [`Secret::digest`] in hexadecimal.
    pub fn digest_hex(&self) -> String {
        hex::encode(self.digest())
    }
}

/// `length` random base62 characters from the operating system's random source.
pub fn random_base62(length: usize) -> Result<String> {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut bytes = [0_u8; RANDOM_CHARACTERS];
        getrandom::fill(&mut bytes).map_err(Error::internal)?;
        // 248 is the largest multiple of 62 in a byte: greater values would bias the result.
        for byte in bytes.into_iter().filter(|byte| *byte < 248) {
            if text.len() < length {
                text.push(char::from(ALPHABET[usize::from(byte % 62)]));
            }
        }
    }
    Ok(text)
}

/// SHA-256 of a secret.
pub(super) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// CRC-32 of the text in six base62 digits.
fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [0_u8; CHECKSUM_CHARACTERS];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_parses_and_a_mistyped_one_does_not() {
        let secret = Secret::generate().unwrap();
        let text = secret.reveal().to_string();
        assert_eq!(text.len(), 42);
        assert_eq!(Secret::parse(&text).unwrap().digest(), secret.digest());
        let slip = if text.ends_with('0') { "1" } else { "0" };
        assert!(Secret::parse(&format!("{}{slip}", &text[..41])).is_none());
        for bad in ["", "chr_", "chr_é", &text[1..], &format!("{text}0")] {
            assert!(Secret::parse(bad).is_none(), "{bad}");
        }
    }
}
