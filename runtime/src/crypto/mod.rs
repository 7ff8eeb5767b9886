//! Cryptography: authenticated encryption and HMAC.

pub mod aead;
pub mod hmac;
