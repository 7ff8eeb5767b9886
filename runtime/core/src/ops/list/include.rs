//! Includes and embedded records of a page: one query for each, independent of the number of records.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use charter_model::naming::snake;

use super::allowed_actions;
use super::include_access::{no_reference, targets};
use super::include_links;
use crate::catalog::Entry;
use crate::custom_field;
use crate::db::{Row, Rows, Sql};
use crate::error::{Error, Result};
use crate::meta::{FieldMeta, IncludeMeta, IncludeTarget, Kind};
use crate::ops::Context;
use crate::ops::input::custom_fields::readable_value;
use crate::ops::input::embedded;
use crate::ops::{field_access, visibility};
use crate::query::{Condition, write_condition};
use crate::record::{Cell, Shape, write_record, write_text};

/// Maximum records of one include in a response. A request that exceeds it is refused, because a truncated list would
/// look complete.
pub(super) const MAX_RELATED_RECORDS: usize = 10_000;

/// Related values by name, as JSON for each row.
#[derive(Debug, Default)]
pub struct Related {
    /// Embedded records, which are part of the record.
    embedded: Named,
    /// Fields computed for each response, such as signed links. They are not part of the record's version.
    computed: Named,
    included: Named,
}

/// Values by name, one for each row.
type Named = Vec<(String, Vec<Vec<u8>>)>;

impl Related {
    /// Writes `,"participants":[...],"product_group":{...}` for a row.
    pub fn write(&self, out: &mut Vec<u8>, row: usize) {
        self.write_embedded(out, row, |_| true);
        self.write_computed_and_included(out, row, |_| true);
    }

    /// The JSON of an embedded or computed field of a row.
    pub fn value(&self, name: &str, row: usize) -> Option<&[u8]> {
        let mut fields = self.embedded.iter().chain(&self.computed);
        fields.find(|(field, _)| field == name).map(|(_, values)| values[row].as_slice())
    }

    /// Writes the embedded fields that `is_requested` selects.
    pub fn write_embedded(&self, out: &mut Vec<u8>, row: usize, is_requested: impl Fn(&str) -> bool) {
        self.embedded
            .iter()
            .filter(|(name, _)| is_requested(name))
            .for_each(|(name, values)| write(out, name, &values[row]));
    }

    /// True if there are computed fields or includes.
    pub fn has_computed_or_included(&self) -> bool {
        !self.computed.is_empty() || !self.included.is_empty()
    }

    /// Writes the computed fields that `is_requested` selects, and the includes.
    pub fn write_computed_and_included(&self, out: &mut Vec<u8>, row: usize, is_requested: impl Fn(&str) -> bool) {
        let computed = self.computed.iter().filter(|(name, _)| is_requested(name));
        computed.chain(&self.included).for_each(|(name, values)| write(out, name, &values[row]));
    }
}

fn write(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    // The record has no column if `fields` names only related values.
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    write_text(out, name);
    out.push(b':');
    out.extend_from_slice(value);
}

/// Adds the columns to a projection that the includes need, hidden from the response.
pub fn extend_projection(shape: &mut Cow<'_, Shape>, entry: &Entry, includes: &[&'static IncludeMeta]) {
    for include in includes {
        let shape = shape.to_mut();
        match include.target {
            IncludeTarget::One { via } => {
                shape.hide(entry.meta, via);
                if let Some(Kind::PolymorphicRef { type_field }) = entry.field(via).map(|f| f.kind) {
                    shape.hide(entry.meta, type_field);
                }
            }
            IncludeTarget::CustomFieldValues => shape.hide(entry.meta, "custom_fields"),
            IncludeTarget::Many { .. } | IncludeTarget::Links { .. } | IncludeTarget::AllowedActions => {}
        }
    }
}

/// Loads the includes and the embedded and computed fields of a projection, for all rows at once.
pub async fn load(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    rows: &[Row<'_>],
    includes: &[&'static IncludeMeta],
) -> Result<Related> {
    let may_read = |target: &Entry, field: &FieldMeta| target.may_read_field(field, context.caller());
    let embedded = load_embedded(context, shape, rows, may_read).await?;
    let mut related = Related { embedded, ..Related::default() };
    for field in &shape.computed {
        let hook = context.route(entry).hooks.computed;
        let hook = hook.ok_or_else(|| Error::internal(format!("nothing computes `{}`", field.name)))?;
        related.computed.push((field.name.to_string(), hook(context, field, shape, rows).await?));
    }
    for include in includes {
        let targets = targets(context.catalog(), entry, include)?;
        let values = match (include.target, targets.as_slice()) {
            (IncludeTarget::Many { by, .. }, [target]) => {
                let ids = ids_in_column(rows, shape, "id")?;
                load_many(
                    context,
                    target,
                    projection(context, target, include).into_owned(),
                    by,
                    &ids,
                    Some(include.name),
                )
                .await?
            }
            (IncludeTarget::One { via }, targets) => match (entry.field(via).map(|field| field.kind), targets) {
                (Some(Kind::PolymorphicRef { type_field }), _) => {
                    load_polymorphic(context, shape, rows, (via, type_field), targets, include).await?
                }
                (_, [target]) => {
                    load_one(context, target, &projection(context, target, include), &ids_in_column(rows, shape, via)?)
                        .await?
                }
                _ => return Err(no_reference(include)),
            },
            (IncludeTarget::Links { field }, [target]) => {
                let field = entry.field(field).ok_or_else(|| no_reference(include))?;
                let (shape_of_target, ids) = (projection(context, target, include), ids_in_column(rows, shape, "id")?);
                include_links::records(context, field, (target, &shape_of_target), &ids, include.name).await?
            }
            (IncludeTarget::CustomFieldValues, _) => custom_field_values(context, entry, shape, rows).await?,
            (IncludeTarget::AllowedActions, _) => {
                allowed_actions::load(context, entry, &ids_in_column(rows, shape, "id")?).await?
            }
            _ => return Err(no_reference(include)),
        };
        related.included.push((snake(include.name), values));
    }
    Ok(related)
}

/// Loads the embedded records alone, with all their fields, for events.
///
/// # Errors
/// When the database fails.
pub async fn load_whole_embedded(context: &Context<'_>, shape: &Shape, rows: &[Row<'_>]) -> Result<Related> {
    Ok(Related { embedded: load_embedded(context, shape, rows, |_, _| true).await?, ..Related::default() })
}

async fn load_embedded(
    context: &Context<'_>,
    shape: &Shape,
    rows: &[Row<'_>],
    is_shown: impl Fn(&Entry, &FieldMeta) -> bool,
) -> Result<Named> {
    let mut found = Vec::new();
    for field in &shape.embedded {
        if let Kind::Embedded { resource, by } = field.kind {
            let target = context.catalog().linked(resource);
            let shown = target.shape(embedded::shown(target, by).filter(|field| is_shown(target, field)));
            let values = load_many(context, target, shown, by, &ids_in_column(rows, shape, "id")?, None).await?;
            found.push((field.name.to_string(), values));
        }
        if let Kind::Links { .. } = field.kind {
            let values = include_links::ids(context, field, &ids_in_column(rows, shape, "id")?).await?;
            found.push((field.name.to_string(), values));
        }
    }
    Ok(found)
}

/// The projection of an include: the fields that it names, or else those of a list item, as far as the caller may read
/// them.
pub(super) fn projection<'t>(context: &Context<'_>, target: &'t Entry, include: &IncludeMeta) -> Cow<'t, Shape> {
    if include.fields.is_empty() {
        return field_access::list_shape(context, target);
    }
    field_access::shape_of(context, target, include.fields.iter().filter_map(|name| target.field(name)))
}

/// The ids in a column of the rows.
fn ids_in_column(rows: &[Row<'_>], shape: &Shape, name: &str) -> Result<Vec<Option<i64>>> {
    let position = shape.position(name).ok_or_else(|| Error::internal(format!("`{name}` was not read")))?;
    rows.iter().map(|row| Cell::new(*row, position)?.integer()).collect()
}

/// The record of each id as JSON, or `null`.
pub(super) async fn load_one(
    context: &Context<'_>,
    target: &Entry,
    shape: &Shape,
    ids: &[Option<i64>],
) -> Result<Vec<Vec<u8>>> {
    let mut distinct: Vec<i64> = ids.iter().flatten().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut found: HashMap<i64, Vec<u8>> = HashMap::new();
    if !distinct.is_empty() {
        let visible = visibility::visible(context, target);
        for row in select(context, shape, "id", &distinct, (&visible, None)).await?.iter() {
            if let Some(id) = id_in_column(shape, row, "id")? {
                found.insert(id, render_object(shape, row)?);
            }
        }
    }
    Ok(ids.iter().map(|id| id.and_then(|id| found.get(&id).cloned()).unwrap_or_else(|| b"null".to_vec())).collect())
}

/// The records whose field `by` is each id, in the order of their ids, as a JSON list. `include` is the name of an
/// include, which is limited. Embedded records are limited by the size of a write.
async fn load_many(
    context: &Context<'_>,
    target: &Entry,
    mut shape: Shape,
    by: &str,
    ids: &[Option<i64>],
    include: Option<&str>,
) -> Result<Vec<Vec<u8>>> {
    shape.hide(target.meta, by);
    let parent_ids: Vec<i64> = ids.iter().flatten().copied().collect();
    let mut lists: HashMap<i64, Vec<u8>> = HashMap::new();
    if !parent_ids.is_empty() {
        // Embedded records are visible if their record is.
        let condition = match include {
            Some(_) => visibility::visible(context, target),
            None => visibility::present(target),
        };
        let rows =
            select(context, &shape, by, &parent_ids, (&condition, include.map(|_| MAX_RELATED_RECORDS + 1))).await?;
        if let Some(name) = include.filter(|_| rows.len() > MAX_RELATED_RECORDS) {
            return Err(too_many(target, name));
        }
        for row in rows.iter() {
            if let Some(id) = id_in_column(&shape, row, by)? {
                let list = lists.entry(id).or_default();
                list.push(if list.is_empty() { b'[' } else { b',' });
                list.extend_from_slice(&render_object(&shape, row)?);
            }
        }
    }
    let list = |id: &Option<i64>| {
        let mut list = id.and_then(|id| lists.remove(&id)).unwrap_or_else(|| vec![b'[']);
        list.push(b']');
        list
    };
    Ok(ids.iter().map(list).collect())
}

/// The error of an include with more than [`MAX_RELATED_RECORDS`].
pub(super) fn too_many(target: &Entry, include: &str) -> Error {
    let plural = target.meta.plural;
    Error::invalid(
        "include",
        format!("would load more than {MAX_RELATED_RECORDS} {plural} (`{include}`): request fewer records per page"),
    )
}

/// The record of each row's polymorphic reference.
async fn load_polymorphic(
    context: &Context<'_>,
    shape: &Shape,
    rows: &[Row<'_>],
    (via, type_field): (&str, &str),
    targets: &[&Entry],
    include: &IncludeMeta,
) -> Result<Vec<Vec<u8>>> {
    let ids = ids_in_column(rows, shape, via)?;
    let position = shape.position(type_field).ok_or_else(|| Error::internal(format!("`{type_field}` was not read")))?;
    let mut types = Vec::with_capacity(rows.len());
    for row in rows {
        types.push(Cell::new(*row, position)?.text()?);
    }
    let mut values = vec![b"null".to_vec(); rows.len()];
    // A stored type that is no longer allowed results in `null`.
    for target in targets {
        let name = target.meta.type_name;
        if !types.contains(&Some(name)) {
            continue;
        }
        let of_type: Vec<Option<i64>> =
            ids.iter().zip(&types).map(|(id, t)| if *t == Some(name) { *id } else { None }).collect();
        for (index, value) in
            load_one(context, target, &projection(context, target, include), &of_type).await?.into_iter().enumerate()
        {
            if of_type[index].is_some() {
                values[index] = value;
            }
        }
    }
    Ok(values)
}

async fn select(
    context: &Context<'_>,
    shape: &Shape,
    by: &str,
    ids: &[i64],
    (visible, limit): (&Condition, Option<usize>),
) -> Result<Arc<Rows>> {
    let mut sources = Vec::new();
    visible.sources(&mut sources);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(512));
    shape.write_select(&mut sql, &sources);
    sql.push(" WHERE ").in_ids(&format!("t.\"{by}\""), ids).push(" AND ");
    write_condition(&mut sql, visible);
    sql.push(&format!(" ORDER BY t.\"id\"{}", limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default()));
    context.read(sql).await
}

fn id_in_column(shape: &Shape, row: Row<'_>, name: &str) -> Result<Option<i64>> {
    let position = shape.position(name).ok_or_else(|| Error::internal(format!("`{name}` was not read")))?;
    Cell::new(row, position)?.integer()
}

fn render_object(shape: &Shape, row: Row<'_>) -> Result<Vec<u8>> {
    let mut out = vec![b'{'];
    write_record(&mut out, shape, row)?;
    out.push(b'}');
    Ok(out)
}

/// `{name, label, field_type, value}` for every definition of the resource, in their order.
async fn custom_field_values(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    rows: &[Row<'_>],
) -> Result<Vec<Vec<u8>>> {
    let definitions = custom_field::load(context.db(), entry.meta.plural).await?;
    let position = shape.position("custom_fields").ok_or_else(|| Error::internal("`custom_fields` was not read"))?;
    let mut values = Vec::with_capacity(rows.len());
    for row in rows {
        let text = Cell::new(*row, position)?.json()?.unwrap_or("{}");
        let map: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).map_err(Error::internal)?;
        let list: Vec<_> = definitions
            .iter()
            .map(|d| {
                let value = map.get(&d.name).map_or(&serde_json::Value::Null, |value| readable_value(d, value));
                serde_json::json!({ "name": d.name, "label": d.label, "field_type": d.field_type, "value": value })
            })
            .collect();
        values.push(serde_json::to_vec(&list).map_err(Error::internal)?);
    }
    Ok(values)
}
