//! How a resource's own code is reached: a route carries its metadata and plain functions for what it declares.
//!
//! The typed traits are generated; `route!` wraps each of their methods in a function without type parameters, so that
//! the operations are compiled once and not once per resource.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use sea_orm::QueryResult;

use super::action::ActionHandler;
use super::input::changeset::Changes;
use crate::context::Context;
use crate::db::Row;
use crate::error::Result;
use crate::idempotency::{Key, Once};
use crate::meta::{FieldMeta, ResourceMeta};
use crate::query::Condition;
use crate::record::Shape;
use crate::resource::Resource;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs before a record is written, and may change what is written or add problems.
pub type SaveHook = for<'a> fn(&'a Context<'a>, &'a mut Changes) -> BoxFuture<'a, Result<()>>;
/// Runs on a record as it is stored.
pub type RecordHook = for<'a> fn(&'a Context<'a>, &'a QueryResult) -> BoxFuture<'a, Result<()>>;
/// Which records the caller may see; `None` for all.
pub type ScopeHook = for<'a> fn(&'a Context<'a>) -> Option<Condition>;
/// Makes the JSON of a computed field for each of the rows, which hold the columns that it is made of.
pub type ComputeHook =
    for<'a> fn(&'a Context<'a>, &'static FieldMeta, &'a Shape, &'a [Row<'a>]) -> BoxFuture<'a, Result<Vec<Vec<u8>>>>;
/// Creates a record from a multipart body, and answers what a create does: with a key what the first one did.
pub type UploadHandler = for<'a> fn(&'a Context<'a>, Upload<'a>, Option<Key>) -> BoxFuture<'a, Result<Once>>;

/// The body of an upload as it arrives.
pub struct Upload<'a> {
    /// The header `Content-Type`; empty when there is none.
    pub content_type: String,
    /// The header `Content-Length`, when there is one.
    pub length: Option<u64>,
    pub body: BoxStream<'a, std::io::Result<Bytes>>,
}

/// The declared points at which a resource's own code runs.
#[derive(Clone, Copy, Default)]
pub struct Hooks {
    /// Whether the caller may change or delete a record, before the request is judged.
    pub guard: Option<RecordHook>,
    /// Adds problems to those of the rules; values that could not be read are not set.
    pub check: Option<SaveHook>,
    pub before_save: Option<SaveHook>,
    pub after_save: Option<RecordHook>,
    pub before_delete: Option<RecordHook>,
    pub after_delete: Option<RecordHook>,
    pub after_commit: Option<RecordHook>,
    pub scope: Option<ScopeHook>,
    /// Which of them stand in lists, where that is fewer.
    pub list_scope: Option<ScopeHook>,
    /// What makes the computed fields.
    pub computed: Option<ComputeHook>,
}

/// A resource as the application mounts it.
#[derive(Clone)]
pub struct Route {
    pub meta: &'static ResourceMeta,
    pub hooks: Hooks,
    pub actions: Vec<(&'static str, ActionHandler)>,
    /// Records are files that hang on the records of other resources, those that declare `attachments`: created by a
    /// multipart body, listed below what they hang on, under its abilities.
    pub upload: Option<UploadHandler>,
    /// What is written may outlast the caller's own rights: who writes is looked up anew, whatever is remembered of them.
    pub grants: bool,
}

impl Route {
    /// A resource without behaviour of its own.
    pub fn of<R: Resource>() -> Route {
        Route { meta: R::meta(), hooks: Hooks::default(), actions: Vec::new(), upload: None, grants: false }
    }

    /// The same, of records that give somebody rights.
    pub fn public(self) -> Route {
        Route { grants: true, ..self }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route").field("resource", &self.meta.name).finish_non_exhaustive()
    }
}

/// Wraps an entity and its behaviour trait: one line of routing per resource.
///
/// `actions` names each action in the form of its method: `record complete`, `record_input pause: PauseInput`,
/// `record_created clone`, `record_input_created copy: CopyInput`, `record_output quote`, `record_input_output quote: QuoteInput`, `collection stats`, `collection_input convert: ConvertInput`.
#[macro_export]
macro_rules! route {
    ($entity:ty, $behaviour:path, hooks($($hook:ident),*), actions($($form:ident $action:ident $(: $input:ty)?),*)) => {{
        #[allow(unused_mut)]
        let mut route = $crate::generated::Route::of::<$entity>();
        $($crate::route!(@hook route, $entity, $behaviour, $hook);)*
        $($crate::route!(@action route, $entity, $behaviour, $form, $action $(, $input)?);)*
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
