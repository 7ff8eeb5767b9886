//! New applications, from an empty folder to requests to their servers.

mod application;
mod new_resource;
mod packaged;
mod tutorial;

#[path = "../guides/layout.rs"]
mod layout;
#[path = "../guides/page.rs"]
mod page;
#[path = "../guides/varying.rs"]
mod varying;
