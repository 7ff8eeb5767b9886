//! How a receiver knows that a delivery is ours and unchanged: the secret of a webhook, and the headers that it signs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::crypto::hmac::hmac_with_key;
use crate::error::{Error, Result};

/// What every secret begins with, as the Standard Webhooks specification wants it.
const PREFIX: &str = "whsec_";
/// Random bytes in a secret.
const BYTES: usize = 32;

/// The hexadecimal HMAC-SHA256 of the body, keyed with the secret as it was handed out.
pub const SIGNATURE: &str = "x-service-signature";
/// The same by the secret before, while it is still valid after a rotation.
pub const SIGNATURE_PREVIOUS: &str = "x-service-signature-previous";
/// The name of the event.
pub const EVENT: &str = "x-service-event";
/// Which attempt it is, from 1.
pub const ATTEMPT: &str = "x-service-attempt";
/// The id of the delivery, the same on every attempt.
pub const ID: &str = "webhook-id";
/// When the attempt was made, in seconds since 1970.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// `v1,<base64>` by the secret's bytes, and a second one by the secret before.
pub const STANDARD_SIGNATURE: &str = "webhook-signature";

/// A webhook's secret: `whsec_` and the base64 of 32 random bytes. It has no `Debug`, so that no log prints it.
#[derive(Clone)]
pub struct SigningSecret {
    text: String,
    bytes: Vec<u8>,
}

impl SigningSecret {
    /// Makes a new one from the operating system's randomness.
    ///
    /// # Errors
    /// When that fails.
    pub fn generate() -> Result<SigningSecret> {
        let mut bytes = vec![0_u8; BYTES];
        getrandom::fill(&mut bytes).map_err(Error::internal)?;
        Ok(SigningSecret { text: format!("{PREFIX}{}", STANDARD.encode(&bytes)), bytes })
    }

    /// Reads one as it was handed out; `None` when it cannot be one.
    pub fn parse(text: &str) -> Option<SigningSecret> {
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (bytes.len() == BYTES).then(|| SigningSecret { text: text.to_string(), bytes })
    }

    /// The secret as it is handed out, once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What [`SIGNATURE`] holds.
    pub fn sign(&self, body: &[u8]) -> String {
        hex::encode(mac(self.text.as_bytes(), &[body]).finalize().into_bytes())
    }

    /// One entry of [`STANDARD_SIGNATURE`]; `timestamp` is in seconds since 1970.
    pub fn sign_standard(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        format!("v1,{}", STANDARD.encode(self.standard(id, timestamp, body).finalize().into_bytes()))
    }

    /// Whether a receiver with this secret accepts the hexadecimal signature. Compares in constant time.
    pub fn verify(&self, body: &[u8], signature: &str) -> bool {
        hex::decode(signature).is_ok_and(|given| mac(self.text.as_bytes(), &[body]).verify_slice(&given).is_ok())
    }

    /// Whether a receiver with this secret accepts one of the entries, which stand apart by spaces.
    pub fn verify_standard(&self, id: &str, timestamp: i64, body: &[u8], entries: &str) -> bool {
        let fits = |entry: &str| {
            let given = entry.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
            given.is_some_and(|given| self.standard(id, timestamp, body).verify_slice(&given).is_ok())
        };
        entries.split(' ').filter(|entry| fits(entry)).count() > 0
    }

    fn standard(&self, id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
        mac(&self.bytes, &[id.as_bytes(), b".", timestamp.to_string().as_bytes(), b".", body])
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = hmac_with_key(key);
    for part in parts {
        mac.update(part);
    }
    mac
}

/// What signs one delivery: the secret, and beside it the one before while that is still valid.
#[derive(Clone)]
pub struct Secrets {
    pub current: SigningSecret,
    pub previous: Option<SigningSecret>,
}

impl Secrets {
    /// Reads them as they are stored; `None` when one of them is no secret.
    pub fn parse(current: &str, previous: Option<&str>) -> Option<Secrets> {
        let current = SigningSecret::parse(current)?;
        let previous = match previous {
            Some(text) => Some(SigningSecret::parse(text)?),
            None => None,
        };
        Some(Secrets { current, previous })
    }

    /// The headers that sign a body; `timestamp` is in seconds since 1970.
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
    fn the_published_example_verifies() {
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let bytes = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let secret = SigningSecret { text: text.into(), bytes };
        let signed = secret.sign_standard("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_new_each_time_and_read_back() {
        let (one, two) = (SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap());
        assert_ne!(one.reveal(), two.reveal());
        let read = SigningSecret::parse(one.reveal()).unwrap();
        assert_eq!((read.reveal(), &read.bytes), (one.reveal(), &one.bytes));
        for bad in ["", "whsec_", "whsec_AAAA", "whsec_!!!!", &one.reveal()["whsec_".len()..]] {
            assert!(SigningSecret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_signature_fits_one_body_one_secret_one_id_and_one_time() {
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
