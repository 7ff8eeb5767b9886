//! Columns of a list: the resource's fields and its custom fields, with their predicates and sort order.

use std::sync::Arc;

use charter_core::catalog::{Catalog, Entry, name_field, title_fields};
use charter_core::custom_field::{self, CustomFieldType, Definition};
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Kind, Operation, Rule, Shown};
use charter_core::query::{Predicate, allows, is_filterable};

use super::filter_form;
use super::params::ListParams;
use super::remembered;
use super::saved_views::SavedViews;
use crate::language::{current_code, text};
use crate::panel::format::{labels, value};
use crate::panel::request::PanelRequest;

/// Columns that a list shows by default.
const MAX_DEFAULT_COLUMNS: usize = 7;

#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// The name in the API: a field, or `cf.` and the name of a custom field.
    pub name: String,
    pub label: String,
    /// The kind of the values.
    pub kind: Kind,
    pub field: Option<&'static FieldMeta>,
    pub custom_field: Option<Definition>,
    /// Predicates that can be applied to the column.
    pub predicates: Vec<Predicate>,
    pub sortable: bool,
    /// The column as an unclosed JSON object for the scripts, without the part that depends on the user.
    pub script_json: String,
}

impl Column {
    /// Returns true for a field of a referred record, which lists are filtered by and do not show.
    pub(crate) fn is_related(&self) -> bool {
        self.custom_field.is_none() && self.name.contains('.')
    }

    pub(super) fn with_script_json(self, catalog: &Catalog) -> Column {
        Column { script_json: filter_form::column_json(catalog, &self), ..self }
    }
}

/// The columns of a resource that the user may read.
///
/// # Errors
/// When the database fails.
pub(crate) async fn load(request: &PanelRequest<'_>, entry: &Entry) -> Result<Arc<Vec<Column>>> {
    let catalog = &request.state.catalog;
    let read = async {
        let mut columns: Vec<Column> = entry
            .meta
            .fields
            .iter()
            .filter(|field| is_column(field))
            .map(|field| of_field(catalog, entry, field))
            .collect();
        if entry.meta.custom_fields {
            let definitions = custom_field::load(request.state.db.reader(), entry.meta.plural).await?;
            let filterable = entry.can_filter_custom_fields();
            columns.extend(
                definitions.into_iter().filter_map(|definition| of_custom_field(catalog, definition, filterable)),
            );
        }
        disambiguate_labels(&mut columns);
        Ok(columns)
    };
    let version = request.state.custom_fields_changed.version() + request.state.db.server_changes();
    let key = (entry.meta.plural, current_code());
    let all = request.cache.columns.get(key, version, &request.state.clock, read).await?;
    let may_read = |column: &Column| {
        let field = column.field.or_else(|| entry.field("custom_fields"));
        field.is_none_or(|field| request.may_read_field(entry, field))
    };
    match all.iter().all(may_read) {
        true => Ok(all),
        false => Ok(Arc::new(all.iter().filter(|column| may_read(column)).cloned().collect())),
    }
}

/// A reference and the name derived from it have the same label. The reference gets a suffix.
pub(super) fn disambiguate_labels(columns: &mut [Column]) {
    let labels: Vec<String> = columns.iter().map(|column| column.label.clone()).collect();
    for column in columns.iter_mut().filter(|column| matches!(column.kind, Kind::Ref { .. })) {
        if labels.iter().filter(|label| **label == column.label).count() > 1 {
            column.label = text!("{label} (record)", label = column.label);
        }
    }
}

/// The column with the time of deletion.
pub(crate) fn deleted_at(request: &PanelRequest<'_>, entry: &Entry, field: &'static FieldMeta) -> Column {
    let predicates = field.kind.predicates().collect();
    let catalog = &request.state.catalog;
    Column { label: text!("Deleted"), predicates, sortable: true, ..of_field(catalog, entry, field) }
        .with_script_json(catalog)
}

fn is_column(field: &FieldMeta) -> bool {
    field.shown != Shown::Never && field.kind != Kind::CustomFields
}

pub(super) fn of_field(catalog: &Catalog, entry: &Entry, field: &'static FieldMeta) -> Column {
    let kind = value::kind_of(entry, field);
    let predicates = match is_filterable(field) {
        true => Predicate::ALL.iter().copied().filter(|asked| allows(field, *asked, kind)).collect(),
        false => Vec::new(),
    };
    let sortable = field.sortable
        && !matches!(kind, Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. } | Kind::Json);
    let sortable = sortable && !matches!(kind, Kind::Embedded { .. } | Kind::Computed { .. });
    Column {
        name: field.name.into(),
        label: labels::field(field),
        kind,
        field: Some(field),
        custom_field: None,
        predicates,
        sortable,
        script_json: String::new(),
    }
    .with_script_json(catalog)
}

fn of_custom_field(catalog: &Catalog, definition: Definition, filterable: bool) -> Option<Column> {
    let kind = CustomFieldType::from_name(&definition.field_type)?.kind();
    let column = Column {
        name: format!("cf.{}", definition.name),
        label: definition.label.clone(),
        kind,
        field: None,
        predicates: if filterable { kind.predicates().collect() } else { Vec::new() },
        custom_field: Some(definition),
        sortable: filterable,
        script_json: String::new(),
    };
    Some(column.with_script_json(catalog))
}

/// Returns true if the API cannot create records of a resource, and they have no name: the list is a log, and shows the
/// newest record first.
pub(crate) fn is_log(entry: &Entry) -> bool {
    !entry.meta.operations.contains(&Operation::Create) && name_field(entry).is_none()
}

/// The sort order of a list that the user has not sorted; `None` for the order in which the records were made. Records
/// that nobody makes by hand, such as currencies, and the platform's records with unique names, such as roles, are
/// looked up by name.
pub(crate) fn default_sort(entry: &Entry) -> Option<String> {
    match entry.meta.order {
        [] => {}
        [alone] => return Some((*alone).to_owned()),
        // The API has the order of several fields.
        _ => return None,
    }
    if is_log(entry) {
        return Some("-id".into());
    }
    let name = name_field(entry).filter(|name| name.sortable)?;
    let is_seeded = !entry.meta.operations.contains(&Operation::Create);
    let is_unique = entry.behavior.is_platform && name.rules.contains(&Rule::Unique);
    (is_seeded || is_unique).then(|| name.name.to_string())
}

/// The columns that a list shows by default: those of the declaration, or else the name field, then short fields that
/// distinguish records.
pub(crate) fn default_names(entry: &Entry) -> Vec<String> {
    if !entry.meta.columns.is_empty() {
        return entry.meta.columns.iter().map(|name| (*name).to_owned()).collect();
    }
    let name_field = name_field(entry);
    let derived =
        |via: &str| entry.meta.fields.iter().any(|f| matches!(f.kind, Kind::Derived { via: of, .. } if of == via));
    let is_distinguishing = |field: &&'static FieldMeta| match field.kind {
        _ if field.shown != Shown::Always || ["id", "created_at", "updated_at"].contains(&field.name) => false,
        Kind::Text | Kind::Json | Kind::CustomFields | Kind::Uuid | Kind::PolymorphicType { .. } => false,
        Kind::Derived { .. } => entry.source(field).labels.is_none(),
        Kind::Ref { .. } => !derived(field.name),
        _ => true,
    };
    let mut names: Vec<String> = name_field.iter().map(|field| field.name.to_string()).collect();
    let others = entry
        .meta
        .fields
        .iter()
        .filter(is_distinguishing)
        .filter(|f| name_field.is_none_or(|name_field| name_field.name != f.name));
    names.extend(others.map(|field| field.name.to_string()));
    if names.is_empty() {
        names.push("id".into());
    }
    names.truncate(MAX_DEFAULT_COLUMNS);
    // Records without a name are distinguished by their creation time. In a log it comes first.
    if name_field.is_none() && entry.field("created_at").is_some() {
        match is_log(entry) {
            true => names.insert(0, "created_at".into()),
            false if names.len() < MAX_DEFAULT_COLUMNS => names.push("created_at".into()),
            false => {}
        }
    }
    names.truncate(MAX_DEFAULT_COLUMNS);
    names
}

/// The columns of the table: the chosen ones, those of the view, those that the user chose before, or the default ones.
/// Without a known column, the next in this order hold.
pub(super) fn shown<'c>(
    request: &PanelRequest<'_>,
    entry: &Entry,
    params: &ListParams,
    views: &SavedViews,
    columns: &'c [Column],
) -> Vec<&'c Column> {
    let of_user = || match params.view_id {
        Some(_) => views.columns(),
        None => remembered::columns(request, entry),
    };
    let known = |names: Vec<String>| -> Option<Vec<&'c Column>> {
        let mut found: Vec<&'c Column> = Vec::new();
        for column in names.iter().filter_map(|name| columns.iter().find(|column| column.name == *name)) {
            if !found.iter().any(|known| known.name == column.name) {
                found.push(column);
            }
        }
        Some(found).filter(|found| !found.is_empty())
    };
    let chosen = params.columns.clone().and_then(known);
    chosen.or_else(|| of_user().and_then(known)).or_else(|| known(default_names(entry))).unwrap_or_default()
}

/// [`api_fields`], and the fields of the title of the records.
pub(crate) fn titled_fields(entry: &Entry, columns: &[&Column]) -> String {
    let mut fields = api_fields(entry, columns);
    for field in title_fields(entry).iter().filter(|_| entry.title.is_some()) {
        if !fields.split(',').any(|name| name == field.name) {
            fields.push_str(&format!(",{}", field.name));
        }
    }
    fields
}

/// The API's parameter `fields` for these columns.
pub(crate) fn api_fields(entry: &Entry, columns: &[&Column]) -> String {
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
    let mut unique: Vec<&str> = Vec::new();
    names.into_iter().filter(|name| entry.field(name).is_some()).for_each(|name| {
        if !unique.contains(&name) {
            unique.push(name);
        }
    });
    unique.join(",")
}
