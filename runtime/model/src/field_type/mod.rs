//! Field types: one enum with the arguments of each type, and one file for each type with its other properties.
//!
//! A new type is a file here, a variant of [`FieldType`], and its row in [`TypeWord::ALL`], [`TypeFacts::COLUMNS`],
//! [`FieldType::facts`] and [`FieldType::read`]. One with arguments is also in [`FieldType::arguments`], and `literal.rs`
//! calls its checks of literals and values.

pub mod bigint;
pub mod boolean;
pub mod code;
pub mod custom_fields;
pub mod date;
pub mod decimal;
pub mod enumeration;
mod facts;
pub mod integer;
pub mod json;
pub mod list;
pub mod polymorphic;
pub mod reference;
pub mod string;
pub mod text;
pub mod time;
pub mod timestamp;
mod type_word;
pub mod uuid;
pub mod virtual_field;

use crate::{Notation, Predicate, Storage, TimestampForm, naming};
pub use facts::{TextFormat, TextPattern, TypeFacts};
pub use type_word::{Takes, TypeWord};

/// The values that a field holds: its type with its arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum FieldType<N: Notation> {
    /// Text of at most `max` characters (Unicode scalar values).
    String {
        max: u32,
    },
    /// Text of any length.
    #[default]
    Text,
    /// 32 bits.
    Integer,
    /// 64 bits. The type of `id`.
    BigInt,
    Boolean,
    /// An exact number with `places` decimal places and at most `precision` digits in all (18 at most).
    Decimal {
        precision: u8,
        places: u8,
    },
    Timestamp {
        form: TimestampForm,
    },
    /// A calendar day, `2026-03-21`.
    Date,
    /// A time of day, `14:30:00`.
    Time,
    /// One of the words, compared without regard to case.
    Enum {
        values: N::Names,
    },
    /// One of the numbers, each with a label.
    Code {
        values: N::Codes,
    },
    /// A list of strings of at most `max` characters each, stored as JSON.
    StringList {
        max: u32,
    },
    /// A list of ids of another resource, stored as JSON.
    RefList {
        resource: N::Name,
    },
    /// Any JSON object or array. Without a default it is `{}` where it cannot be null.
    Json,
    Uuid,
    /// The id of a record of another resource.
    Ref {
        resource: N::Name,
    },
    /// The id in a polymorphic reference; `type_field` names the column that holds the type name of the other record.
    PolymorphicRef {
        type_field: N::Name,
    },
    /// The type name in a polymorphic reference: one of several, `StockLevel`. Source text has the names of the
    /// resources here until the derive converts them.
    PolymorphicType {
        type_names: N::Names,
    },
    /// The values of the custom fields by name.
    CustomFields,
    /// Read-only: field `field` of the record that the reference `via` names, or the label of the code `via` if `field`
    /// is `label`.
    Derived {
        via: N::Name,
        field: N::Name,
    },
    /// The records of `resource` whose `by` is this record's id, read and written with it.
    Embedded {
        resource: N::Name,
        by: N::Name,
    },
    /// The ids of records of `resource`, in any order. Each is the field `to` of a record of `through` whose `by` is this
    /// record's id.
    Links {
        resource: N::Name,
        through: N::Name,
        by: N::Name,
        to: N::Name,
    },
    /// Read-only text that the resource's code computes from these columns each time it shows the record.
    Computed {
        from: N::Names,
    },
}

/// Shape of a type's arguments in an attribute and in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameters {
    None,
    /// The maximum number of characters.
    Length,
    /// The digits in all and the decimal places.
    Digits,
    /// The form of a timestamp. A snapshot stores it once for the whole resource.
    Form,
    /// The words of an enum. A snapshot stores them under a key of their own.
    Words,
    /// The numbers of a code, with their labels. A snapshot stores them under a key of their own.
    Codes,
    /// A resource.
    Resource,
    /// Several resources.
    Targets,
    /// The column that names the type. A snapshot stores it in the column's name.
    TypeField,
}

/// The arguments with their values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arguments<N: Notation> {
    None,
    Length(u32),
    Digits { precision: u8, places: u8 },
    Form(TimestampForm),
    Words(N::Names),
    Codes(N::Codes),
    Resource(N::Name),
    Targets(N::Names),
    TypeField(N::Name),
}

impl TypeWord {
    /// The words of the grammar, in the order of the documentation.
    pub const ALL: &'static [&'static TypeWord] = &[
        &string::WORD,
        &text::WORD,
        &integer::WORD,
        &bigint::WORD,
        &boolean::WORD,
        &decimal::WORD,
        &timestamp::WORD,
        &date::WORD,
        &time::WORD,
        &enumeration::WORD,
        &code::WORD,
        &list::WORD,
        &json::WORD,
        &uuid::WORD,
        &reference::WORD,
    ];
}

impl TypeFacts {
    /// Every type that a column can have, in the order of the documentation.
    pub const COLUMNS: &'static [&'static TypeFacts] = &[
        &string::FACTS,
        &text::FACTS,
        &integer::FACTS,
        &bigint::FACTS,
        &boolean::FACTS,
        &decimal::FACTS,
        &timestamp::FACTS,
        &date::FACTS,
        &time::FACTS,
        &enumeration::FACTS,
        &code::FACTS,
        &list::STRINGS,
        &list::REFERENCES,
        &json::FACTS,
        &uuid::FACTS,
        &reference::FACTS,
        &polymorphic::ID,
        &polymorphic::TYPE,
        &custom_fields::FACTS,
    ];
}

impl<N: Notation> FieldType<N> {
    /// The properties that every field of the type has.
    pub fn facts(&self) -> &'static TypeFacts {
        match self {
            FieldType::String { .. } => &string::FACTS,
            FieldType::Text => &text::FACTS,
            FieldType::Integer => &integer::FACTS,
            FieldType::BigInt => &bigint::FACTS,
            FieldType::Boolean => &boolean::FACTS,
            FieldType::Decimal { .. } => &decimal::FACTS,
            FieldType::Timestamp { .. } => &timestamp::FACTS,
            FieldType::Date => &date::FACTS,
            FieldType::Time => &time::FACTS,
            FieldType::Enum { .. } => &enumeration::FACTS,
            FieldType::Code { .. } => &code::FACTS,
            FieldType::StringList { .. } => &list::STRINGS,
            FieldType::RefList { .. } => &list::REFERENCES,
            FieldType::Json => &json::FACTS,
            FieldType::Uuid => &uuid::FACTS,
            FieldType::Ref { .. } => &reference::FACTS,
            FieldType::PolymorphicRef { .. } => &polymorphic::ID,
            FieldType::PolymorphicType { .. } => &polymorphic::TYPE,
            FieldType::CustomFields => &custom_fields::FACTS,
            FieldType::Derived { .. } => &virtual_field::DERIVED,
            FieldType::Embedded { .. } => &virtual_field::EMBEDDED,
            FieldType::Links { .. } => &virtual_field::LINKS,
            FieldType::Computed { .. } => &virtual_field::COMPUTED,
        }
    }

    /// The type with these properties and arguments; none if they do not match.
    pub fn read(facts: &TypeFacts, arguments: Arguments<N>) -> Option<FieldType<N>> {
        Some(match (facts.variant, arguments) {
            ("String", Arguments::Length(max)) => FieldType::String { max },
            ("Text", Arguments::None) => FieldType::Text,
            ("Integer", Arguments::None) => FieldType::Integer,
            ("BigInt", Arguments::None) => FieldType::BigInt,
            ("Boolean", Arguments::None) => FieldType::Boolean,
            ("Decimal", Arguments::Digits { precision, places }) => FieldType::Decimal { precision, places },
            ("Timestamp", Arguments::Form(form)) => FieldType::Timestamp { form },
            ("Date", Arguments::None) => FieldType::Date,
            ("Time", Arguments::None) => FieldType::Time,
            ("Enum", Arguments::Words(values)) => FieldType::Enum { values },
            ("Code", Arguments::Codes(values)) => FieldType::Code { values },
            ("StringList", Arguments::Length(max)) => FieldType::StringList { max },
            ("RefList", Arguments::Resource(resource)) => FieldType::RefList { resource },
            ("Json", Arguments::None) => FieldType::Json,
            ("Uuid", Arguments::None) => FieldType::Uuid,
            ("Ref", Arguments::Resource(resource)) => FieldType::Ref { resource },
            ("PolymorphicRef", Arguments::TypeField(type_field)) => FieldType::PolymorphicRef { type_field },
            ("PolymorphicType", Arguments::Targets(type_names)) => FieldType::PolymorphicType { type_names },
            ("CustomFields", Arguments::None) => FieldType::CustomFields,
            _ => return None,
        })
    }

    /// The arguments of a type; none for a field without a column.
    pub fn arguments(&self) -> Arguments<N> {
        match self {
            FieldType::String { max } | FieldType::StringList { max } => Arguments::Length(*max),
            FieldType::Decimal { precision, places } => Arguments::Digits { precision: *precision, places: *places },
            FieldType::Timestamp { form } => Arguments::Form(*form),
            FieldType::Enum { values } => Arguments::Words(values.clone()),
            FieldType::Code { values } => Arguments::Codes(values.clone()),
            FieldType::RefList { resource } | FieldType::Ref { resource } => Arguments::Resource(resource.clone()),
            FieldType::PolymorphicRef { type_field } => Arguments::TypeField(type_field.clone()),
            FieldType::PolymorphicType { type_names } => Arguments::Targets(type_names.clone()),
            _ => Arguments::None,
        }
    }

    /// The variants of its values as an enum in Rust; none for another type, and if a value has no such name.
    pub fn variants(&self) -> Option<Vec<String>> {
        match self {
            FieldType::Enum { values } => naming::variants(N::texts(values)),
            FieldType::Code { values } => naming::variants(N::codes(values).into_iter().map(|(_, label)| label)),
            _ => None,
        }
    }

    /// How its column is stored; none for a field without one.
    pub fn storage(&self) -> Option<Storage> {
        match self {
            FieldType::String { max } => Some(Storage::String(*max)),
            FieldType::Decimal { precision, places } => Some(Storage::Decimal(*precision, *places)),
            other => other.facts().storage,
        }
    }

    /// The Rust type of its field in a struct: `Decimal<4>`.
    pub fn rust_type(&self) -> String {
        let name = self.facts().rust.first().copied().unwrap_or_default();
        match self {
            FieldType::Decimal { places, .. } => format!("{name}<{places}>"),
            _ => name.to_owned(),
        }
    }

    /// True if the table has a column for it.
    pub const fn is_column(&self) -> bool {
        !matches!(
            self,
            FieldType::Derived { .. }
                | FieldType::Embedded { .. }
                | FieldType::Links { .. }
                | FieldType::Computed { .. }
        )
    }

    /// The resource of the records that are written with this one, and its field that refers here: embedded records, or
    /// links to other records.
    pub const fn dependents(&self) -> Option<(&N::Name, &N::Name)> {
        match self {
            FieldType::Embedded { resource, by } => Some((resource, by)),
            FieldType::Links { through, by, .. } => Some((through, by)),
            _ => None,
        }
    }

    /// The resource of whose records it has a list of ids.
    pub const fn listed(&self) -> Option<&N::Name> {
        match self {
            FieldType::RefList { resource } | FieldType::Links { resource, .. } => Some(resource),
            _ => None,
        }
    }

    /// The resource whose ids it has: one id, or a list.
    pub const fn referred(&self) -> Option<&N::Name> {
        if let FieldType::Ref { resource } = self { Some(resource) } else { self.listed() }
    }

    /// The predicates that it accepts, in the order of the grammar; none for a type that cannot be filtered.
    pub fn predicates(&self) -> impl Iterator<Item = Predicate> + use<N> {
        let groups = self.facts().predicates;
        Predicate::ALL.iter().copied().filter(|predicate| groups.contains(&predicate.group()))
    }

    /// True if `q` accepts the predicate for this type.
    pub fn accepts(&self, predicate: Predicate) -> bool {
        self.facts().predicates.contains(&predicate.group())
    }

    /// True if the type accepts any predicate: lists and objects do not.
    pub fn is_filterable(&self) -> bool {
        !self.facts().predicates.is_empty()
    }

    /// True if values of the two types are comparable.
    pub fn is_comparable_with(&self, other: &FieldType<N>) -> bool {
        let is_id = |one: &FieldType<N>, other: &FieldType<N>| {
            // An `id` is a bigint, and a reference holds one.
            matches!((one, other), (FieldType::BigInt, FieldType::Ref { .. }))
        };
        let family = self.facts().family;
        is_id(self, other) || is_id(other, self) || family.is_some() && family == other.facts().family
    }
}

#[cfg(test)]
mod tests;
