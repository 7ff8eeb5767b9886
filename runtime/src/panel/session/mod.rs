//! Sign-in, passwords, cookies and CSRF protection of the panel.

pub(super) mod account;
mod account_page;
mod browser_name;
pub(super) mod cookie;
pub(super) mod csrf;
pub(super) mod flash;
mod forgotten_password;
mod oidc;
mod own_sessions;
mod own_tokens;
mod passkeys;
mod preferences;
mod qr_code;
mod second_factor;
pub(super) mod sign_in;
mod sign_in_code;
