//! Types and literals in TypeScript.

use crate::client::schema::{Literal, Type};

/// The text of a type.
pub fn type_text(of: &Type) -> String {
    match of {
        Type::Text => "string".into(),
        Type::Integer | Type::Number => "number".into(),
        // A number of JavaScript is exact up to 2^53.
        Type::Int64 => "number | string".into(),
        Type::Boolean => "boolean".into(),
        Type::Null => "null".into(),
        Type::Any => "unknown".into(),
        Type::File => "Upload | Blob".into(),
        Type::CustomField => "`cf.${string}` | `-cf.${string}`".into(),
        Type::Literal(Literal::Text(text)) => quoted(text),
        Type::Literal(Literal::Integer(number)) => number.to_string(),
        Type::Literal(Literal::Boolean(value)) => value.to_string(),
        Type::List(of) if matches!(**of, Type::Union(_) | Type::Int64 | Type::File | Type::CustomField) => {
            format!("readonly ({})[]", type_text(of))
        }
        Type::List(of) => format!("readonly {}[]", type_text(of).trim_start_matches("readonly ")),
        Type::Map(of) => format!("Record<string, {}>", type_text(of)),
        Type::Named(name) => name.clone(),
        Type::Union(parts) => parts.iter().map(type_text).collect::<Vec<_>>().join(" | "),
    }
}

/// The key of a property, quoted if it is no identifier.
pub fn key(name: &str) -> String {
    let is_identifier = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_identifier { name.to_owned() } else { quoted(name) }
}

/// A text literal. JSON is a part of TypeScript.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Type {
        Type::Union(values.iter().map(|value| Type::Literal(Literal::Text((*value).to_owned()))).collect())
    }

    #[test]
    fn types_have_their_typescript_form() {
        let list = |of| Type::List(Box::new(of));
        assert_eq!(type_text(&texts(&["a", "b\"c"])), r#""a" | "b\"c""#);
        assert_eq!(type_text(&list(texts(&["a", "b"]))), r#"readonly ("a" | "b")[]"#);
        assert_eq!(type_text(&list(list(Type::Integer))), "readonly number[][]");
        assert_eq!(type_text(&list(Type::Int64)), "readonly (number | string)[]");
        assert_eq!(
            type_text(&Type::Map(Box::new(Type::Union(vec![Type::Text, Type::Null])))),
            "Record<string, string | null>"
        );
        assert_eq!(type_text(&Type::Any), "unknown");
        assert_eq!(type_text(&Type::Literal(Literal::Boolean(true))), "true");
    }

    #[test]
    fn keys_are_quoted_if_they_are_no_identifiers() {
        assert_eq!(key("name_eq"), "name_eq");
        assert_eq!(key("class"), "class");
        assert_eq!(key("created_at.day"), "\"created_at.day\"");
        assert_eq!(key("2fa"), "\"2fa\"");
        assert_eq!(key(""), "\"\"");
    }
}
