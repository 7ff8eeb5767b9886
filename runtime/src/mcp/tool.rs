//! Tools: the operations of the API that an agent may call, by the ids that they have in the OpenAPI document.

use charter_core::catalog::{Catalog, Entry};
use charter_core::meta::{ActionOutput, Operation};
use charter_core::ops::endpoints::{API, Method, PathKind, methods, path, path_kinds};
use charter_core::ops::{Access, RouteInfo, RouteOperation};
use charter_core::principal::Principal;
use serde_json::{Value, json};

use crate::openapi::{english, operation};

/// One operation of one path.
#[derive(Debug)]
pub(super) struct Tool {
    /// `list_products`
    pub name: String,
    /// `List products`
    pub title: String,
    /// The position of the resource in the catalog.
    pub index: usize,
    pub method: &'static str,
    pub call: RouteOperation,
    /// The path below `/api/v1`, with its parameters: `/products/{id}`.
    pub path: String,
    access: Access,
}

impl Tool {
    pub(super) fn entry<'c>(&self, catalog: &'c Catalog) -> &'c Entry {
        &catalog.entries()[self.index]
    }

    /// True if the caller's token and roles let it call the tool.
    pub(super) fn is_allowed(&self, caller: &Principal) -> bool {
        self.access.allows(caller)
    }

    /// True if it changes records, so that it has the argument `dry_run`.
    pub(super) fn writes(&self) -> bool {
        !self.call.reads()
    }

    /// True if it lists records, and not a summary of them.
    pub(super) fn lists_records(&self) -> bool {
        matches!(self.call, RouteOperation::Operation(Operation::List))
    }

    /// The names of the parameters in the path: `id`.
    pub(super) fn path_parameters(&self) -> impl Iterator<Item = &str> {
        self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
    }

    /// The hints by which a client decides whether to ask its user. A missing
    /// `readOnlyHint` or `idempotentHint` is false.
    pub(super) fn annotations(&self) -> Value {
        if !self.writes() {
            return json!({ "title": self.title, "readOnlyHint": true });
        }
        let creates = match self.call {
            RouteOperation::Operation(operation) => operation == Operation::Create,
            RouteOperation::Action(action) => matches!(action.output, ActionOutput::Created),
            RouteOperation::Bulk | RouteOperation::Restore | RouteOperation::Summary => false,
        };
        let mut hints = json!({ "title": self.title, "destructiveHint": !creates });
        if matches!(self.call, RouteOperation::Operation(Operation::Update)) {
            hints["idempotentHint"] = true.into();
        }
        hints
    }

    /// A sentence or two about the tool.
    pub(super) fn description(&self, entry: &Entry) -> String {
        let (one, several) = (english::record_with_article(entry.meta), english::records(entry.meta));
        match self.call {
            RouteOperation::Operation(Operation::List) if entry.meta.description.is_empty() => self.title.clone() + ".",
            RouteOperation::Operation(Operation::List) => {
                format!("{}. {}", self.title, english::sentence(entry.meta.description))
            }
            RouteOperation::Operation(Operation::Show) => format!("Show {one} with all fields and its etag."),
            RouteOperation::Operation(Operation::Update) => {
                format!("Change the given fields of {one}. An empty text clears a field that can be null.")
            }
            RouteOperation::Action(action) if !action.description.is_empty() => english::sentence(action.description),
            RouteOperation::Summary => format!("Count {several} and aggregate their fields by group."),
            _ => self.title.clone() + ".",
        }
    }
}

/// All tools, those of the application before those of the platform.
pub(super) fn all(catalog: &Catalog) -> Vec<Tool> {
    let mut tools = Vec::new();
    for is_platform in [false, true] {
        for entry in catalog.entries().iter().filter(|entry| entry.behavior.is_platform == is_platform) {
            let of_path = |path_kind| {
                let methods = methods(catalog, entry, path_kind).into_iter();
                methods.filter_map(move |method| tool(catalog, entry, path_kind, method))
            };
            let mut of_entry: Vec<Tool> = path_kinds(catalog, entry).into_iter().flat_map(of_path).collect();
            of_entry.sort_by_key(|tool| position(tool.call));
            tools.extend(of_entry);
        }
    }
    tools
}

/// The order of the tools of a resource.
fn position(call: RouteOperation) -> usize {
    match call {
        RouteOperation::Operation(operation) => operation as usize,
        RouteOperation::Action(_) | RouteOperation::Bulk | RouteOperation::Restore => usize::MAX - 1,
        RouteOperation::Summary => usize::MAX,
    }
}

/// The tool of a method; `None` if agents cannot use it: deletions, bulk writes, uploads and actions of imports.
fn tool(catalog: &Catalog, entry: &Entry, path_kind: PathKind, method: Method) -> Option<Tool> {
    let Method { name, call, access } = method;
    let is_offered = match call {
        RouteOperation::Operation(Operation::Create) => !entry.receives_file(),
        // `PATCH` is the same as `PUT`.
        RouteOperation::Operation(Operation::Update) => name == "PUT",
        RouteOperation::Operation(Operation::List | Operation::Show) => true,
        // Those of an import request work in the background, of which a rehearsal shows nothing.
        RouteOperation::Action(_) => !entry.receives_file(),
        RouteOperation::Summary => matches!(path_kind, PathKind::Summary),
        RouteOperation::Operation(Operation::Delete) | RouteOperation::Bulk | RouteOperation::Restore => false,
    };
    if !is_offered {
        return None;
    }
    let path = format!("/{}", path(catalog, entry, path_kind));
    let route = RouteInfo {
        method: name,
        path: format!("{API}{path}"),
        resource: entry.meta.name,
        ability: access.abilities_text(),
        permission: access.permissions_text(),
        // An agent has a token.
        public: None,
        call,
    };
    let (id, title, _) = operation::texts(catalog, entry, &route);
    Some(Tool { name: id, title, index: entry.index, method: name, call, path, access })
}
