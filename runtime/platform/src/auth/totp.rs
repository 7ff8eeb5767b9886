//! Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, steps of 30 seconds.

use chrono::{DateTime, Utc};
use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

use charter_core::error::{Error, Result};

/// Length that RFC 4226, section 4, recommends.
const SECRET_BYTES: usize = 20;
pub(super) const DIGITS: usize = 6;
const STEP_SECONDS: i64 = 30;
/// Steps by which the clock of the user's device may differ.
const WINDOW: i64 = 1;

/// Generates a secret in Base32, as authenticator apps expect it.
///
/// # Errors
/// When the operating system has no randomness.
pub(super) fn generate_secret() -> Result<String> {
    let mut bytes = [0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(BASE32_NOPAD.encode(&bytes))
}

/// The URI by which an authenticator app adds the account.
pub(super) fn uri(secret: &str, issuer: &str, account: &str) -> String {
    let mut uri = url::form_urlencoded::Serializer::new(String::new());
    uri.append_pair("secret", secret).append_pair("issuer", issuer);
    uri.append_pair("algorithm", "SHA1").append_pair("digits", &DIGITS.to_string());
    uri.append_pair("period", &STEP_SECONDS.to_string());
    // A query string writes a space as `+`, which some apps show.
    let parameters = uri.finish().replace('+', "%20");
    let label =
        |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20");
    format!("otpauth://totp/{}:{}?{parameters}", label(issuer), label(account))
}

/// The step whose code was sent, within the window around a time.
pub(super) fn step_of(secret: &str, sent: &str, now: DateTime<Utc>) -> Option<i64> {
    if sent.len() != DIGITS || !sent.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let (sent, secret): (u32, Vec<u8>) = (sent.parse().ok()?, BASE32_NOPAD.decode(secret.as_bytes()).ok()?);
    let current = now.timestamp().div_euclid(STEP_SECONDS);
    (current - WINDOW..=current + WINDOW).find(|step| code(&secret, *step) == Some(sent))
}

/// The code of a step (RFC 4226, section 5.3).
fn code(secret: &[u8], step: i64) -> Option<u32> {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).ok()?;
    mac.update(&step.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let offset = usize::from(digest.last()? & 0xf);
    let bytes: [u8; 4] = digest.get(offset..offset + 4)?.try_into().ok()?;
    Some((u32::from_be_bytes(bytes) & 0x7fff_ffff) % 10_u32.pow(DIGITS as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238, appendix B: `12345678901234567890`.
    const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        for (seconds, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(step_of(SECRET, expected, at(seconds)), Some(seconds / 30), "{expected}");
        }
    }

    #[test]
    fn code_is_accepted_one_step_early_or_late_and_no_more() {
        for (shift, accepted) in [(-60, false), (-30, true), (0, true), (30, true), (60, false)] {
            assert_eq!(step_of(SECRET, "279037", at(2_000_000_000 + shift)).is_some(), accepted, "{shift}");
        }
        for bad in ["", "27903", "2790370", "+79037", "２７９０", "27903x"] {
            assert_eq!(step_of(SECRET, bad, at(2_000_000_000)), None, "{bad}");
        }
        assert_eq!(step_of("not base32!", "279037", at(2_000_000_000)), None);
    }

    #[test]
    fn generated_secret_has_160_bits_and_its_uri_is_escaped() {
        let secret = generate_secret().unwrap();
        assert_eq!(BASE32_NOPAD.decode(secret.as_bytes()).unwrap().len(), SECRET_BYTES);
        assert_eq!(
            uri("ABC", "My App", "a+b@example.com"),
            "otpauth://totp/My%20App:a%2Bb%40example.com?secret=ABC&issuer=My%20App&algorithm=SHA1&digits=6&period=30"
        );
    }
}
