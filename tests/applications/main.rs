//! New applications, from an empty folder to requests to their servers.

mod application;
mod new_resource;
mod packaged;
