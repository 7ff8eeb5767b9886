//! Table of predicates: name, supported kinds and operand. A new predicate starts here.

use crate::meta::{FieldMeta, Filter, Kind};

/// A test of a field's value. The names are those of the specification, prefixed with `_` in `q`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predicate {
    Eq,
    NotEq,
    Lt,
    Lteq,
    Gt,
    Gteq,
    Cont,
    NotCont,
    Start,
    End,
    Null,
    NotNull,
    Present,
    Blank,
    In,
    NotIn,
    True,
    False,
}

/// Kinds of field that support a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fits {
    Every,
    /// Kinds with an order: numbers, times, dates, text, ids.
    Ordered,
    Text,
    Boolean,
}

/// Operand of a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// One value of the field's kind.
    Value,
    /// A list of such values.
    List,
    /// Text, for any kind.
    Text,
    /// A boolean; `false` negates the predicate.
    Switch,
}

/// Every predicate with its name, supported kinds, operand, and the end of a sentence that begins with the field's
/// value.
pub const TABLE: &[(Predicate, &str, Fits, Reads, &str)] = &[
    (Predicate::Eq, "eq", Fits::Every, Reads::Value, "is this value"),
    (Predicate::NotEq, "not_eq", Fits::Every, Reads::Value, "is not this value; null does not match"),
    (Predicate::Lt, "lt", Fits::Ordered, Reads::Value, "is less than this value"),
    (Predicate::Lteq, "lteq", Fits::Ordered, Reads::Value, "is at most this value"),
    (Predicate::Gt, "gt", Fits::Ordered, Reads::Value, "is more than this value"),
    (Predicate::Gteq, "gteq", Fits::Ordered, Reads::Value, "is at least this value"),
    (Predicate::Cont, "cont", Fits::Text, Reads::Text, "contains this text, case-insensitively"),
    (Predicate::NotCont, "not_cont", Fits::Text, Reads::Text, "does not contain this text, case-insensitively"),
    (Predicate::Start, "start", Fits::Text, Reads::Text, "begins with this text, case-insensitively"),
    (Predicate::End, "end", Fits::Text, Reads::Text, "ends with this text, case-insensitively"),
    (Predicate::Null, "null", Fits::Every, Reads::Switch, "is null; `false` negates it"),
    (Predicate::NotNull, "not_null", Fits::Every, Reads::Switch, "is not null; `false` negates it"),
    (Predicate::Present, "present", Fits::Every, Reads::Switch, "is neither null nor empty; `false` negates it"),
    (Predicate::Blank, "blank", Fits::Every, Reads::Switch, "is null or empty; `false` negates it"),
    (Predicate::In, "in", Fits::Every, Reads::List, "is one of these values"),
    (Predicate::NotIn, "not_in", Fits::Every, Reads::List, "is none of these values; null does not match"),
    (Predicate::True, "true", Fits::Boolean, Reads::Switch, "is true, or false with `false`"),
    (Predicate::False, "false", Fits::Boolean, Reads::Switch, "is false, or true with `false`"),
];

impl Predicate {
    fn row(self) -> &'static (Predicate, &'static str, Fits, Reads, &'static str) {
        // A test checks that the table has a row for every predicate.
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&TABLE[0])
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    pub fn reads(self) -> Reads {
        self.row().3
    }

    /// Description for documentation: `contains this text`.
    pub fn meaning(self) -> &'static str {
        self.row().4
    }

    pub fn from_name(name: &str) -> Option<Predicate> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Every predicate's name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.1)
    }

    /// True if the operand only says whether the predicate must hold.
    pub fn is_switch(self) -> bool {
        self.reads() == Reads::Switch
    }

    /// Splits `name_not_eq` into `name` and the longest predicate name that it ends in.
    pub fn split(key: &str) -> Option<(&str, Predicate)> {
        Predicate::splits(key).min_by_key(|(field, _)| field.len())
    }

    /// Every possible split of a key.
    pub fn splits(key: &str) -> impl Iterator<Item = (&str, Predicate)> {
        TABLE.iter().filter_map(move |(predicate, name, ..)| {
            let field = key.strip_suffix(name)?.strip_suffix('_')?;
            (!field.is_empty()).then_some((field, *predicate))
        })
    }

    /// True if values of the kind support the predicate.
    pub fn fits(self, kind: Kind) -> bool {
        match self.row().2 {
            Fits::Every => true,
            Fits::Text => matches!(kind, Kind::String { .. } | Kind::Text),
            Fits::Boolean => kind == Kind::Boolean,
            Fits::Ordered => {
                !matches!(kind, Kind::Boolean | Kind::Enum { .. } | Kind::PolymorphicType { .. } | Kind::Uuid)
            }
        }
    }

    /// True if the field permits the predicate. `kind` is that of the value, which for a derived field is the kind of
    /// the other record's field.
    pub fn allowed(self, field: &FieldMeta, kind: Kind) -> bool {
        match field.filter {
            Filter::Off => false,
            Filter::Only(names) => names.contains(&self.name()),
            Filter::Fitting => filterable(kind) && self.fits(kind),
        }
    }
}

/// The predicate that other systems call by this name, for a hint.
pub fn from_foreign_name(written: &str) -> Option<&'static str> {
    let plain: String = written.chars().filter(|letter| *letter != '_').collect();
    Some(match plain.to_lowercase().as_str() {
        "equals" | "equal" | "exact" | "is" => "eq",
        "ne" | "neq" | "notequals" | "notequal" | "isnot" => "not_eq",
        "gte" | "ge" | "min" | "after" => "gteq",
        "lte" | "le" | "max" | "before" => "lteq",
        "like" | "ilike" | "contains" | "icontains" | "includes" | "matches" | "search" => "cont",
        "notlike" | "notcontains" | "doesnotcontain" => "not_cont",
        "startswith" | "istartswith" | "beginswith" | "prefix" => "start",
        "endswith" | "iendswith" | "suffix" => "end",
        "isnull" => "null",
        "isnotnull" | "notisnull" => "not_null",
        "exists" | "isset" => "present",
        "empty" | "isempty" => "blank",
        "nin" | "notanyof" => "not_in",
        "anyof" | "oneof" => "in",
        "istrue" => "true",
        "isfalse" => "false",
        _ => return None,
    })
}

/// False for lists and objects, which no predicate supports.
pub fn filterable(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::StringList { .. } | Kind::RefList { .. } | Kind::Json | Kind::CustomFields | Kind::Embedded { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_matching_predicate_name_is_split_off() {
        assert_eq!(Predicate::split("name_not_eq"), Some(("name", Predicate::NotEq)));
        assert_eq!(Predicate::split("checked_in_eq"), Some(("checked_in", Predicate::Eq)));
        assert_eq!(Predicate::split("checked_in_not_in"), Some(("checked_in", Predicate::NotIn)));
        assert_eq!(Predicate::split("completed_true"), Some(("completed", Predicate::True)));
        assert_eq!(Predicate::split("cf.power_cont"), Some(("cf.power", Predicate::Cont)));
        assert_eq!(Predicate::split("_eq"), None);
        assert_eq!(Predicate::split("name"), None);
    }

    #[test]
    fn every_predicate_of_the_specification_is_in_the_table_once() {
        let names: Vec<&str> = TABLE.iter().map(|row| row.1).collect();
        let specified =
            "eq not_eq lt lteq gt gteq cont not_cont start end null not_null present blank in not_in true false";
        assert_eq!(names, specified.split(' ').collect::<Vec<_>>());
    }
}
