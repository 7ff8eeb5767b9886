//! Secret key of the server, from which the keys of single purposes are derived.

use std::fmt;

/// The secret key. It is empty for commands that need none.
#[derive(Clone, Default)]
pub struct SecretKey(Option<String>);

impl SecretKey {
    pub fn new(key: Option<String>) -> SecretKey {
        SecretKey(key)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The key, or `None` for a command that needs none.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Debug for SecretKey {
    /// Omits the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}
