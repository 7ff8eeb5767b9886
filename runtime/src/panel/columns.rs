//! What a list can show, ask about and sort by: the resource's fields and its custom fields.

use std::sync::Arc;

use crate::catalog::{Catalog, Entry};
use crate::custom_field::{self, CustomFieldType, Definition};
use crate::error::Result;
use crate::meta::{FieldMeta, Kind, Operation, Shown};
use crate::query::{Predicate, allows, asked};

use super::visit::Visit;
use super::{cell, filter, title, words};

/// So many are shown until somebody chooses others.
const MOST: usize = 7;

/// One column.
#[derive(Debug, Clone)]
pub struct Column {
    /// As the API calls it: a field, or `cf.` and the name of a custom field.
    pub name: String,
    pub label: String,
    /// What its values are.
    pub kind: Kind,
    pub field: Option<&'static FieldMeta>,
    pub custom: Option<Definition>,
    /// What can be asked of it.
    pub predicates: Vec<Predicate>,
    pub sortable: bool,
    /// The beginning of what the script is told of it, which is the same on every page.
    pub script: String,
}

impl Column {
    fn told(self, catalog: &Catalog) -> Column {
        Column { script: filter::script(catalog, &self), ..self }
    }
}

/// All columns of a resource.
///
/// # Errors
/// When the database fails.
pub async fn all(visit: &Visit<'_>, entry: &Entry) -> Result<Arc<Vec<Column>>> {
    let catalog = &visit.state.catalog;
    let made = async {
        let mut columns: Vec<Column> = entry
            .meta
            .fields
            .iter()
            .filter(|field| is_column(field))
            .map(|field| of_field(catalog, entry, field))
            .collect();
        if entry.meta.custom_fields {
            let definitions = custom_field::load(visit.state.db.reader(), entry.meta.plural).await?;
            let asked = entry.asks_custom_fields();
            columns.extend(definitions.into_iter().filter_map(|definition| of_custom(catalog, definition, asked)));
        }
        tell_apart(&mut columns);
        Ok(columns)
    };
    visit
        .remembered
        .columns
        .get(entry.meta.plural, visit.state.custom_fields_changed.count(), &visit.state.clock, made)
        .await
}

/// A reference is called as the name that is derived through it: where one chooses among both, it says which it is.
fn tell_apart(columns: &mut [Column]) {
    let labels: Vec<String> = columns.iter().map(|column| column.label.clone()).collect();
    for column in columns.iter_mut().filter(|column| matches!(column.kind, Kind::Ref { .. })) {
        if labels.iter().filter(|label| **label == column.label).count() > 1 {
            column.label.push_str(" (record)");
        }
    }
}

/// When each record of a list was deleted.
pub fn of_mark(visit: &Visit<'_>, entry: &Entry, field: &'static FieldMeta) -> Column {
    let predicates = field.kind.predicates().collect();
    let catalog = &visit.state.catalog;
    Column { label: "Deleted".into(), predicates, sortable: true, ..of_field(catalog, entry, field) }.told(catalog)
}

fn is_column(field: &FieldMeta) -> bool {
    field.shown != Shown::Never && field.kind != Kind::CustomFields
}

fn of_field(catalog: &Catalog, entry: &Entry, field: &'static FieldMeta) -> Column {
    let kind = cell::kind(entry, field);
    let predicates = match asked(field) {
        true => Predicate::ALL.iter().copied().filter(|asked| allows(field, *asked, kind)).collect(),
        false => Vec::new(),
    };
    let sortable = field.sortable && !matches!(kind, Kind::StringList { .. } | Kind::RefList { .. } | Kind::Json);
    let sortable = sortable && !matches!(kind, Kind::Embedded { .. } | Kind::Computed { .. });
    Column {
        name: field.name.into(),
        label: words::field(field),
        kind,
        field: Some(field),
        custom: None,
        predicates,
        sortable,
        script: String::new(),
    }
    .told(catalog)
}

fn of_custom(catalog: &Catalog, definition: Definition, asked: bool) -> Option<Column> {
    let kind = CustomFieldType::from_name(&definition.field_type)?.kind();
    let column = Column {
        name: format!("cf.{}", definition.name),
        label: definition.label.clone(),
        kind,
        field: None,
        predicates: if asked { kind.predicates().collect() } else { Vec::new() },
        custom: Some(definition),
        sortable: asked,
        script: String::new(),
    };
    Some(column.told(catalog))
}

/// Whether nobody makes its records: the newest comes first, and tells when it was made.
pub fn is_log(entry: &Entry) -> bool {
    !entry.meta.operations.contains(&Operation::Create)
}

/// The names of those that are shown until somebody chooses: what a record is called, and what tells it from others.
pub fn usual(entry: &Entry) -> Vec<String> {
    let named = title::field(entry);
    let derived =
        |via: &str| entry.meta.fields.iter().any(|f| matches!(f.kind, Kind::Derived { via: of, .. } if of == via));
    let telling = |field: &&'static FieldMeta| match field.kind {
        _ if field.shown != Shown::Always || ["id", "created_at", "updated_at"].contains(&field.name) => false,
        Kind::Text | Kind::Json | Kind::CustomFields | Kind::Uuid | Kind::PolymorphicType { .. } => false,
        Kind::Derived { .. } => entry.source(field).labels.is_none(),
        Kind::Ref { .. } => !derived(field.name),
        _ => true,
    };
    let mut names: Vec<String> = named.iter().map(|field| field.name.to_string()).collect();
    let others = entry.meta.fields.iter().filter(telling).filter(|f| named.is_none_or(|named| named.name != f.name));
    names.extend(others.map(|field| field.name.to_string()));
    if names.is_empty() {
        names.push("id".into());
    }
    names.truncate(MOST);
    // Records without a name are told apart by when they were made; those that nobody makes are a log, and begin with it.
    if named.is_none() && entry.field("created_at").is_some() {
        match is_log(entry) {
            true => names.insert(0, "created_at".into()),
            false if names.len() < MOST => names.push("created_at".into()),
            false => {}
        }
    }
    names.truncate(MOST);
    names
}

/// The fields that the API is asked for, so that these columns can be shown.
pub fn fields(entry: &Entry, columns: &[&Column]) -> String {
    let mut names = vec!["id"];
    for column in columns {
        let Some(field) = column.field else {
            names.push("custom_fields");
            continue;
        };
        names.push(field.name);
        match field.kind {
            Kind::PolymorphicRef { type_field } => names.push(type_field),
            Kind::Derived { via, .. } if entry.field(via).is_some_and(|via| via.shown != Shown::Never) => {
                names.push(via)
            }
            _ => {}
        }
    }
    let mut once: Vec<&str> = Vec::new();
    names.into_iter().filter(|name| entry.field(name).is_some()).for_each(|name| {
        if !once.contains(&name) {
            once.push(name);
        }
    });
    once.join(",")
}
