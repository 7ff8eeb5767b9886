//! Cryptography of the server: authenticated encryption of secrets and HMAC-SHA-256.

pub mod aead;
pub(crate) mod hmac;
