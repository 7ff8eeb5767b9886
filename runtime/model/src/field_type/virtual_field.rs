//! Fields without a column: derived from a related record, embedded records, links to records, and text that code
//! computes.

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

/// `many` with `through`: the ids of records of another resource, stored in a table of pairs.
pub static LINKS: TypeFacts = TypeFacts {
    variant: "Links",
    word: "links",
    signature: "links({})",
    is_list: true,
    has_order: false,
    can_be_unique: false,
    ..TypeFacts::PLAIN
};

/// Text that the resource's code computes from its columns.
pub static COMPUTED: TypeFacts =
    TypeFacts { variant: "Computed", word: "computed", has_order: false, can_be_unique: false, ..TypeFacts::PLAIN };
