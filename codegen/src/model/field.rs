//! One field: what it holds, who writes it, where it is shown.

use super::{Described, Name, Path, Rule};
use crate::source::{Span, Spanned};
use crate::words::TimestampForm;

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
    pub fn new(name: Name, kind: Kind) -> Field {
        Field {
            declared: name.value.clone(),
            name,
            kind,
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
        !matches!(self.kind, Kind::Derived(_) | Kind::Embedded { .. })
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
    String {
        max: u32,
    },
    Text,
    Integer,
    BigInt,
    Boolean,
    Decimal {
        precision: u8,
        places: u8,
    },
    Timestamp(TimestampForm),
    Date,
    Enum(Vec<Name>),
    Code(Vec<CodeValue>),
    StringList {
        max: u32,
    },
    RefList(Name),
    Json,
    Uuid,
    Ref(Name),
    PolymorphicType(Vec<Name>),
    PolymorphicId {
        type_field: String,
    },
    CustomFields,
    Derived(Path),
    Embedded {
        resource: Name,
        by: String,
    },
    /// The type was not understood, which is reported where it stands; no checked schema has one.
    Unknown,
}

impl Kind {
    /// The word of the grammar for it.
    pub fn word(&self) -> &'static str {
        match self {
            Kind::String { .. } => "string",
            Kind::Text => "text",
            Kind::Integer => "integer",
            Kind::BigInt => "bigint",
            Kind::Boolean => "boolean",
            Kind::Decimal { .. } => "decimal",
            Kind::Timestamp(_) => "timestamp",
            Kind::Date => "date",
            Kind::Enum(_) => "enum",
            Kind::Code(_) => "code",
            Kind::StringList { .. } | Kind::RefList(_) => "list",
            Kind::Json | Kind::CustomFields => "json",
            Kind::Uuid => "uuid",
            Kind::Ref(_) | Kind::PolymorphicType(_) | Kind::PolymorphicId { .. } => "ref",
            Kind::Derived(_) => "derived",
            Kind::Embedded { .. } => "embedded",
            Kind::Unknown => "unknown",
        }
    }

    /// The word with its article: an `integer`.
    pub fn described(&self) -> String {
        let word = self.word();
        let article = if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        format!("{article} `{word}`")
    }

    pub fn is_text(&self) -> bool {
        matches!(self, Kind::String { .. } | Kind::Text)
    }

    pub fn is_number(&self) -> bool {
        matches!(self, Kind::Integer | Kind::BigInt | Kind::Decimal { .. })
    }

    pub fn is_list(&self) -> bool {
        matches!(self, Kind::StringList { .. } | Kind::RefList(_))
    }

    /// Whether its values have an order that `sort` and an index can use.
    pub fn has_order(&self) -> bool {
        !self.is_list() && !matches!(self, Kind::Json | Kind::CustomFields | Kind::Embedded { .. })
    }

    /// Whether values of the two can be compared with each other.
    pub fn is_comparable_with(&self, other: &Kind) -> bool {
        let family = |kind: &Kind| match kind {
            Kind::String { .. } | Kind::Text | Kind::Enum(_) => Some("text"),
            // Numbers of different types are different values to the server, which compares no two of them.
            Kind::Integer | Kind::Code(_) => Some("integer"),
            Kind::BigInt => Some("bigint"),
            Kind::Decimal { .. } => Some("decimal"),
            Kind::Ref(_) | Kind::PolymorphicId { .. } => Some("id"),
            Kind::Timestamp(_) => Some("timestamp"),
            Kind::Date => Some("date"),
            Kind::Uuid => Some("uuid"),
            Kind::Boolean => Some("boolean"),
            _ => None,
        };
        match (self, other) {
            (Kind::Unknown, _) | (_, Kind::Unknown) => true,
            // An `id` is a bigint, and a reference holds one.
            (Kind::BigInt, Kind::Ref(_)) | (Kind::Ref(_), Kind::BigInt) => true,
            _ => family(self).is_some() && family(self) == family(other),
        }
    }
}

/// One of the numbers of a code.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeValue {
    pub number: Spanned<i32>,
    pub label: Name,
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

/// Who writes a field, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Writable,
    ReadOnly,
    Immutable,
    Secret,
}

/// In which answers a field appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In a list and in the single record.
    Always,
    /// In the single record only.
    Detail,
    /// The server's own column.
    Never,
}
