//! The runs of background jobs as a resource: what waits, what is at work, and the history.

use charter_macros::Resource;
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::{PaginatorTrait, QueryFilter};

use charter_core::error::{Error, Result};
use charter_core::ops::{Context, Draft, Route, work_after_commit};

/// The name of the resource.
pub(super) const NAME: &str = "background_job";
pub(super) const TABLE: &str = "background_jobs";

pub(super) const WAITING: &str = "waiting";
pub(super) const RUNNING: &str = "running";
pub(super) const DONE: &str = "done";
pub(super) const FAILED: &str = "failed";

/// The states of a run that has not ended.
pub(super) const ACTIVE: [&str; 2] = [WAITING, RUNNING];

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "background_job", menu = "Administration", label = "Background job", plural = "background_jobs")]
#[resource(operations("list", "show"), read_permission = "jobs.read", write_permission = "jobs.run")]
#[resource(unique("name", "scheduled_for"), index("finished_at"), index("created_at"))]
#[resource(description = "One run of a background job: scheduled, or queued by a write.")]
#[resource(action(
    name = "run",
    on = "record",
    confirm = "The job runs again, even if it has run already.",
    description = "Runs the job now, with the same arguments: one that waits for its next attempt, or one that has ended."
))]
pub struct Model {
    pub id: i64,
    #[field(string(64), read_only, description = "The name of the job.", example = "remind_overdue")]
    pub name: String,
    /// They may hold personal data, which the readers of the history need not see.
    #[field(json, internal)]
    pub arguments: Json,
    #[field(
        read_only,
        description = "The start of the interval in which a scheduled job runs; null for a job that a write has queued."
    )]
    pub scheduled_for: Option<DateTimeUtc>,
    #[field(enumeration("waiting", "running", "done", "failed"), read_only, default = "waiting")]
    pub status: String,
    #[field(read_only, default = "0", description = "The attempts that have begun.")]
    pub attempts: i32,
    #[field(read_only, description = "The time of the next attempt, or of the last one if the run has ended.")]
    pub due_at: DateTimeUtc,
    #[field(text, read_only, description = "Why the last attempt failed; null if none has, or a later one succeeded.")]
    pub error: Option<String>,
    #[field(read_only, description = "The id of the user whose request queued the job; null for scheduled jobs.")]
    pub user_id: Option<i64>,
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

pub fn route() -> Route {
    charter_core::route!(Entity, Behaviour, hooks(), actions(record run))
}

trait Behaviour {
    fn run(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    async fn run(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let run = draft.before.clone().ok_or_else(|| Error::internal("an action without a record"))?;
        if run.status == RUNNING {
            return Err(Error::Conflict("The job is running.".into()));
        }
        if run.scheduled_for.is_some() {
            let others = Entity::find().filter(Column::Name.eq(&run.name)).filter(Column::Id.ne(run.id));
            let others = others.filter(Column::ScheduledFor.is_not_null()).filter(Column::Status.is_in(ACTIVE));
            if others.count(context.db()).await? > 0 {
                return Err(Error::Conflict("Another run of this scheduled job has not ended.".into()));
            }
        }
        draft.model.status = Set(WAITING.into());
        draft.model.attempts = Set(0);
        draft.model.due_at = Set(context.now());
        draft.model.error = Set(None);
        draft.model.finished_at = Set(None);
        let entry = context.catalog().get(NAME)?;
        work_after_commit(context, entry, Box::new(|context| Box::pin(async move { super::wake(context) })));
        Ok(())
    }
}
