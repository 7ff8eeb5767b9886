//! Arguments of tools: their names, and the part that each has in the request to the API.

use charter_core::header;
use charter_core::meta::{ActionOn, Operation};
use charter_core::ops::RouteOperation;
use charter_core::query::Function;

use super::tool::Tool;

/// Names of arguments that are no fields and no parameters of a path.
pub(super) const Q: &str = "q";
pub(super) const SEARCH: &str = "search";
pub(super) const SORT: &str = "sort";
pub(super) const FIELDS: &str = "fields";
pub(super) const INCLUDE: &str = "include";
pub(super) const LIMIT: &str = "limit";
pub(super) const CURSOR: &str = "cursor";
pub(super) const GROUP: &str = "group";
pub(super) const DRY_RUN: &str = "dry_run";
pub(super) const IF_MATCH: &str = "if_match";
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// The part of an argument in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    PathParameter,
    DryRun,
    /// The header of this name.
    Header(&'static str),
    /// A field of the body, or a parameter of the query string.
    Field,
    /// The tool does not have the argument.
    Unknown,
}

/// The role of an argument. A field of a record that the API does not know is refused by the API, with a suggestion.
pub(super) fn role(tool: &Tool, name: &str) -> Role {
    let is_list = tool.lists_records();
    let is_field = match tool.call {
        RouteOperation::Operation(Operation::List | Operation::Show) => {
            matches!(name, FIELDS | INCLUDE) || is_list && matches!(name, Q | SEARCH | SORT | LIMIT | CURSOR)
        }
        RouteOperation::Operation(_) => true,
        RouteOperation::Action(action) => action.input.iter().any(|field| field.name == name),
        RouteOperation::Summary => {
            matches!(name, Q | SEARCH | GROUP) || Function::ALL.iter().any(|function| function.name() == name)
        }
        RouteOperation::Bulk | RouteOperation::Restore => false,
    };
    match name {
        _ if tool.path_parameters().any(|known| known == name) => Role::PathParameter,
        DRY_RUN if tool.writes() => Role::DryRun,
        IF_MATCH if takes_if_match(tool) => Role::Header(header::IF_MATCH),
        IDEMPOTENCY_KEY if takes_key(tool) => Role::Header(header::IDEMPOTENCY_KEY),
        _ if is_field => Role::Field,
        _ => Role::Unknown,
    }
}

/// True if a write can be made conditional on the version of its record.
pub(super) fn takes_if_match(tool: &Tool) -> bool {
    match tool.call {
        RouteOperation::Operation(operation) => operation == Operation::Update,
        RouteOperation::Action(action) => action.on == ActionOn::Record && tool.call.has_conditions(),
        RouteOperation::Bulk | RouteOperation::Restore | RouteOperation::Summary => false,
    }
}

/// True if a repeated call with the same idempotency key runs once.
pub(super) fn takes_key(tool: &Tool) -> bool {
    tool.writes() && tool.call.accepts_idempotency_key()
}
