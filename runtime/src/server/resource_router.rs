//! Router of all resource paths and of the search over all resources, below `/api/v1`.

use std::collections::BTreeMap;
use std::sync::Arc;

use charter_core::ops::endpoints::{API, methods, path, path_kinds, path_segments};
use charter_core::ops::search::SEARCH;
use salvo::routing::PathState;
use salvo::{Request, Router};

use super::resource_handler::ResourceEndpoint;
use super::search::SearchEndpoint;
use super::{Endpoint, ServerState};

/// First path segments in one group of the router.
const ROUTES_PER_GROUP: usize = 8;

/// Mounts every resource, and the search over all of them, under `/api/v1`. Paths are grouped by their first segment, and the sorted segments into ranges
/// of [`ROUTES_PER_GROUP`], because the router tries one path after another.
pub(crate) fn router(state: &Arc<ServerState>) -> Router {
    let mut roots: BTreeMap<String, Router> = BTreeMap::new();
    for (index, entry) in state.catalog.entries().iter().enumerate() {
        for path_kind in path_kinds(&state.catalog, entry) {
            let path = path(&state.catalog, entry, path_kind);
            let (first, rest) = path.split_once('/').unwrap_or((&path, ""));
            let root = roots.remove(first).unwrap_or_else(|| Router::with_path(first));
            let methods = methods(&state.catalog, entry, path_kind);
            let endpoint = Endpoint::new(state.clone(), ResourceEndpoint { index, path_kind, methods });
            let root = match rest {
                "" => root.goal(endpoint),
                _ => root.push(Router::with_path(rest).goal(endpoint)),
            };
            roots.insert(first.into(), root);
        }
    }
    roots.insert(SEARCH.into(), Router::with_path(SEARCH).goal(Endpoint::new(state.clone(), SearchEndpoint)));
    let mut roots = roots.into_iter().peekable();
    let mut api = Router::with_path(API.trim_start_matches('/'));
    while let Some((first, _)) = roots.peek() {
        let (first, mut last) = (first.clone(), String::new());
        let mut group = Vec::with_capacity(ROUTES_PER_GROUP);
        for (name, root) in roots.by_ref().take(ROUTES_PER_GROUP) {
            last = name;
            group.push(root);
        }
        let is_in_group = move |request: &mut Request, _: &mut PathState<'_>| {
            let name = path_segments(request.uri().path()).nth(path_segments(API).count()).unwrap_or_default();
            (first.as_str()..=last.as_str()).contains(&name)
        };
        api = api.push(group.into_iter().fold(Router::with_filter_fn(is_in_group), Router::push));
    }
    api
}
