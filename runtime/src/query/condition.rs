//! A condition on records as a tree: what a request, a saved view, a scope and a nested path all become.

use std::sync::Arc;

use sea_orm::Value;

use super::custom_field_sql;
use crate::catalog::{RequiredParents, Source};
use crate::meta::{FieldMeta, ResourceMeta};

/// A condition in SQL's three-valued logic.
#[derive(Debug, Clone)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Test {
        target: Target,
        test: Test,
    },
    /// What the record cannot be without is there: SQL that was written when the application started.
    Standing(Arc<RequiredParents>),
    /// The reference leads to a record that meets a condition.
    Refers(Reference),
    /// A test of a field of the record that the reference leads to. It is a test of NULL where that record does not meet the
    /// reference's condition, as if the reference led nowhere.
    Through {
        reference: Reference,
        source: Source,
        test: Test,
    },
    /// Some of a JSON list of ids is among these.
    Overlaps {
        field: &'static FieldMeta,
        ids: Vec<i64>,
    },
    /// What an index of substrings finds for an expression. It narrows what is asked beside it, and is never all of it.
    Candidates {
        index: Arc<str>,
        expression: String,
    },
    /// The record has one of these ids.
    Ids(Vec<i64>),
}

/// A reference, and what the record that it leads to must meet.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The field that has its id.
    pub via: &'static FieldMeta,
    /// The table that it is in.
    pub table: &'static str,
    pub to: Box<Condition>,
}

/// What is compared.
#[derive(Debug, Clone)]
pub enum Target {
    /// A column of the record or of one it refers to.
    Column(Source),
    /// A custom field, compared by its declared type.
    Custom { name: String, kind: CustomKind },
}

/// How the value of a custom field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomKind {
    /// Text of at most 255 characters.
    Text,
    /// One of some texts, compared without regard to case.
    Choice,
    /// Text of any length, ordered by its first 255 characters.
    LongText,
    Integer,
    Decimal,
    Boolean,
    /// Days and times, whose text sorts.
    Time,
}

impl CustomKind {
    /// Whether it is ordered and searched without regard to case, and blank when it is empty.
    pub fn is_text(self) -> bool {
        matches!(self, CustomKind::Text | CustomKind::Choice | CustomKind::LongText)
    }

    /// As what it is ordered: choices as any text, of which some may differ in case alone.
    pub fn ordered_as(self) -> CustomKind {
        if self == CustomKind::Choice { CustomKind::Text } else { self }
    }
}

/// What is asked of it. Every test of a NULL is NULL, except `Null` and its kin.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Compare(Comparison, Value),
    Among {
        values: Vec<Value>,
        negated: bool,
    },
    /// Folded text in folded text.
    Like {
        place: MatchPosition,
        needle: String,
        negated: bool,
    },
    /// True, or false, of every value that is not NULL: a comparison with a number that no value reaches.
    Known(bool),
    Null {
        negated: bool,
    },
    /// NULL or the empty text.
    Blank {
        negated: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Where in the text the needle stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchPosition {
    Anywhere,
    Start,
    End,
}

impl Comparison {
    pub fn operator(self) -> &'static str {
        match self {
            Comparison::Equal => " = ",
            Comparison::NotEqual => " <> ",
            Comparison::Less => " < ",
            Comparison::LessOrEqual => " <= ",
            Comparison::Greater => " > ",
            Comparison::GreaterOrEqual => " >= ",
        }
    }
}

impl Condition {
    /// Nothing is asked.
    pub fn always() -> Condition {
        Condition::All(Vec::new())
    }

    /// A field equals a value: what scopes and nested paths need.
    pub fn equals(field: &'static FieldMeta, value: impl Into<Value>) -> Condition {
        Condition::test(Source::own(field), Test::Compare(Comparison::Equal, value.into()))
    }

    pub fn test(source: Source, test: Test) -> Condition {
        Condition::Test { target: Target::Column(source), test }
    }

    /// What `via` refers to is a record of `meta` that meets the condition.
    pub fn refers(via: &'static FieldMeta, meta: &ResourceMeta, to: Condition) -> Condition {
        Condition::Refers(Reference { via, table: meta.table, to: Box::new(to) })
    }

    /// Whether it is met by every record.
    pub fn is_always(&self) -> bool {
        matches!(self, Condition::All(list) if list.is_empty())
    }

    pub fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::All(list), other) | (other, Condition::All(list)) if list.is_empty() => other,
            (Condition::All(mut list), other) => {
                list.push(other);
                Condition::All(list)
            }
            (one, other) => Condition::All(vec![one, other]),
        }
    }

    pub fn or(self, other: Condition) -> Condition {
        Condition::Any(vec![self, other])
    }

    #[expect(clippy::should_implement_trait, reason = "the condition's own word, beside and and or")]
    pub fn not(self) -> Condition {
        Condition::Not(Box::new(self))
    }

    /// How many values a statement binds for it, at most.
    pub fn values(&self) -> usize {
        match self {
            Condition::All(list) | Condition::Any(list) => list.iter().map(Condition::values).sum(),
            Condition::Not(inner) => inner.values(),
            Condition::Standing(_) => 0,
            Condition::Candidates { .. } | Condition::Ids(_) => 1,
            Condition::Overlaps { ids, .. } => ids.len(),
            Condition::Refers(reference) => reference.to.values(),
            Condition::Through { reference, test, .. } => reference.to.values() + test.values(),
            Condition::Test { test, .. } => test.values(),
        }
    }

    /// Whether all records that meet it have a custom field within a stretch of values, which an index can find.
    pub fn is_index_range(&self) -> bool {
        match self {
            Condition::All(list) => list.iter().any(Condition::is_index_range),
            Condition::Test { target: Target::Custom { kind, .. }, test } => {
                custom_field_sql::is_index_range(*kind, test)
            }
            _ => false,
        }
    }

    /// Whether every record meets it, or every one that is not deleted.
    pub fn is_everything(&self) -> bool {
        match self {
            Condition::All(list) => list.is_empty(),
            Condition::Test { target: Target::Column(source), test: Test::Null { negated: false } } => {
                source.is_own("deleted_at")
            }
            _ => false,
        }
    }

    /// The tables that it looks into, beside that of the record.
    pub fn tables(&self, found: &mut Vec<&'static str>) {
        match self {
            Condition::All(list) | Condition::Any(list) => list.iter().for_each(|c| c.tables(found)),
            Condition::Not(inner) => inner.tables(found),
            Condition::Test { target: Target::Column(source), .. } => source.tables(found),
            Condition::Standing(standing) => found.extend(&standing.tables),
            Condition::Refers(reference) | Condition::Through { reference, .. } => {
                found.push(reference.table);
                reference.to.tables(found);
            }
            Condition::Test { .. } | Condition::Overlaps { .. } | Condition::Candidates { .. } | Condition::Ids(_) => {}
        }
    }

    /// The sources that a query has to join for it.
    pub fn sources(&self, found: &mut Vec<Source>) {
        match self {
            Condition::All(list) | Condition::Any(list) => list.iter().for_each(|c| c.sources(found)),
            Condition::Not(inner) => inner.sources(found),
            Condition::Test { target: Target::Column(source), .. } => found.push(source.clone()),
            Condition::Test { .. }
            | Condition::Standing(_)
            // They join for themselves.
            | Condition::Refers(_)
            | Condition::Through { .. }
            | Condition::Overlaps { .. }
            | Condition::Candidates { .. }
            | Condition::Ids(_) => {}
        }
    }
}

impl Test {
    /// How many values a statement binds for it, at most.
    fn values(&self) -> usize {
        match self {
            Test::Among { values, .. } => values.len(),
            Test::Compare(..) => 1,
            // A substring is bound with its length, a beginning with its end.
            Test::Like { .. } => 2,
            Test::Known(_) | Test::Null { .. } | Test::Blank { .. } => 0,
        }
    }

    /// The answer for NULL, where that is not NULL too.
    pub fn of_null(&self) -> Option<bool> {
        match self {
            Test::Null { negated } | Test::Blank { negated } => Some(!negated),
            _ => None,
        }
    }
}
