//! The predicates of `q`, and which of them fit which type: the one table of it in this crate.

use crate::model::{CodeValue, Kind};
use crate::source::{Span, Spanned};
use crate::words::{TimestampForm, Word, words};

words! {
    /// What `q` can ask of a field.
    Predicate {
        Eq = "eq",
        NotEq = "not_eq",
        Lt = "lt",
        Lteq = "lteq",
        Gt = "gt",
        Gteq = "gteq",
        Cont = "cont",
        NotCont = "not_cont",
        Start = "start",
        End = "end",
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

use Predicate::*;

/// What every type that can be filtered answers.
const ANY: [Predicate; 8] = [Eq, NotEq, In, NotIn, Null, NotNull, Present, Blank];
const ORDER: [Predicate; 4] = [Lt, Lteq, Gt, Gteq];
const TEXT: [Predicate; 4] = [Cont, NotCont, Start, End];
const TRUTH: [Predicate; 2] = [True, False];

/// The predicates that fit a type, in the order of the grammar; none for a type that cannot be filtered.
pub fn fitting(kind: &Kind) -> Vec<Predicate> {
    let groups: &[&[Predicate]] = match kind {
        Kind::String { .. } | Kind::Text => &[&ANY, &ORDER, &TEXT],
        Kind::Integer | Kind::BigInt | Kind::Decimal { .. } | Kind::Code(_) => &[&ANY, &ORDER],
        Kind::Timestamp(_) | Kind::Date | Kind::Ref(_) | Kind::PolymorphicId { .. } => &[&ANY, &ORDER],
        Kind::Boolean => &[&ANY, &TRUTH],
        Kind::Enum(_) | Kind::PolymorphicType(_) | Kind::Uuid => &[&ANY],
        // Reported where it is declared: every predicate may fit.
        Kind::Unknown => return Predicate::ALL.iter().map(|(_, predicate)| *predicate).collect(),
        // A custom field is filtered by its own name, `cf.<name>`, not through the object that holds it.
        Kind::CustomFields | Kind::StringList { .. } | Kind::RefList(_) | Kind::Json => &[],
        Kind::Derived(_) | Kind::Embedded { .. } => &[],
    };
    let mut fitting: Vec<Predicate> = groups.iter().flat_map(|group| group.iter().copied()).collect();
    fitting.sort();
    fitting
}

/// The words of the types that can be filtered, each with the words of its predicates: for the documentation, and to
/// compare with the runtime.
pub fn table() -> Vec<(&'static str, Vec<&'static str>)> {
    let words = |kind: &Kind| fitting(kind).iter().map(|predicate| predicate.word()).collect();
    examples().iter().map(|kind| (kind.word(), words(kind))).collect()
}

/// One kind of each type that can be filtered.
fn examples() -> Vec<Kind> {
    let name = || Spanned::new("name".to_owned(), Span::NOWHERE);
    let code = CodeValue { number: Spanned::new(1, Span::NOWHERE), label: name() };
    vec![
        Kind::String { max: 255 },
        Kind::Text,
        Kind::Integer,
        Kind::BigInt,
        Kind::Boolean,
        Kind::Decimal { precision: 12, places: 2 },
        Kind::Timestamp(TimestampForm::Seconds),
        Kind::Date,
        Kind::Enum(vec![name()]),
        Kind::Code(vec![code]),
        Kind::Uuid,
        Kind::Ref(name()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_booleans_are_true_or_false() {
        assert!(fitting(&Kind::Boolean).contains(&True));
        assert!(!fitting(&Kind::Integer).contains(&True));
    }

    #[test]
    fn text_has_parts_and_numbers_have_none() {
        assert!(fitting(&Kind::Text).contains(&Cont));
        assert!(!fitting(&Kind::Integer).contains(&Cont) && fitting(&Kind::Integer).contains(&Gteq));
    }

    #[test]
    fn lists_and_objects_cannot_be_filtered() {
        assert!(fitting(&Kind::Json).is_empty() && fitting(&Kind::StringList { max: 50 }).is_empty());
    }
}
