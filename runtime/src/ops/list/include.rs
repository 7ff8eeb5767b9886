//! Related records: one query for each include, however many records the page holds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::response_cache::CacheKeyBuilder;
use crate::catalog::{Entry, snake_case};
use crate::context::Context;
use crate::custom_field;
use crate::db::{Row, Rows, Sql};
use crate::error::{Error, Result};
use crate::meta::{IncludeMeta, IncludeTarget, Kind};
use crate::ops::input::embedded;
use crate::ops::visibility;
use crate::query::{Condition, write_condition};
use crate::record::{Cell, Shape, write_record, write_text};

/// One include brings at most so many records into an answer. More is refused rather than cut: a list that lacks some
/// looks like one that lacks none.
const MAX_RELATED_RECORDS: usize = 10_000;

/// What was included, by name: the JSON that each row gets.
#[derive(Debug, Default)]
pub struct Related {
    /// The embedded records, which belong to the record itself.
    embedded: Named,
    /// What is computed anew for every answer, and so is no part of the record's version: a signed link.
    computed: Named,
    included: Named,
}

/// Values by name, one for each row.
type Named = Vec<(String, Vec<Vec<u8>>)>;

impl Related {
    /// Writes `,"participants":[...],"product_group":{...}` for the row.
    pub fn write(&self, out: &mut Vec<u8>, row: usize) {
        self.write_embedded(out, row, |_| true);
        self.write_beside(out, row, |_| true);
    }

    /// What an embedded or computed field of the row is, as JSON.
    pub fn value(&self, name: &str, row: usize) -> Option<&[u8]> {
        let mut fields = self.embedded.iter().chain(&self.computed);
        fields.find(|(known, _)| known == name).map(|(_, values)| values[row].as_slice())
    }

    /// Writes the embedded records whose field is wanted.
    pub fn write_embedded(&self, out: &mut Vec<u8>, row: usize, wanted: impl Fn(&str) -> bool) {
        self.embedded.iter().filter(|(name, _)| wanted(name)).for_each(|(name, values)| write(out, name, &values[row]));
    }

    /// Whether anything stands beside the record itself.
    pub fn has_more(&self) -> bool {
        !self.computed.is_empty() || !self.included.is_empty()
    }

    /// Writes what stands beside the record: the computed fields that are wanted, and the includes.
    pub fn write_beside(&self, out: &mut Vec<u8>, row: usize, wanted: impl Fn(&str) -> bool) {
        let computed = self.computed.iter().filter(|(name, _)| wanted(name));
        computed.chain(&self.included).for_each(|(name, values)| write(out, name, &values[row]));
    }
}

fn write(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    // A record of which `fields` leaves no column begins with what is included.
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    write_text(out, name);
    out.push(b':');
    out.extend_from_slice(value);
}

/// Adds to a shape the columns that the includes start from.
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
            IncludeTarget::Many { .. } => {}
        }
    }
}

/// Loads the includes, and the embedded and computed fields of the shape, for all rows at once.
pub async fn load(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    rows: &[Row<'_>],
    includes: &[&'static IncludeMeta],
) -> Result<Related> {
    let mut related = Related::default();
    for field in &shape.embedded {
        if let Kind::Embedded { resource, by } = field.kind {
            let target = context.catalog().linked(resource);
            let shown = target.shape(embedded::shown(target, by));
            let values = many(context, target, shown, by, &integers(rows, shape, "id")?, None).await?;
            related.embedded.push((field.name.to_string(), values));
        }
    }
    for field in &shape.computed {
        let hook = entry.route.hooks.computed;
        let hook = hook.ok_or_else(|| Error::internal(format!("nothing computes `{}`", field.name)))?;
        related.computed.push((field.name.to_string(), hook(context, field, shape, rows).await?));
    }
    for include in includes {
        let targets = targets(context, entry, include)?;
        let values = match (include.target, targets.as_slice()) {
            (IncludeTarget::Many { by, .. }, [target]) => {
                let ids = integers(rows, shape, "id")?;
                many(context, target, limited(target, include).into_owned(), by, &ids, Some(include.name)).await?
            }
            (IncludeTarget::One { via }, targets) => match (entry.field(via).map(|field| field.kind), targets) {
                (Some(Kind::PolymorphicRef { type_field }), _) => {
                    polymorphic(context, shape, rows, (via, type_field), targets, include).await?
                }
                (_, [target]) => one(context, target, &limited(target, include), &integers(rows, shape, via)?).await?,
                _ => return Err(no_reference(include)),
            },
            (IncludeTarget::CustomFieldValues, _) => custom_field_values(context, entry, shape, rows).await?,
            _ => return Err(no_reference(include)),
        };
        related.included.push((snake_case(include.name), values));
    }
    Ok(related)
}

/// Tells what decides of what [`load`] loads beside the rows. Of computed fields nothing does.
pub fn add_to_cache_key(
    context: &Context<'_>,
    entry: &Entry,
    shape: &Shape,
    includes: &[&'static IncludeMeta],
    ground: &mut CacheKeyBuilder,
) -> Result<()> {
    let get = |resource| context.catalog().linked(resource);
    for field in &shape.embedded {
        if let Kind::Embedded { resource, by } = field.kind {
            let target = get(resource);
            ground.add(field.name);
            depend_on(context, target, &target.shape(embedded::shown(target, by)), ground)?;
        }
    }
    for include in includes {
        ground.add(include.name);
        if let IncludeTarget::CustomFieldValues = include.target {
            ground.depends_on_table(custom_field::table());
        }
        for target in targets(context, entry, include)? {
            depend_on(context, target, &limited(target, include), ground)?;
        }
    }
    Ok(())
}

/// The resources whose records an include may bring.
fn targets<'c>(context: &Context<'c>, entry: &Entry, include: &IncludeMeta) -> Result<Vec<&'c Entry>> {
    let catalog = context.catalog();
    let via = match include.target {
        IncludeTarget::CustomFieldValues => return Ok(Vec::new()),
        IncludeTarget::Many { resource, .. } => return Ok(vec![catalog.linked(resource)]),
        IncludeTarget::One { via } => via,
    };
    let kind = |name| entry.field(name).map(|field| field.kind);
    match kind(via) {
        Some(Kind::Ref { resource }) => Ok(vec![catalog.linked(resource)]),
        Some(Kind::PolymorphicRef { type_field }) => match kind(type_field) {
            Some(Kind::PolymorphicType { type_names }) => {
                Ok(type_names.iter().filter_map(|name| catalog.by_type(name)).collect())
            }
            _ => Err(no_reference(include)),
        },
        _ => Err(no_reference(include)),
    }
}

fn no_reference(include: &IncludeMeta) -> Error {
    Error::internal(format!("the include `{}` has no reference", include.name))
}

/// Which of the target's records the caller may see, and what they show.
fn depend_on(context: &Context<'_>, target: &Entry, shape: &Shape, ground: &mut CacheKeyBuilder) -> Result<()> {
    let may = target.meta.read_permission.is_none_or(|name| context.caller().need_permission(name).is_ok());
    let visible = visibility::visible(context, target);
    let mut sql = Sql::new(context.state().db.dialect(), if may { "" } else { "none " });
    write_condition(&mut sql, &visible);
    ground.add(sql.with_literals());
    ground.depends_on_records(target, shape, &visible);
    Ok(())
}

/// The list item of the target, or those of its fields that the include names.
fn limited<'t>(target: &'t Entry, include: &IncludeMeta) -> Cow<'t, Shape> {
    if include.fields.is_empty() {
        return Cow::Borrowed(&target.list);
    }
    Cow::Owned(target.shape(include.fields.iter().filter_map(|name| target.field(name))))
}

/// The ids in a column of the rows.
fn integers(rows: &[Row<'_>], shape: &Shape, name: &str) -> Result<Vec<Option<i64>>> {
    let position = shape.position(name).ok_or_else(|| Error::internal(format!("`{name}` was not read")))?;
    rows.iter().map(|row| Cell::new(*row, position)?.integer()).collect()
}

/// The record that each id names, or null.
async fn one(context: &Context<'_>, target: &Entry, shape: &Shape, ids: &[Option<i64>]) -> Result<Vec<Vec<u8>>> {
    let mut wanted: Vec<i64> = ids.iter().flatten().copied().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found: HashMap<i64, Vec<u8>> = HashMap::new();
    if !wanted.is_empty() {
        let seen = visibility::visible(context, target);
        for row in select(context, target, shape, "id", &wanted, (&seen, None)).await?.iter() {
            if let Some(id) = key(shape, row, "id")? {
                found.insert(id, object(shape, row)?);
            }
        }
    }
    Ok(ids.iter().map(|id| id.and_then(|id| found.get(&id).cloned()).unwrap_or_else(|| b"null".to_vec())).collect())
}

/// The records whose `by` is each id, in the order of their ids. An include, which it names, is limited; embedded
/// records are by what one write can hold.
async fn many(
    context: &Context<'_>,
    target: &Entry,
    mut shape: Shape,
    by: &str,
    ids: &[Option<i64>],
    include: Option<&str>,
) -> Result<Vec<Vec<u8>>> {
    shape.hide(target.meta, by);
    let wanted: Vec<i64> = ids.iter().flatten().copied().collect();
    let mut lists: HashMap<i64, Vec<u8>> = HashMap::new();
    if !wanted.is_empty() {
        // What is embedded is a part of a record that is seen.
        let seen = match include {
            Some(_) => visibility::visible(context, target),
            None => visibility::present(target),
        };
        let rows =
            select(context, target, &shape, by, &wanted, (&seen, include.map(|_| MAX_RELATED_RECORDS + 1))).await?;
        if let Some(name) = include.filter(|_| rows.len() > MAX_RELATED_RECORDS) {
            let plural = target.meta.plural;
            let problem = format!(
                "would bring more than {MAX_RELATED_RECORDS} {plural} (`{name}`): ask for fewer records a page"
            );
            return Err(Error::invalid("include", problem));
        }
        for row in rows.iter() {
            if let Some(id) = key(&shape, row, by)? {
                let list = lists.entry(id).or_default();
                list.push(if list.is_empty() { b'[' } else { b',' });
                list.extend_from_slice(&object(&shape, row)?);
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

/// The record of any of several resources.
async fn polymorphic(
    context: &Context<'_>,
    shape: &Shape,
    rows: &[Row<'_>],
    (via, type_field): (&str, &str),
    targets: &[&Entry],
    include: &IncludeMeta,
) -> Result<Vec<Vec<u8>>> {
    let ids = integers(rows, shape, via)?;
    let position = shape.position(type_field).ok_or_else(|| Error::internal(format!("`{type_field}` was not read")))?;
    let mut types = Vec::with_capacity(rows.len());
    for row in rows {
        types.push(Cell::new(*row, position)?.text()?);
    }
    let mut values = vec![b"null".to_vec(); rows.len()];
    // One that none of them is, because it was once, leads nowhere.
    for target in targets {
        let name = target.meta.type_name;
        if !types.contains(&Some(name)) {
            continue;
        }
        let of_type: Vec<Option<i64>> =
            ids.iter().zip(&types).map(|(id, t)| if *t == Some(name) { *id } else { None }).collect();
        for (index, value) in one(context, target, &limited(target, include), &of_type).await?.into_iter().enumerate() {
            if of_type[index].is_some() {
                values[index] = value;
            }
        }
    }
    Ok(values)
}

async fn select(
    context: &Context<'_>,
    target: &Entry,
    shape: &Shape,
    by: &str,
    ids: &[i64],
    (visible, limit): (&Condition, Option<usize>),
) -> Result<Arc<Rows>> {
    // What the caller may not see by itself is not seen beside another record either.
    if let Some(permission) = target.meta.read_permission {
        context.caller().need_permission(permission)?;
    }
    let mut sources = Vec::new();
    visible.sources(&mut sources);
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(512));
    shape.write_select(&mut sql, &sources);
    sql.push(" WHERE ").in_ids(&format!("t.\"{by}\""), ids).push(" AND ");
    write_condition(&mut sql, visible);
    sql.push(&format!(" ORDER BY t.\"id\"{}", limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default()));
    context.read(sql).await
}

fn key(shape: &Shape, row: Row<'_>, name: &str) -> Result<Option<i64>> {
    let position = shape.position(name).ok_or_else(|| Error::internal(format!("`{name}` was not read")))?;
    Cell::new(row, position)?.integer()
}

fn object(shape: &Shape, row: Row<'_>) -> Result<Vec<u8>> {
    let mut out = vec![b'{'];
    write_record(&mut out, shape, row)?;
    out.push(b'}');
    Ok(out)
}

/// `{name, label, field_type, value}` for every definition of the entity type, in their order.
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
                let value = map.get(&d.name).map_or(&serde_json::Value::Null, |value| custom_field::shown(d, value));
                serde_json::json!({ "name": d.name, "label": d.label, "field_type": d.field_type, "value": value })
            })
            .collect();
        values.push(serde_json::to_vec(&list).map_err(Error::internal)?);
    }
    Ok(values)
}
