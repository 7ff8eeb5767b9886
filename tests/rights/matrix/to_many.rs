//! Requests with conditions on the records that belong to a record: filters one step over several records, and groups of
//! conditions that one of them, or none, meets.

use charter_runtime::catalog::Entry;
use charter_runtime::meta::{FieldMeta, IncludeTarget, Kind, Shown};
use charter_runtime::query::{Predicate, to_many_names};
use serde_json::json;

use super::exceptions::{counts_hidden, is_of_the_moment, is_publication};
use super::reads::{Probes, encode, tests};
use super::request::Request;
use super::world::World;

/// Values that a field is compared with by one predicate.
const VALUES: usize = 2;

/// True for a door of this file. All its requests ask for what some caller may not see.
pub fn is_over_several(door: &str) -> bool {
    ["several records", "group of which", "group that", "filters with"].iter().any(|part| door.contains(part))
}

/// The relations of a resource to several records, each with the resource of the records.
fn relations<'w>(world: &'w World, entry: &Entry) -> Vec<(&'static str, &'w Entry)> {
    let target = |name: &'static str| {
        let kind_of = |field: &str| entry.field(field).map(|field| field.kind);
        let include = entry.meta.includes.iter().find(|include| include.name == name).map(|include| include.target);
        match (include, kind_of(name)) {
            (Some(IncludeTarget::Many { resource, .. }), _) | (None, Some(Kind::Embedded { resource, .. })) => {
                world.entry(resource)
            }
            (Some(IncludeTarget::Links { field }), _) => match kind_of(field) {
                Some(Kind::Links { resource, .. }) => world.entry(resource),
                _ => panic!("{}.{field} has no links", entry.meta.name),
            },
            _ => panic!("{}.{name} leads to no records", entry.meta.name),
        }
    };
    to_many_names(entry.meta).map(|name| (name, target(name))).collect()
}

/// The requests to the list, or the summary, of a resource.
pub fn requests(probes: &Probes<'_>, entry: &Entry, path: &str, of_summary: bool, found: &mut Vec<Request>) {
    let world = probes.world();
    let catalog = &world.server.state.catalog;
    for (relation, target) in relations(world, entry) {
        let is_hidden = |field: &&FieldMeta| target.is_restricted || !target.read_right(field).is_empty();
        for field in target.meta.fields.iter().filter(|field| field.shown != Shown::Never).filter(is_hidden) {
            let is_compared =
                !is_publication(catalog, target, field) && !is_of_the_moment(field) && !counts_hidden(catalog, entry);
            let mut add = |door, query: String| {
                found.push(Request::get(door, format!("{path}?{query}")).compared(is_compared));
            };
            for (predicate, value) in requested(probes, target, field) {
                let (name, word) = (field.name, predicate.name());
                let one = format!("q[{relation}.{name}_{word}]={}", encode(&value));
                if of_summary {
                    add("summary: filter over several records", one);
                    continue;
                }
                add("list: filter over several records", one);
                if predicate != Predicate::Eq {
                    continue;
                }
                for (quantifier, group, filters) in [
                    ("some", "list: group of which some record meets all", "list: filters with some"),
                    ("none", "list: group that no record meets", "list: filters with none"),
                ] {
                    add(group, format!("q[{relation}.{quantifier}][{name}_{word}]={}", encode(&value)));
                    let parts = json!([{ "field": name, "predicate": word, "value": value }]);
                    let filter = json!([{ "field": relation, "predicate": quantifier, "value": parts }]);
                    add(filters, format!("filters={}", encode(&filter.to_string())));
                }
            }
        }
    }
}

/// Tests of a field of the records, of which some tell the worlds apart.
fn requested(probes: &Probes<'_>, target: &Entry, field: &'static FieldMeta) -> Vec<(Predicate, String)> {
    let all = tests(probes, target, field);
    let few = [Predicate::Eq, Predicate::Gt, Predicate::Null];
    let of = |predicate| all.iter().filter(move |(other, _)| *other == predicate).take(VALUES).cloned();
    few.into_iter().flat_map(of).collect()
}
