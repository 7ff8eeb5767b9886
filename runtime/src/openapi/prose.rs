//! English from metadata: what a field, a rule and an operation are called in a sentence.

pub use charter_model::naming::upper_camel as camel;

use super::node::Node;
use crate::catalog::Catalog;
use crate::meta::{Access, DefaultValue, DeprecationMeta, FieldMeta, Kind, ResourceMeta, Rule, TimestampForm};

/// `exchange_rate` is `exchange rate`.
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// `exchange rates` is `Exchange rates`.
pub fn capital(text: &str) -> String {
    let mut rest = text.chars();
    let mut word = String::with_capacity(text.len());
    word.extend(rest.next().into_iter().flat_map(char::to_uppercase));
    word + rest.as_str()
}

/// A noun with its article: `an exchange rate`, `a user`.
pub fn a(noun: &str) -> String {
    let sounds_like_you = ["us", "uni", "eu", "one"].iter().any(|start| noun.starts_with(start));
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !sounds_like_you;
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

/// What a record is called in a sentence: `exchange rate`. Settings are many in one.
pub fn noun(meta: &ResourceMeta) -> String {
    meta.label.to_lowercase()
}

/// [`noun`] with its article.
pub fn a_record(meta: &ResourceMeta) -> String {
    if meta.singleton { format!("the {}", noun(meta)) } else { a(&noun(meta)) }
}

/// Several of them: `exchange rates`.
pub fn records(meta: &ResourceMeta) -> String {
    words(meta.plural)
}

/// The name of its tag: `Exchange rates`.
pub fn tag(meta: &ResourceMeta) -> String {
    capital(&records(meta))
}

/// What a field is, in one or more sentences: the words of its declaration, or those that follow from its name.
pub fn field(catalog: &Catalog, fields: &[FieldMeta], field: &FieldMeta) -> String {
    let mut text = match field.description {
        "" => meaning(catalog, fields, field),
        said => sentence(said),
    };
    for more in [form(catalog, field), rules(catalog, field)].into_iter().filter(|more| !more.is_empty()) {
        text.push(' ');
        text.push_str(&more);
    }
    text
}

/// A piece of the description that has a `description`, with what is said of it where it is to go.
pub fn deprecated(node: Node, said: Option<&DeprecationMeta>) -> Node {
    let Some(said) = said else { return node };
    let sunset = said.sunset.map(|day| format!(" It may be gone from {day} on.")).unwrap_or_default();
    let instead = said.instead.map(|name| format!(" Use `{name}` instead.")).unwrap_or_default();
    let told = format!("Deprecated since {}.{sunset}{instead}", said.since);
    let description = match node.get("description") {
        Some(Node::Value(serde_json::Value::String(text))) => format!("{text} {told}"),
        _ => told,
    };
    node.with("description", description).with("deprecated", true)
}

/// A text that ends like a sentence.
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_string() } else { format!("{text}.") }
}

fn meaning(catalog: &Catalog, fields: &[FieldMeta], field: &FieldMeta) -> String {
    let name = field.name;
    match (name, field.kind) {
        ("id", _) => "The id.".into(),
        ("created_at", _) => "When it was created.".into(),
        ("updated_at", _) => "When it was last changed.".into(),
        (_, Kind::CustomFields) => {
            "The values of its custom fields by name; `custom_fields` defines which there are.".into()
        }
        (_, Kind::Ref { resource }) => {
            let other = noun(catalog.linked(resource).meta);
            let role = words(name.strip_suffix("_id").unwrap_or(name));
            if role == other { format!("The id of its {other}.") } else { format!("The id of {}: {role}.", a(&other)) }
        }
        (_, Kind::RefList { resource }) => format!("The ids of its {}.", records(catalog.linked(resource).meta)),
        (_, Kind::PolymorphicRef { type_field }) => {
            format!("The id of the record that it refers to; `{type_field}` says of which type it is.")
        }
        (_, Kind::PolymorphicType { .. }) => "The type of the record that it refers to.".into(),
        (_, Kind::Embedded { resource, .. }) => {
            format!("Its {}: a write gives all of them.", records(catalog.linked(resource).meta))
        }
        (_, Kind::Derived { via, field: "label" }) if is_code(fields, via) => format!("The name of `{via}`."),
        (_, Kind::Derived { via, field: other }) => {
            format!("The {} of the record that `{via}` refers to.", words(other))
        }
        (_, Kind::Boolean) => {
            let state = words(name.strip_prefix("is_").unwrap_or(name));
            format!("Whether it is {state}.")
        }
        (_, Kind::Timestamp { .. }) => match name.strip_suffix("_at") {
            Some(what) => format!("When: {}.", words(what)),
            None => format!("The {}.", words(name)),
        },
        _ => format!("The {}.", words(name)),
    }
}

fn is_code(fields: &[FieldMeta], name: &str) -> bool {
    fields.iter().any(|field| field.name == name && matches!(field.kind, Kind::Code { .. }))
}

/// How its values are written, where the schema alone does not say it.
fn form(catalog: &Catalog, field: &FieldMeta) -> String {
    match field.kind {
        Kind::Code { values } => {
            let values: Vec<String> = values.iter().map(|(code, label)| format!("{code} {label}")).collect();
            format!("{}.", values.join(", "))
        }
        Kind::Decimal { places, .. } => format!("A decimal number with {places} {}.", places_word(places)),
        Kind::Timestamp { form } => format!("In UTC, as `{}`.", timestamp(form)),
        Kind::StringList { max } => format!("Texts of at most {max} characters."),
        Kind::PolymorphicType { type_names } => {
            let names: Vec<String> = type_names.iter().map(|name| words_of_type(catalog, name)).collect();
            format!("One of: {}.", names.join(", "))
        }
        _ => String::new(),
    }
}

fn places_word(places: u8) -> &'static str {
    if places == 1 { "place" } else { "places" }
}

fn words_of_type(catalog: &Catalog, type_name: &str) -> String {
    catalog
        .by_type(type_name)
        .map_or_else(|| type_name.to_string(), |entry| format!("{type_name} ({})", noun(entry.meta)))
}

/// How a point in time goes out.
pub fn timestamp(form: TimestampForm) -> &'static str {
    match form {
        TimestampForm::Seconds => "2026-03-21T10:00:00Z",
        TimestampForm::Millis => "2026-03-21T10:00:00.000Z",
        TimestampForm::Offset => "2026-03-21T10:00:00+00:00",
    }
}

/// The rules of a field as sentences.
fn rules(catalog: &Catalog, field: &FieldMeta) -> String {
    let mut said: Vec<String> =
        field.rules.iter().filter_map(|rule| rule_sentence(catalog, field.kind, *rule)).collect();
    if field.nullable {
        said.push("Null when there is none.".into());
    }
    match field.default {
        DefaultValue::Now => said.push("By default the time of the request.".into()),
        DefaultValue::Caller => said.push("By default the calling user.".into()),
        DefaultValue::Literal("") => said.push("By default empty.".into()),
        DefaultValue::Literal(text) => said.push(format!("By default `{text}`.")),
        DefaultValue::None => {}
    }
    match field.access {
        Access::ReadOnly => said.push("Read-only.".into()),
        Access::Immutable => said.push("Given on create and never changed.".into()),
        Access::WriteOnly | Access::Secret => said.push("Written and never shown.".into()),
        Access::Writable | Access::Internal => {}
    }
    said.join(" ")
}

fn rule_sentence(catalog: &Catalog, kind: Kind, rule: Rule) -> Option<String> {
    Some(match rule {
        Rule::Min(text) => format!("At least {text}."),
        Rule::Max(text) => format!("At most {text}."),
        Rule::Above(text) => format!("More than {text}."),
        Rule::Below(text) => format!("Less than {text}."),
        Rule::MinLength(1) => "Not empty.".into(),
        Rule::MinLength(count) if matches!(kind, Kind::String { .. } | Kind::Text) => {
            format!("At least {count} characters.")
        }
        Rule::MinLength(count) => format!("At least {count} of them."),
        Rule::MaxLength(count) => format!("At most {count} of them."),
        Rule::Url => "An absolute http or https URL.".into(),
        Rule::Email => "An e-mail address.".into(),
        Rule::Unique => "No other record has the same.".into(),
        Rule::Exists { resource, field } => {
            format!("The `{field}` of {} that exists.", a_record(catalog.linked(resource).meta))
        }
        Rule::DiffersFrom(other) => format!("Not the same as `{other}`."),
        Rule::After(other) => format!("After `{other}`, when both are given."),
        Rule::NotBefore(other) => format!("Not before `{other}`, when both are given."),
        Rule::Pattern(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_gets_the_article_that_it_sounds_like() {
        assert_eq!(
            [a("user"), a("exchange rate"), a("product"), a("unit")],
            ["a user", "an exchange rate", "a product", "a unit"]
        );
    }

    #[test]
    fn names_become_words() {
        assert_eq!(
            (camel("exchange_rate"), capital(&words("tax_classes"))),
            ("ExchangeRate".into(), "Tax classes".into())
        );
    }
}
