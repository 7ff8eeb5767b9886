//! Fields without a column: derived from a related record, embedded records, and text that code computes.

use super::TypeFacts;

/// `from`: a field of the record that a reference names, or the label of a code. It has the order of that field.
pub static DERIVED: TypeFacts = TypeFacts { variant: "Derived", word: "derived", ..TypeFacts::PLAIN };

/// `many`: records of another resource, read and written with this one.
pub static EMBEDDED: TypeFacts = TypeFacts {
    variant: "Embedded",
    word: "embedded",
    signature: "many({})",
    has_order: false,
    can_be_unique: false,
    ..TypeFacts::PLAIN
};

/// Text that the resource's code computes from its columns.
pub static COMPUTED: TypeFacts =
    TypeFacts { variant: "Computed", word: "computed", has_order: false, can_be_unique: false, ..TypeFacts::PLAIN };
