//! Display names of records: the text that stands for a record in links, titles and references.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use salvo::http::StatusCode;
use serde_json::Value;

use super::format::{labels, value};
use super::list::columns::Column;
use super::list::filter_row::FilterRow;
use super::list::response::{FieldValue, Fields};
use super::request::PanelRequest;
use super::target::Target;
use super::{fetch_many, suggestion};
use crate::language::text;
use charter_core::catalog::{Entry, name_field, title_fields, title_part};
use charter_core::error::Result;
use charter_core::meta::{FieldMeta, Kind, Operation, ResourceMeta};
use charter_core::query::MAX_LIST_ELEMENTS;

/// The display name of a record: `Product 7` if it has no name.
pub(super) fn of(entry: &Entry, record: &Value) -> String {
    from_field(name_field(entry), entry, record).into_owned()
}

/// [`of`] with a known field.
pub(super) fn from_field<'r>(
    field: Option<&'static FieldMeta>,
    entry: &Entry,
    record: &'r impl Fields,
) -> Cow<'r, str> {
    let part = |name: &str| match record.value(name) {
        FieldValue::Text(text) => Some(text.to_owned()),
        FieldValue::Other(value) => title_part(value),
    };
    if let Some(title) = entry.title.as_ref().and_then(|title| title.text(part)) {
        return title.into();
    }
    let named = field.and_then(|field| record.value(field.name).as_str()).filter(|text| !text.trim().is_empty());
    match (named, record.value("id").as_i64()) {
        (Some(text), _) => text.into(),
        (None, Some(id)) => unnamed(entry.meta, id).into(),
        (None, None) => labels::record(entry.meta).into(),
    }
}

/// `Product 7`
pub(super) fn unnamed(meta: &ResourceMeta, id: i64) -> String {
    text!("{record} {id}", record = labels::record(meta), id = id)
}

/// The display names of referenced records.
#[derive(Debug, Default)]
pub(super) struct DisplayNames {
    /// By resource and id.
    names: HashMap<(&'static str, i64), String>,
    /// Names that several records have, by resource.
    shared: HashSet<(&'static str, String)>,
}

impl DisplayNames {
    /// Reads the names of the records that these fields refer to, with one API request for each resource. Records that
    /// the user may not read have none.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn load_for_fields(
        request: &PanelRequest<'_>,
        entry: &Entry,
        fields: &[&'static FieldMeta],
        records: &[impl Fields],
    ) -> Result<DisplayNames> {
        let mut wanted: HashMap<&'static str, BTreeSet<i64>> = HashMap::new();
        for field in fields {
            for record in records {
                let referenced = match value::kind_of(entry, field) {
                    Kind::PolymorphicRef { type_field } => record
                        .value(type_field)
                        .as_str()
                        .and_then(|t| request.state.catalog.by_type(t))
                        .map(|e| e.meta.name),
                    kind => kind.referred().copied(),
                };
                let Some(referenced) = referenced else { continue };
                let value = record.value(field.name);
                let ids = value.as_array().into_iter().flatten().filter_map(Value::as_i64);
                wanted.entry(referenced).or_default().extend(ids.chain(value.as_i64()));
            }
        }
        DisplayNames::load(request, wanted).await
    }

    /// Reads the names of the records that conditions refer to, at most [`MOST_ELEMENTS`]: a query string may contain
    /// more, which the API rejects.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn load_for_filters(
        request: &PanelRequest<'_>,
        rows: impl IntoIterator<Item = &FilterRow>,
        columns: &[Column],
    ) -> Result<DisplayNames> {
        let mut wanted: HashMap<&'static str, BTreeSet<i64>> = HashMap::new();
        let ids = rows.into_iter().flat_map(|row| {
            let column = columns.iter().find(|column| column.name == row.field);
            let referenced = column.and_then(|column| column.kind.referred().copied());
            row.value.split(',').filter_map(move |id| Some((referenced?, id.trim().parse::<i64>().ok()?)))
        });
        for (referenced, id) in ids.take(MAX_LIST_ELEMENTS) {
            wanted.entry(referenced).or_default().insert(id);
        }
        DisplayNames::load(request, wanted).await
    }

    /// Reads the names of these records of one resource.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn load_for_ids(
        request: &PanelRequest<'_>,
        entry: &Entry,
        ids: &BTreeSet<i64>,
    ) -> Result<DisplayNames> {
        let mut display_names = DisplayNames::default();
        display_names.add(request, entry, ids).await?;
        Ok(display_names)
    }

    async fn load(request: &PanelRequest<'_>, wanted: HashMap<&'static str, BTreeSet<i64>>) -> Result<DisplayNames> {
        let mut display_names = DisplayNames::default();
        for (referenced, ids) in wanted {
            display_names.add(request, request.state.catalog.linked(referenced), &ids).await?;
        }
        Ok(display_names)
    }

    async fn add(&mut self, request: &PanelRequest<'_>, entry: &Entry, ids: &BTreeSet<i64>) -> Result<()> {
        let fields = title_fields(entry);
        if fields.is_empty() || !is_listable(request, entry) {
            return Ok(());
        }
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let ids: Vec<i64> = ids.iter().copied().collect();
        let parameters = format!("&fields=id,{}", names.join(","));
        for response in fetch_many::fetch(request, entry, &format!("/{}", entry.meta.path), &ids, &parameters).await? {
            // Permissions may have changed meanwhile. The ids are shown instead.
            if response.status != StatusCode::OK {
                continue;
            }
            for record in fetch_many::records(entry, &response)? {
                if let Some(id) = record["id"].as_i64() {
                    self.names.insert((entry.meta.name, id), of(entry, &record));
                }
            }
        }
        Ok(())
    }

    pub(super) fn extend(&mut self, other: DisplayNames) {
        self.names.extend(other.names);
        self.shared.extend(other.shared);
    }

    /// Looks up if several records have this name. A name that the API refuses, such as a very long one, has none.
    pub(super) async fn look_up_shared(&mut self, request: &PanelRequest<'_>, resource: &'static str, name: &str) {
        let entry = request.state.catalog.linked(resource);
        if !is_listable(request, entry) {
            return;
        }
        let found = suggestion::by_name(request, entry, name).await.unwrap_or_default();
        let folded = name.trim().to_lowercase();
        if found.iter().filter(|(_, found)| found.trim().to_lowercase() == folded).count() > 1 {
            self.shared.insert((resource, name.to_string()));
        }
    }

    /// Returns true if several records were found with this name.
    pub(super) fn is_shared(&self, resource: &'static str, name: &str) -> bool {
        self.shared.contains(&(resource, name.to_string()))
    }

    pub(super) fn get(&self, resource: &'static str, id: i64) -> Option<&str> {
        self.names.get(&(resource, id)).map(String::as_str)
    }

    /// The name of a record of this resource; `Product 7` if it has none.
    pub(super) fn get_or_unnamed(&self, meta: &ResourceMeta, id: i64) -> String {
        self.get(meta.name, id).map_or_else(|| unnamed(meta, id), String::from)
    }
}

/// The display name of a record with this id.
///
/// # Errors
/// When the database fails.
pub(super) async fn by_id(request: &PanelRequest<'_>, entry: &Entry, id: i64) -> Result<String> {
    let display_names = DisplayNames::load_for_ids(request, entry, &BTreeSet::from([id])).await?;
    Ok(display_names.get_or_unnamed(entry.meta, id))
}

/// Links to the list and the page of the parent record; empty for a top-level resource.
///
/// # Errors
/// When the database fails.
pub(super) async fn parent_breadcrumbs(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
) -> Result<Vec<(String, String)>> {
    let Some((parent, id)) = target.parent else { return Ok(Vec::new()) };
    let list = format!("/{}", parent.meta.path);
    let one = format!("{list}/{id}");
    Ok(vec![(list, labels::plural(parent.meta)), (one, by_id(request, parent, id).await?)])
}

/// Returns true if a resource has a top-level list that the user may read.
pub(super) fn is_listable(request: &PanelRequest<'_>, entry: &Entry) -> bool {
    entry.is_listed() && entry.meta.under.is_none() && !entry.is_attached() && request.may(entry, Operation::List)
}
