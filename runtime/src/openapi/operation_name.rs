//! Name of an operation within its resource (`x-operation`), from which client generators name a method.

use super::operation::attached_to;
use charter_core::catalog::Entry;
use charter_core::meta::Operation;
use charter_core::ops::{RouteInfo, RouteOperation};

/// `list`, `bulk` or the name of an action; for attachments `list_of_members`.
pub(super) fn of(entry: &Entry, route: &RouteInfo) -> String {
    let of_owner = |verb: &str| match entry.is_attached() {
        true => format!("{verb}_of_{}", attached_to(route).0),
        false => verb.to_string(),
    };
    match route.call {
        RouteOperation::Operation(Operation::List) => of_owner("list"),
        RouteOperation::Summary => of_owner("summary"),
        RouteOperation::Operation(Operation::Show) => "show".into(),
        RouteOperation::Operation(Operation::Create) => "create".into(),
        RouteOperation::Operation(Operation::Update) if route.method == "PATCH" => "patch".into(),
        RouteOperation::Operation(Operation::Update) => "update".into(),
        RouteOperation::Operation(Operation::Delete) => "delete".into(),
        RouteOperation::Action(action) => action.name.into(),
        RouteOperation::Bulk => "bulk".into(),
        RouteOperation::Restore => "restore".into(),
    }
}
