//! HMAC-SHA-256, under keys of any length.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// What authenticates messages under a key. The key fills a block, hashed first where it is longer than one (RFC 2104,
/// section 2). The library does the same behind an error that never comes, for which there would have to be another key.
pub fn hmac_with_key(key: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; BLOCK];
    match block.get_mut(..key.len()) {
        Some(start) => start.copy_from_slice(key),
        None => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    Hmac::new(&block.into())
}

/// HMAC-SHA-256 of a message.
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    hmac_with_key(key).chain_update(message).finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 2 and 6.
    #[test]
    fn short_and_long_keys_are_taken_as_the_rfc_says() {
        assert_eq!(
            hex::encode(hmac_sha256(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex::encode(hmac_sha256(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_key_of_a_block_is_taken_as_it_is_and_a_longer_one_hashed() {
        for length in [0, BLOCK - 1, BLOCK, BLOCK + 1] {
            let key = vec![7; length];
            let known = Hmac::<Sha256>::new_from_slice(&key).unwrap().chain_update(b"x").finalize();
            assert_eq!(hmac_sha256(&key, b"x")[..], known.into_bytes()[..], "{length}");
        }
    }
}
