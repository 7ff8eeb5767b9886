//! Undo: deletes the records that an import created and sets back those that it changed, unless they were changed since.

use std::sync::Arc;

use charter_core::catalog::Entry;
use charter_core::db::Sql;
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::ops::write::delete::delete;
use charter_core::ops::write::on_delete::plan;
use charter_core::ops::write::rehearsal::{ROW, refusal};
use charter_core::ops::write::undo::old_values;
use charter_core::ops::write::update::update;
use charter_core::ops::{Access, Body, Context, Preconditions, State, Transaction, load, visible};
use charter_core::query::Condition;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Map, Value};

use super::portion::PORTION_ROWS;
use super::progress::{self, errors_json};
use super::record::{Model, UNDOING, target};
use super::row;
use super::run::{End, caller};
use crate::lease::Claim;

/// Undoes an import in portions, the last rows first.
///
/// # Errors
/// The reason that stops the undo; [`Error::Unavailable`] if it can continue later.
pub(super) async fn process(state: &Arc<State>, claim: &Claim, import: &Model) -> Result<End> {
    loop {
        let principal = caller(state, import).await?;
        let transaction = Transaction::begin(state).await?;
        let outside = Context::new(state, &principal, state.db.reader()).with_import(Some(claim.id));
        let context = outside.in_transaction(&transaction);
        if !progress::extend(state, context.db(), claim, UNDOING).await? {
            return Ok(End::Lost);
        }
        let entry = target(&context, import)?;
        let rows = row::Entity::find()
            .filter(row::Column::ImportId.eq(claim.id))
            .filter(row::Column::Outcome.is_in(["created", "changed"]))
            .order_by_desc(row::Column::Id)
            .limit(PORTION_ROWS as u64)
            .all(context.db())
            .await?;
        if rows.is_empty() {
            return Ok(End::Complete);
        }
        let mut outcomes = Vec::with_capacity(rows.len());
        for row in &rows {
            let undone = transaction.attempt(undo_row(&context, entry, claim.id, row)).await?;
            let (outcome, errors) = match undone {
                Ok(()) => ("undone", FieldErrors::default()),
                Err(error) => ("left", refusal(error)?),
            };
            let mut sql = Sql::new(state.db.dialect(), "UPDATE \"import_rows\" SET \"outcome\" = ");
            sql.bind(outcome).push(", \"errors\" = ").bind(errors_json(errors));
            sql.push(" WHERE \"id\" = ").bind(row.id);
            sql.run(context.db()).await?;
            outcomes.push(outcome);
        }
        if !progress::advance(state, context.db(), claim, UNDOING, 0, outcomes.into_iter()).await? {
            return Ok(End::Lost);
        }
        transaction.commit(&outside).await?;
    }
}

fn left(why: &str) -> Error {
    Error::invalid(ROW, why)
}

/// Undoes one row.
async fn undo_row(context: &Context<'_>, entry: &Entry, import_id: i64, row: &row::Model) -> Result<()> {
    let id = row.record_id.ok_or_else(|| left("has no record"))?;
    let condition = visible(context, entry);
    // The lock keeps others from changing the record between the check and the write.
    if load(context, entry, id, &condition, true).await?.is_none() {
        return Err(left("is left: the record was deleted, or you may not see it"));
    }
    let audit = Audit { context, entry, import_id, id };
    let changes = audit.own_changes().await?;
    if audit.has_later_change().await? {
        return Err(left("is left: the record was changed since"));
    }
    let conditions = Preconditions::default();
    if row.outcome == "created" {
        Access::write(entry, "delete").check(context.caller())?;
        // Records that refer to it by `on_delete` would be deleted or changed too, also those that others made since.
        let plan = plan(context, entry, &[id], true).await?;
        if !plan.deleted.is_empty() || !plan.cleared.is_empty() {
            return Err(left("is left: other records refer to it"));
        }
        return delete(context, entry, id, Condition::always(), &conditions).await;
    }
    Access::write(entry, "update").check(context.caller())?;
    let body = old_values(entry, &changes)?.to_string();
    let body = Body::read(body.as_bytes(), None)?;
    update(context, entry, id, Condition::always(), &conditions, &body, None).await.map(drop)
}

/// The audit entries of one record.
struct Audit<'a> {
    context: &'a Context<'a>,
    entry: &'a Entry,
    import_id: i64,
    id: i64,
}

impl Audit<'_> {
    fn select(&self, columns: &str) -> Sql {
        let mut sql = Sql::new(self.context.state().db.dialect(), format!("SELECT {columns} FROM \"audit_entries\""));
        sql.push(" WHERE \"entity_type\" = ").bind(self.entry.meta.plural).push(" AND \"record_id\" = ").bind(self.id);
        sql
    }

    /// The changes of the import, as the audit log has them.
    async fn own_changes(&self) -> Result<Map<String, Value>> {
        let mut sql = self.select("\"changes\"");
        sql.push(" AND \"import_id\" = ").bind(self.import_id).push(" ORDER BY \"id\"");
        let mut changes = Map::new();
        for row in sql.all(self.context.db()).await? {
            let entry: Value = row.try_get("", "changes")?;
            for (field, change) in entry.as_object().cloned().unwrap_or_default() {
                // The first change has the value from before the import.
                changes.entry(field).or_insert(change);
            }
        }
        Ok(changes)
    }

    /// True if anything else has changed the record after the import did.
    async fn has_later_change(&self) -> Result<bool> {
        let mut sql = self.select("1");
        sql.push(" AND (\"import_id\" IS NULL OR \"import_id\" <> ").bind(self.import_id).push(")");
        sql.push(" AND \"id\" > (SELECT MIN(\"id\") FROM \"audit_entries\" WHERE \"entity_type\" = ");
        sql.bind(self.entry.meta.plural).push(" AND \"record_id\" = ").bind(self.id);
        sql.push(" AND \"import_id\" = ").bind(self.import_id).push(") LIMIT 1");
        Ok(sql.one(self.context.db()).await?.is_some())
    }
}
