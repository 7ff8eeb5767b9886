//! FNV-1a hash, for names of database objects that change with their statement.

/// The 32-bit FNV-1a hash of a text.
pub fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
