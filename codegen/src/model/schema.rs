//! Schema: all resources of an application.

use std::collections::BTreeSet;
use std::path::PathBuf;

use charter_model::{Deprecated, FieldType, Hook, Operation, Predicate};

use super::{Action, ActionRule, Field, Job, Kind, Rule, StateChange};
use crate::source::{Span, Spanned};
use crate::syntax::resource::KeySpans;
use crate::syntax::tree::Node;

/// A name with its place.
pub type Name = Spanned<String>;

/// All resources: the declared ones in the order of their files, then the platform's own.
#[derive(Debug)]
pub struct Schema {
    pub resources: Vec<Resource>,
    /// Names of files that could not be read. Other resources may refer to them.
    pub unreadable: BTreeSet<String>,
    /// The files of texts in other languages: the code of a language, and the path.
    pub languages: Vec<(String, PathBuf)>,
}

impl Schema {
    /// The declared resources.
    pub fn declared(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(|resource| !resource.is_platform())
    }

    /// True if a resource exists, or may exist in a file that could not be read.
    pub fn knows(&self, name: &str) -> bool {
        self.unreadable.contains(name) || self.find(name).is_some()
    }

    /// The platform's resource of a name, or else the first declared one. A declared resource with a platform name is
    /// refused.
    pub fn find(&self, name: &str) -> Option<&Resource> {
        let platforms = self.resources.iter().filter(|resource| resource.is_platform());
        platforms.chain(self.declared()).find(|resource| resource.name.value == name)
    }

    /// True if records of a resource are embedded in those of another.
    pub fn is_embedded(&self, name: &str) -> bool {
        let holds = |field: &Field| field.kind.dependents().is_some_and(|(resource, _)| resource.value == name);
        self.declared().any(|other| other.fields.iter().any(holds))
    }

    /// The resources with seeds, referenced ones first. In a cycle the order of the files stays.
    pub fn seeded(&self) -> Vec<(&Resource, &Seed)> {
        let mut waiting: Vec<(&Resource, &Seed)> =
            self.declared().filter_map(|resource| Some((resource, resource.seed.as_ref()?))).collect();
        let mut ordered = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let waits = |resource: &Resource| {
                waiting.iter().any(|(other, _)| other.name.value != resource.name.value && self.needs(resource, other))
            };
            let next = waiting.iter().position(|(resource, _)| !waits(resource)).unwrap_or(0);
            ordered.push(waiting.remove(next));
        }
        ordered
    }

    /// True if a row of a resource, or a record embedded in it, may refer to a record of `other`.
    fn needs(&self, resource: &Resource, other: &Resource) -> bool {
        let held = resource.fields.iter().filter_map(|field| field.kind.dependents());
        let held = held.filter_map(|(resource, _)| self.find(resource.as_str()));
        std::iter::once(resource).chain(held).any(|row| row.refers_to(other))
    }

    /// The type of a field's values: a derived field has the type of the field that it shows.
    pub fn value_kind(&self, resource: &Resource, field: &Field) -> Kind {
        let Some((via, tail)) = field.kind.derived() else { return field.kind.clone() };
        match resource.field(via.as_str()).map(|via| &via.kind) {
            Some(Kind::Known(FieldType::Code { .. })) => FieldType::String { max: 255 }.into(),
            Some(Kind::Known(FieldType::Ref { resource: target })) => {
                let shown = self.find(target.as_str()).and_then(|target| target.field(tail.as_str()));
                // A chain of derived fields is refused, so one step is enough.
                shown.filter(|shown| shown.is_column()).map_or(Kind::Unknown, |shown| shown.kind.clone())
            }
            _ => Kind::Unknown,
        }
    }
}

/// The rights of callers without a token.
#[derive(Debug, Clone)]
pub struct Public {
    pub span: Span,
    /// The fields that they may send.
    pub create: Vec<Name>,
    /// `20/hour`
    pub limit: Option<Name>,
}

/// One resource.
#[derive(Debug)]
pub struct Resource {
    pub name: Name,
    pub plural: Name,
    pub label: Name,
    /// The title of a record: `{name} ({sku})`.
    pub title: Option<Name>,
    pub description: Option<Name>,
    /// The heading in the navigation of the panel.
    pub menu: Option<Name>,
    /// The columns of the list in the panel; empty for those of the panel's choice.
    pub columns: Vec<Name>,
    pub type_name: String,
    pub table: Name,
    pub path: Name,
    pub under: Option<Under>,
    pub ability: Name,
    pub read_permission: Option<Name>,
    pub write_permission: Option<Name>,
    pub owner: Option<Name>,
    /// The rights of callers without a token.
    pub public: Option<Public>,
    /// The conditions for the records that a caller may read, and change.
    pub read_rule: Option<Name>,
    pub write_rule: Option<Name>,
    /// The former name, for migrations.
    pub renamed_from: Option<Name>,
    pub operations: Vec<Spanned<Operation>>,
    pub singleton: bool,
    pub soft_delete: bool,
    pub custom_fields: bool,
    pub attachments: bool,
    pub events: bool,
    /// Events that only code emits.
    pub emits: Vec<Name>,
    /// Every field in the order of the single record, with server fields.
    pub fields: Vec<Field>,
    pub unique: Vec<UniqueSet>,
    pub checks: Vec<Check>,
    /// The condition under which no field of a record changes any more.
    pub frozen: Option<Name>,
    pub indexes: Vec<Spanned<Vec<Name>>>,
    pub search: Vec<Name>,
    /// The order of a list without `sort`.
    pub order: Vec<OrderKey>,
    /// Fields with an ordered index.
    pub ordered: Vec<Name>,
    /// Fields of `filters` and `sorts` that need no index.
    pub unindexed: Vec<Name>,
    /// The fields by which other resources find its records: that of `under`, those of `many` and of rollups.
    pub found_by: Vec<Name>,
    /// References and values of `min` and `max` of other resources.
    pub rolled_up: Vec<(String, String)>,
    pub filters: Filters,
    /// Deprecated fields, filters and actions.
    pub deprecated: Vec<Deprecation>,
    pub sorts: Sorts,
    pub includes: Vec<Include>,
    /// Actions, and the transitions of `states` after them.
    pub actions: Vec<Action>,
    /// The field with the state of a record.
    pub state_field: Option<Name>,
    pub hooks: Vec<HookPoint>,
    pub jobs: Vec<Job>,
    pub seed: Option<Seed>,
    pub key_spans: KeySpans,
    /// The file that declares it, as in reports; none for the platform's own.
    pub file: Option<String>,
    /// The name of the file without its extension.
    pub stem: String,
    /// No file declares it: a field with `through` makes it for its pairs.
    pub is_join: bool,
    /// `resources/exchange_rate.yaml:20`, the place of the first hook, action or job.
    pub behaviour_place: Option<String>,
}

impl Resource {
    pub fn is_platform(&self) -> bool {
        self.file.is_none()
    }

    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.value == name)
    }

    /// True if a field refers to a resource. An unknown type may.
    pub fn refers_by(&self, field: &str, name: &str) -> bool {
        let kind = self.field(field).map(|field| &field.kind);
        kind.is_some_and(|kind| kind.is_unknown() || kind.target().is_some_and(|target| target.value == name))
    }

    /// True if a record may refer to a record of `other`.
    pub fn refers_to(&self, other: &Resource) -> bool {
        let name = other.name.as_str();
        self.fields.iter().any(|field| {
            let one = field.kind.known().and_then(|kind| kind.referred());
            one.into_iter().chain(field.kind.targets().into_iter().flatten()).any(|target| target.value == name)
                || field
                    .rules
                    .iter()
                    .any(|rule| matches!(&rule.value, Rule::Exists { resource, .. } if resource.value == name))
        })
    }

    /// The predicates that `q` accepts for a field, if they differ from those of its type.
    pub fn filter(&self, field: &Field) -> Option<Filter> {
        match &self.filters {
            Filters::Shown => None,
            Filters::None => Some(Filter::Only(Vec::new())),
            Filters::Fields(named) => match named.iter().find(|(name, _)| name.value == field.name.value) {
                Some((_, Filter::All)) => None,
                Some((_, only)) => Some(only.clone()),
                None => Some(Filter::Only(Vec::new())),
            },
        }
    }

    /// True if `sort` accepts a field that has an order.
    pub fn sorts_by(&self, field: &Field) -> bool {
        match &self.sorts {
            Sorts::Shown => true,
            Sorts::Fields(named) => named.iter().any(|name| name.value == field.name.value),
        }
    }

    /// True if clients can call one of these.
    pub fn serves_any(&self, wanted: &[Operation]) -> bool {
        self.operations.iter().any(|operation| wanted.contains(&operation.value))
    }

    pub fn has_hook(&self, hook: Hook) -> bool {
        self.hooks.iter().any(|point| point.hook == hook)
    }

    /// True if the application implements hooks, actions or jobs.
    pub fn has_behaviour(&self) -> bool {
        !self.hooks.is_empty() || !self.jobs.is_empty() || self.implemented_actions().next().is_some()
    }

    /// The actions that the application implements: all but those whose rule is all that they do.
    pub fn implemented_actions(&self) -> impl Iterator<Item = &Action> {
        self.actions.iter().filter(|action| !action.is_declared())
    }

    /// The actions with a rule.
    pub fn ruled_actions(&self) -> impl Iterator<Item = (&Action, &ActionRule)> {
        self.actions.iter().filter_map(|action| Some((action, action.rule.as_ref()?)))
    }

    /// The transitions of `states`, each with its action.
    pub fn transitions(&self) -> impl Iterator<Item = (&Action, &StateChange)> {
        self.ruled_actions().filter_map(|(action, rule)| Some((action, rule.change.as_ref()?)))
    }
}

/// Fields whose values must be unique together.
#[derive(Debug, Clone)]
pub struct UniqueSet {
    pub fields: Spanned<Vec<Name>>,
    /// The condition of the records that count; none if all do.
    pub rows: Option<Name>,
    /// Texts that differ in case alone are the same.
    pub ignore_case: bool,
}

impl UniqueSet {
    /// True if its index finds records by its fields.
    pub fn is_plain(&self) -> bool {
        self.rows.is_none() && !self.ignore_case
    }
}

/// A condition that each record must meet.
#[derive(Debug, Clone)]
pub struct Check {
    pub that: Name,
    /// The field of its message; none for the first field of the condition.
    pub field: Option<Name>,
    pub message: Option<Name>,
}

/// The parent in a nested path.
#[derive(Debug, Clone)]
pub struct Under {
    pub resource: Name,
    /// The field that refers to it.
    pub field: String,
}

/// The filters that `q` accepts.
#[derive(Debug, Clone)]
pub enum Filters {
    /// Every field of a list item, with the predicates of its type.
    Shown,
    None,
    /// Only these fields.
    Fields(Vec<(Name, Filter)>),
}

#[derive(Debug, Clone)]
pub enum Filter {
    All,
    Only(Vec<Spanned<Predicate>>),
}

/// The fields that `sort` accepts.
#[derive(Debug, Clone)]
pub enum Sorts {
    /// Every field of a list item that has an order.
    Shown,
    Fields(Vec<Name>),
}

/// Related records that a client may ask for.
#[derive(Debug, Clone)]
pub struct Include {
    pub name: Name,
    pub target: IncludeTarget,
    /// The fields of each related record; empty for those of its list item.
    pub fields: Vec<Name>,
}

#[derive(Debug, Clone)]
pub enum IncludeTarget {
    /// The record that a field refers to. `via` is the name of the field in YAML.
    One {
        via: Name,
    },
    /// The records of a resource whose field refers here.
    Many {
        resource: Name,
        by: Name,
    },
    /// The records of a resource whose ids a field has.
    Links {
        resource: Name,
        field: String,
    },
    CustomFields(Span),
    /// The transitions that the caller may run.
    AllowedActions,
}

/// A declared hook.
#[derive(Debug, Clone)]
pub struct HookPoint {
    pub hook: Hook,
    pub span: Span,
    /// `resources/exchange_rate.yaml:18`
    pub place: String,
}

/// A file with rows that every installation has.
#[derive(Debug, Clone)]
pub struct Seed {
    pub name: Name,
    pub exists: bool,
    /// The content, as far as it could be read.
    pub rows: Option<Node>,
    pub path: PathBuf,
}

/// A deprecated field, filter or action.
#[derive(Debug, Clone)]
pub struct Deprecation {
    pub of: Deprecated,
    pub name: Name,
    /// The day from which it is deprecated.
    pub since: Name,
    /// The day from which it may be removed.
    pub sunset: Option<Name>,
    /// The replacement, of the same kind.
    pub instead: Option<Name>,
}

/// A field of the default order of lists.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderKey {
    pub field: Name,
    pub descending: bool,
}

impl OrderKey {
    /// The key as `sort` has it: `-created_at`.
    pub fn text(&self) -> String {
        format!("{}{}", if self.descending { "-" } else { "" }, self.field.value)
    }
}
