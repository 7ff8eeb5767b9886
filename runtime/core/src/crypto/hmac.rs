//! HMAC-SHA-256 with keys of any length.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Block size of SHA-256.
const BLOCK_BYTES: usize = 64;

/// An HMAC with this key. The key is padded to a block, and a longer one is hashed first (RFC 2104, section 2). The constructor of
/// the library that does so returns an error that cannot occur.
pub fn hmac_with_key(key: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; BLOCK_BYTES];
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
    fn test_vectors_of_rfc_4231_hold() {
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
    fn keys_around_the_block_size_equal_those_of_the_library() {
        for length in [0, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1] {
            let key = vec![7; length];
            let known = Hmac::<Sha256>::new_from_slice(&key).unwrap().chain_update(b"x").finalize();
            assert_eq!(hmac_sha256(&key, b"x")[..], known.into_bytes()[..], "{length}");
        }
    }
}
