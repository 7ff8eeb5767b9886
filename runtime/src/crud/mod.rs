//! The five plain operations and the named actions, for any resource: from a request to an answer.

mod action;
mod behaviour;
mod body;
mod changes;
mod create;
mod delete;
mod embedded;
mod include;
mod input;
mod list;
mod outcome;
mod references;
mod route;
mod router;
mod rules;
mod show;
mod store;
mod transaction;
mod update;
mod version;

pub use crate::context::Context;
pub use action::{ActionCall, ActionHandler, ActionResult};
pub use behaviour::{BoxFuture, ComputeHook, Hooks, Route, Upload, UploadHandler};
pub use body::{Body, Given};
pub use changes::{Changes, Draft, model, stored};
pub use create::{create, create_drafted, insert_seed, read_input};
pub use delete::delete;
pub use input::MOST_ELEMENTS;
pub use outcome::Outcome;
pub use route::{Call, RouteInfo, routes};
pub use router::router;
pub use show::wrap;
pub use store::{load, load_all, visible};
pub use transaction::Transaction;
pub use update::revise;
pub use version::Conditions;
