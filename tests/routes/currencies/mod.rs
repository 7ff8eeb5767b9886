//! `/currencies`: the list of ISO 4217, which can only be read.

mod list;
mod show;

/// How many there are.
const COUNT: usize = 178;
