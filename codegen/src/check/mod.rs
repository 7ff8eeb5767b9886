//! Checks of a completed schema. They change nothing, and one problem does not hide another.

mod access;
mod actions;
mod deprecation;
mod fields;
mod impossible_actions;
mod jobs;
mod limits;
mod names;
mod public;
mod queries;
mod relations;
mod seed;
mod singleton;
mod states;
mod usage;

use std::ops::Deref;

pub use self::fields::conditions::Names;
pub use self::fields::{computed, default_expressions, patterns};
use self::fields::{defaults, derived, evolution, examples, record_rules, rollups, rules, sequences};
use self::names::{duplicate_names, index_names, openapi_names, paths, plurals};
use self::queries::{indexes, titles, unindexed_filters};
use self::relations::{choices, deletions, embedded, includes, links, nesting, reference_cycles, references};
use self::usage::{unreachable_options, unused_hooks};
use crate::diagnostic::Problems;
use crate::model::{ActionOutput, Field, Resource, Schema};

/// Proof that a value passed every check. Only [`check`] makes one, and Rust is emitted only from one.
#[derive(Debug)]
pub struct Checked<T>(T);

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A family of checks, applied to one resource.
type Family = fn(&Schema, &Resource, &mut Problems);

/// All families: names first, then fields, then relations between resources.
const FAMILIES: &[Family] = &[
    names::check,
    duplicate_names::check,
    paths::check,
    fields::check,
    defaults::check,
    default_expressions::check,
    examples::check,
    evolution::check,
    deprecation::check,
    rules::check,
    sequences::check,
    rollups::check,
    record_rules::check,
    references::check,
    deletions::check,
    choices::check,
    reference_cycles::check,
    derived::check,
    embedded::check,
    links::check,
    nesting::check,
    includes::check,
    queries::check,
    titles::check,
    indexes::check,
    access::check,
    public::check,
    actions::check,
    jobs::check,
    states::check,
    impossible_actions::check,
    singleton::check,
    limits::check,
    seed::check,
];

/// Runs every check on every declared resource.
pub fn check(schema: Schema, problems: &mut Problems) -> Option<Checked<Schema>> {
    for resource in schema.declared() {
        for family in FAMILIES {
            family(&schema, resource, problems);
        }
    }
    if !problems.are_warnings() {
        return None;
    }
    // Warnings come last: half of them would follow from the errors.
    let schema = Checked(schema);
    index_names::check(&schema, problems);
    openapi_names::check(&schema, problems);
    if !problems.are_warnings() {
        return None;
    }
    for resource in schema.declared() {
        plurals::check(resource, problems);
        unindexed_filters::check(&schema, resource, problems);
        unused_hooks::check(&schema, resource, problems);
        unreachable_options::check(&schema, resource, problems);
        states::unreachable(resource, problems);
    }
    Some(schema)
}

/// Every path of the declared resources, after `/api/v1` and in the panel.
pub fn paths(schema: &Checked<Schema>) -> impl Iterator<Item = String> {
    paths::all(schema).into_iter().map(|path| path.path)
}

/// Every name that the declared resources add to the OpenAPI document, with its kind: `schema`, `operation` or `tag`.
pub fn openapi_names(schema: &Checked<Schema>) -> impl Iterator<Item = (&'static str, String)> {
    openapi_names::all(schema).into_iter().map(|name| (name.kind.word(), name.name))
}

/// The same for the platform's own resources.
pub fn platform_openapi_names() -> impl Iterator<Item = (&'static str, String)> {
    openapi_names::platforms().into_iter().map(|name| (name.kind.word(), name.name))
}

/// Fields that can name each other.
struct Scope<'a> {
    what: ScopeOf,
    fields: &'a [Field],
}

/// The declaration that the fields belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScopeOf {
    Record,
    Input,
    Output,
}

impl Scope<'_> {
    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.value == name)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }
}

/// The fields of the record, and the inputs and outputs of each action.
fn scopes(resource: &Resource) -> Vec<Scope<'_>> {
    let mut scopes = vec![Scope { what: ScopeOf::Record, fields: &resource.fields }];
    for action in &resource.actions {
        scopes.push(Scope { what: ScopeOf::Input, fields: &action.input });
        if let ActionOutput::Fields { fields, .. } = &action.output {
            scopes.push(Scope { what: ScopeOf::Output, fields });
        }
    }
    scopes
}
