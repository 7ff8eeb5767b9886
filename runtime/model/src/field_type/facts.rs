//! The properties of a field type, as data: what codegen, the derive and the runtime ask instead of matching on the type.

use super::Parameters;
use crate::{Group, Storage, Widget};

/// The properties that every field of a type has.
#[derive(Debug)]
pub struct TypeFacts {
    /// The variant of `FieldType`, which generated code names: `Decimal`.
    pub variant: &'static str,
    /// The word of the grammar: `decimal`.
    pub word: &'static str,
    /// The key in `#[field(…)]`: `decimal`. Empty for a type that no attribute names.
    pub attribute: &'static str,
    /// The attribute with its arguments: `decimal(12, 2)`.
    pub usage: &'static str,
    /// The form in a snapshot, with `{}` for the arguments: `decimal({})`.
    pub signature: &'static str,
    pub parameters: Parameters,
    /// The names of its Rust type. The first is the one that generated code uses.
    pub rust: &'static [&'static str],
    /// The Rust type alone tells the field type, so that the attribute can be left out.
    pub is_inferred: bool,
    /// How its column is stored; none where the arguments decide it, or where there is no column.
    pub storage: Option<Storage>,
    /// The groups of predicates that it accepts; none for a type that cannot be filtered.
    pub predicates: &'static [Group],
    /// Types of one family can be compared with each other; a type without one is not compared.
    pub family: Option<&'static str>,
    /// Text that can be matched and searched.
    pub is_text: bool,
    /// A number with bounds.
    pub is_number: bool,
    /// A JSON array, which is empty and never null.
    pub is_list: bool,
    /// Its values have an order, for `sort` and indexes.
    pub has_order: bool,
    /// Lists sort it by the folded text, without regard to case.
    pub is_folded: bool,
    /// It has so few values that an index hardly saves reading the rows.
    pub has_few_values: bool,
    /// A field that nothing gives a value begins with an empty list or object.
    pub starts_empty: bool,
    /// `now` is one of its values: the time or the day of the request.
    pub takes_now: bool,
    /// `unique: true` can be said of it.
    pub can_be_unique: bool,
    /// `exists` can be said of it.
    pub can_exist: bool,
    /// One value can fill the rows that have none.
    pub can_be_filled: bool,
    /// The widgets that replace its input in the panel.
    pub widgets: &'static [Widget],
}

impl TypeFacts {
    /// A type with an order and nothing else: what the others are written from.
    pub const PLAIN: TypeFacts = TypeFacts {
        variant: "",
        word: "",
        attribute: "",
        usage: "",
        signature: "",
        parameters: Parameters::None,
        rust: &[],
        is_inferred: false,
        storage: None,
        predicates: &[],
        family: None,
        is_text: false,
        is_number: false,
        is_list: false,
        has_order: true,
        is_folded: false,
        has_few_values: false,
        starts_empty: false,
        takes_now: false,
        can_be_unique: true,
        can_exist: false,
        can_be_filled: true,
        widgets: &[],
    };

    /// Whether a value can be compared with another as earlier or later, less or more.
    pub fn follows(&self) -> bool {
        self.is_number || self.takes_now
    }
}
