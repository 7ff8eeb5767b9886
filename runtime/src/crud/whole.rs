//! A plain create or update on PostgreSQL in two statements: the first reads the record as it will be and whether it may be
//! so, the second stores it with its event and its audit entry. Where what was found tells all of the first, there is none.
//!
//! Where anything else has a say (a behaviour, embedded records, a trigger of somebody else's), or anything is wrong, the
//! way of one step after the other is taken from its beginning: it finds the words for every problem.

use std::collections::HashSet;
use std::sync::Arc;

use sea_orm::QueryResult;
use tokio::sync::OnceCell;

use super::body::Body;
use super::changes::Changes;
use super::outcome::Outcome;
use super::show::Read;
use super::version::Conditions;
use super::{create, foreseen, input, references, store, update};
use crate::audit::{trail, write_difference};
use crate::catalog::Entry;
use crate::context::Context;
use crate::custom_field::{self, Definition, Definitions};
use crate::db::{Dialect, Sql};
use crate::error::Result;
use crate::event;
use crate::query::Condition;

/// The tables in whose rows the database has a say: triggers and rules that are not Charter's own, columns that it
/// computes, policies. Read once: who gives a table such a thing starts the servers anew.
#[derive(Debug, Default)]
pub struct Outspoken(OnceCell<HashSet<String>>);

const OUTSPOKEN: &str = r#"
SELECT c.relname::text AS "table" FROM pg_class c
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid) AND (
    c.relkind <> 'r' OR c.relhasrules OR c.relrowsecurity
    OR EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> '')
    OR EXISTS (
        SELECT 1 FROM pg_trigger t
        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgname NOT LIKE 'charter\_count\_%'
    )
)"#;

impl Outspoken {
    async fn has(&self, context: &Context<'_>, table: &str) -> Result<bool> {
        let read = async || {
            let rows = Sql::new(Dialect::Postgres, OUTSPOKEN).all(context.ahead()).await?;
            rows.iter().map(|row| Ok(row.try_get::<String>("", "table")?)).collect::<Result<HashSet<String>>>()
        };
        Ok(self.0.get_or_try_init(read).await?.contains(table))
    }
}

/// The definitions of custom fields that a write is judged by, if it has any.
type Judges = Option<Arc<Definitions>>;

fn list(judges: &Judges) -> &[Definition] {
    judges.as_ref().map(|known| known.list.as_slice()).unwrap_or_default()
}

/// Creates a record as [`create::create`] does; `None` where it takes more.
pub async fn add(context: &Context<'_>, entry: &Entry, body: &Body<'_>, under: Option<i64>) -> Result<Option<Outcome>> {
    if !is_plain(context, entry).await? {
        return Ok(None);
    }
    let judges = judges(context, entry, entry.meta.custom_fields).await?;
    let mut changes = create::read(context, entry, body, under, list(&judges))?;
    input::complete(entry, context, list(&judges), &mut changes)?;
    create::check_alone(context, &mut changes)?;
    let mut columns = entry.meta.fields.iter().filter(|field| field.is_column() && field.name != "id");
    if !changes.errors.is_empty() || !columns.all(|field| changes.get(field.name).is_some()) {
        return Ok(None);
    }
    let Some((id, record)) = ahead(context, entry, &changes, &judges, None).await? else { return Ok(None) };
    let mut sql = statement(context);
    store::write_insert(&mut sql, &changes, Some(id))?;
    if !keep(context, entry, id, &changes, ("create", "created"), &record, sql).await? {
        return Ok(None);
    }
    Ok(Some(Outcome { created: Some(id), ..Outcome::of(entry, &record, &changes) }))
}

/// A record, if `condition` holds for it; with what [`change`] goes by, where that will do.
pub async fn find(context: &Context<'_>, entry: &Entry, id: i64, condition: &Condition) -> Result<Option<QueryResult>> {
    if !is_alone(entry) || !is_plain(context, entry).await? {
        return store::load(context, entry, id, condition, false).await;
    }
    let (beside, sources) = foreseen::columns(entry);
    store::load_with(context, entry, id, condition, (&beside, &sources)).await
}

/// Whether only the record itself says who may see it: what other rows say of it could be another by now.
fn is_alone(entry: &Entry) -> bool {
    entry.standing.is_none() && entry.route.hooks.scope.is_none()
}

/// Changes a record that was found by [`find`] as [`update::update`] does; `None` where it takes more, and where the record
/// is no longer as it was found.
pub async fn change(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    found: QueryResult,
    conditions: &Conditions,
    body: &Body<'_>,
) -> Result<Option<Outcome>> {
    if !conditions.is_empty() || !is_alone(entry) || !is_plain(context, entry).await? {
        return Ok(None);
    }
    let judges = judges(context, entry, update::gives_custom_fields(entry, body)).await?;
    let mut changes = Changes::new(entry.meta, Some(found));
    input::read(context.catalog(), entry, body, list(&judges), &mut changes)?;
    update::drop_unchanged(&mut changes)?;
    update::refuse_fixed(&mut changes);
    create::check_alone(context, &mut changes)?;
    if !changes.errors.is_empty() || changes.is_empty() {
        return Ok(None);
    }
    changes.set("updated_at", context.now().into());
    let foreseen = match judges {
        None => foreseen::foresee(entry, &changes)?,
        Some(_) => None,
    };
    let mut sql = statement(context);
    store::write_update(&mut sql, &changes, id)?;
    let Some(found) = &changes.before else { return Ok(None) };
    let record = match foreseen {
        Some(record) => {
            foreseen::write_same(&mut sql, entry, found)?;
            record
        }
        None => {
            let version: String = found.try_get("", "xmin")?;
            let as_found = Some((id, version.as_str()));
            let Some((_, record)) = ahead(context, entry, &changes, &judges, as_found).await? else { return Ok(None) };
            sql.push(" AND t.\"xmin\"::text = ").bind(version);
            record
        }
    };
    sql.push(" RETURNING t.\"id\"");
    if !keep(context, entry, id, &changes, ("update", "updated"), &record, sql).await? {
        return Ok(None);
    }
    Ok(Some(Outcome::of(entry, &record, &changes)))
}

/// Whether nothing but what the metadata says decides what is stored and shown of a record.
async fn is_plain(context: &Context<'_>, entry: &Entry) -> Result<bool> {
    let hooks = &entry.route.hooks;
    let silent = hooks.guard.is_none()
        && hooks.check.is_none()
        && hooks.before_save.is_none()
        && hooks.after_save.is_none()
        && hooks.after_commit.is_none();
    let columns = entry.single.embedded.is_empty() && entry.single.computed.is_empty() && !entry.meta.singleton;
    let known = silent && columns && context.state().db.dialect() == Dialect::Postgres;
    Ok(known && !context.state().outspoken.has(context, entry.meta.table).await?)
}

async fn judges(context: &Context<'_>, entry: &Entry, needed: bool) -> Result<Judges> {
    match needed {
        true => context.state().custom_fields.get(context.ahead(), entry.meta.plural).await.map(Some),
        false => Ok(None),
    }
}

/// The record as it will be, and the id that it has or takes; `None` where it may not be so, or what was known of it is
/// no longer true. `as_found`: the id and the version of the row that is to change.
async fn ahead(
    context: &Context<'_>,
    entry: &Entry,
    changes: &Changes,
    judges: &Judges,
    as_found: Option<(i64, &str)>,
) -> Result<Option<(i64, Read)>> {
    let shape = &entry.single;
    let mut sql = Sql::new(Dialect::Postgres, String::with_capacity(4096));
    shape.write_columns(&mut sql);
    sql.push(", (");
    let replaced: Vec<i64> = as_found.iter().map(|(id, _)| *id).collect();
    if !references::write_sound(&mut sql, context, changes, &replaced)? {
        return Ok(None);
    }
    sql.push("), ");
    match judges {
        Some(_) => custom_field::write_text(&mut sql, entry.meta.plural),
        None => drop(sql.push("''")),
    }
    let mut place = Ok(());
    shape.write_tables_over(&mut sql, entry.meta.table, |sql| {
        place = write_row(sql, entry, changes, as_found);
    });
    place?;
    let Some(row) = sql.one(context.ahead()).await? else { return Ok(None) };
    let beside = shape.columns.len();
    if let Some(known) = judges
        && row.try_get_by_index::<String>(beside + 1)? != known.text
    {
        context.state().custom_fields.forget(entry.meta.plural);
        return Ok(None);
    }
    let position = shape.position("id").unwrap_or_default();
    let id = row.try_get_by_index::<Option<i64>>(position)?;
    Ok(match id.filter(|_| matches!(row.try_get_by_index(beside), Ok(true))) {
        Some(id) => Some((id, Read::plain(entry, &row)?)),
        None => None,
    })
}

/// Writes `(SELECT ...)` with every column as it will be stored.
fn write_row(sql: &mut Sql, entry: &Entry, changes: &Changes, as_found: Option<(i64, &str)>) -> Result<()> {
    let table = entry.meta.table;
    sql.push("(SELECT ");
    match as_found {
        Some(_) => sql.push("t.\"id\""),
        // Null where the table makes no ids itself.
        None => sql.push(&format!("nextval(pg_get_serial_sequence('\"{table}\"', 'id')) AS \"id\"")),
    };
    for field in entry.meta.fields.iter().filter(|field| field.is_column() && field.name != "id") {
        match changes.get(field.name) {
            Some(value) => sql.push(", ").bind(store::storable(field, value)?).push(" AS ").name(field.name),
            None => sql.push(", t.").name(field.name),
        };
    }
    if let Some((id, version)) = as_found {
        sql.push(" FROM ").name(table).push(" AS t WHERE t.\"id\" = ").bind(id);
        sql.push(" AND t.\"xmin\"::text = ").bind(version);
    }
    sql.push(")");
    Ok(())
}

/// The beginning of the statement that stores a record, in which the record itself is to follow.
fn statement(context: &Context<'_>) -> Sql {
    let mut sql = Sql::new(context.state().db.dialect(), String::with_capacity(2048));
    sql.push("WITH \"stored\" AS (");
    sql
}

/// Stores the record with its event and its audit entry, or none of them. `cause`: what the trail and the event call it.
async fn keep(
    context: &Context<'_>,
    entry: &Entry,
    id: i64,
    changes: &Changes,
    cause: (&str, &str),
    record: &Read,
    mut sql: Sql,
) -> Result<bool> {
    let (action, happened) = cause;
    if entry.meta.events {
        sql.push("), \"told\" AS (");
        event::write_insert(&mut sql, context, entry, happened, &event::data(entry, changes, record.answer())?);
        sql.push(" FROM \"stored\"");
    }
    let mut difference = Vec::with_capacity(512);
    write_difference(&mut difference, changes)?;
    sql.push("), \"entered\" AS (");
    trail::write_insert(&mut sql, context, entry, action, id, &difference);
    sql.push(" FROM \"stored\") SELECT \"id\" FROM \"stored\"");
    let stored = context.db().whole(sql).await.map_err(|error| store::taken(error, changes))?.is_some();
    if stored && entry.meta.events {
        context.db().announce();
    }
    Ok(stored)
}
