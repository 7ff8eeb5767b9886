//! Properties of a field type, as data that codegen, the derive and the runtime read in place of a match on the type.

use super::Parameters;
use crate::{Group, Misfit, Storage, Widget};

/// A check of a text: the reason why it does not fit, with the correction.
pub type Check = fn(&str) -> Result<(), Misfit>;

/// The format of a type whose JSON is text.
#[derive(Debug)]
pub struct TextFormat {
    /// The `format` of JSON Schema: `date`.
    pub name: &'static str,
    /// The regular expression of the values, if the name does not say it.
    pub pattern: Option<TextPattern>,
    pub example: &'static str,
    /// An example that is after the other one, if the type has an order.
    pub later: &'static str,
}

/// The regular expressions of a format.
#[derive(Debug)]
pub struct TextPattern {
    /// The text that the server accepts.
    pub read: &'static str,
    /// The text that the server returns.
    pub written: &'static str,
}

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
    /// The form in a migration snapshot, with `{}` for the arguments: `decimal({})`.
    pub signature: &'static str,
    pub parameters: Parameters,
    /// The names of its Rust type. Generated code uses the first.
    pub rust: &'static [&'static str],
    /// True if the Rust type implies the field type, which makes the attribute optional.
    pub is_inferred: bool,
    /// The storage of its column; none if the arguments decide it, or if there is no column.
    pub storage: Option<Storage>,
    /// The groups of predicates that it accepts; none for a type that cannot be filtered.
    pub predicates: &'static [Group],
    /// Types of one family are comparable; none for a type that is not comparable.
    pub family: Option<&'static str>,
    /// True for text that can be matched and searched.
    pub is_text: bool,
    /// True for numbers, which can have bounds.
    pub is_number: bool,
    /// True for a JSON array, which is empty instead of null.
    pub is_list: bool,
    /// True if its values have an order, for `sort` and indexes.
    pub has_order: bool,
    /// True if lists sort it by the case-folded text.
    pub is_folded: bool,
    /// True if it has so few distinct values that an index hardly reduces the rows to read.
    pub has_few_values: bool,
    /// True if a field without a value starts as an empty list or object.
    pub starts_empty: bool,
    /// True for days and times, of which one is before or after another.
    pub is_temporal: bool,
    /// True if `now` is a default: the time or the day of the request.
    pub takes_now: bool,
    /// True if it takes the rule `unique`.
    pub can_be_unique: bool,
    /// True if it takes the rule `exists`.
    pub can_exist: bool,
    /// True if a migration can fill existing rows with one value.
    pub can_be_filled: bool,
    /// Checks a literal with which a field of the type can start. The first argument is the key that holds it, such as
    /// `default`. A type with arguments has its check in `literal.rs`.
    pub literal: fn(&str, &str) -> Result<(), Misfit>,
    /// Checks a value that a client could send, if it differs from a literal.
    pub value: Option<Check>,
    /// The format of a type whose JSON is text of one form.
    pub format: Option<TextFormat>,
    /// The `type` of the HTML input whose value is the JSON text.
    pub input: Option<&'static str>,
    /// The widgets that replace its input in the panel.
    pub widgets: &'static [Widget],
}

impl TypeFacts {
    /// A type with an order and no other property: the base of the others.
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
        is_temporal: false,
        takes_now: false,
        can_be_unique: true,
        can_exist: false,
        can_be_filled: true,
        literal: |_, _| Ok(()),
        value: None,
        format: None,
        input: None,
        widgets: &[],
    };

    /// True if the rules `after` and `not_before` apply.
    pub fn follows(&self) -> bool {
        self.is_number || self.is_temporal
    }
}
