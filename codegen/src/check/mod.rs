//! Judges a completed schema. Nothing is changed here; every rule adds to one list, and none stops another.

mod access;
mod actions;
mod beside;
mod circles;
mod defaults;
mod deprecation;
mod derived;
mod described;
mod embedded;
mod evolution;
mod examples;
mod fields;
mod idle;
mod includes;
mod index_names;
mod indexes;
mod limits;
mod names;
mod nesting;
mod orders;
pub mod paths;
pub mod patterns;
mod plurals;
mod queries;
mod references;
mod rows;
mod rules;
mod seed;
mod served;
mod singleton;
mod sown;
mod taken;
mod unreached;

use std::ops::Deref;

use crate::diagnostic::Problems;
use crate::model::{ActionOutput, Field, Resource, Schema};

/// Proof that a value passed every check: only [`check`] makes one, and only of it is Rust emitted.
#[derive(Debug)]
pub struct Checked<T>(T);

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A family of rules, applied to one resource.
type Family = fn(&Schema, &Resource, &mut Problems);

/// All families: names first, then what fields say, then what resources say of each other.
const FAMILIES: &[Family] = &[
    names::check,
    taken::check,
    paths::check,
    fields::check,
    defaults::check,
    examples::check,
    evolution::check,
    deprecation::check,
    rules::check,
    references::check,
    circles::check,
    derived::check,
    embedded::check,
    nesting::check,
    includes::check,
    queries::check,
    indexes::check,
    access::check,
    actions::check,
    singleton::check,
    limits::check,
    seed::check,
];

/// Applies every rule to every declared resource.
pub fn check(schema: Schema, problems: &mut Problems) -> Option<Checked<Schema>> {
    for resource in schema.declared() {
        for family in FAMILIES {
            family(&schema, resource, problems);
        }
    }
    if !problems.are_warnings() {
        return None;
    }
    // What is wrong comes first: half of these would be about it too.
    let schema = Checked(schema);
    index_names::check(&schema, problems);
    described::check(&schema, problems);
    if !problems.are_warnings() {
        return None;
    }
    for resource in schema.declared() {
        plurals::check(resource, problems);
        served::check(&schema, resource, problems);
        idle::check(&schema, resource, problems);
        unreached::check(&schema, resource, problems);
    }
    Some(schema)
}

/// Every path that the declared resources have, behind `/api/v1` and in the panel.
pub fn paths(schema: &Checked<Schema>) -> impl Iterator<Item = String> {
    paths::all(schema).into_iter().map(|path| path.path)
}

/// Every name that they give in the description of the API, and whose it is: that of a schema, an operation or a group.
pub fn described(schema: &Checked<Schema>) -> impl Iterator<Item = (&'static str, String)> {
    described::all(schema).into_iter().map(|described| (described.sort.word(), described.name))
}

/// The same of the service itself.
pub fn described_by_platform() -> impl Iterator<Item = (&'static str, String)> {
    described::platforms().into_iter().map(|described| (described.sort.word(), described.name))
}

/// Fields that stand together and can name each other.
struct Scope<'a> {
    what: ScopeOf,
    fields: &'a [Field],
}

/// What the fields belong to.
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
