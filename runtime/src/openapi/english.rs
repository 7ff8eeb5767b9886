//! English texts from metadata: nouns, articles, and descriptions of fields and rules.

pub(crate) use charter_model::naming::upper_camel as camel;

use super::node::Node;
use charter_core::catalog::Catalog;
use charter_core::meta::{
    Access, DefaultValue, DeprecationMeta, FieldMeta, Kind, ResourceMeta, RollupFunction, RollupMeta, Rule,
    TimestampForm,
};

/// `exchange_rate` is `exchange rate`.
pub(crate) fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// `exchange rates` is `Exchange rates`.
pub(crate) fn capitalize(text: &str) -> String {
    let mut rest = text.chars();
    let mut word = String::with_capacity(text.len());
    word.extend(rest.next().into_iter().flat_map(char::to_uppercase));
    word + rest.as_str()
}

/// A noun with its article: `an exchange rate`, `a user`.
pub(crate) fn with_article(noun: &str) -> String {
    let sounds_like_you = ["us", "uni", "eu", "one"].iter().any(|start| noun.starts_with(start));
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !sounds_like_you;
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

/// The noun of a record in a sentence: `exchange rate`.
pub(crate) fn noun(meta: &ResourceMeta) -> String {
    meta.label.to_lowercase()
}

/// [`noun`] with its article.
pub(crate) fn record_with_article(meta: &ResourceMeta) -> String {
    if meta.singleton { format!("the {}", noun(meta)) } else { with_article(&noun(meta)) }
}

/// The plural noun: `exchange rates`.
pub(crate) fn records(meta: &ResourceMeta) -> String {
    words(meta.plural)
}

/// The name of the OpenAPI tag: `Exchange rates`.
pub(crate) fn tag(meta: &ResourceMeta) -> String {
    capitalize(&records(meta))
}

/// The description of a field: that of its declaration or one from its name, then its format and its rules.
pub(crate) fn field(catalog: &Catalog, fields: &[FieldMeta], field: &FieldMeta) -> String {
    let mut text = match field.description {
        "" => meaning(catalog, fields, field),
        declared => sentence(declared),
    };
    for more in [format_of(catalog, field), rules(catalog, field)].into_iter().filter(|more| !more.is_empty()) {
        text.push(' ');
        text.push_str(&more);
    }
    text
}

/// The parts of a field's description that neither its name nor its schema says; may be empty.
pub(crate) fn short_field(catalog: &Catalog, fields: &[FieldMeta], field: &FieldMeta) -> String {
    let is_plain_reference = match field.kind {
        Kind::Ref { resource } => field.name.strip_suffix("_id") == Some(resource),
        _ => false,
    };
    let said = match (field.description, field.kind) {
        (
            "",
            Kind::Ref { .. }
            | Kind::RefList { .. }
            | Kind::Links { .. }
            | Kind::PolymorphicRef { .. }
            | Kind::Embedded { .. },
        ) if !is_plain_reference => meaning(catalog, fields, field),
        ("", _) => String::new(),
        (declared, _) => sentence(declared),
    };
    let codes = if matches!(field.kind, Kind::Code { .. }) { format_of(catalog, field) } else { String::new() };
    let choices = match field.choices {
        "" => String::new(),
        condition => format!("A new value must refer to a record with `{condition}`."),
    };
    [said, codes, choices].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The checks of a record and the unique sets with a condition or without regard to case, as sentences after others; may be
/// empty.
pub(crate) fn record_rules(meta: &ResourceMeta) -> String {
    let checks = meta.checks.iter().map(|check| format!(" A record must satisfy `{}`.", check.that));
    let unique = meta.unique.iter().filter(|set| !set.is_plain()).map(|set| {
        let fields: Vec<String> = set.fields.iter().map(|name| format!("`{name}`")).collect();
        let is = if fields.len() > 1 { "are unique together" } else { "is unique" };
        let case = if set.ignore_case { " without regard to case" } else { "" };
        let rows = set.rows.map(|rows| format!(" among records with `{rows}`")).unwrap_or_default();
        format!(" {} {is}{case}{rows}.", fields.join(", "))
    });
    checks.chain(unique).collect()
}

/// The sentence on records that no write changes, after others; may be empty.
pub(crate) fn frozen(meta: &ResourceMeta) -> String {
    let sentence = |condition| format!(" Answers 409 `frozen` for a record with `{condition}`, which changes no more.");
    meta.frozen.map(sentence).unwrap_or_default()
}

/// Marks a node as deprecated, and adds the dates and the replacement to its description.
pub(crate) fn deprecated(node: Node, deprecation: Option<&DeprecationMeta>) -> Node {
    let Some(deprecation) = deprecation else { return node };
    let sunset = deprecation.sunset.map(|day| format!(" It may be removed from {day}.")).unwrap_or_default();
    let instead = deprecation.instead.map(|name| format!(" Use `{name}` instead.")).unwrap_or_default();
    let notice = format!("Deprecated since {}.{sunset}{instead}", deprecation.since);
    let description = match node.get("description") {
        Some(Node::Value(serde_json::Value::String(text))) => format!("{text} {notice}"),
        _ => notice,
    };
    node.with("description", description).with("deprecated", true)
}

/// Adds a period to a text without one.
pub(crate) fn sentence(text: &str) -> String {
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
            "The values of its custom fields by name. `custom_fields` defines the fields.".into()
        }
        (_, Kind::Ref { resource }) => {
            let other = noun(catalog.linked(resource).meta);
            let role = words(name.strip_suffix("_id").unwrap_or(name));
            if role == other {
                format!("The id of its {other}.")
            } else {
                format!("The id of {}: {role}.", with_article(&other))
            }
        }
        (_, Kind::RefList { resource } | Kind::Links { resource, .. }) => {
            format!("The ids of its {}.", records(catalog.linked(resource).meta))
        }
        (_, Kind::PolymorphicRef { type_field }) => {
            format!("The id of the referenced record, whose type is in `{type_field}`.")
        }
        (_, Kind::PolymorphicType { .. }) => "The type of the referenced record.".into(),
        (_, Kind::Embedded { resource, .. }) => {
            format!("Its {}. A write replaces all of them.", records(catalog.linked(resource).meta))
        }
        (_, Kind::Derived { via, field: "label" }) if is_code(fields, via) => format!("The name of `{via}`."),
        (_, Kind::Derived { via, field: other }) => {
            format!("The {} of the record that `{via}` references.", words(other))
        }
        (_, Kind::Boolean) => {
            let state = words(name.strip_prefix("is_").unwrap_or(name));
            format!("True if it is {state}.")
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

/// The format of the values, if the schema does not describe it.
fn format_of(catalog: &Catalog, field: &FieldMeta) -> String {
    match field.kind {
        Kind::Code { values } => {
            let values: Vec<String> = values.iter().map(|(code, label)| format!("{code} {label}")).collect();
            format!("{}.", values.join(", "))
        }
        Kind::Decimal { places, .. } => format!("A decimal number with {places} {}.", places_word(places)),
        Kind::Timestamp { form } => format!("In UTC, as `{}`.", timestamp(form)),
        Kind::StringList { max } => format!("Each at most {max} characters."),
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

/// An example of a timestamp in this format.
pub(crate) fn timestamp(form: TimestampForm) -> &'static str {
    match form {
        TimestampForm::Seconds => "2026-03-21T10:00:00Z",
        TimestampForm::Millis => "2026-03-21T10:00:00.000Z",
        TimestampForm::Offset => "2026-03-21T10:00:00+00:00",
    }
}

/// The rules of a field, as sentences.
fn rules(catalog: &Catalog, field: &FieldMeta) -> String {
    let mut sentences: Vec<String> =
        field.rules.iter().filter_map(|rule| rule_sentence(catalog, field.kind, *rule)).collect();
    if !field.value.is_empty() {
        sentences.insert(0, format!("Computed: `{}`.", field.value));
    }
    if let Some(rollup) = field.rollup {
        sentences.insert(0, rollup_sentence(catalog, rollup));
    }
    if !field.choices.is_empty() {
        sentences.push(format!("A new value must refer to a record with `{}`.", field.choices));
    }
    if field.nullable {
        sentences.push("Null if there is none.".into());
    }
    match field.default {
        _ if field.rollup.is_some() => {}
        DefaultValue::Now => sentences.push("Default: the time of the request.".into()),
        DefaultValue::Caller => sentences.push("Default: the calling user.".into()),
        DefaultValue::Literal("") => sentences.push("Default: empty.".into()),
        DefaultValue::Literal(text) => sentences.push(format!("Default: `{text}`.")),
        DefaultValue::Expression(text) => sentences.push(format!("If it is left out: `{text}`.")),
        DefaultValue::None | DefaultValue::Hook => {}
    }
    if !field.sequence.is_empty() {
        sentences.push(format!("Without a value, the server assigns the next number of `{}`.", field.sequence));
    }
    match field.access {
        Access::ReadOnly => sentences.push("Read-only.".into()),
        Access::Immutable => sentences.push(match changed_by(catalog, field).as_slice() {
            [] => "Set on create, and never changed.".into(),
            names => format!("Changed only by the actions {}.", names.join(", ")),
        }),
        Access::WriteOnly | Access::Secret => sentences.push("Write-only.".into()),
        Access::Writable | Access::Internal => {}
    }
    if !field.read.is_empty() {
        sentences.push(format!("Only callers with `{}` can read it; others get records without it.", field.read));
    }
    if !field.write.is_empty() {
        sentences.push(format!("Setting it requires `{}`.", field.write));
    }
    sentences.join(" ")
}

/// The records from which the database has the value of a rollup.
fn rollup_sentence(catalog: &Catalog, rollup: RollupMeta) -> String {
    let what = match (rollup.function, rollup.field) {
        (RollupFunction::Sum, Some(field)) => format!("The sum of `{field}` of"),
        (RollupFunction::Min, Some(field)) => format!("The smallest `{field}` of"),
        (RollupFunction::Max, Some(field)) => format!("The largest `{field}` of"),
        _ => "The number of".to_owned(),
    };
    let rows = rollup.rows.map(|rows| format!(" where `{rows}`")).unwrap_or_default();
    format!(
        "{what} the {} whose `{}` is this record{rows}.",
        catalog.linked(rollup.of).meta.plural.replace('_', " "),
        rollup.by
    )
}

/// The names of the transitions, in backticks, if the field is the state of a record.
fn changed_by(catalog: &Catalog, field: &FieldMeta) -> Vec<String> {
    let is_state = |meta: &ResourceMeta| {
        let state = meta.state_field().and_then(|name| meta.fields.iter().find(|field| field.name == name));
        state.is_some_and(|state| std::ptr::eq(state, field))
    };
    let entry = catalog.entries().iter().find(|entry| is_state(entry.meta));
    let names = entry.into_iter().flat_map(|entry| entry.meta.transitions());
    names.map(|(action, _)| format!("`{}`", action.name)).collect()
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
        Rule::MinLength(count) => format!("At least {count} elements."),
        Rule::MaxLength(count) => format!("At most {count} elements."),
        Rule::Url => "An absolute http or https URL.".into(),
        Rule::Email => "An e-mail address.".into(),
        Rule::Unique => "Unique among all records.".into(),
        Rule::Exists { resource, field } => {
            format!("The `{field}` of an existing {}.", noun(catalog.linked(resource).meta))
        }
        Rule::DiffersFrom(other) => format!("Different from `{other}`."),
        Rule::MatchesField(other) => format!("Equal to `{other}`."),
        Rule::After(other) => format!("After `{other}`, if both are set."),
        Rule::NotBefore(other) => format!("Not before `{other}`, if both are set."),
        Rule::RequiredWhen(condition) => format!("Required when `{condition}`."),
        Rule::Pattern(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_get_the_right_article() {
        assert_eq!(
            [with_article("user"), with_article("exchange rate"), with_article("product"), with_article("unit")],
            ["a user", "an exchange rate", "a product", "a unit"]
        );
    }

    #[test]
    fn names_become_words() {
        assert_eq!(
            (camel("exchange_rate"), capitalize(&words("tax_classes"))),
            ("ExchangeRate".into(), "Tax classes".into())
        );
    }
}
