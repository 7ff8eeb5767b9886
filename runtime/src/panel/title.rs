//! What a record is called: the text that stands for it where another refers to it.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use salvo::http::StatusCode;
use serde_json::{Value, json};

use super::columns::Column;
use super::listing::Fields;
use super::place::Place;
use super::row::Row;
use super::visit::Visit;
use super::{cell, several, words};
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::meta::{Access, FieldMeta, Kind, Operation, Shown};
use crate::query::{MAX_LIST_ELEMENTS, Predicate};
use crate::server::Answer;

/// Fields that name a record, the best first.
const NAMES: &[&str] = &["name", "title", "subject", "label", "original_name", "code", "email", "url"];
/// So many are offered as one types.
const OFFERED: usize = 10;

/// The field by which people know a record.
pub fn field(entry: &Entry) -> Option<&'static FieldMeta> {
    let shown = |field: &&FieldMeta| field.shown == Shown::Always && field.access != Access::Secret;
    let known = NAMES.iter().filter_map(|name| entry.field(name).filter(shown)).next();
    known.or_else(|| {
        entry.meta.fields.iter().filter(shown).find(|f| matches!(f.kind, Kind::String { .. }) && f.required)
    })
}

/// What a record is called.
pub fn of(entry: &Entry, record: &Value) -> String {
    by(field(entry), entry, record).into_owned()
}

/// The same, of which the field is known.
pub fn by<'r>(field: Option<&'static FieldMeta>, entry: &Entry, record: &'r impl Fields) -> Cow<'r, str> {
    let named = field.and_then(|field| record.value(field.name).as_str()).filter(|text| !text.trim().is_empty());
    match (named, record.value("id").as_i64()) {
        (Some(text), _) => text.into(),
        (None, Some(id)) => format!("{} {id}", entry.meta.label).into(),
        (None, None) => entry.meta.label.into(),
    }
}

/// The titles of the records that others refer to.
#[derive(Debug, Default)]
pub struct Titles(HashMap<(&'static str, i64), String>);

impl Titles {
    /// Reads those that these fields of the records name, derived ones too: one request for each resource.
    ///
    /// # Errors
    /// When the database fails. What the user may not read has no title.
    pub async fn load(
        visit: &Visit<'_>,
        entry: &Entry,
        fields: &[&'static FieldMeta],
        records: &[impl Fields],
    ) -> Result<Titles> {
        let mut wanted: HashMap<&'static str, BTreeSet<i64>> = HashMap::new();
        for field in fields {
            for record in records {
                let target = match cell::kind(entry, field) {
                    Kind::Ref { resource } | Kind::RefList { resource } => Some(resource),
                    Kind::PolymorphicRef { type_field } => record
                        .value(type_field)
                        .as_str()
                        .and_then(|t| visit.state.catalog.by_type(t))
                        .map(|e| e.meta.name),
                    _ => None,
                };
                let Some(target) = target else { continue };
                let value = record.value(field.name);
                let several = value.as_array().into_iter().flatten().filter_map(Value::as_i64);
                wanted.entry(target).or_default().extend(several.chain(value.as_i64()));
            }
        }
        Titles::read(visit, wanted).await
    }

    /// Reads those that conditions name, which most lists have none of: no more than one condition can have. An address has
    /// room for many that the API refuses.
    ///
    /// # Errors
    /// As for [`Titles::load`].
    pub async fn of_conditions(
        visit: &Visit<'_>,
        rows: impl IntoIterator<Item = &Row>,
        columns: &[Column],
    ) -> Result<Titles> {
        let mut wanted: HashMap<&'static str, BTreeSet<i64>> = HashMap::new();
        let ids = rows.into_iter().flat_map(|row| {
            let column = columns.iter().find(|column| column.name == row.field);
            let target = column.and_then(|column| match column.kind {
                Kind::Ref { resource } | Kind::RefList { resource } => Some(resource),
                _ => None,
            });
            row.value.split(',').filter_map(move |id| Some((target?, id.trim().parse::<i64>().ok()?)))
        });
        for (target, id) in ids.take(MAX_LIST_ELEMENTS) {
            wanted.entry(target).or_default().insert(id);
        }
        Titles::read(visit, wanted).await
    }

    async fn read(visit: &Visit<'_>, wanted: HashMap<&'static str, BTreeSet<i64>>) -> Result<Titles> {
        let mut titles = Titles::default();
        for (target, ids) in wanted {
            titles.add(visit, visit.state.catalog.linked(target), &ids).await?;
        }
        Ok(titles)
    }

    async fn add(&mut self, visit: &Visit<'_>, entry: &Entry, ids: &BTreeSet<i64>) -> Result<()> {
        let Some(field) = field(entry).filter(|_| is_reached(visit, entry)) else { return Ok(()) };
        let ids: Vec<i64> = ids.iter().copied().collect();
        let with = format!("&fields=id,{}", field.name);
        for reply in several::ask(visit, entry, &format!("/{}", entry.meta.path), &ids, &with).await? {
            // They may have become unreadable meanwhile; their ids are shown instead.
            if reply.status != StatusCode::OK {
                continue;
            }
            for record in several::records(entry, &reply)? {
                if let Some(id) = record["id"].as_i64() {
                    self.0.insert((entry.meta.name, id), of(entry, &record));
                }
            }
        }
        Ok(())
    }

    pub fn extend(&mut self, other: Titles) {
        self.0.extend(other.0);
    }

    pub fn get(&self, resource: &'static str, id: i64) -> Option<&str> {
        self.0.get(&(resource, id)).map(String::as_str)
    }
}

/// What one record is called of which only the id is known.
///
/// # Errors
/// When the database fails.
pub async fn by_id(visit: &Visit<'_>, entry: &Entry, id: i64) -> Result<String> {
    let mut titles = Titles::default();
    titles.add(visit, entry, &BTreeSet::from([id])).await?;
    Ok(titles.get(entry.meta.name, id).map_or_else(|| format!("{} {id}", entry.meta.label), String::from))
}

/// The way to the record that a place stands under; nothing where it stands under none.
///
/// # Errors
/// When the database fails.
pub async fn parents(visit: &Visit<'_>, place: &Place<'_>) -> Result<Vec<(String, String)>> {
    let Some((parent, id)) = place.parent else { return Ok(Vec::new()) };
    let list = format!("/{}", parent.meta.path);
    let one = format!("{list}/{id}");
    Ok(vec![(list, words::plural(parent.meta)), (one, by_id(visit, parent, id).await?)])
}

/// Whether its records can be asked for by id.
pub fn is_reached(visit: &Visit<'_>, entry: &Entry) -> bool {
    entry.is_listed() && entry.meta.under.is_none() && !entry.is_attached() && visit.may(entry, Operation::List)
}

/// The records whose title has what was typed, for a reference that is being chosen: `[{"id", "title"}]`.
pub async fn search(visit: &Visit<'_>, plural: &str) -> Result<Answer> {
    let entry =
        visit.state.catalog.by_plural(plural).filter(|entry| is_reached(visit, entry)).ok_or(Error::NotFound)?;
    let typed = visit.asked.pairs()?.into_iter().find(|pair| pair.name == "q").map(|pair| pair.value);
    let typed = typed.unwrap_or_default();
    let typed = typed.trim();
    let mut query = format!("per_page={OFFERED}&count=none");
    if let Some(field) = field(entry) {
        query.push_str(&format!("&fields=id,{0}&sort={0}", field.name));
        if !typed.is_empty() && Predicate::Cont.allowed(field, field.kind) {
            query.push_str(&format!("&q[{}_cont]={}", field.name, words::escape(typed)));
        }
    }
    let body = visit.read(&format!("/{}?{query}", entry.meta.path)).await?;
    let found = body[entry.meta.plural].as_array().into_iter().flatten();
    let offered: Vec<Value> = found.map(|record| json!({ "id": record["id"], "title": of(entry, record) })).collect();
    Ok(Answer::json(StatusCode::OK, json!(offered).to_string().into_bytes()))
}
