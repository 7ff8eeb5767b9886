//! Types and literals in Python.

use crate::client::schema::{Literal, Type};

/// The text of a type.
pub fn type_text(of: &Type) -> String {
    match of {
        Type::Text => "str".into(),
        Type::Integer | Type::Int64 => "int".into(),
        Type::Number => "float".into(),
        Type::Boolean => "bool".into(),
        Type::Null => "None".into(),
        Type::Any => "Any".into(),
        Type::File => "Upload".into(),
        Type::CustomField => "CustomFieldName".into(),
        Type::Literal(value) => format!("Literal[{}]", literal(value)),
        Type::List(of) => format!("Sequence[{}]", type_text(of)),
        Type::Map(of) => format!("Dict[str, {}]", type_text(of)),
        Type::Named(name) => name.clone(),
        Type::Union(parts) => either(parts),
    }
}

/// Literals are one part of the union.
fn either(parts: &[Type]) -> String {
    let value = |part: &Type| if let Type::Literal(value) = part { Some(literal(value)) } else { None };
    let literals: Vec<String> = parts.iter().filter_map(value).collect();
    let mut texts: Vec<String> = Vec::new();
    texts.extend((!literals.is_empty()).then(|| format!("Literal[{}]", literals.join(", "))));
    texts.extend(parts.iter().filter(|part| value(part).is_none()).map(type_text));
    if texts.len() == 1 { texts.remove(0) } else { format!("Union[{}]", texts.join(", ")) }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Text(text) => quoted(text),
        Literal::Integer(number) => number.to_string(),
        Literal::Boolean(true) => "True".into(),
        Literal::Boolean(false) => "False".into(),
    }
}

/// A text literal: the escapes of JSON are those of Python.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_python_form() {
        let literal = |value: &str| Type::Literal(Literal::Text(value.to_owned()));
        assert_eq!(
            type_text(&Type::Union(vec![literal("a"), Type::Null, literal("")])),
            r#"Union[Literal["a", ""], None]"#
        );
        assert_eq!(type_text(&Type::Union(vec![literal("a"), literal("b")])), r#"Literal["a", "b"]"#);
        assert_eq!(type_text(&Type::List(Box::new(Type::Named("Order".into())))), "Sequence[Order]");
        assert_eq!(type_text(&Type::Map(Box::new(Type::Number))), "Dict[str, float]");
        assert_eq!(type_text(&Type::Literal(Literal::Boolean(true))), "Literal[True]");
    }

    #[test]
    fn text_literals_are_escaped() {
        assert_eq!(quoted("a\"b\\c\n"), r#""a\"b\\c\n""#);
    }
}
