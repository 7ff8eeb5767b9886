//! Field types of a snapshot as text: `decimal(12, 2)`, `ref(product)`.

use charter_model::field_type::virtual_field;
use charter_model::{Arguments, FieldType, Notation, Parameters, TimestampForm, TypeFacts};
use serde::{Deserialize, Deserializer, Serializer};

/// The type of a field, without the parts that a snapshot stores elsewhere: the words of an enum, the numbers of a
/// code, the form of timestamps and the column of a polymorphic type.
pub type Kind = FieldType<Stored>;

/// Owned text without the words of an enum and the numbers of a code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stored;

impl Notation for Stored {
    type Name = String;
    type Names = Vec<String>;
    type Codes = ();

    fn text(name: &String) -> &str {
        name
    }

    fn texts(names: &Vec<String>) -> Vec<&str> {
        names.iter().map(String::as_str).collect()
    }

    fn codes((): &()) -> Vec<(i32, &str)> {
        Vec::new()
    }
}

/// The type without those parts; the default for a field without a column.
pub fn bare<N: Notation>(of: &FieldType<N>) -> Kind {
    let text = |name: &N::Name| N::text(name).to_owned();
    let texts = |names: &N::Names| N::texts(names).into_iter().map(str::to_owned).collect();
    let arguments = match of.arguments() {
        Arguments::None => Arguments::None,
        Arguments::Length(max) => Arguments::Length(max),
        Arguments::Digits { precision, places } => Arguments::Digits { precision, places },
        Arguments::Resource(name) => Arguments::Resource(text(&name)),
        Arguments::Targets(names) => Arguments::Targets(texts(&names)),
        Arguments::Form(_) | Arguments::Words(_) | Arguments::Codes(_) | Arguments::TypeField(_) => {
            nothing(of.facts().parameters)
        }
    };
    match of {
        FieldType::Embedded { resource, by } => FieldType::Embedded { resource: text(resource), by: text(by) },
        FieldType::Links { resource, through, by, to } => {
            FieldType::Links { resource: text(resource), through: text(through), by: text(by), to: text(to) }
        }
        of => FieldType::read(of.facts(), arguments).unwrap_or_default(),
    }
}

/// The empty arguments of a type whose arguments are stored elsewhere.
fn nothing(parameters: Parameters) -> Arguments<Stored> {
    match parameters {
        Parameters::Form => Arguments::Form(TimestampForm::Seconds),
        Parameters::Words => Arguments::Words(Vec::new()),
        Parameters::Codes => Arguments::Codes(()),
        Parameters::TypeField => Arguments::TypeField(String::new()),
        _ => Arguments::None,
    }
}

/// `decimal(12, 2)`
pub fn text(kind: &Kind) -> String {
    let inner = match (kind, kind.arguments()) {
        (FieldType::Embedded { resource, by }, _) => format!("{resource}.{by}"),
        (FieldType::Links { resource, through, by, to }, _) => format!("{resource}, {through}.{by}.{to}"),
        (_, Arguments::Length(max)) => max.to_string(),
        (_, Arguments::Digits { precision, places }) => format!("{precision}, {places}"),
        (_, Arguments::Resource(name)) => name,
        (_, Arguments::Targets(names)) => names.join(" | "),
        _ => String::new(),
    };
    kind.facts().signature.replace("{}", &inner)
}

/// The type of a text.
///
/// # Errors
/// A sentence that quotes the text.
pub fn read(text: &str) -> Result<Kind, String> {
    let embedded = || {
        let (resource, by) = inner(&virtual_field::EMBEDDED, text)?.split_once('.')?;
        Some(Kind::Embedded { resource: resource.to_owned(), by: by.to_owned() })
    };
    let links = || {
        let (resource, pairs) = inner(&virtual_field::LINKS, text)?.split_once(", ")?;
        let (through, ends) = pairs.split_once('.')?;
        let (by, to) = ends.split_once('.')?;
        let [resource, through, by, to] = [resource, through, by, to].map(str::to_owned);
        Some(Kind::Links { resource, through, by, to })
    };
    let read = |facts: &&TypeFacts| FieldType::read(facts, arguments(facts, inner(facts, text)?)?);
    let found = TypeFacts::COLUMNS.iter().find_map(read).or_else(embedded).or_else(links);
    found.ok_or_else(|| format!("`{text}` is not a type of a snapshot"))
}

/// The text between the parentheses of a signature; empty for a signature without arguments.
fn inner<'t>(facts: &TypeFacts, text: &'t str) -> Option<&'t str> {
    match facts.signature.split_once("{}") {
        Some((before, behind)) => text.strip_prefix(before)?.strip_suffix(behind),
        None => (facts.signature == text).then_some(""),
    }
}

fn arguments(facts: &TypeFacts, inner: &str) -> Option<Arguments<Stored>> {
    Some(match facts.parameters {
        Parameters::Length => Arguments::Length(inner.trim().parse().ok()?),
        Parameters::Digits => {
            let (precision, places) = inner.split_once(',')?;
            Arguments::Digits { precision: precision.trim().parse().ok()?, places: places.trim().parse().ok()? }
        }
        Parameters::Resource => Arguments::Resource(inner.to_owned()),
        Parameters::Targets => Arguments::Targets(inner.split('|').map(|target| target.trim().to_owned()).collect()),
        other => nothing(other),
    })
}

pub fn serialize<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(kind))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    read(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::{Kind, TimestampForm, read, text};

    #[test]
    fn every_kind_is_read_back() {
        let kinds = [
            (Kind::String { max: 255 }, "string(255)"),
            (Kind::Decimal { precision: 12, places: 2 }, "decimal(12, 2)"),
            (Kind::StringList { max: 50 }, "list(string(50))"),
            (Kind::RefList { resource: "role".into() }, "list(ref(role))"),
            (Kind::Ref { resource: "product".into() }, "ref(product)"),
            (
                Kind::PolymorphicType { type_names: vec!["member".into(), "product".into()] },
                "type_of(member | product)",
            ),
            (
                Kind::Embedded { resource: "participant".into(), by: "activity_id".into() },
                "many(participant.activity_id)",
            ),
            (
                Kind::Links {
                    resource: "tag".into(),
                    through: "ticket_tag".into(),
                    by: "ticket_id".into(),
                    to: "tag_id".into(),
                },
                "links(tag, ticket_tag.ticket_id.tag_id)",
            ),
            (Kind::Text, "text"),
            (Kind::Timestamp { form: TimestampForm::Seconds }, "timestamp"),
            (Kind::Enum { values: Vec::new() }, "enum"),
            (Kind::PolymorphicRef { type_field: String::new() }, "id_of_type"),
            (Kind::CustomFields, "custom_fields"),
        ];
        for (kind, written) in kinds {
            assert_eq!(text(&kind), written);
            assert_eq!(read(written), Ok(kind));
        }
        for text in ["", "strin", "string", "string(x)", "decimal(3)", "list(int)", "many(a)", "links(a, b.c)", "ref(a"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
