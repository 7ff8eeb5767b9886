//! One field: what it holds, who writes it, where it is shown.

use charter_model::literal::no_nul;
use charter_model::{Access, FieldType, Group, Misfit, Predicate, Shown, TypeFacts};

use super::{Described, Name};
use crate::notation::{CodeValue, Rule, Type};
use crate::source::{Span, Spanned};

/// A field of a record, a parameter of an action or a field of its answer.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name everywhere: in the table, in JSON and in `q`.
    pub name: Name,
    /// Its name in the YAML, which differs for the two columns of a polymorphic reference.
    pub declared: String,
    pub kind: Kind,
    pub nullable: bool,
    pub required: bool,
    pub default: Default,
    pub access: Access,
    pub shown: Shown,
    pub rules: Vec<Spanned<Rule>>,
    /// Its name before, for migrations.
    pub renamed_from: Option<Name>,
    /// What rows that are there get, for migrations.
    pub backfill: Option<Spanned<Default>>,
    /// What people read of it, and how they type it.
    pub described: Described,
    pub places: FieldPlaces,
}

impl Field {
    /// A plain, writable, shown field: what lowering starts from.
    pub fn new(name: Name, kind: impl Into<Kind>) -> Field {
        Field {
            declared: name.value.clone(),
            name,
            kind: kind.into(),
            nullable: false,
            required: false,
            default: Default::None,
            access: Access::Writable,
            shown: Shown::Always,
            rules: Vec::new(),
            renamed_from: None,
            backfill: None,
            described: Described::default(),
            places: FieldPlaces::default(),
        }
    }

    /// Whether the YAML declares it; the others are the server's own, or come with `under`.
    pub fn is_declared(&self) -> bool {
        self.places.kind.is_some()
    }

    /// Whether the table has a column for it.
    pub fn is_column(&self) -> bool {
        self.kind.is_column()
    }

    /// Whether a list item shows it to clients.
    pub fn is_listed(&self) -> bool {
        self.shown == Shown::Always && self.access != Access::Secret
    }
}

/// Where the parts of a field stand that a rule may object to.
#[derive(Debug, Clone, Default)]
pub struct FieldPlaces {
    pub kind: Option<Span>,
    pub values: Option<Span>,
    pub nullable: Option<Span>,
    pub required: Option<Span>,
    pub default: Option<Span>,
    pub access: Option<Span>,
    /// Keys beside `from` or `many`, which allow none.
    pub others: Vec<Spanned<&'static str>>,
    /// Something in it could not be read, so that what it lacks may be what was meant there.
    pub incomplete: bool,
}

/// What values a field holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Known(Type),
    /// The type was not understood, which is reported where it stands; no checked schema has one.
    Unknown,
}

/// What is true of a type that was not understood: nothing follows from it, so that it fits everything.
static UNKNOWN: TypeFacts = TypeFacts {
    word: "unknown",
    predicates: &[Group::Every, Group::Ordered, Group::Text, Group::Boolean],
    starts_empty: true,
    takes_now: true,
    ..TypeFacts::PLAIN
};

impl From<Type> for Kind {
    fn from(known: Type) -> Kind {
        Kind::Known(known)
    }
}

impl Kind {
    pub fn known(&self) -> Option<&Type> {
        match self {
            Kind::Known(known) => Some(known),
            Kind::Unknown => None,
        }
    }

    pub fn is_unknown(&self) -> bool {
        *self == Kind::Unknown
    }

    pub fn facts(&self) -> &'static TypeFacts {
        self.known().map_or(&UNKNOWN, FieldType::facts)
    }

    /// The word of the grammar for it.
    pub fn word(&self) -> &'static str {
        self.facts().word
    }

    /// The word with its article: an `integer`.
    pub fn described(&self) -> String {
        let word = self.word();
        let article = if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        format!("{article} `{word}`")
    }

    pub fn is_text(&self) -> bool {
        self.facts().is_text
    }

    pub fn is_number(&self) -> bool {
        self.facts().is_number
    }

    pub fn is_list(&self) -> bool {
        self.facts().is_list
    }

    /// Whether its values have an order that `sort` and an index can use.
    pub fn has_order(&self) -> bool {
        self.facts().has_order
    }

    /// Whether the table has a column for it.
    pub fn is_column(&self) -> bool {
        self.known().is_none_or(FieldType::is_column)
    }

    pub fn is_embedded(&self) -> bool {
        matches!(self, Kind::Known(FieldType::Embedded { .. }))
    }

    /// The resource that a `ref` to one resource refers to.
    pub fn target(&self) -> Option<&Name> {
        match self {
            Kind::Known(FieldType::Ref { resource }) => Some(resource),
            _ => None,
        }
    }

    /// The resources that a `ref` to several refers to, at the column of the type.
    pub fn targets(&self) -> Option<&[Name]> {
        match self {
            Kind::Known(FieldType::PolymorphicType { type_names }) => Some(type_names),
            _ => None,
        }
    }

    /// The field and the field of its record that a derived field shows.
    pub fn derived(&self) -> Option<(&Name, &Name)> {
        match self {
            Kind::Known(FieldType::Derived { via, field }) => Some((via, field)),
            _ => None,
        }
    }

    /// The resource and the field of embedded records.
    pub fn embedded(&self) -> Option<(&Name, &Name)> {
        match self {
            Kind::Known(FieldType::Embedded { resource, by }) => Some((resource, by)),
            _ => None,
        }
    }

    /// The words of an `enum`.
    pub fn words(&self) -> Option<&[Name]> {
        match self {
            Kind::Known(FieldType::Enum { values }) => Some(values),
            _ => None,
        }
    }

    /// The numbers of a `code`.
    pub fn codes(&self) -> Option<&[CodeValue]> {
        match self {
            Kind::Known(FieldType::Code { values }) => Some(values),
            _ => None,
        }
    }

    /// The most characters of a `string`.
    pub fn max_length(&self) -> Option<u32> {
        match self {
            Kind::Known(FieldType::String { max }) => Some(*max),
            _ => None,
        }
    }

    /// The predicates that fit it, in the order of the grammar; none for a type that cannot be filtered.
    pub fn predicates(&self) -> Vec<Predicate> {
        let groups = self.facts().predicates;
        Predicate::ALL.iter().copied().filter(|predicate| groups.contains(&predicate.group())).collect()
    }

    /// Whether values of the two can be compared with each other.
    pub fn is_comparable_with(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Known(one), Kind::Known(other)) => one.is_comparable_with(other),
            _ => true,
        }
    }

    /// Why a text is no literal of the kind; `key` gives it.
    pub fn literal(&self, key: &str, text: &str) -> Result<(), Misfit> {
        self.known().map_or_else(|| no_nul(text), |known| known.literal(key, text))
    }

    /// Why a text is no value that a client could send.
    pub fn value(&self, text: &str) -> Result<(), Misfit> {
        let is_document = |text: &str| {
            let read = serde_json::from_str::<serde_json::Value>(text);
            read.is_ok_and(|json| json.is_object() || json.is_array())
        };
        self.known().map_or_else(|| no_nul(text), |known| known.value(text, is_document))
    }
}

/// What a field is when create does not give it.
#[derive(Debug, Clone, PartialEq)]
pub enum Default {
    None,
    /// The value as it is written.
    Literal(String),
    /// The time of the request.
    Now,
    /// The id of the calling user.
    Caller,
    /// What the `before_save` hook sets.
    Hook,
}
