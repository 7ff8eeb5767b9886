//! Signing secrets in the database: encrypted with a key that is not in it, and decrypted for an attempt.

use charter_core::crypto::{SecretKey, aead};
use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::State;

/// Prefix of an encrypted secret. A secret of an earlier version has the prefix `whsec_`.
const PREFIX: &str = "sealed:";
/// Purpose of the encryption key.
const PURPOSE: &str = "webhook secret";

/// Encrypts a secret for the database.
///
/// # Errors
/// When the operating system has no randomness.
pub(super) fn seal(key: &SecretKey, secret: &str) -> Result<String> {
    Ok(format!("{PREFIX}{}", aead::encrypt(key.as_str(), PURPOSE, secret)?))
}

/// Decrypts a stored secret; `None` if it was encrypted with another key.
pub(super) fn open(key: &SecretKey, stored: &str) -> Option<String> {
    match stored.strip_prefix(PREFIX) {
        Some(sealed) => aead::decrypt(key.as_str(), PURPOSE, sealed),
        None => Some(stored.to_string()),
    }
}

/// The reason why a secret cannot sign, for the delivery log.
pub(super) fn problem(secret: &str) -> &'static str {
    match secret.starts_with(PREFIX) {
        true => {
            "the signing secret was encrypted with another secret key: restore CHARTER_SECRET_KEY or rotate the secret"
        }
        false => "the signing secret is malformed: rotate it",
    }
}

/// Encrypts the secrets that an earlier version stored in plain text, and returns how many webhooks had one.
/// Concurrent processes encrypt each of them once.
///
/// # Errors
/// When the database fails.
pub async fn seal_stored_secrets(state: &State) -> Result<u64> {
    let dialect = state.db.dialect();
    let plain = format!("\"secret\" NOT LIKE '{PREFIX}%' OR \"previous_secret\" NOT LIKE '{PREFIX}%'");
    let found =
        Sql::new(dialect, format!("SELECT \"id\", \"secret\", \"previous_secret\" FROM \"webhooks\" WHERE {plain}"));
    let mut sealed = 0;
    for row in found.all(state.db.reader()).await? {
        let (id, current): (i64, String) = (row.try_get("", "id")?, row.try_get("", "secret")?);
        let previous: Option<String> = row.try_get("", "previous_secret")?;
        // A malformed secret is sealed as well: nothing else can be done with it.
        let seal_plain = |secret: &String| match secret.starts_with(PREFIX) {
            true => Ok(secret.clone()),
            false => seal(&state.secret_key, secret),
        };
        let mut sql = Sql::new(dialect, "UPDATE \"webhooks\" SET \"secret\" = ");
        sql.bind(seal_plain(&current)?).push(", \"previous_secret\" = ");
        sql.bind(previous.as_ref().map(seal_plain).transpose()?);
        // A secret that was rotated or sealed meanwhile is sealed already.
        sql.push(" WHERE \"id\" = ").bind(id).push(" AND \"secret\" = ").bind(current);
        let transaction = state.db.begin().await?;
        sealed += sql.run(&transaction).await?;
        transaction.commit().await?;
    }
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::SigningSecret;

    #[test]
    fn sealed_secret_fits_its_column_and_opens_with_its_key_only() {
        let (key, other) = (SecretKey::new(Some("a".repeat(32))), SecretKey::new(Some("b".repeat(32))));
        let secret = SigningSecret::generate().unwrap();
        let sealed = seal(&key, secret.reveal()).unwrap();
        assert!(sealed.len() <= 255 && !sealed.contains(secret.reveal()), "{}", sealed.len());
        assert_eq!(open(&key, &sealed).as_deref(), Some(secret.reveal()));
        assert_eq!(open(&other, &sealed), None);
        assert!(problem(&sealed).contains("CHARTER_SECRET_KEY"));
        assert!(open(&key, secret.reveal()).is_some(), "an earlier version stored it in plain text");
    }
}
