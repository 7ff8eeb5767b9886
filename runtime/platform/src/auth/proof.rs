//! How a user has proved to own an account: with a password or a passkey, or by the word of the identity provider.

use super::password::Password;

/// A proof that a session may be started for a user.
pub enum Proof {
    /// A verified password.
    Password(Password),
    /// An identity that the identity provider has confirmed.
    Provider { user_id: i64 },
    /// A passkey, which has verified the user.
    Passkey { user_id: i64 },
}

impl Proof {
    /// The user.
    pub fn user_id(&self) -> i64 {
        match self {
            Proof::Password(password) => password.user_id,
            Proof::Provider { user_id } | Proof::Passkey { user_id } => *user_id,
        }
    }

    /// The method in the audit entry of the sign-in.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Proof::Password(_) => "password",
            Proof::Provider { .. } => "identity_provider",
            Proof::Passkey { .. } => "passkey",
        }
    }
}
