//! Field of a resource: its type, access, default and rules.

use charter_model::literal::no_nul;
use charter_model::{
    Access, FieldOption, FieldType, Group, Keyword, Misfit, Predicate, RollupFunction, Shown, TypeFacts,
};

use super::{Described, Name};
use crate::notation::{CodeValue, Rule, Type};
use crate::source::{Span, Spanned};

/// A field of a record, a parameter of an action or a field of its output.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name in the table, in JSON and in `q`.
    pub name: Name,
    /// The name in YAML, which differs for the two columns of a polymorphic reference.
    pub declared: String,
    pub kind: Kind,
    pub nullable: bool,
    pub required: bool,
    pub default: Default,
    pub access: Access,
    pub shown: Shown,
    pub rules: Vec<Spanned<Rule>>,
    /// The former name, for migrations.
    pub renamed_from: Option<Name>,
    /// The value for existing rows, for migrations.
    pub backfill: Option<Spanned<Default>>,
    /// The display options.
    pub described: Described,
    /// The records from which the database has its value.
    pub rollup: Option<Rollup>,
    pub places: FieldPlaces,
}

/// A value from the records of another resource that refer to this one.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollup {
    pub function: RollupFunction,
    pub resource: Name,
    /// The field of the other resource that refers to this one; empty for an unknown resource.
    pub by: Name,
    /// The field with the values; none for a count.
    pub field: Option<Name>,
    /// The condition of the records that count.
    pub rows: Option<Name>,
}

impl Rollup {
    /// The field with the values if there is one, or else the resource: the place of a problem.
    pub fn place(&self) -> Span {
        self.field.as_ref().map_or(self.resource.span, |field| field.span)
    }

    /// True for a smallest and a largest value.
    pub fn is_extreme(&self) -> bool {
        self.function.is_extreme()
    }

    /// `invoice_line.total`, or the resource alone.
    pub fn path(&self) -> String {
        let field = self.field.as_ref().map(|field| format!(".{}", field.value)).unwrap_or_default();
        format!("{}{field}", self.resource.value)
    }

    /// As it is written: `sum invoice_line.total by invoice_id where quantity > 0`.
    pub fn text(&self) -> String {
        let rows = self.rows.as_ref().map(|rows| format!(" where {}", rows.value)).unwrap_or_default();
        format!("{} {} by {}{rows}", self.function.word(), self.path(), self.by.value)
    }
}

impl Field {
    /// A plain, writable, shown field.
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
            rollup: None,
            places: FieldPlaces::default(),
        }
    }

    /// The expression of a computed field.
    pub fn value(&self) -> Option<&Name> {
        self.described.get(FieldOption::Value)
    }

    /// The expression of its default, if it has one.
    pub fn default_expression(&self) -> Option<Name> {
        match (&self.default, self.places.default) {
            (Default::Expression(text), Some(span)) => Some(Spanned::new(text.clone(), span)),
            _ => None,
        }
    }

    /// True if the YAML declares it. Other fields belong to the server, or follow from `under`.
    pub fn is_declared(&self) -> bool {
        self.places.kind.is_some()
    }

    /// True if the table has a column for it.
    pub fn is_column(&self) -> bool {
        self.kind.is_column()
    }

    /// True if a list item shows it to clients.
    pub fn is_listed(&self) -> bool {
        self.shown == Shown::Always && self.access != Access::Secret
    }
}

/// The places of the keys of a field.
#[derive(Debug, Clone, Default)]
pub struct FieldPlaces {
    pub kind: Option<Span>,
    pub values: Option<Span>,
    pub nullable: Option<Span>,
    pub required: Option<Span>,
    pub default: Option<Span>,
    pub access: Option<Span>,
    /// Keys next to `from` or `many`, which allow none.
    pub others: Vec<Spanned<&'static str>>,
    /// Something in it could not be read, which may be what seems to be missing.
    pub incomplete: bool,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Known(Type),
    /// The type was not understood, which is reported. No checked schema has one.
    Unknown,
}

/// The properties of a type that was not understood: it fits everything, so that no other problem follows.
static UNKNOWN: TypeFacts = TypeFacts {
    word: "unknown",
    predicates: &[Group::Every, Group::Ordered, Group::Text, Group::Boolean],
    starts_empty: true,
    is_temporal: true,
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

    /// The word of the grammar.
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

    /// True if its values have an order, for `sort` and indexes.
    pub fn has_order(&self) -> bool {
        self.facts().has_order
    }

    /// True if the table has a column for it.
    pub fn is_column(&self) -> bool {
        self.known().is_none_or(FieldType::is_column)
    }

    pub fn is_embedded(&self) -> bool {
        matches!(self, Kind::Known(FieldType::Embedded { .. }))
    }

    /// The resource of a `ref` to one resource.
    pub fn target(&self) -> Option<&Name> {
        match self {
            Kind::Known(FieldType::Ref { resource }) => Some(resource),
            _ => None,
        }
    }

    /// The resources of a polymorphic `ref`, at the column of the type.
    pub fn targets(&self) -> Option<&[Name]> {
        match self {
            Kind::Known(FieldType::PolymorphicType { type_names }) => Some(type_names),
            _ => None,
        }
    }

    /// The field that a derived field follows, and the field that it shows.
    pub fn derived(&self) -> Option<(&Name, &Name)> {
        match self {
            Kind::Known(FieldType::Derived { via, field }) => Some((via, field)),
            _ => None,
        }
    }

    /// The resource and the field of embedded records.
    pub fn embedded(&self) -> Option<(&Name, &Name)> {
        self.dependents().filter(|_| self.is_embedded())
    }

    /// The resource and the field of the records that are stored with their own: embedded records, or the pairs of links.
    pub fn dependents(&self) -> Option<(&Name, &Name)> {
        self.known()?.dependents()
    }

    /// The resource of linked records, and that of their pairs.
    pub fn links(&self) -> Option<(&Name, &Name)> {
        match self {
            Kind::Known(FieldType::Links { resource, through, .. }) => Some((resource, through)),
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

    /// The predicates of the type, in the order of the grammar; none if it cannot be filtered.
    pub fn predicates(&self) -> Vec<Predicate> {
        let groups = self.facts().predicates;
        Predicate::ALL.iter().copied().filter(|predicate| groups.contains(&predicate.group())).collect()
    }

    /// True if values of the two can be compared.
    pub fn is_comparable_with(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Known(one), Kind::Known(other)) => one.is_comparable_with(other),
            _ => true,
        }
    }

    /// The reason why a text is not a literal of the type; `key` is the key that gives it.
    pub fn literal(&self, key: &str, text: &str) -> Result<(), Misfit> {
        self.known().map_or_else(|| no_nul(text), |known| known.literal(key, text))
    }

    /// The reason why a text is not a value of the type.
    pub fn value(&self, text: &str) -> Result<(), Misfit> {
        let is_document = |text: &str| {
            let read = serde_json::from_str::<serde_json::Value>(text);
            read.is_ok_and(|json| json.is_object() || json.is_array())
        };
        self.known().map_or_else(|| no_nul(text), |known| known.value(text, is_document))
    }
}

/// The value of a field that create does not give.
#[derive(Debug, Clone, PartialEq)]
pub enum Default {
    None,
    /// The value as it is written.
    Literal(String),
    /// The time of the request.
    Now,
    /// The id of the calling user.
    Caller,
    /// A value that the `before_save` hook sets.
    Hook,
    /// The value of an expression over the other fields of the record.
    Expression(String),
}
