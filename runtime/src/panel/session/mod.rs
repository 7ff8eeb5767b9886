//! Sign-in, passwords, cookies and CSRF protection of the panel.

pub(super) mod account;
mod account_page;
mod browser_name;
pub(super) mod cookie;
pub(super) mod csrf;
pub(super) mod flash;
mod own_sessions;
mod own_tokens;
pub(super) mod sign_in;
