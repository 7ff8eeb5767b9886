//! Routes: a resource's metadata, and plain function pointers to its hooks and actions.
//!
//! The typed traits are generated. `route!` wraps each of their methods in a function without type parameters, so that
//! the operations are compiled once and not once for each resource.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use sea_orm::QueryResult;

use super::action::ActionHandler;
use super::consequences::Consequence;
use super::input::changeset::Changes;
use super::schedule::ScheduledJob;
use crate::catalog::Behavior;
use crate::db::Row;
use crate::error::Result;
use crate::meta::{FieldMeta, ResourceMeta};
use crate::ops::Context;
use crate::query::Condition;
use crate::record::Shape;
use crate::resource::Resource;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs before a record is written. It may change values and add errors.
pub(super) type SaveHook = for<'a> fn(&'a Context<'a>, &'a mut Changes) -> BoxFuture<'a, Result<()>>;
/// Runs with a stored record.
pub(super) type RecordHook = for<'a> fn(&'a Context<'a>, &'a QueryResult) -> BoxFuture<'a, Result<()>>;
/// Runs with a stored record, and the record before the write, `None` for a new one.
pub(super) type SavedHook =
    for<'a> fn(&'a Context<'a>, &'a QueryResult, Option<&'a QueryResult>) -> BoxFuture<'a, Result<()>>;
/// Returns the condition for the records that the caller may see, or `None` for all.
pub(super) type ScopeHook = for<'a> fn(&'a Context<'a>) -> Option<Condition>;
/// Returns the JSON of a computed field for each row. The rows contain the columns that the field is computed from.
pub type ComputeHook =
    for<'a> fn(&'a Context<'a>, &'static FieldMeta, &'a Shape, &'a [Row<'a>]) -> BoxFuture<'a, Result<Vec<Vec<u8>>>>;
/// Narrows a projection to what the caller may read.
pub(super) type NarrowHook = for<'a> fn(&'a Context<'a>, &mut Shape);
/// Returns the consequences of an operation (`delete`, or the name of an action) on records, for the page that asks
/// before it.
pub(super) type ConsequencesHook =
    for<'a> fn(&'a Context<'a>, &'a str, &'a [i64]) -> BoxFuture<'a, Result<Vec<Consequence>>>;
/// Hooks of a resource.
#[derive(Clone, Copy, Default)]
pub struct Hooks {
    /// Decides whether the caller may change or delete a record, before the body is validated.
    pub guard: Option<RecordHook>,
    /// Adds errors to those of the rules. Values that could not be read are not set.
    pub check: Option<SaveHook>,
    pub before_save: Option<SaveHook>,
    pub after_save: Option<SavedHook>,
    pub before_delete: Option<RecordHook>,
    pub after_delete: Option<RecordHook>,
    pub after_commit: Option<SavedHook>,
    pub scope: Option<ScopeHook>,
    /// Limits lists further than `scope`.
    pub list_scope: Option<ScopeHook>,
    /// Narrows the projection to what the caller may read of a record.
    pub narrow: Option<NarrowHook>,
    /// Computes the computed fields.
    pub computed: Option<ComputeHook>,
    /// Counts what an operation changes beyond its records.
    pub consequences: Option<ConsequencesHook>,
}

/// A resource as the application mounts it.
#[derive(Clone)]
pub struct Route {
    pub meta: &'static ResourceMeta,
    pub hooks: Hooks,
    pub actions: Vec<(&'static str, ActionHandler)>,
    /// Its background jobs.
    pub jobs: Vec<ScheduledJob>,
    /// True for the resource of attachments: see [`Behavior::is_attached`].
    pub is_attached: bool,
    /// See [`Behavior::receives_file`].
    pub receives_file: bool,
    /// See [`Behavior::is_platform`].
    pub is_platform: bool,
    /// True if a write can grant access that outlasts the caller's. Such a write authenticates the caller without the
    /// token cache.
    pub grants_access: bool,
}

impl Route {
    /// A resource without hooks and actions.
    pub fn of<R: Resource>() -> Route {
        Route {
            meta: R::meta(),
            hooks: Hooks::default(),
            actions: Vec::new(),
            jobs: Vec::new(),
            is_attached: false,
            receives_file: false,
            is_platform: false,
            grants_access: false,
        }
    }

    /// The same route for records that grant access, such as tokens and roles: see [`Route::grants_access`].
    pub fn granting_access(self) -> Route {
        Route { grants_access: true, ..self }
    }

    /// The facts about its hooks that linking needs.
    pub fn behavior(&self) -> Behavior {
        Behavior {
            is_scoped: self.hooks.scope.is_some(),
            can_refuse_deletion: self.hooks.before_delete.is_some(),
            is_attached: self.is_attached,
            receives_file: self.receives_file,
            is_platform: self.is_platform,
        }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route").field("resource", &self.meta.name).finish_non_exhaustive()
    }
}

/// Wraps an entity and its behaviour trait in a [`Route`]($crate::ops::Route): one line for each resource.
///
/// `actions` names each action in the form of its method: `record complete`, `record_input pause: PauseInput`,
/// `record_created clone`, `record_input_created copy: CopyInput`, `record_output quote`, `record_input_output quote: QuoteInput`, `collection stats`, `collection_input convert: ConvertInput`. `jobs` names each job
/// with its schedule: `jobs(remind_overdue: Schedule::every(3600))`.
#[macro_export]
macro_rules! route {
    ($entity:ty, $behaviour:path, hooks($($hook:ident),*), actions($($form:ident $action:ident $(: $input:ty)?),*) $(, jobs($($job:ident: $schedule:expr),*))?) => {{
        #[allow(unused_mut)]
        let mut route = $crate::generated::Route::of::<$entity>();
        $($crate::route!(@hook route, $entity, $behaviour, $hook);)*
        $($crate::route!(@action route, $entity, $behaviour, $form, $action $(, $input)?);)*
        $($(route.jobs.push($crate::generated::ScheduledJob {
            name: stringify!($job),
            schedule: $schedule,
            run: |context| Box::pin(async move { <$entity as $behaviour>::$job(context).await }),
        });)*)?
        route
    }};
    (@hook $route:ident, $entity:ty, $behaviour:path, before_save) => {
        $route.hooks.before_save = Some(|context, changes| Box::pin(async move {
            let mut draft = changes.draft::<$entity>()?;
            <$entity as $behaviour>::before_save(context, &mut draft).await?;
            changes.take(draft)
        }));
    };
    (@hook $route:ident, $entity:ty, $behaviour:path, check) => {
        $route.hooks.check = Some(|context, changes| Box::pin(async move {
            let mut draft = changes.draft::<$entity>()?;
            <$entity as $behaviour>::check(context, &mut draft).await?;
            changes.take(draft)
        }));
    };
    (@hook $route:ident, $entity:ty, $behaviour:path, scope) => {
        $route.hooks.scope = Some(|context| <$entity as $behaviour>::scope(context));
    };
    (@hook $route:ident, $entity:ty, $behaviour:path, list_scope) => {
        $route.hooks.list_scope = Some(|context| <$entity as $behaviour>::list_scope(context));
    };
    (@hook $route:ident, $entity:ty, $behaviour:path, consequences) => {
        $route.hooks.consequences = Some(|context, verb, ids| Box::pin(async move {
            <$entity as $behaviour>::consequences(context, verb, ids).await
        }));
    };
    (@hook $route:ident, $entity:ty, $behaviour:path, after_save) => {
        $crate::route!(@saved $route, $entity, $behaviour, after_save);
    };
    (@hook $route:ident, $entity:ty, $behaviour:path, after_commit) => {
        $crate::route!(@saved $route, $entity, $behaviour, after_commit);
    };
    (@saved $route:ident, $entity:ty, $behaviour:path, $hook:ident) => {
        $route.hooks.$hook = Some(|context, row, before| Box::pin(async move {
            let model = $crate::generated::model::<$entity>(row)?;
            let before = before.map($crate::generated::model::<$entity>).transpose()?;
            <$entity as $behaviour>::$hook(context, &model, before.as_ref()).await
        }));
    };
    (@hook $route:ident, $entity:ty, $behaviour:path, $hook:ident) => {
        $route.hooks.$hook = Some(|context, row| Box::pin(async move {
            let model = $crate::generated::model::<$entity>(row)?;
            <$entity as $behaviour>::$hook(context, &model).await
        }));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, record, $action:ident) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::Record(|context, changes, _input| Box::pin(async move {
            let mut draft = changes.draft::<$entity>()?;
            <$entity as $behaviour>::$action(context, &mut draft).await?;
            changes.take(draft)
        }))));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, record_input, $action:ident, $input:ty) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::Record(|context, changes, input| Box::pin(async move {
            let input = <$input as $crate::generated::Input>::from_values(input)?;
            let mut draft = changes.draft::<$entity>()?;
            <$entity as $behaviour>::$action(context, &mut draft, input).await?;
            changes.take(draft)
        }))));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, record_created, $action:ident) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::RecordCreated(|context, row, changes, _input| Box::pin(async move {
            let model = $crate::generated::model::<$entity>(row)?;
            let mut draft = changes.draft::<$entity>()?;
            <$entity as $behaviour>::$action(context, &model, &mut draft).await?;
            changes.take(draft)
        }))));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, record_input_created, $action:ident, $input:ty) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::RecordCreated(|context, row, changes, input| Box::pin(async move {
            let input = <$input as $crate::generated::Input>::from_values(input)?;
            let model = $crate::generated::model::<$entity>(row)?;
            let mut draft = changes.draft::<$entity>()?;
            <$entity as $behaviour>::$action(context, &model, &mut draft, input).await?;
            changes.take(draft)
        }))));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, record_output, $action:ident) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::RecordOutput(|context, row, _input| Box::pin(async move {
            let model = $crate::generated::model::<$entity>(row)?;
            let output = <$entity as $behaviour>::$action(context, &model).await?;
            Ok($crate::generated::Output::into_values(output))
        }))));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, record_input_output, $action:ident, $input:ty) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::RecordOutput(|context, row, input| Box::pin(async move {
            let input = <$input as $crate::generated::Input>::from_values(input)?;
            let model = $crate::generated::model::<$entity>(row)?;
            let output = <$entity as $behaviour>::$action(context, &model, input).await?;
            Ok($crate::generated::Output::into_values(output))
        }))));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, collection, $action:ident) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::Collection(|context, _input| Box::pin(async move {
            let output = <$entity as $behaviour>::$action(context).await?;
            Ok($crate::generated::Output::into_values(output))
        }))));
    };
    (@action $route:ident, $entity:ty, $behaviour:path, collection_input, $action:ident, $input:ty) => {
        $route.actions.push((stringify!($action), $crate::generated::ActionHandler::Collection(|context, input| Box::pin(async move {
            let input = <$input as $crate::generated::Input>::from_values(input)?;
            let output = <$entity as $behaviour>::$action(context, input).await?;
            Ok($crate::generated::Output::into_values(output))
        }))));
    };
}
