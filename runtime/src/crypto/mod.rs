//! Cryptographic primitives under the server's secret key: authenticated encryption and HMAC.

pub mod aead;
pub mod hmac;
