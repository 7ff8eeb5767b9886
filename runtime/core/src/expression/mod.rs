//! Expressions of the metadata at run time: their checked trees, their values, and their SQL.

mod evaluation;
mod scope;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

pub use charter_model::expression::{Field, Mistake, Node, Type, Via, check_value};
pub use evaluation::{holds, value};
pub use scope::{
    Defaulted, Find, Names, computed, condition, condition_over, condition_over_fields, defaults, referred, settable,
};

use crate::principal::Principal;

/// The request that an expression is evaluated for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub caller: &'a Principal,
    pub now: DateTime<Utc>,
    /// The company's time zone, in which `today` begins.
    pub zone: Tz,
}

impl Request<'_> {
    /// The day in the company's time zone.
    pub fn today(&self) -> NaiveDate {
        self.now.with_timezone(&self.zone).date_naive()
    }
}
