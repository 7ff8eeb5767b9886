//! Fields that an expression sets: whether each of its values fits the field, and whether it can be NULL.

use super::function::widen;
use super::types::LEAST_INTEGER;
use super::{Digits, Field, Function, Node, Type};
use crate::{FieldType, Notation, Rule};

/// The values that a computed field of a type can hold; none for a type that has no computed fields.
pub fn computed_type<N: Notation>(kind: &FieldType<N>) -> Option<Type> {
    match kind {
        FieldType::Integer => Some(INTEGER),
        FieldType::BigInt
        | FieldType::Decimal { .. }
        | FieldType::Boolean
        | FieldType::Date
        | FieldType::Timestamp { .. }
        | FieldType::Text
        | FieldType::Enum { .. } => Type::of(kind, std::iter::empty::<&Rule<N>>()),
        _ => None,
    }
}

/// The values that a field of a type can get by the expression of a default or of an action. Its rules are checked
/// afterwards, as those of a value that a client sends. None for a type that no expression has.
pub fn settable_type<N: Notation>(kind: &FieldType<N>) -> Option<Type> {
    match kind {
        FieldType::String { .. }
        | FieldType::Code { .. }
        | FieldType::Ref { .. }
        | FieldType::Time
        | FieldType::Uuid => Type::of(kind, std::iter::empty::<&Rule<N>>()),
        kind => computed_type(kind),
    }
}

/// An `integer`, without its least number.
const INTEGER: Type = Type::Number(Digits::whole(i32::MAX as i128));

/// The reason why a field cannot hold the values of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Completes "this is …": `a text, and the field is a number`.
    pub reason: String,
    pub help: &'static str,
}

/// The expression with the decimal places of the field that stores its value.
///
/// # Errors
/// If some value does not fit the field, whose type is [`computed_type`].
pub fn fitted(node: Node, found: &Type, field: &Type) -> Result<Node, Misfit> {
    match (found, field) {
        (Type::Number(value), Type::Number(field)) => number(node, *value, *field),
        (_, Type::Word(words)) => match unknown_words(&node, words) {
            false => Ok(node),
            true => Err(Misfit {
                reason: "not always a value of the enum".to_owned(),
                help: "use words of the enum, alone or in quotes, or fields whose words are among its values",
            }),
        },
        (Type::Text | Type::Word(_), Type::Text) => Ok(node),
        (Type::Opaque, _) => Err(mismatch(found, field)),
        (found, field) if found == field => Ok(node),
        _ => Err(mismatch(found, field)),
    }
}

fn mismatch(found: &Type, field: &Type) -> Misfit {
    let reason = format!("{}, and the field is {}", found.name(), field.name());
    Misfit { reason, help: "change the type of the field, or the expression" }
}

fn number(node: Node, value: Digits, field: Digits) -> Result<Node, Misfit> {
    if value.places > field.places {
        let reason = format!("a number with {} decimal places, and the field has {}", value.places, field.places);
        return Err(Misfit {
            reason,
            help: "`round` it, such as `round(…, 2)`, or use a type with more decimal places",
        });
    }
    let most = value.with_places(field.places).largest;
    // The least integer has no positive counterpart: it fits only as the value of an integer.
    let is_least = Type::Number(field) == INTEGER && most == LEAST_INTEGER;
    let fits = most <= field.largest || is_least && has_values_of_integers(&node);
    match fits {
        true => Ok(widen(node, value, field.places)),
        false => {
            let (most, largest) = (value.with_places(field.places).count(), field.count());
            let reason = match most > largest {
                true => format!("a number of up to {most} digits, and the field has {largest}"),
                false => "a number that can be larger than those of the field".to_owned(),
            };
            Err(Misfit { reason, help: "give the fields in it a `max` and a `min`, or use a larger type" })
        }
    }
}

/// True if each value of an expression is one of an `integer`, or a literal that an integer can be.
fn has_values_of_integers(node: &Node) -> bool {
    match node {
        Node::Null => true,
        Node::Number { scaled, places } => *places == 0 && *scaled <= i32::MAX.into(),
        Node::Field(Field { kind: Type::Number(digits), .. }) => digits.places == 0 && digits.largest <= LEAST_INTEGER,
        Node::Call(Function::Coalesce, values) => values.iter().all(has_values_of_integers),
        Node::Call(Function::If, values) => values.iter().skip(1).all(has_values_of_integers),
        _ => false,
    }
}

/// True if a text that the expression can return is none of the words.
fn unknown_words(node: &Node, words: &[String]) -> bool {
    let is_unknown = |nodes: &[Node]| nodes.iter().any(|node| unknown_words(node, words));
    match node {
        Node::Null => false,
        Node::Text(text) => !words.contains(text),
        Node::Field(Field { kind: Type::Word(own), .. }) => own.iter().any(|word| !words.contains(word)),
        Node::Call(Function::Coalesce, arguments) => is_unknown(arguments),
        Node::Call(Function::If, arguments) => is_unknown(arguments.get(1..).unwrap_or_default()),
        _ => true,
    }
}

impl Node {
    /// True if the value can be NULL. `is_nullable` says it of a field.
    pub fn can_be_null(&self, is_nullable: &impl Fn(&Field) -> bool) -> bool {
        self.is_nullable(true, is_nullable)
    }

    /// True if the value can be NULL although each moved date stays within the years 1 to 9999.
    pub fn can_be_null_within_years(&self, is_nullable: &impl Fn(&Field) -> bool) -> bool {
        self.is_nullable(false, is_nullable)
    }

    fn is_nullable(&self, years_end: bool, is_nullable: &impl Fn(&Field) -> bool) -> bool {
        let can = |node: &Node| node.is_nullable(years_end, is_nullable);
        match self {
            Node::Boolean(_) | Node::Number { .. } | Node::Text(_) | Node::Date(_) => false,
            Node::Now | Node::Today | Node::CallerCan(_) | Node::IsNull(_) => false,
            // A command of the operator has no id.
            Node::Null | Node::CallerId => true,
            // A moved date can be outside of the years 1 to 9999.
            Node::ShiftDate(one, _) | Node::ShiftTime(one, _) => years_end || can(one),
            Node::Field(field) => is_nullable(field),
            Node::Negate(one) | Node::Not(one) | Node::Widen(one, _) | Node::Round(one, ..) => can(one),
            Node::Logic(_, one, two) | Node::Compare(_, one, two) | Node::Arithmetic(_, one, two) => {
                can(one) || can(two)
            }
            Node::In(one, others) => can(one) || others.iter().any(can),
            Node::Call(Function::Coalesce, arguments) => arguments.iter().all(can),
            // Without a known condition, it is the last value.
            Node::Call(Function::If, arguments) => arguments.iter().skip(1).any(can),
            Node::Call(_, arguments) => arguments.iter().any(can),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Constant;
    use crate::expression::types::power_of_ten;
    use crate::expression::{Scope, check_value};

    /// The bounds of numbers that are one larger than the largest integer.
    const LARGE: [Rule<Constant>; 2] = [Rule::Min("-2147483648"), Rule::Max("2147483648")];

    struct Fields;

    impl Scope for Fields {
        fn field(&self, name: &str) -> Option<Type> {
            Some(match name {
                "count" => Type::Number(Digits::whole(1 << 31)),
                "large" => Type::of(&FieldType::<Constant>::BigInt, &LARGE).unwrap(),
                "exact" => Type::of(&FieldType::Decimal { precision: 12, places: 2 }, &LARGE).unwrap(),
                "price" | "cost" => Type::Number(Digits { places: 2, largest: 9_999 }),
                "status" => Type::Word(vec!["open".to_owned(), "done".to_owned()]),
                "due_on" => Type::Date,
                "paid" => Type::Boolean,
                _ => return None,
            })
        }

        fn names(&self) -> Vec<String> {
            ["count", "large", "exact", "price", "cost", "status", "due_on", "paid"].map(str::to_owned).into()
        }
    }

    fn fit(text: &str, field: &Type) -> Result<Node, String> {
        let (node, found) = check_value(text, &Fields, Some(field)).unwrap_or_else(|mistake| panic!("{mistake:?}"));
        fitted(node, &found, field).map_err(|misfit| misfit.reason)
    }

    fn decimal(precision: u32, places: u32) -> Type {
        Type::Number(Digits { places, largest: power_of_ten(precision) - 1 })
    }

    #[test]
    fn numbers_fit_up_to_the_last_digit() {
        assert!(fit("count", &INTEGER).is_ok() && fit("coalesce(count, count)", &INTEGER).is_ok());
        assert_eq!(fit("-count", &INTEGER).unwrap_err(), "a number that can be larger than those of the field");
        assert!(fit("abs(count)", &INTEGER).is_err() && fit("count + 0", &INTEGER).is_err());
        assert!(fit("if(paid, count, 2147483647)", &INTEGER).is_ok() && fit("length(status)", &INTEGER).is_ok());
        assert!(fit("if(paid, count, 2147483648)", &INTEGER).is_err() && fit("large", &INTEGER).is_err());
        assert!(fit("round(exact, 0)", &INTEGER).is_err() && fit("coalesce(count, large)", &INTEGER).is_err());
        assert!(fit("price + cost", &decimal(5, 2)).is_ok());
        assert_eq!(fit("price * 100", &decimal(5, 2)).unwrap_err(), "a number of up to 6 digits, and the field has 5");
        let places = fit("price * 0.5", &decimal(8, 2)).unwrap_err();
        assert_eq!(places, "a number with 3 decimal places, and the field has 2");
        assert!(fit("round(price * 0.5, 2)", &decimal(8, 2)).is_ok());
        assert!(matches!(fit("price", &decimal(8, 4)), Ok(Node::Widen(_, 2))));
    }

    #[test]
    fn words_are_those_of_the_enum() {
        let target = Type::Word(["open", "done", "late"].map(str::to_owned).into());
        for text in ["status", "if(paid, done, late)", "coalesce(status, 'late')", "if(paid, null, status)"] {
            assert!(fit(text, &target).is_ok(), "{text}");
        }
        let narrow = Type::Word(vec!["open".to_owned()]);
        assert_eq!(fit("status", &narrow).unwrap_err(), "not always a value of the enum");
        assert_eq!(fit("status", &Type::Date).unwrap_err(), "a word of an enum, and the field is a date");
        assert!(fit("status", &Type::Text).is_ok());
    }

    #[test]
    fn null_comes_from_nullable_fields_and_moved_dates() {
        let can = |text: &str| {
            let (node, _) = check_value(text, &Fields, None).unwrap();
            node.can_be_null(&|field| field.name == "cost" || field.name == "paid")
        };
        for text in ["cost * 2", "paid and price > 1", "due_on + 1 day", "if(price > 1, cost, price)", "cost in [1, 2]"]
        {
            assert!(can(text), "{text}");
        }
        for text in ["price * 2", "cost is null", "coalesce(cost, price)", "if(paid, 1, 2)", "length('a') > 1"] {
            assert!(!can(text), "{text}");
        }
        let (node, _) = check_value("due_on + 1 day", &Fields, None).unwrap();
        assert!(!node.can_be_null_within_years(&|_| false) && node.can_be_null_within_years(&|_| true));
    }
}
