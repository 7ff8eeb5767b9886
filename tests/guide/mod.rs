//! Runner of the commands of a page.

mod layout;
mod page;
mod run;
mod varying;

pub use run::page;
