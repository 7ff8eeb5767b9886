//! A list request, from the text of its query string to SQL.
//!
//! `parse` reads what the client means without knowing any resource; `plan` decides, against the metadata, whether it
//! makes sense; `sql` writes it. Nothing here knows of HTTP, of writing or of who is asking.

pub mod condition;
mod parse;
mod plan;
mod predicate;
mod request;
mod sql;
mod suggest;
mod value;

pub use condition::Condition;
pub use parse::parse;
pub use plan::{MOST_CONDITIONS, MOST_VALUES, Order, Plan, Planner};
pub use predicate::Predicate;
pub use request::{Pair, Request, Term, Values, decode};
pub use sql::{write_condition, write_order};
pub use suggest::{hint, suggest};
pub use value::{read_boolean, read_value};
