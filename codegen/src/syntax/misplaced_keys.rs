//! Keys among the fields that belong to the resource, indented too far, or to a field, indented too little.

use charter_model::naming::is_snake_case;
use charter_model::{Format, Keyword, Number, TypeWord};

use super::aliases;
use super::keys::{Shape, Table};
use super::tree::{Entry, Node, Value};
use super::type_word::names_type;
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::keywords::SortWord;

/// The owner of a misplaced key.
pub enum Misplaced {
    /// The mapping that has the fields.
    Outer(Diagnostic),
    /// The field before it.
    Field(Diagnostic),
}

/// Finds an entry among the fields that is a key of `outer`, which has the fields, or of `inner`, the field `before`
/// it.
pub fn find(outer: &Table, inner: &Table, before: Option<&Entry>, entry: &Entry) -> Option<Misplaced> {
    let key = entry.key.as_str();
    let is_key = |table: &Table| table.key(key).is_some_and(|found| fits(found.shape, &entry.value));
    let before = before.filter(|_| is_key(inner));
    if is_field(&entry.value) || before.is_none() && !is_key(outer) {
        return None;
    }
    let what = outer.what.split_once(' ').map_or(outer.what, |(_, what)| what);
    let mut help = match before {
        None => format!("this is a key of the {what}: indent it less"),
        Some(field) => under(field, entry),
    };
    if before.is_some() && is_key(outer) {
        help.push_str(&format!("; or it is a key of the {what}: indent it less"));
    }
    // A field may have the same name, and the value may be meant as its type.
    let table = if before.is_some() { inner } else { outer };
    if let (Some(Shape::Name), Some(text)) = (table.key(key).map(|found| found.shape), entry.value.scalar())
        && is_snake_case(text.as_str())
    {
        help.push_str(&format!("; a reference field has the type `ref({})`", text.value));
    }
    let message = format!("`{key}` is a key, but it is among the fields");
    let problem = Diagnostic::new(Code::WrongShape, entry.key.span, message, "not a field").help(help);
    Some(if before.is_some() { Misplaced::Field(problem) } else { Misplaced::Outer(problem) })
}

/// The key within its field, which may be just a type.
fn under(field: &Entry, entry: &Entry) -> String {
    let (name, key) = (&field.key.value, &entry.key.value);
    match (field.value.scalar(), entry.value.scalar()) {
        (Some(kind), Some(value)) => {
            format!("this is a key of a field: write `{name}: {{ type: {}, {key}: {} }}`", kind.value, value.value)
        }
        _ => format!("this is a key of a field: indent it under `{name}`"),
    }
}

/// True if an entry was written as a field: as a type, or as a mapping with its source.
fn is_field(node: &Node) -> bool {
    match &node.value {
        Value::Scalar { text, .. } => {
            let is_other = || TypeWord::elsewhere(text).is_some() || Format::read(text).is_some();
            names_type(text) || text.contains('(') || is_other()
        }
        Value::Map(entries) => {
            entries.iter().any(|entry| matches!(entry.key.as_str(), "type" | "from" | "many" | "count" | "sum"))
        }
        // An empty value may be anything.
        Value::Null => true,
        Value::List(_) => false,
    }
}

/// True if a value has the shape of a key.
pub fn fits(shape: Shape, node: &Node) -> bool {
    match &node.value {
        Value::Scalar { text, .. } => match shape {
            Shape::Flag => aliases::flag(node).is_some(),
            Shape::Word(words) => words.contains(&text.as_str()),
            Shape::Filters | Shape::Sorts => SortWord::WORDS.contains(&text.as_str()),
            Shape::Number | Shape::NumberOrPath | Shape::Count => Number::read(text).is_some(),
            // Any value fits, but a misspelt type.
            Shape::Name
            | Shape::NameOrNames
            | Shape::Text
            | Shape::Literal
            | Shape::Default
            | Shape::Path
            | Shape::Permission
            | Shape::Right
            | Shape::Condition => nearest(text, TypeWord::words()).is_none(),
            _ => false,
        },
        Value::List(_) => {
            matches!(
                shape,
                Shape::Words(_)
                    | Shape::Names
                    | Shape::NameOrNames
                    | Shape::Order
                    | Shape::Sets
                    | Shape::Sorts
                    | Shape::Values
                    | Shape::UniqueSets
                    | Shape::Checks
            )
        }
        Value::Map(_) => matches!(
            shape,
            Shape::Values
                | Shape::Default
                | Shape::Permission
                | Shape::RowRules
                | Shape::Public
                | Shape::Fields(_)
                | Shape::Output(_)
                | Shape::Filters
                | Shape::Deprecated
                | Shape::DeprecatedFilters
                | Shape::Includes
                | Shape::Actions
                | Shape::States
                | Shape::Transitions
                | Shape::Jobs
                | Shape::FieldValues
        ),
        Value::Null => false,
    }
}
