//! Authentication and authorization: tokens, sessions, users, roles, abilities and permissions.

mod account_log;
pub mod account_mail;
mod consequences;
mod erasure;
pub mod invitation;
pub mod known_network;
pub mod oidc;
pub mod own_sessions;
pub mod passkey;
pub mod password;
mod password_policy;
pub mod password_reset;
pub mod pending_sign_in;
pub mod preference;
mod proof;
mod recovery_code;
pub mod role;
pub mod second_factor;
mod secret;
pub mod session;
pub mod token;
mod token_cache;
mod totp;
pub mod user;

use charter_core::error::Result;
use charter_core::ops::Context;
use charter_core::stale_reference::StaleReference;

/// Tokens and roles that grant abilities or permissions which no longer exist.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let mut found = token::stale_references(context).await?;
    found.extend(role::stale_references(context).await?);
    Ok(found)
}

pub use account_log::record_failed_sign_in;
pub use proof::Proof;
pub use secret::Secret;
pub use secret::random_base62;
pub use session::SignedIn;
pub use token_cache::{Rejection, Sender, TokenCache, caller_of, caller_of_secret, revalidate};
