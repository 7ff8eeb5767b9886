//! What a migration cannot do as it is declared: a sentence, and where in the YAML it is asked for.

use std::fmt;

use crate::diff::can_be_filled;
use crate::snapshot::{Field, Kind, Resource, kind_text};

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub message: String,
    /// `resources/product.yaml:14:3`
    pub places: Vec<String>,
}

impl Refusal {
    /// What concerns a resource as a whole.
    pub fn of_resource(resource: &Resource, message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), places: resource.place.iter().cloned().collect() }
    }

    /// What concerns one of its fields.
    pub fn of_field(field: &Field, message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), places: field.place.iter().cloned().collect() }
    }

    /// Names that wait for each other: what each of them is called.
    pub fn of_circle(names: Vec<Refusal>) -> Refusal {
        let called: Vec<&str> = names.iter().map(|name| name.message.as_str()).collect();
        let message = format!("{}: they take each other's names; rename them in two migrations", called.join(", "));
        Refusal { message, places: names.into_iter().flat_map(|name| name.places).collect() }
    }
}

/// The sentence, and each place on a line of its own, as the check tells them.
impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        self.places.iter().try_for_each(|place| write!(out, "\n --> {place}"))
    }
}

/// A column that no row has a value for, as it is new or made anew: `was` is what stood there in a type from which no way
/// leads to the present one.
pub fn no_value(resource: &Resource, field: &Field, was: Option<&Field>) -> Refusal {
    let help = match can_be_filled(field) {
        true => before_under(resource, field)
            .unwrap_or_else(|| format!("say {} or `nullable: true`", keys(field).join(", "))),
        false => "say `nullable: true`, fill them, and require it in the next migration".to_owned(),
    };
    let made_anew = was.map(|was| format!("{}, so that the column is made anew, and ", no_way(was, field)));
    let message = format!(
        "{}.{}: {}rows that are there need a value: {help}",
        resource.name,
        field.name,
        made_anew.unwrap_or_default()
    );
    Refusal::of_field(field, message)
}

/// A column that may be null no more, where rows may be.
pub fn still_null(resource: &Resource, field: &Field) -> Refusal {
    let help = before_under(resource, field).unwrap_or_else(|| format!("say {}", keys(field).join(", or ")));
    let message = format!("{}.{}: rows where it is null need a value: {help}", resource.name, field.name);
    Refusal::of_field(field, message)
}

/// Why the values of a column cannot stay.
pub fn no_way(was: &Field, is: &Field) -> String {
    let (was, is) = (said(&was.kind), said(&is.kind));
    format!("its type was {was} and is {is}, and there is no way from the one to the other")
}

/// A kind as the YAML says it. A reference to several resources is two columns of one type.
fn said(kind: &Kind) -> String {
    match kind {
        Kind::PolymorphicType { type_names } => format!("the type of a `ref({})`", type_names.join(" | ")),
        Kind::PolymorphicRef { .. } => "the id of a `ref` to several resources".to_owned(),
        Kind::Embedded { resource, .. } => format!("`many: {resource}`"),
        kind => format!("`{}`", kind_text(kind)),
    }
}

/// The keys that say a value of a field for rows that have none, as its type takes them.
fn keys(field: &Field) -> &'static [&'static str] {
    match &field.kind {
        Kind::Ref { .. } => &["`backfill: <id>`"],
        kind if kind.facts().takes_now => &["`backfill: now`"],
        _ => &["`backfill: <value>`", "a literal `default`"],
    }
}

/// How a field comes by its values that `under` makes, of which nothing can be said.
fn before_under(resource: &Resource, field: &Field) -> Option<String> {
    let (Kind::Ref { resource: parent }, name) = (&field.kind, &field.name) else { return None };
    resource.path.contains(&format!("{{{name}}}")).then(|| {
        format!(
            "declare `{name}: {{ type: ref({parent}), nullable: true }}` without `under` first, fill it, then say `under`"
        )
    })
}
