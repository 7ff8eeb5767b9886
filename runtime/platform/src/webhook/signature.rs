//! Signatures of deliveries: the secret of a webhook, and the headers that prove origin and integrity.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use charter_core::crypto::hmac::hmac_with_key;
use charter_core::error::{Error, Result};

/// Prefix of a secret by the Standard Webhooks specification.
const SECRET_PREFIX: &str = "whsec_";
/// Random bytes in a secret.
const SECRET_BYTES: usize = 32;

/// HMAC-SHA256 of the body in hexadecimal, keyed with the text of the secret.
pub const SIGNATURE: &str = "x-service-signature";
/// The same with the previous secret, while it is valid after a rotation.
pub const SIGNATURE_PREVIOUS: &str = "x-service-signature-previous";
/// Name of the event.
pub const EVENT: &str = "x-service-event";
/// Number of the attempt, counted from 1.
pub const ATTEMPT: &str = "x-service-attempt";
/// Id of the delivery, the same on every attempt.
pub const ID: &str = "webhook-id";
/// Time of the attempt in seconds since 1970.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// `v1,<base64>` keyed with the bytes of the secret, and a second entry for the previous secret.
pub const STANDARD_SIGNATURE: &str = "webhook-signature";

/// Signing secret of a webhook: `whsec_` and the base64 of 32 random bytes. It has no `Debug`, which keeps it out of
/// logs.
#[derive(Clone)]
pub struct SigningSecret {
    text: String,
    bytes: Vec<u8>,
}

impl SigningSecret {
    /// Generates a secret from the operating system's random source.
    ///
    /// # Errors
    /// If the random source fails.
    pub fn generate() -> Result<SigningSecret> {
        let mut bytes = vec![0_u8; SECRET_BYTES];
        getrandom::fill(&mut bytes).map_err(Error::internal)?;
        Ok(SigningSecret { text: format!("{SECRET_PREFIX}{}", STANDARD.encode(&bytes)), bytes })
    }

    /// Parses a secret; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<SigningSecret> {
        let bytes = STANDARD.decode(text.strip_prefix(SECRET_PREFIX)?).ok()?;
        (bytes.len() == SECRET_BYTES).then(|| SigningSecret { text: text.to_string(), bytes })
    }

    /// The secret as text, shown once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Value of the header [`SIGNATURE`].
    pub fn sign(&self, body: &[u8]) -> String {
        hex::encode(hmac(self.text.as_bytes(), &[body]).finalize().into_bytes())
    }

    /// One entry of [`STANDARD_SIGNATURE`]; `timestamp` is in seconds since 1970.
    pub fn sign_standard(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        format!("v1,{}", STANDARD.encode(self.standard_mac(id, timestamp, body).finalize().into_bytes()))
    }

    /// Verifies a hexadecimal signature in constant time.
    pub fn verify(&self, body: &[u8], signature: &str) -> bool {
        hex::decode(signature).is_ok_and(|given| hmac(self.text.as_bytes(), &[body]).verify_slice(&given).is_ok())
    }

    /// Verifies that one of the entries, which are separated by spaces, is a valid signature.
    pub fn verify_standard(&self, id: &str, timestamp: i64, body: &[u8], entries: &str) -> bool {
        let fits = |entry: &str| {
            let given = entry.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
            given.is_some_and(|given| self.standard_mac(id, timestamp, body).verify_slice(&given).is_ok())
        };
        entries.split(' ').filter(|entry| fits(entry)).count() > 0
    }

    fn standard_mac(&self, id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
        hmac(&self.bytes, &[id.as_bytes(), b".", timestamp.to_string().as_bytes(), b".", body])
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = hmac_with_key(key);
    for part in parts {
        mac.update(part);
    }
    mac
}

/// The secrets that sign a delivery: the current one, and the previous one while it is valid.
#[derive(Clone)]
pub struct Secrets {
    pub current: SigningSecret,
    pub previous: Option<SigningSecret>,
}

impl Secrets {
    /// Parses stored secrets; `None` if one of them is malformed.
    pub fn parse(current: &str, previous: Option<&str>) -> Option<Secrets> {
        let current = SigningSecret::parse(current)?;
        let previous = match previous {
            Some(text) => Some(SigningSecret::parse(text)?),
            None => None,
        };
        Some(Secrets { current, previous })
    }

    /// The signature headers of a body; `timestamp` is in seconds since 1970.
    pub fn signatures(&self, id: &str, timestamp: i64, body: &[u8]) -> Vec<(&'static str, String)> {
        let mut standard = self.current.sign_standard(id, timestamp, body);
        let mut headers = vec![(SIGNATURE, self.current.sign(body))];
        if let Some(previous) = &self.previous {
            headers.push((SIGNATURE_PREVIOUS, previous.sign(body)));
            standard = format!("{standard} {}", previous.sign_standard(id, timestamp, body));
        }
        headers.push((STANDARD_SIGNATURE, standard));
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks specification, whose secret has 24 bytes.
    #[test]
    fn example_of_the_specification_verifies() {
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let bytes = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let secret = SigningSecret { text: text.into(), bytes };
        let signed = secret.sign_standard("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn secret_is_random_and_can_be_parsed() {
        let (one, two) = (SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap());
        assert_ne!(one.reveal(), two.reveal());
        let read = SigningSecret::parse(one.reveal()).unwrap();
        assert_eq!((read.reveal(), &read.bytes), (one.reveal(), &one.bytes));
        for bad in ["", "whsec_", "whsec_AAAA", "whsec_!!!!", &one.reveal()["whsec_".len()..]] {
            assert!(SigningSecret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn signature_is_valid_for_one_body_secret_id_and_timestamp() {
        let (secret, other) = (SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap());
        let (hex, standard) = (secret.sign(b"body"), secret.sign_standard("d", 7, b"body"));
        assert!(secret.verify(b"body", &hex) && secret.verify(b"body", &hex.to_uppercase()));
        assert!(!secret.verify(b"bodY", &hex) && !other.verify(b"body", &hex));
        for bad in ["", "zz", &hex[..62], &format!("{hex}00"), "é"] {
            assert!(!secret.verify(b"body", bad), "{bad}");
        }
        assert!(secret.verify_standard("d", 7, b"body", &standard));
        assert!(secret.verify_standard("d", 7, b"body", &format!("v2,x {standard}")));
        assert!(!secret.verify_standard("e", 7, b"body", &standard));
        assert!(!secret.verify_standard("d", 8, b"body", &standard));
        assert!(!other.verify_standard("d", 7, b"body", &standard));
    }

    #[test]
    fn during_a_rotation_both_secrets_sign() {
        let (current, previous) = (SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap());
        let secrets = Secrets { current: current.clone(), previous: Some(previous.clone()) };
        let headers = secrets.signatures("d", 7, b"body");
        let header = |name: &str| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str()).unwrap_or_default();
        assert!(current.verify(b"body", header(SIGNATURE)) && previous.verify(b"body", header(SIGNATURE_PREVIOUS)));
        for secret in [&current, &previous] {
            assert!(secret.verify_standard("d", 7, b"body", header(STANDARD_SIGNATURE)));
        }
        let alone = Secrets { current, previous: None }.signatures("d", 7, b"body");
        assert!(alone.iter().all(|(name, _)| *name != SIGNATURE_PREVIOUS));
    }
}
