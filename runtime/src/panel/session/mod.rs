//! Sign-in, passwords, cookies and CSRF protection of the panel.

pub(super) mod account;
pub(super) mod cookie;
pub(super) mod csrf;
pub(super) mod flash;
pub(super) mod sign_in;
