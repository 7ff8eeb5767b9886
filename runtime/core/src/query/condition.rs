//! Condition tree for records. Requests, saved views, scopes and nested paths all become one.

use std::sync::Arc;

use sea_orm::Value;

use super::custom_field_sql;
use super::expression::RowExpression;
use crate::catalog::Entry;
use crate::custom_field::CustomKind;
use crate::meta::{FieldMeta, ResourceMeta};
use crate::record::{RequiredParents, Source};
use crate::resource::NamedField;

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
    /// No required parent of the record is soft-deleted. The SQL is rendered at start-up.
    RequiredParents(Arc<RequiredParents>),
    /// At least one of the records that belong to the record meets their condition.
    Has(Children),
    /// The referenced record exists and meets the reference's condition.
    Refers(Reference),
    /// A test of a field of the referenced record. If that record does not meet the reference's condition, NULL is
    /// tested, as with a null reference.
    ReferencedField {
        reference: Reference,
        source: Source,
        test: Test,
    },
    /// The JSON list of ids in `field` contains at least one of `ids`.
    Overlaps {
        field: &'static FieldMeta,
        ids: Vec<i64>,
    },
    /// The trigram index finds the record for an FTS5 expression. There can be false positives: the statement always
    /// has the exact condition as well.
    Candidates {
        index: Arc<str>,
        expression: String,
    },
    /// The record has one of these ids.
    Ids(Vec<i64>),
    /// An expression of the metadata holds for the record.
    Expression(Arc<RowExpression>),
}

/// A reference and the condition on the referenced record.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The field that holds the id.
    pub via: &'static FieldMeta,
    /// The referenced table.
    pub table: &'static str,
    pub condition: Box<Condition>,
}

/// Records that belong to a record, and the condition on them.
#[derive(Debug, Clone)]
pub struct Children {
    /// Their field that holds the id of the record.
    pub by: &'static FieldMeta,
    /// Their table.
    pub table: &'static str,
    pub condition: Box<Condition>,
}

/// Left side of a test.
#[derive(Debug, Clone)]
pub enum Target {
    /// A column of the record or of a record that it references.
    Column(Source),
    /// A custom field, compared by its declared type.
    Custom { name: String, kind: CustomKind },
}

/// Right side of a test. A test of NULL is NULL, except for `Null` and `Blank`.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Compare(Comparison, Value),
    In {
        values: Vec<Value>,
        negated: bool,
    },
    /// Substring search in case-folded text. `needle` is folded.
    Like {
        position: MatchPosition,
        needle: String,
        negated: bool,
    },
    /// The same result for every value that is not NULL: a comparison with a number out of the column's range.
    Constant(bool),
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

/// Where the needle must stand in the text.
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
    /// A condition that every record meets.
    pub fn always() -> Condition {
        Condition::All(Vec::new())
    }

    /// A field of the record equals a value.
    pub fn equals(field: impl NamedField, value: impl Into<Value>) -> Condition {
        Condition::compare(field, Comparison::Equal, value)
    }

    /// A comparison of a field of the record.
    pub fn compare(field: impl NamedField, comparison: Comparison, value: impl Into<Value>) -> Condition {
        Condition::test(Source::own(field.field()), Test::Compare(comparison, value.into()))
    }

    /// A field of the record is null.
    pub fn is_null(field: impl NamedField) -> Condition {
        Condition::test(Source::own(field.field()), Test::Null { negated: false })
    }

    /// A field of the record has one of these ids.
    pub fn is_one_of(field: impl NamedField, ids: &[i64]) -> Condition {
        let values = ids.iter().map(|id| (*id).into()).collect();
        Condition::test(Source::own(field.field()), Test::In { values, negated: false })
    }

    /// The condition that neither a record of the resource nor any of its required parents is deleted.
    pub fn present(entry: &Entry) -> Condition {
        let condition = match entry.field("deleted_at").filter(|_| entry.meta.soft_delete) {
            Some(mark) => Condition::test(Source::own(mark), Test::Null { negated: false }),
            None => Condition::always(),
        };
        match &entry.required_parents {
            Some(standing) => condition.and(Condition::RequiredParents(standing.clone())),
            None => condition,
        }
    }

    pub fn test(source: Source, test: Test) -> Condition {
        Condition::Test { target: Target::Column(source), test }
    }

    /// The record of `meta` that `via` references meets the condition.
    pub fn refers(via: &'static FieldMeta, meta: &ResourceMeta, condition: Condition) -> Condition {
        Condition::Refers(Reference { via, table: meta.table, condition: Box::new(condition) })
    }

    /// True if the condition is empty, thus every record meets it.
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

    #[expect(clippy::should_implement_trait, reason = "named like `and` and `or`")]
    pub fn not(self) -> Condition {
        Condition::Not(Box::new(self))
    }

    /// Upper bound on the number of values that a statement binds for the condition.
    pub fn values(&self) -> usize {
        match self {
            Condition::All(list) | Condition::Any(list) => list.iter().map(Condition::values).sum(),
            Condition::Not(inner) => inner.values(),
            Condition::RequiredParents(_) => 0,
            Condition::Candidates { .. } | Condition::Ids(_) => 1,
            Condition::Overlaps { ids, .. } => ids.len(),
            Condition::Expression(expression) => expression.values(),
            Condition::Refers(reference) => reference.condition.values(),
            Condition::Has(children) => children.condition.values(),
            Condition::ReferencedField { reference, test, .. } => reference.condition.values() + test.values(),
            Condition::Test { test, .. } => test.values(),
        }
    }

    /// True if an index range of a custom field contains every record that meets the condition.
    pub fn is_index_range(&self) -> bool {
        match self {
            Condition::All(list) => list.iter().any(Condition::is_index_range),
            Condition::Test { target: Target::Custom { kind, .. }, test } => {
                custom_field_sql::is_index_range(*kind, test)
            }
            _ => false,
        }
    }

    /// True if every record meets the condition, or every record that is not soft-deleted.
    pub fn is_everything(&self) -> bool {
        match self {
            Condition::All(list) => list.is_empty(),
            Condition::Test { target: Target::Column(source), test: Test::Null { negated: false } } => {
                source.is_own("deleted_at")
            }
            _ => false,
        }
    }

    /// Adds the tables that the condition reads, except that of the record itself.
    pub fn tables(&self, found: &mut Vec<&'static str>) {
        match self {
            Condition::All(list) | Condition::Any(list) => list.iter().for_each(|c| c.tables(found)),
            Condition::Not(inner) => inner.tables(found),
            Condition::Test { target: Target::Column(source), .. } => source.tables(found),
            Condition::RequiredParents(parents) => found.extend(&parents.tables),
            Condition::Refers(reference) | Condition::ReferencedField { reference, .. } => {
                found.push(reference.table);
                reference.condition.tables(found);
            }
            Condition::Has(children) => {
                found.push(children.table);
                children.condition.tables(found);
            }
            Condition::Expression(expression) => found.extend(&expression.tables),
            Condition::Test { .. } | Condition::Overlaps { .. } | Condition::Candidates { .. } | Condition::Ids(_) => {}
        }
    }

    /// Adds the sources that the statement has to join.
    pub fn sources(&self, found: &mut Vec<Source>) {
        match self {
            Condition::All(list) | Condition::Any(list) => list.iter().for_each(|c| c.sources(found)),
            Condition::Not(inner) => inner.sources(found),
            Condition::Test { target: Target::Column(source), .. } => found.push(source.clone()),
            Condition::Test { .. }
            | Condition::RequiredParents(_)
            // They have subqueries with their own joins.
            | Condition::Refers(_)
            | Condition::Has(_)
            | Condition::ReferencedField { .. }
            | Condition::Expression(_)
            | Condition::Overlaps { .. }
            | Condition::Candidates { .. }
            | Condition::Ids(_) => {}
        }
    }
}

impl Test {
    /// Upper bound on the number of values that a statement binds for the test.
    fn values(&self) -> usize {
        match self {
            Test::In { values, .. } => values.len(),
            Test::Compare(..) => 1,
            // A substring is bound with its length, a prefix with its upper bound.
            Test::Like { .. } => 2,
            Test::Constant(_) | Test::Null { .. } | Test::Blank { .. } => 0,
        }
    }

    /// Result for NULL. `None` if the result is NULL as well.
    pub fn of_null(&self) -> Option<bool> {
        match self {
            Test::Null { negated } | Test::Blank { negated } => Some(!negated),
            _ => None,
        }
    }
}
