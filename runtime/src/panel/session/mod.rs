//! Sign-in, passwords, cookies and CSRF protection of the panel.

pub mod account;
pub mod cookie;
pub mod csrf;
pub mod flash;
pub mod sign_in;
