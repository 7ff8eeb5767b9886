//! Who is asking, and what they may: tokens, sessions, users, roles, abilities and permissions.

pub mod invitation;
mod middleware;
pub mod password;
mod principal;
pub mod role;
mod secret;
pub mod session;
pub mod token;
pub mod user;

use crate::context::Context;
use crate::error::Result;
use crate::stale_reference::StaleReference;

/// The tokens and roles that grant what is no more.
pub async fn stale_references(context: &Context<'_>) -> Result<Vec<StaleReference>> {
    let mut found = token::stale_references(context).await?;
    found.extend(role::stale_references(context).await?);
    Ok(found)
}

pub use middleware::{TokenCache, authenticate, caller_of};
pub(crate) use middleware::{identify, still};
pub use principal::Principal;
pub use secret::Secret;
pub(crate) use secret::random;
pub use session::SignedIn;
