//! New applications, from an empty folder to requests to their servers.

mod application;
mod new_resource;
mod packaged;
mod tutorial;

#[path = "../guide/layout.rs"]
mod layout;
#[path = "../guide/page.rs"]
mod page;
#[path = "../guide/varying.rs"]
mod varying;
