//! The list of doors: every route of the server and every query parameter of its document has its requests, or a reason why
//! not.

use std::collections::BTreeSet;

use charter_runtime::ops::routes;

use super::panel::unknown_arms;
use super::reads::{OTHER_PARAMETERS, PARAMETERS};
use crate::support::Server;

/// Routes of the server that belong to no resource.
const OTHERS: &[(&str, &str)] = &[
    ("health/live", "has no records"),
    ("health/ready", "has no records"),
    ("health/metrics", "counts requests of routes, not records"),
    ("api/v1/search", "search"),
    ("mcp", "mcp"),
    ("files/{uuid}/{part}", "the signed link is the right, and is in the record of the file alone"),
    ("api/v1/openapi.json", "is made from the metadata, and the same for everybody"),
    ("docs/viewer.js", "has no records"),
    ("docs", "has no records"),
    ("docs/begin.js", "has no records"),
    ("", "panel"),
    ("{**rest}", "panel"),
];

/// The parameters of a signed link.
const OF_LINKS: &[&str] = &["expires", "signature"];

/// Doors that the matrix has no requests for.
pub async fn unknown(server: &Server) -> Vec<String> {
    let mut found: Vec<String> =
        unknown_arms().into_iter().map(|arm| format!("no check for the pages {arm}")).collect();
    let known: BTreeSet<String> =
        routes(&server.state).iter().map(|route| route.path.trim_start_matches('/').to_string()).collect();
    let served = paths(&format!("{:?}", charter_runtime::app::router(&server.state)));
    assert!(served.len() > 80, "the router has {} paths", served.len());
    for path in &served {
        if !known.contains(path) && !OTHERS.iter().any(|(other, _)| other == path) {
            found.push(format!("no check for /{path}"));
        }
    }
    found.extend(known.iter().filter(|path| !served.contains(*path)).map(|path| format!("/{path} is not served")));
    let document = server.admin().undescribed().get("/openapi.json").await.ok();
    for (path, item) in document["paths"].as_object().expect("paths") {
        let operations = item.as_object().expect("operations").values();
        let parameters = operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten());
        for parameter in parameters {
            let resolved = match parameter["$ref"].as_str() {
                Some(reference) => document.pointer(reference.trim_start_matches('#')).expect("a component"),
                None => parameter,
            };
            let name = resolved["name"].as_str().expect("a name");
            let is_known = [PARAMETERS, OTHER_PARAMETERS, OF_LINKS].iter().any(|names| names.contains(&name));
            if resolved["in"] == "query" && !is_known {
                found.push(format!("no check for the parameter {name} of {path}"));
            }
        }
    }
    found
}

/// The paths with a goal in the tree that the router prints.
fn paths(tree: &str) -> BTreeSet<String> {
    let (mut open, mut found): (Vec<(usize, String)>, _) = (Vec::new(), BTreeSet::new());
    for line in tree.lines() {
        let Some(at) = line.find("──") else { continue };
        let depth = line[..at].chars().count();
        let (path, goal) = match line[at + "──".len()..].split_once(" -> ") {
            Some((path, _)) => (path, true),
            None => (&line[at + "──".len()..], false),
        };
        open.retain(|(other, _)| *other < depth);
        let path = path.trim_start_matches("!NULL!").split('[').next().unwrap_or_default();
        open.push((depth, path.to_string()));
        if goal {
            let parts: Vec<&str> =
                open.iter().map(|(_, part)| part.trim_matches('/')).filter(|part| !part.is_empty()).collect();
            found.insert(parts.join("/"));
        }
    }
    found
}
