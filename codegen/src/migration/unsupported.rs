//! Changes that no migration can make as declared: a sentence, and the place in the YAML.

use std::fmt;

use crate::schema_diff::can_be_filled;
use crate::snapshot::{Field, Kind, Resource, kind_text};

/// An unsupported change.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsupported {
    pub message: String,
    /// `resources/product.yaml:14:3`
    pub places: Vec<String>,
}

impl Unsupported {
    /// A change of a resource as a whole.
    pub fn of_resource(resource: &Resource, message: impl Into<String>) -> Unsupported {
        Unsupported { message: message.into(), places: resource.place.iter().cloned().collect() }
    }

    /// A change of a field.
    pub fn of_field(field: &Field, message: impl Into<String>) -> Unsupported {
        Unsupported { message: message.into(), places: field.place.iter().cloned().collect() }
    }

    /// Renames that wait for each other.
    pub fn of_circle(names: Vec<Unsupported>) -> Unsupported {
        let called: Vec<&str> = names.iter().map(|name| name.message.as_str()).collect();
        let message = format!("{}: they swap their names; rename them in two migrations", called.join(", "));
        Unsupported { message, places: names.into_iter().flat_map(|name| name.places).collect() }
    }
}

/// The sentence, then each place on its own line, as in reports.
impl fmt::Display for Unsupported {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        self.places.iter().try_for_each(|place| write!(out, "\n --> {place}"))
    }
}

/// A column without a value for existing rows, because it is new or created again. `was` is the former field, if its
/// type cannot be converted.
pub fn no_value(resource: &Resource, field: &Field, was: Option<&Field>) -> Unsupported {
    let help = match can_be_filled(field) {
        true => before_under(resource, field)
            .unwrap_or_else(|| format!("add {} or `nullable: true`", keys(field).join(", "))),
        false => "add `nullable: true`, fill the rows, and require it in the next migration".to_owned(),
    };
    let made_anew = was.map(|was| format!("{}; the column is created again, and ", no_way(was, field)));
    let message = format!(
        "{}.{}: {}existing rows need a value: {help}",
        resource.name,
        field.name,
        made_anew.unwrap_or_default()
    );
    Unsupported::of_field(field, message)
}

/// A column that becomes not null while rows may be null.
pub fn still_null(resource: &Resource, field: &Field) -> Unsupported {
    let help = before_under(resource, field).unwrap_or_else(|| format!("add {}", keys(field).join(", or ")));
    let message = format!("{}.{}: rows where it is null need a value: {help}", resource.name, field.name);
    Unsupported::of_field(field, message)
}

/// The reason why the values of a column cannot stay.
pub fn no_way(was: &Field, is: &Field) -> String {
    let (was, is) = (described(&was.kind), described(&is.kind));
    format!("its type was {was} and is {is}, and the types have no conversion")
}

/// A type as YAML writes it. A polymorphic reference has two columns.
fn described(kind: &Kind) -> String {
    match kind {
        Kind::PolymorphicType { type_names } => format!("the type of a `ref({})`", type_names.join(" | ")),
        Kind::PolymorphicRef { .. } => "the id of a `ref` to several resources".to_owned(),
        Kind::Embedded { resource, .. } | Kind::Links { resource, .. } => format!("`many: {resource}`"),
        kind => format!("`{}`", kind_text(kind)),
    }
}

/// The keys that give existing rows a value, by the type of the field.
fn keys(field: &Field) -> &'static [&'static str] {
    match &field.kind {
        Kind::Ref { .. } => &["`backfill: <id>`"],
        kind if kind.facts().takes_now => &["`backfill: now`"],
        _ => &["`backfill: <value>`", "a literal `default`"],
    }
}

/// The help for a field that follows from `under`, to which no key can be added.
fn before_under(resource: &Resource, field: &Field) -> Option<String> {
    let (Kind::Ref { resource: parent }, name) = (&field.kind, &field.name) else { return None };
    resource.path.contains(&format!("{{{name}}}")).then(|| {
        format!(
            "declare `{name}: {{ type: ref({parent}), nullable: true }}` without `under` first, fill it, then add `under`"
        )
    })
}
