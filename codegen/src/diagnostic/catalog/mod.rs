//! Explanations of all diagnostic codes, each with an example that has the problem and one that does not.
//!
//! `cargo charter explain` prints them, `docs/diagnostics.md` is generated from them, and tests compile every example.

mod behaviour;
mod names;
mod queries;
mod reading;
mod relations;
mod states;
mod types;
mod values;

use super::Code;

/// The explanation of a code.
#[derive(Debug)]
pub struct Entry {
    pub code: Code,
    pub title: &'static str,
    pub explanation: &'static str,
    /// Files with the problem, each after a comment with its name.
    pub wrong: &'static str,
    /// The same files without the problem.
    pub right: &'static str,
}

/// All entries by family.
const FAMILIES: &[&[Entry]] = &[
    reading::ENTRIES,
    names::ENTRIES,
    types::ENTRIES,
    values::ENTRIES,
    relations::ENTRIES,
    queries::ENTRIES,
    behaviour::ENTRIES,
    states::ENTRIES,
];

/// The entry of a code. A test asserts that every code has one.
pub fn entry(code: Code) -> &'static Entry {
    let mut entries = FAMILIES.iter().flat_map(|family| family.iter());
    entries.find(|entry| entry.code == code).unwrap_or_else(|| panic!("{code} has no explanation"))
}
