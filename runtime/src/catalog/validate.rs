//! Start-up validation across resources: path conflicts, invalid patterns and filters.

use std::collections::HashMap;

use super::{Catalog, Entry};
use crate::meta::{ActionOutput, FieldMeta, Filter, ResourceMeta, Rule};
use crate::ops::{compile_pattern, paths};
use crate::query::{Predicate, filterable};

/// Top-level paths of the server itself: the API, pages, files and health checks.
pub const RESERVED_PATHS: &[&str] = &["api", "docs", "files", "health", "panel"];

/// Pages of the panel after a collection's and a record's path, which the panel shares with the API. The check of the
/// YAML has the same list; `tests/path_conflicts.rs` compares them.
pub const NEW: &str = "new";
pub const VIEWS: &str = "views";
pub const COLLECTION_PAGES: &[&str] = &[NEW, VIEWS];
pub const DELETE: &str = "delete";
pub const EDIT: &str = "edit";
pub const HISTORY: &str = "history";
pub const RECORD_PAGES: &[&str] = &[DELETE, EDIT, HISTORY];

/// Every problem of the linked resources.
pub fn validate(catalog: &Catalog) -> Vec<String> {
    let mut problems = Vec::new();
    path_conflicts(catalog, &mut problems);
    for entry in catalog.entries() {
        let meta = entry.meta;
        for (prefix, field) in fields(meta) {
            for rule in field.rules {
                if let Rule::Pattern(pattern) = rule
                    && let Err(problem) = compile_pattern(pattern)
                {
                    problems.push(format!("the pattern of {prefix}{} cannot be compiled: {problem}", field.name));
                }
            }
        }
        problems.extend(meta.fields.iter().filter_map(|field| invalid_filter(entry, field)));
        for action in meta.actions.iter().filter(|action| action.input.iter().any(|field| field.name == action.name)) {
            // A body can nest the input under the action's name, which would be ambiguous.
            problems
                .push(format!("a parameter of the action `{}` of {} has the action's name", action.name, meta.plural));
        }
    }
    problems
}

/// Error for a predicate in `filter` that does not fit the field's value.
fn invalid_filter(entry: &Entry, field: &'static FieldMeta) -> Option<String> {
    let Filter::Only(allowed) = field.filter else { return None };
    let source = entry.source(field);
    let kind = source.kind();
    let fits = |name: &str| Predicate::from_name(name).is_some_and(|predicate| predicate.fits(kind));
    let unsupported = allowed.iter().find(|name| !filterable(kind) || !fits(name))?;
    Some(format!(
        "{}.{} allows `{unsupported}` in `filter`, which its values do not support",
        entry.meta.name, field.name
    ))
}

/// The fields of a resource and the parameters and outputs of its actions, each with a prefix for messages.
fn fields(meta: &'static ResourceMeta) -> impl Iterator<Item = (String, &'static FieldMeta)> {
    let own = meta.fields.iter().map(|field| (format!("{}.", meta.name), field));
    own.chain(meta.actions.iter().flat_map(|action| {
        let output = match action.output {
            ActionOutput::Fields { fields, .. } => fields,
            ActionOutput::Record | ActionOutput::Created => &[],
        };
        action.input.iter().chain(output).map(|field| (format!("{}.{}.", meta.name, action.name), field))
    }))
}

/// Reports two routes with the same path, in the API or the panel.
fn path_conflicts(catalog: &Catalog, problems: &mut Vec<String>) {
    let mut taken: HashMap<String, &str> =
        RESERVED_PATHS.iter().map(|name| ((*name).to_owned(), "the server")).collect();
    let all = catalog.entries().iter().flat_map(|entry| {
        let served = paths(catalog, entry).into_iter().map(|path| without_names(&path));
        served.chain(pages(catalog, entry)).map(|path| (path, entry.meta.plural))
    });
    for (path, owner) in all {
        if let Some(other) = taken.insert(path.clone(), owner) {
            problems.push(format!("the path `/{path}` is used twice: by {other} and by {owner}"));
        }
    }
}

/// The panel pages of a resource's list and record.
fn pages(catalog: &Catalog, entry: &Entry) -> Vec<String> {
    let collection = without_names(&crate::ops::collection(catalog, entry));
    let record = if entry.meta.singleton { collection.clone() } else { format!("{collection}/{{}}") };
    let of_list = COLLECTION_PAGES.iter().filter(|_| !entry.meta.singleton);
    let of_list = of_list.map(|page| format!("{collection}/{page}"));
    of_list.chain(RECORD_PAGES.iter().map(|page| format!("{record}/{page}"))).collect()
}

/// `products/{}/accessories`: parameter names do not distinguish paths.
fn without_names(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
