//! Who is asking, and what they may: tokens, users, roles, abilities and permissions.

mod middleware;
mod principal;
pub mod role;
mod secret;
pub mod token;
pub mod user;

pub use middleware::{TokenCache, authenticate, caller_of};
pub use principal::Principal;
pub use secret::Secret;
