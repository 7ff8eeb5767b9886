//! Signed links to stored files, valid for one hour and one file without a token.

use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use uuid::Uuid;

use super::storage::ObjectKind;
use charter_core::crypto::hmac::{hmac_sha256, hmac_with_key};
use charter_core::error::{Error, Result};

/// Lifetime of a link (the specification, "Limits").
pub(super) const LIFETIME: TimeDelta = TimeDelta::minutes(60);

/// Path of links, outside `/api/v1`, where every path needs a token.
pub const PATH: &str = "/files";

/// Separator between the signed text and the signature.
const SIGNATURE: &str = "&signature=";
const EXPIRES: &str = "?expires=";

/// Creates and verifies links.
pub(super) struct Signer(Hmac<Sha256>);

impl std::fmt::Debug for Signer {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer")
    }
}

impl Signer {
    /// Derives the signing key from the server's secret key, for this purpose only.
    pub(super) fn new(secret_key: &str) -> Signer {
        Signer(hmac_with_key(&hmac_sha256(secret_key.as_bytes(), b"charter: links to attachments")))
    }

    /// `/files/<uuid>/<part>?expires=<unix time>&signature=<hex>`
    pub(super) fn link(&self, part: ObjectKind, uuid: Uuid, now: DateTime<Utc>) -> String {
        let expires = (now + LIFETIME).timestamp();
        let mut link = format!("{PATH}/{uuid}/{}{EXPIRES}{expires}", part.name());
        let signature = self.0.clone().chain_update(link.as_bytes()).finalize().into_bytes();
        link.push_str(SIGNATURE);
        link.push_str(&hex::encode(signature));
        link
    }

    /// Verifies the path and query string exactly as they were sent, in constant time.
    ///
    /// # Errors
    /// [`Error::LinkInvalid`] if anything was changed; [`Error::LinkExpired`] after one hour.
    pub(super) fn check(&self, target: &str, now: DateTime<Utc>) -> Result<()> {
        let (signed, signature) = target.rsplit_once(SIGNATURE).ok_or(Error::LinkInvalid)?;
        // Only lower-case digits are valid, because links are written with them.
        let digits = Some(signature).filter(|digits| !digits.bytes().any(|digit| digit.is_ascii_uppercase()));
        let signature = digits.and_then(|digits| hex::decode(digits).ok()).ok_or(Error::LinkInvalid)?;
        let mac = self.0.clone().chain_update(signed.as_bytes());
        mac.verify_slice(&signature).map_err(|_| Error::LinkInvalid)?;
        // The signature is valid: the text is as this server wrote it.
        let expires = signed.rsplit_once(EXPIRES).and_then(|(_, time)| time.parse::<i64>().ok());
        if expires.ok_or(Error::LinkInvalid)? <= now.timestamp() {
            return Err(Error::LinkExpired);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_is_valid_for_an_hour_and_invalid_after_any_change() {
        let signer = Signer::new("secret");
        let now = DateTime::from_timestamp(1_800_000_000, 999_000_000).unwrap();
        let link = signer.link(ObjectKind::File, Uuid::from_u128(7), now);
        assert!(signer.check(&link, now).is_ok());
        let hour = TimeDelta::minutes(60);
        assert!(signer.check(&link, now + hour - TimeDelta::seconds(1)).is_ok());
        assert!(matches!(signer.check(&link, now + hour), Err(Error::LinkExpired)));
        for at in 0..link.len() {
            for bit in 0..8 {
                let mut bytes = link.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                if let Ok(other) = String::from_utf8(bytes) {
                    assert!(matches!(signer.check(&other, now), Err(Error::LinkInvalid)), "{other}");
                }
            }
        }
        for other in
            [format!("{link}0"), format!("{link}00"), link[..link.len() - 2].to_string(), format!("{link}&a=b")]
        {
            assert!(signer.check(&other, now).is_err(), "{other}");
        }
    }

    #[test]
    fn link_is_invalid_for_another_key_or_part() {
        let now = Utc::now();
        let link = Signer::new("secret").link(ObjectKind::File, Uuid::nil(), now);
        assert!(Signer::new("other").check(&link, now).is_err());
        assert!(Signer::new("secret").check(&link.replace("/file?", "/thumb?"), now).is_err());
    }
}
