//! Cryptography of the server: authenticated encryption of secrets and HMAC-SHA-256.

pub mod aead;
pub mod hmac;
mod secret_key;

pub use secret_key::SecretKey;
