//! Operations of every resource (list, show, create, update, delete, restore, bulk) and its named actions: from an HTTP
//! request to a response.

pub(crate) mod action;
pub mod deprecation;
mod endpoints;
mod etag;
mod hooks;
pub(crate) mod input;
pub(crate) mod list;
mod records;
mod resource_handler;
mod route;
mod show;
mod transaction;
mod visibility;
pub(crate) mod write;

pub use crate::context::Context;
pub use crate::ops::input::body::{Body, RawJson};
pub use crate::ops::input::changeset::{Changes, Draft, model, stored};
pub use crate::ops::input::json_scan::check_numbers;
pub use crate::ops::input::rules::{compile as compile_pattern, is_email, is_url};
pub use crate::ops::list::export::Format;
pub use crate::ops::list::response_cache::ResponseCache;
pub use crate::ops::write::create::{create, create_drafted, insert_seed, read_input};
pub use crate::ops::write::database_side_effects::DatabaseSideEffects;
pub use crate::ops::write::delete::delete;
pub use crate::ops::write::restore::{RESTORE, find as restorable};
pub use crate::ops::write::result::{StoredResponse, WriteResult};
pub(crate) use crate::ops::write::update::release;
pub use crate::ops::write::update::revise;
pub use action::{ActionCall, ActionHandler, ActionResult};
pub use endpoints::{
    API, BULK, Method, RouteInfo, RouteOperation, collection, is_of_api, operations, paths, read_access, routes,
    write_access,
};
pub use etag::{Preconditions, tag, with_gzip_suffix};
pub use hooks::RunningHook;
pub use records::{load, load_all};
pub use resource_handler::router;
pub use route::{BoxFuture, ComputeHook, Hooks, Route, Upload, UploadHandler};
pub use show::wrap;
pub use transaction::Transaction;
pub use visibility::{Audience, visible};
pub(crate) use visibility::{audience, permitted};
