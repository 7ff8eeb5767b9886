//! Values that are expressions: a text that is no literal of its field's type, and names something.

use crate::model::{Default, Field, Kind, Type};

/// Turns the defaults of a record's fields that are no literals of their types into expressions.
pub fn defaults(fields: &mut [Field]) {
    let names: Vec<String> = fields.iter().map(|field| field.name.value.clone()).collect();
    for field in fields {
        if let Default::Literal(text) = &field.default
            && is_expression(&field.kind, text, &names)
        {
            field.default = Default::Expression(text.clone());
        }
    }
}

/// True if a text is an expression. For a type that takes any text, such a text is a literal. A word alone is one of an enum,
/// perhaps a misspelt one, unless a field has its name.
pub fn is_expression(kind: &Kind, text: &str, names: &[String]) -> bool {
    let Some(known) = kind.known() else { return false };
    if kind.is_text() || kind.is_list() || known.literal("default", text).is_ok() {
        return false;
    }
    let is_name = names.iter().any(|name| name == text) || matches!(text, "now" | "today" | "caller.id");
    is_name || names_something(text, !matches!(known, Type::Enum { .. }))
}

/// True if a text has a call, a step to another field or, with `operators`, a name and an operator.
fn names_something(text: &str, operators: bool) -> bool {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let follows = |at: usize| at > 0 && is_part(bytes[at - 1]);
    // A part of a UUID follows a hyphen.
    let is_start = |at: &usize| {
        bytes[*at].is_ascii_lowercase() && !follows(*at) && !(*at > 1 && bytes[at - 1] == b'-' && follows(at - 1))
    };
    let mut starts = (0..bytes.len()).filter(is_start);
    starts.any(|start| {
        let rest = text[start..].trim_start_matches(|letter: char| letter.is_ascii() && is_part(letter as u8));
        rest.starts_with('(')
            || rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_lowercase()))
            || operators && text.contains([' ', '+', '*'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Span, Spanned};

    #[test]
    fn only_what_is_no_literal_of_the_type_is_an_expression() {
        let names = ["quantity".to_owned(), "lent_on".to_owned(), "kind".to_owned()];
        let is = |kind: Type, text: &str| is_expression(&kind.into(), text, &names);
        for text in ["lent_on + 28 days", "lent_on", "today", "order.due_on", "coalesce(lent_on, today)"] {
            assert!(is(Type::Date, text), "{text}");
            assert!(!is(Type::Text, text), "{text}");
        }
        for text in ["2026-03-21", "2026-13-45", "2026-03-21T10:00:00Z", "soon"] {
            assert!(!is(Type::Date, text), "{text}");
        }
        for text in ["quantity*2", "quantity * 2", "-quantity + 1", "abs(-quantity)"] {
            assert!(is(Type::Integer, text), "{text}");
        }
        for text in ["0", "-2", "12.5", "none"] {
            assert!(!is(Type::Integer, text), "{text}");
        }
        for text in ["550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b"] {
            assert!(!is(Type::Uuid, text), "{text}");
        }
        assert!(is(Type::Boolean, "quantity > 3") && !is(Type::Boolean, "true"));
    }

    #[test]
    fn a_word_of_an_enum_is_a_word_though_a_field_has_its_name() {
        let names = ["kind".to_owned(), "open".to_owned()];
        let word = |text: &str| Spanned::new(text.to_owned(), Span::NOWHERE);
        let kind = Kind::from(Type::Enum { values: vec![word("open"), word("in progress")] });
        for (text, expected) in [
            ("open", false),
            ("opne", false),
            ("in progres", false),
            ("kind", true),
            ("order.kind", true),
            ("if(a, b, c)", true),
        ] {
            assert_eq!(is_expression(&kind, text, &names), expected, "{text}");
        }
    }
}
