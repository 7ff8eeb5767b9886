//! The kind of a field as text, `decimal(12, 2)` or `ref(product)`, and back.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What values a field holds. The words of an enum and the numbers of a code stand beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Kind {
    String(u32),
    #[default]
    Text,
    Integer,
    BigInt,
    Boolean,
    Decimal(u8, u8),
    Timestamp,
    Date,
    Enum,
    Code,
    StringList(u32),
    RefList(String),
    Json,
    Uuid,
    Ref(String),
    /// The name of the resource that a polymorphic reference leads to.
    AnyType(Vec<String>),
    /// The id of the record that it leads to.
    AnyId,
    CustomFields,
    /// Records of a resource that refer to this one by a field.
    Embedded {
        resource: String,
        by: String,
    },
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::String(max) => write!(out, "string({max})"),
            Kind::Decimal(precision, places) => write!(out, "decimal({precision}, {places})"),
            Kind::StringList(max) => write!(out, "list(string({max}))"),
            Kind::RefList(target) => write!(out, "list(ref({target}))"),
            Kind::Ref(target) => write!(out, "ref({target})"),
            Kind::AnyType(targets) => write!(out, "type_of({})", targets.join(" | ")),
            Kind::Embedded { resource, by } => write!(out, "many({resource}.{by})"),
            Kind::Text => out.write_str("text"),
            Kind::Integer => out.write_str("integer"),
            Kind::BigInt => out.write_str("bigint"),
            Kind::Boolean => out.write_str("boolean"),
            Kind::Timestamp => out.write_str("timestamp"),
            Kind::Date => out.write_str("date"),
            Kind::Enum => out.write_str("enum"),
            Kind::Code => out.write_str("code"),
            Kind::Json => out.write_str("json"),
            Kind::Uuid => out.write_str("uuid"),
            Kind::AnyId => out.write_str("id_of_type"),
            Kind::CustomFields => out.write_str("custom_fields"),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let unknown = || format!("`{text}` is not a type of a snapshot");
        let (word, inner) = match text.split_once('(') {
            Some((word, rest)) => (word, rest.strip_suffix(')').ok_or_else(unknown)?),
            None => (text, ""),
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| unknown());
        let small = |text: &str| text.trim().parse::<u8>().map_err(|_| unknown());
        let within = |open: &str| inner.strip_prefix(open).and_then(|rest| rest.strip_suffix(')'));
        Ok(match word {
            "string" => Kind::String(number(inner)?),
            "decimal" => {
                let (precision, places) = inner.split_once(',').ok_or_else(unknown)?;
                Kind::Decimal(small(precision)?, small(places)?)
            }
            "list" => match (within("string("), within("ref(")) {
                (Some(max), _) => Kind::StringList(number(max)?),
                (_, Some(target)) => Kind::RefList(target.to_owned()),
                _ => return Err(unknown()),
            },
            "ref" => Kind::Ref(inner.to_owned()),
            "type_of" => Kind::AnyType(inner.split('|').map(|target| target.trim().to_owned()).collect()),
            "many" => {
                let (resource, by) = inner.split_once('.').ok_or_else(unknown)?;
                Kind::Embedded { resource: resource.to_owned(), by: by.to_owned() }
            }
            "text" => Kind::Text,
            "integer" => Kind::Integer,
            "bigint" => Kind::BigInt,
            "boolean" => Kind::Boolean,
            "timestamp" => Kind::Timestamp,
            "date" => Kind::Date,
            "enum" => Kind::Enum,
            "code" => Kind::Code,
            "json" => Kind::Json,
            "uuid" => Kind::Uuid,
            "id_of_type" => Kind::AnyId,
            "custom_fields" => Kind::CustomFields,
            _ => return Err(unknown()),
        })
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        let kinds = [
            Kind::String(255),
            Kind::Decimal(12, 2),
            Kind::StringList(50),
            Kind::RefList("role".into()),
            Kind::Ref("product".into()),
            Kind::AnyType(vec!["member".into(), "product".into()]),
            Kind::Embedded { resource: "participant".into(), by: "activity_id".into() },
            Kind::Text,
            Kind::AnyId,
            Kind::CustomFields,
        ];
        for kind in kinds {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for text in ["", "strin", "string", "string(x)", "decimal(3)", "list(int)", "many(a)", "ref(a"] {
            assert!(text.parse::<Kind>().is_err(), "{text}");
        }
    }
}
