//! A list request, from the text of its query string to SQL.
//!
//! `parse` reads what the client means without knowing any resource; `plan` decides, against the metadata, whether it
//! makes sense; `sql` and `order` write it. Nothing here knows of HTTP, of writing or of who is asking.

pub mod condition;
mod cursor;
mod custom;
mod describe;
mod name;
mod needle;
mod order;
mod parse;
mod plan;
mod question;
mod request;
mod sql;
mod suggest;
mod value;

pub use charter_model::{Predicate, Reads};
pub use condition::Condition;
pub use cursor::Cursor;
pub use custom::indexes;
pub use describe::{describe, target_name};
pub use name::{allows, asked, include_names};
pub use needle::{candidates, indexed_part};
pub use order::{Position, Ranking, Stretch};
pub use parse::parse;
pub use plan::{
    Count, MOST_CHARACTERS, MOST_CONDITIONS, MOST_ELEMENTS, MOST_PER_PAGE, MOST_VALUES, Order, PER_PAGE, Plan, Planner,
    too_many_values,
};
pub use request::{Pair, Request, Term, Values, decode};
pub use sql::{KEEPING, write_condition, write_kept};
pub use suggest::{hint, suggest};
pub use value::{read_boolean, read_value};
