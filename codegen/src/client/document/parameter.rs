//! Types of query parameters.

use serde_json::Value;

use crate::client::schema::{Literal, Shape, Type, Types, union};

/// The values of a parameter that have a meaning.
pub fn parameter_type(node: &Value, of: Type) -> Type {
    let forms = node["schema"]["anyOf"].as_array();
    let is_open = forms.is_some_and(|forms| matches!(&forms[..], [known, _] if known["enum"].is_array()));
    match of {
        // `sort` accepts the names of custom fields, which the document cannot list.
        Type::Union(parts) if is_open => {
            union(parts.into_iter().map(|part| if part == Type::Text { Type::CustomField } else { part }).collect())
        }
        Type::List(of) => match *of {
            Type::Union(parts) => {
                let blank = Type::Literal(Literal::Text(String::new()));
                Type::List(Box::new(union(parts.into_iter().filter(|part| *part != blank).collect())))
            }
            of => Type::List(Box::new(of)),
        },
        of => of,
    }
}

/// Declares the alternatives of a parameter, or those of its elements, under a name.
pub fn named(types: &mut Types<'_>, of: Type, wanted: &str) -> Type {
    match of {
        Type::List(of) => Type::List(Box::new(named(types, *of, wanted.strip_suffix('s').unwrap_or(wanted)))),
        Type::Union(parts) if parts.iter().any(|part| matches!(part, Type::Literal(_))) => {
            let name = types.name(wanted);
            types.add(name, "", Shape::Alias(Type::Union(parts)))
        }
        of => of,
    }
}
