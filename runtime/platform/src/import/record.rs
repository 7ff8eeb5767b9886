//! The import resource: a file, its mapping to fields, its progress, and the actions that request work.

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use serde_json::{Map, json};

use super::{ImportLabels, Imports, is_importable, plan, progress};
use crate::attachment::pending_deletion;
use charter_core::catalog::Entry as Target;
use charter_core::custom_field;
use charter_core::error::{Error, Result};
use charter_core::ops::{Access, Context, Draft, Route, work_after_commit};
use charter_core::query::Condition;
use charter_core::resource::Resource as _;
use charter_core::suggest::hint;

pub(super) const UPLOADED: &str = "uploaded";
pub(super) const REHEARSING: &str = "rehearsing";
pub(super) const REHEARSED: &str = "rehearsed";
pub(super) const RUNNING: &str = "running";
pub(super) const DONE: &str = "done";
pub(super) const CANCELLED: &str = "cancelled";
pub(super) const FAILED: &str = "failed";
pub(super) const UNDOING: &str = "undoing";
pub(super) const UNDONE: &str = "undone";

/// The states in which a worker has work.
pub(super) const ACTIVE: [&str; 3] = [REHEARSING, RUNNING, UNDOING];

#[allow(clippy::duplicated_attributes, reason = "all actions are on a record")]
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "import", menu = "Administration", title = "{file_name}")]
#[resource(index("user_id"), index("entity_type", "digest"))]
#[resource(description = "A file whose rows become records of a resource.")]
#[resource(action(
    name = "rehearse",
    on = "record",
    description = "Checks every row without writing: the report lists which rows would create or change a record, and which are refused and why."
))]
#[resource(action(
    name = "run",
    on = "record",
    confirm = "Records are created and changed.",
    description = "Writes the rows, or continues after a stop. Refused rows are left out and are in the report."
))]
#[resource(action(
    name = "cancel",
    on = "record",
    description = "Stops the rehearsal, the run or the undo. A run keeps the rows that it has written, and can continue."
))]
#[resource(action(
    name = "undo",
    on = "record",
    confirm = "Records that the import created are deleted, and those that it changed get their earlier values. Records that were changed since stay as they are.",
    description = "Deletes the created records and sets the changed ones back, if nothing else has changed them since. The report lists those that are left."
))]
pub struct Model {
    pub id: i64,
    #[field(read_only, description = "The id of the user who uploaded the file. Null for the operator.")]
    pub user_id: Option<i64>,
    #[field(
        string(64),
        required,
        immutable,
        description = "The plural name of the resource whose records are imported.",
        example = "users"
    )]
    pub entity_type: String,
    #[field(string(255), read_only)]
    pub file_name: String,
    #[field(enumeration("csv", "ndjson", "xlsx"), read_only)]
    pub format: String,
    #[field(read_only, description = "The size of the file in bytes.")]
    pub file_size: i64,
    /// Key of the file in storage.
    #[field(internal)]
    pub file: Uuid,
    /// SHA-256 of the file.
    #[field(string(64), internal)]
    pub digest: String,
    #[field(list(255), read_only, description = "The names of the columns, from the first row of the file.")]
    pub columns: Json,
    #[field(
        json,
        schema = mapping_schema,
        default_hook,
        description = "The field of each column: a field's name, `cf.` and the name of a custom field, or null for a column \
                       that is not imported. By default, columns are mapped by the names and labels of the fields."
    )]
    pub mapping: Json,
    #[field(
        string(255),
        description = "The mapped field by which records are found that exist already, such as an article number. \
                       Null creates a record for each row.",
        example = "name"
    )]
    pub match_by: Option<String>,
    #[field(
        enumeration(
            "uploaded",
            "rehearsing",
            "rehearsed",
            "running",
            "done",
            "cancelled",
            "failed",
            "undoing",
            "undone"
        ),
        read_only,
        default = "uploaded"
    )]
    pub status: String,
    #[field(read_only, description = "The number of rows that are not empty.")]
    pub row_count: i64,
    #[field(read_only, default = "0", description = "The rows that the rehearsal or the run has passed.")]
    pub rows_done: i64,
    #[field(read_only, default = "0")]
    pub created_count: i64,
    #[field(read_only, default = "0")]
    pub changed_count: i64,
    #[field(read_only, default = "0")]
    pub unchanged_count: i64,
    #[field(read_only, default = "0")]
    pub refused_count: i64,
    #[field(read_only, default = "0", description = "The records that the undo has deleted or set back.")]
    pub undone_count: i64,
    #[field(read_only, default = "0", description = "The records that the undo has left as they are.")]
    pub left_count: i64,
    #[field(text, read_only, description = "Why the import stopped; null if it did not fail.")]
    pub error: Option<String>,
    /// The user with whose rights the work is done, and the token that requested it.
    #[field(internal)]
    pub run_by: Option<i64>,
    #[field(internal)]
    pub run_token_id: Option<i64>,
    /// True once a run has begun: the mapping is fixed from then on.
    #[field(internal, default = "false")]
    pub has_run: bool,
    #[field(string(64), internal)]
    pub lease_owner: Option<String>,
    #[field(internal)]
    pub lease_until: Option<DateTimeUtc>,
    #[field(read_only)]
    pub started_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub finished_at: Option<DateTimeUtc>,
    #[field(read_only)]
    pub created_at: DateTimeUtc,
    #[field(read_only)]
    pub updated_at: DateTimeUtc,
}

/// JSON Schema of a mapping.
pub fn mapping_schema() -> Json {
    json!({
        "type": "object",
        "additionalProperties": { "type": ["string", "null"], "examples": ["name"] },
        "examples": [{ "Name": "name", "Remark": null }],
    })
}

pub fn route() -> Route {
    let mut route = charter_core::route!(
        Entity,
        Behaviour,
        hooks(scope, check, before_delete, after_delete),
        actions(record rehearse, record run, record cancel, record undo)
    );
    route.receives_file = true;
    route
}

trait Behaviour {
    fn scope(context: &Context<'_>) -> Option<Condition>;
    fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn before_delete(context: &Context<'_>, import: &Model) -> impl Future<Output = Result<()>> + Send;
    fn after_delete(context: &Context<'_>, import: &Model) -> impl Future<Output = Result<()>> + Send;
    fn rehearse(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn run(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn cancel(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    fn undo(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    /// Scope: administrators see all imports, others their own.
    fn scope(context: &Context<'_>) -> Option<Condition> {
        let owner = Entity::meta().fields.iter().find(|field| field.name == "user_id")?;
        (!context.caller().is_admin).then(|| Condition::equals(owner, context.caller().user_id.unwrap_or(0)))
    }

    /// Checks the resource, the mapping and the key, and maps columns by name if the client has not mapped them.
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let before = draft.before.clone();
        let entity_type = draft.model.entity_type.try_as_ref().cloned().unwrap_or_default();
        let Some(entry) = context.catalog().by_plural(&entity_type).filter(|entry| is_importable(entry)) else {
            let known = context.catalog().entries().iter().filter(|entry| is_importable(entry));
            let hint = hint(&entity_type, known.map(|entry| entry.meta.plural));
            draft
                .error(Column::EntityType, format!("must be the plural name of a resource that can be imported{hint}"));
            return Ok(());
        };
        let mapping = draft.model.mapping.try_as_ref().cloned();
        let match_by = draft.model.match_by.try_as_ref().cloned().flatten();
        // An action changes neither.
        if before
            .as_ref()
            .is_some_and(|import| Some(&import.mapping) == mapping.as_ref() && import.match_by == match_by)
        {
            return Ok(());
        }
        if before.as_ref().is_some_and(|import| import.has_run || ACTIVE.contains(&import.status.as_str())) {
            draft.error(Column::Mapping, "cannot be changed once the import runs; upload the file again");
            return Ok(());
        }
        let columns = draft.model.columns.try_as_ref().map(plan::columns).unwrap_or_default();
        let definitions = match entry.meta.custom_fields {
            true => custom_field::load(context.db(), entry.meta.plural).await?,
            false => Vec::new(),
        };
        let labels = ImportLabels::of(context.state());
        let mapping =
            mapping.unwrap_or_else(|| plan::automatic(context.caller(), entry, &definitions, &columns, labels).into());
        let (plan, errors) =
            plan::Plan::read(context.caller(), entry, &definitions, &columns, &mapping, match_by.as_deref());
        for (field, problem) in errors {
            draft.error_at(field, problem);
        }
        if before.is_none() && match_by.is_none() {
            draft.model.match_by = Set(plan.unique_field(context.caller()).map(str::to_string));
        }
        draft.model.mapping = Set(mapping);
        if before.is_some() {
            // The report was that of another mapping.
            draft.model.status = Set(UPLOADED.into());
            draft.model.rows_done = Set(0);
        }
        Ok(())
    }

    async fn before_delete(_: &Context<'_>, import: &Model) -> Result<()> {
        match ACTIVE.contains(&import.status.as_str()) {
            true => Err(Error::Conflict("The import is at work: cancel it first.".into())),
            false => Ok(()),
        }
    }

    /// Schedules the deletion of the file in the same transaction.
    async fn after_delete(context: &Context<'_>, import: &Model) -> Result<()> {
        pending_deletion::schedule(context.db(), context.state().db.dialect(), import.file, context.now()).await
    }

    async fn rehearse(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let import = stored(draft)?;
        if import.has_run {
            return Err(Error::Conflict("The import has run already. Upload the file again to rehearse it.".into()));
        }
        check_plan(context, &import, draft).await?;
        begin(context, draft, REHEARSING);
        draft.model.rows_done = Set(0);
        draft.model.started_at = Set(Some(context.now()));
        clear_counts(draft);
        Ok(())
    }

    async fn run(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let import = stored(draft)?;
        if matches!(import.status.as_str(), DONE | UNDONE) || import.undone_count + import.left_count > 0 {
            return Err(Error::Conflict("The import has run already. Upload the file again to repeat it.".into()));
        }
        check_plan(context, &import, draft).await?;
        if import.match_by.is_none()
            && let Some(earlier) = progress::earlier_run(context, &import).await?
        {
            let problem = format!(
                "is required: import {earlier} has read the same file, and without a key each row would create one more record"
            );
            draft.error(Column::MatchBy, problem);
            return Ok(());
        }
        begin(context, draft, RUNNING);
        if !import.has_run {
            draft.model.has_run = Set(true);
            draft.model.rows_done = Set(0);
            draft.model.started_at = Set(Some(context.now()));
            clear_counts(draft);
        }
        Ok(())
    }

    async fn cancel(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let import = stored(draft)?;
        draft.model.status = Set(match import.status.as_str() {
            REHEARSING => UPLOADED,
            RUNNING | UNDOING => CANCELLED,
            _ => return Err(Error::Conflict("The import is not at work.".into())),
        }
        .into());
        draft.model.lease_owner = Set(None);
        draft.model.lease_until = Set(None);
        Ok(())
    }

    async fn undo(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let import = stored(draft)?;
        if !import.has_run || import.status == UNDONE {
            return Err(Error::Conflict("The import has nothing to undo.".into()));
        }
        need_idle(&import)?;
        let entry = target(context, &import)?;
        if import.created_count > 0 {
            Access::write(entry, "delete").check(context.caller())?;
        }
        if import.changed_count > 0 {
            Access::write(entry, "update").check(context.caller())?;
        }
        begin(context, draft, UNDOING);
        Ok(())
    }
}

/// The import before the action.
fn stored(draft: &Draft<Entity>) -> Result<Model> {
    draft.before.clone().ok_or_else(|| Error::internal("an action without a record"))
}

/// The resource of an import.
pub(super) fn target<'c>(context: &Context<'c>, import: &Model) -> Result<&'c Target> {
    let found = context.catalog().by_plural(&import.entity_type).filter(|entry| is_importable(entry));
    found.ok_or_else(|| Error::Conflict(format!("There is no resource `{}` any more.", import.entity_type)))
}

fn need_idle(import: &Model) -> Result<()> {
    match ACTIVE.contains(&import.status.as_str()) {
        true => Err(Error::Conflict("The import is at work already.".into())),
        false => Ok(()),
    }
}

/// Refuses a plan that the caller may not carry out, or that maps no column.
async fn check_plan(context: &Context<'_>, import: &Model, draft: &mut Draft<Entity>) -> Result<()> {
    need_idle(import)?;
    let entry = target(context, import)?;
    let plan = plan::Plan::of(context, entry, import).await?;
    plan.check_rights(context.caller())?;
    for (field, problem) in plan.problems(context.caller()) {
        draft.error_at(field, problem);
    }
    Ok(())
}

/// Requests work with the rights of the caller.
fn begin(context: &Context<'_>, draft: &mut Draft<Entity>, status: &str) {
    draft.model.status = Set(status.into());
    draft.model.run_by = Set(context.caller().user_id);
    draft.model.run_token_id = Set(context.caller().token_id);
    draft.model.lease_owner = Set(None);
    draft.model.lease_until = Set(None);
    draft.model.finished_at = Set(None);
    draft.model.error = Set(None);
    let Ok(entry) = context.catalog().get("import") else { return };
    work_after_commit(
        context,
        entry,
        Box::new(|context| {
            Box::pin(async move {
                context.state().extension::<Imports>()?.wake.notify_one();
                Ok(())
            })
        }),
    );
}

fn clear_counts(draft: &mut Draft<Entity>) {
    draft.model.created_count = Set(0);
    draft.model.changed_count = Set(0);
    draft.model.unchanged_count = Set(0);
    draft.model.refused_count = Set(0);
}

/// An empty mapping.
pub(super) type Mapping = Map<String, Json>;
