//! Keys of the grammar, each with its shape, meaning, default and example. The reader, the JSON Schema and
//! `docs/yaml-reference.md` use these tables.

mod field;
mod jobs;
mod record_rules;
mod relation;
mod resource;
mod states;

pub use field::{DEFAULT_EXPRESSION, DEPRECATED, FIELD, INPUT, OUTPUT};
pub use jobs::JOB;
pub use record_rules::{CHECK, UNIQUE};
pub use relation::{ACTION, INCLUDE};
pub use resource::{ACCESS, PERMISSION, PUBLIC, RESOURCE};
pub use states::{STATES, TRANSITION};

/// The keys of one kind of mapping.
#[derive(Debug)]
pub struct Table {
    /// The name of such a mapping in reports.
    pub what: &'static str,
    pub keys: &'static [Key],
}

impl Table {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// One key.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub meaning: &'static str,
    /// The value if the key is left out.
    pub default: &'static str,
    pub example: &'static str,
}

/// The shape of a key's value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A snake_case name.
    Name,
    Text,
    Flag,
    Count,
    /// A whole or decimal number.
    Number,
    /// A number, or a path.
    NumberOrPath,
    /// A day of the calendar, `2026-03-21`.
    Day,
    /// Any single value.
    Literal,
    /// A single value, or a mapping with the keys of a default.
    Default,
    /// `product_group_id.name`
    Path,
    Type,
    Word(&'static [&'static str]),
    Words(&'static [&'static str]),
    Names,
    /// A list of names, some with `-` before them.
    Order,
    /// A list of lists of names.
    Sets,
    /// A list of words, or numbers with labels.
    Values,
    Permission,
    /// A condition over the fields of a record.
    Condition,
    /// A mapping with conditions for `read` and `write`.
    RowRules,
    /// `create` and `limit`.
    Public,
    /// Names with points between them: `settings.manage`.
    Right,
    /// A mapping from names to fields with the keys of the table.
    Fields(&'static Table),
    /// A word, or a mapping from names to fields.
    Output(&'static Table),
    Filters,
    /// `since`, `sunset` and `use`.
    Deprecated,
    /// A mapping from filters to deprecations.
    DeprecatedFilters,
    /// A list of lists of names, or of mappings with the keys of a unique set.
    UniqueSets,
    /// A list of mappings with the keys of a check.
    Checks,
    Sorts,
    Includes,
    Actions,
    /// `field` and `transitions`.
    States,
    /// A mapping from names to transitions.
    Transitions,
    /// A mapping from names to background jobs.
    Jobs,
    /// A name, or a list of names.
    NameOrNames,
    /// A mapping from fields to single values.
    FieldValues,
}

const fn key(
    name: &'static str,
    shape: Shape,
    default: &'static str,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key { name, shape, meaning, default, example }
}
