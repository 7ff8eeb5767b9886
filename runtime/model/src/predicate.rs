//! Predicates of `q`: their names, the types that accept them, and their right side. A new one is a row here.

use crate::{Keyword, keywords};

keywords! {
    /// A condition on the value of a field. The names are those of Ransack; `q` puts `_` before them.
    Predicate {
        Eq = "eq",
        NotEq = "not_eq",
        Lt = "lt",
        Lteq = "lteq",
        Gt = "gt",
        Gteq = "gteq",
        Cont = "cont",
        NotCont = "not_cont",
        ContAny = "cont_any",
        Start = "start",
        NotStart = "not_start",
        End = "end",
        NotEnd = "not_end",
        Null = "null",
        NotNull = "not_null",
        Present = "present",
        Blank = "blank",
        In = "in",
        NotIn = "not_in",
        True = "true",
        False = "false",
    }
}

/// A group of types that accept a predicate; each type names its groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Every type that can be filtered.
    Every,
    /// Types with an order: numbers, times, days, text, ids.
    Ordered,
    Text,
    Boolean,
}

/// The right side of a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// One value of the field's type.
    Value,
    /// Several values, separated by commas.
    List,
    /// Text, whatever the type.
    Text,
    /// A boolean: true if the predicate must hold, false if it must not.
    Switch,
}

/// One row of the table.
struct Row {
    predicate: Predicate,
    group: Group,
    reads: Reads,
    /// The end of a sentence about the value of a field: `is this value`.
    meaning: &'static str,
    /// Names of the predicate in other systems, in lower case and without `_`.
    elsewhere: &'static [&'static str],
}

const fn row(
    predicate: Predicate,
    group: Group,
    reads: Reads,
    meaning: &'static str,
    elsewhere: &'static [&'static str],
) -> Row {
    Row { predicate, group, reads, meaning, elsewhere }
}

use Group::{Boolean, Every, Ordered};
use Reads::{List, Switch, Value};

const TABLE: &[Row] = &[
    row(Predicate::Eq, Every, Value, "is this value", &["equals", "equal", "exact", "is"]),
    row(
        Predicate::NotEq,
        Every,
        Value,
        "is another value; null is not",
        &["ne", "neq", "notequals", "notequal", "isnot"],
    ),
    row(Predicate::Lt, Ordered, Value, "is less than this value", &[]),
    row(Predicate::Lteq, Ordered, Value, "is at most this value", &["lte", "le", "max", "before"]),
    row(Predicate::Gt, Ordered, Value, "is more than this value", &[]),
    row(Predicate::Gteq, Ordered, Value, "is at least this value", &["gte", "ge", "min", "after"]),
    row(
        Predicate::Cont,
        Group::Text,
        Reads::Text,
        "contains this text, whatever its case",
        &["like", "ilike", "contains", "icontains", "includes", "matches", "search"],
    ),
    row(
        Predicate::NotCont,
        Group::Text,
        Reads::Text,
        "does not contain this text, whatever its case",
        &["notlike", "notcontains", "doesnotcontain"],
    ),
    row(
        Predicate::ContAny,
        Group::Text,
        List,
        "contains one of these texts, whatever its case",
        &["likeany", "ilikeany", "containsany", "matchesany"],
    ),
    row(
        Predicate::Start,
        Group::Text,
        Reads::Text,
        "begins with this text, whatever its case",
        &["startswith", "istartswith", "beginswith", "prefix"],
    ),
    row(
        Predicate::NotStart,
        Group::Text,
        Reads::Text,
        "does not begin with this text, whatever its case",
        &["notstartswith", "doesnotstartwith", "notbeginswith"],
    ),
    row(
        Predicate::End,
        Group::Text,
        Reads::Text,
        "ends with this text, whatever its case",
        &["endswith", "iendswith", "suffix"],
    ),
    row(
        Predicate::NotEnd,
        Group::Text,
        Reads::Text,
        "does not end with this text, whatever its case",
        &["notendswith", "doesnotendwith"],
    ),
    row(Predicate::Null, Every, Switch, "is null, or is not with `false`", &["isnull"]),
    row(Predicate::NotNull, Every, Switch, "is not null, or is with `false`", &["isnotnull", "notisnull"]),
    row(Predicate::Present, Every, Switch, "is neither null nor empty, or is with `false`", &["exists", "isset"]),
    row(Predicate::Blank, Every, Switch, "is null or empty, or is not with `false`", &["empty", "isempty"]),
    row(Predicate::In, Every, List, "is one of these values", &["anyof", "oneof"]),
    row(Predicate::NotIn, Every, List, "is none of these values; null is not", &["nin", "notanyof"]),
    row(Predicate::True, Boolean, Switch, "is true, or false with `false`", &["istrue"]),
    row(Predicate::False, Boolean, Switch, "is false, or true with `false`", &["isfalse"]),
];

impl Predicate {
    fn row(self) -> &'static Row {
        // The table has a row for every predicate, which a test proves.
        TABLE.iter().find(|row| row.predicate == self).unwrap_or(&TABLE[0])
    }

    pub fn name(self) -> &'static str {
        self.word()
    }

    pub fn group(self) -> Group {
        self.row().group
    }

    pub fn reads(self) -> Reads {
        self.row().reads
    }

    /// The end of a sentence about a field's value: `contains this text`.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    pub fn from_name(name: &str) -> Option<Predicate> {
        Predicate::read(name)
    }

    /// Every predicate's name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Predicate::WORDS.iter().copied()
    }

    /// True if its right side is a boolean.
    pub fn is_switch(self) -> bool {
        self.reads() == Reads::Switch
    }

    /// True if an index over the values of a column finds the records.
    pub fn is_of_values(self) -> bool {
        use Predicate::{Eq, Gt, Gteq, In, Lt, Lteq};
        matches!(self, Eq | In | Lt | Lteq | Gt | Gteq)
    }

    /// True if an index over the substrings of a column finds the records.
    pub fn is_of_substrings(self) -> bool {
        matches!(self, Predicate::Cont | Predicate::ContAny | Predicate::Start | Predicate::End)
    }

    /// Splits `name_not_eq` into `name` and the longest predicate that ends the key.
    pub fn split(key: &str) -> Option<(&str, Predicate)> {
        Predicate::splits(key).min_by_key(|(field, _)| field.len())
    }

    /// All splits of a key into a name and a predicate.
    pub fn splits(key: &str) -> impl Iterator<Item = (&str, Predicate)> {
        Predicate::KEYWORDS.iter().filter_map(move |(name, predicate)| {
            let field = key.strip_suffix(name)?.strip_suffix('_')?;
            (!field.is_empty()).then_some((field, *predicate))
        })
    }

    /// The predicate for a name from another system, for a hint.
    pub fn from_foreign_name(written: &str) -> Option<&'static str> {
        let plain: String = written.chars().filter(|letter| *letter != '_').collect();
        let plain = plain.to_lowercase();
        TABLE.iter().find(|row| row.elsewhere.contains(&plain.as_str())).map(|row| row.predicate.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_predicate_name_wins() {
        assert_eq!(Predicate::split("name_not_eq"), Some(("name", Predicate::NotEq)));
        assert_eq!(Predicate::split("checked_in_eq"), Some(("checked_in", Predicate::Eq)));
        assert_eq!(Predicate::split("checked_in_not_in"), Some(("checked_in", Predicate::NotIn)));
        assert_eq!(Predicate::split("completed_true"), Some(("completed", Predicate::True)));
        assert_eq!(Predicate::split("cf.power_cont"), Some(("cf.power", Predicate::Cont)));
        assert_eq!(Predicate::split("name_not_start"), Some(("name", Predicate::NotStart)));
        assert_eq!(Predicate::split("_eq"), None);
        assert_eq!(Predicate::split("name"), None);
    }

    #[test]
    fn every_predicate_has_one_row_and_those_of_the_specification_are_there() {
        let names: Vec<&str> = TABLE.iter().map(|row| row.predicate.name()).collect();
        let specified =
            "eq not_eq lt lteq gt gteq cont not_cont start end null not_null present blank in not_in true false";
        assert_eq!(names, Predicate::WORDS);
        assert!(specified.split(' ').all(|name| names.contains(&name)));
    }

    #[test]
    fn names_of_other_systems_lead_to_a_predicate() {
        let pairs = [("starts_with", "start"), ("isNull", "null"), ("GTE", "gteq"), ("contains_any", "cont_any")];
        for (written, name) in pairs {
            assert_eq!(Predicate::from_foreign_name(written), Some(name));
        }
        assert_eq!(Predicate::from_foreign_name("eq"), None);
    }
}
