//! Operations of every resource (list, show, create, update, delete, restore, bulk) and its named actions: from an HTTP
//! request to a response.

pub mod action;
mod attached_records;
pub mod audit;
mod context;
pub mod deprecation;
pub mod endpoints;
pub mod etag;
mod extensions;
mod hooks;
pub mod idempotency;
pub mod input;
pub mod list;
pub mod outbox;
pub mod records;
mod route;
pub mod show;
mod startup_validation;
mod state;
mod transaction;
pub mod visibility;
pub mod write;

pub use crate::ops::input::body::{Body, RawJson};
pub use crate::ops::input::changeset::{Changes, Draft, model, stored};
pub use crate::ops::input::rules::{compile as compile_pattern, is_email, is_url};
pub use crate::ops::list::export::Format;
pub use crate::ops::list::response_cache::ResponseCache;
pub use crate::ops::write::create::{create, create_drafted, insert_seed, read_input};
pub use crate::ops::write::database_side_effects::DatabaseSideEffects;
pub use crate::ops::write::delete::delete;
pub use crate::ops::write::restore::{RESTORE, find as restorable};
pub use crate::ops::write::result::{StoredResponse, WriteResult};
pub use crate::ops::write::update::release;
pub use crate::ops::write::update::revise;
pub use action::{ActionCall, ActionHandler, ActionResult};
pub use attached_records::attachable;
pub use attached_records::attached_to;
pub use context::Context;
pub use endpoints::{
    API, BULK, Method, RouteInfo, RouteOperation, collection, is_of_api, operations, paths, read_access, routes,
    write_access,
};
pub use etag::{Preconditions, tag, with_gzip_suffix};
pub use extensions::Extensions;
pub use hooks::RunningHook;
pub use records::{load, load_all};
pub use route::{BoxFuture, ComputeHook, Hooks, Route};
pub use show::wrap;
pub use startup_validation::link_routes;
pub use state::{PublicUrl, State};
pub use transaction::Transaction;
pub use visibility::{Audience, visible};
pub use visibility::{audience, permitted};
