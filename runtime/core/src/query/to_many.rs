//! Conditions on the records that belong to a record: `q[remarks.words_cont]=x` and groups that one of them meets as a whole,
//! `q[lines.some][quantity_gt]=2&q[lines.some][price_lt]=5`.
//!
//! The records are those that an include with `many` loads, those of links, and embedded records. A record that the caller
//! cannot see neither matches nor excludes.

use charter_model::naming::snake;

use super::condition::{Children, Condition};
use super::plan::{MAX_CONDITIONS, Planner};
use super::request::{Group, Quantifier, Term};
use super::resolve::is_filterable;
use super::saved_view::Filter;
use crate::ability::Ability;
use crate::catalog::Entry;
use crate::error::FieldErrors;
use crate::meta::{FieldMeta, IncludeTarget, Kind, ResourceMeta, Shown};
use crate::suggest::hint;

/// A relation from a record to several others.
#[derive(Clone, Copy)]
pub(super) struct ToMany<'a> {
    /// Its name in canonical form: `remarks`.
    pub name: &'static str,
    entry: &'a Entry,
    route: Route<'a>,
    /// The fields that the include shows; empty for those of a list item.
    fields: &'static [&'static str],
    /// The records are read with the record that they belong to.
    is_embedded: bool,
}

/// How the records are found.
#[derive(Clone, Copy)]
enum Route<'a> {
    /// Their field refers to the record.
    By(&'static FieldMeta),
    /// Pairs refer to both.
    Pairs { entry: &'a Entry, by: &'static FieldMeta, to: &'static FieldMeta },
}

/// The names of the relations to several records.
pub fn to_many_names(meta: &'static ResourceMeta) -> impl Iterator<Item = &'static str> {
    let embedded = meta.fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. }));
    let embedded = embedded.filter(|field| field.shown == Shown::Always).map(|field| field.name);
    let leads = |target: &IncludeTarget| matches!(target, IncludeTarget::Many { .. } | IncludeTarget::Links { .. });
    embedded.chain(meta.includes.iter().filter(move |include| leads(&include.target)).map(|include| include.name))
}

impl<'a> Planner<'a> {
    /// The relation of this name to several records, in camelCase or snake_case.
    pub(super) fn to_many(self, relation: &str) -> Option<ToMany<'a>> {
        let name = snake(relation);
        self.relations_to_many().find(|relation| snake(relation.name) == name)
    }

    /// The relations to several records that the caller may know.
    pub(super) fn relations_to_many(self) -> impl Iterator<Item = ToMany<'a>> {
        let readable = move |field: &&FieldMeta| field.shown == Shown::Always && self.readable(field.name).is_some();
        let embedded = self.entry.meta.fields.iter().filter(readable).filter_map(move |field| {
            let Kind::Embedded { resource, by } = field.kind else { return None };
            let entry = self.catalog.linked(resource);
            let route = Route::By(entry.field(by)?);
            Some(ToMany { name: field.name, entry, route, fields: &[], is_embedded: true })
        });
        let included = self.entry.meta.includes.iter().filter_map(move |include| {
            let (entry, route) = match include.target {
                IncludeTarget::Many { resource, by } => {
                    let entry = self.catalog.linked(resource);
                    (entry, Route::By(entry.field(by)?))
                }
                IncludeTarget::Links { field } => {
                    let Kind::Links { resource, through, by, to } = self.readable(field)?.kind else { return None };
                    let pairs = self.catalog.linked(through);
                    let route = Route::Pairs { entry: pairs, by: pairs.field(by)?, to: pairs.field(to)? };
                    (self.catalog.linked(resource), route)
                }
                _ => return None,
            };
            Some(ToMany { name: include.name, entry, route, fields: include.fields, is_embedded: false })
        });
        embedded.chain(included)
    }

    /// The relations to several records, each with the resource of the records.
    pub fn relations_to_several(self) -> impl Iterator<Item = (&'static str, &'a Entry)> {
        self.relations_to_many().map(|relation| (relation.name, relation.entry))
    }

    /// The relation of a group or of a filter with `some` or `none`. `form` is the same filter through a reference:
    /// `q[customer.name_eq]`.
    fn required_relation(self, relation: &str, form: &str) -> Result<ToMany<'a>, String> {
        let known = || self.relations_to_many().map(|relation| relation.name);
        self.to_many(relation).ok_or_else(|| match known().next() {
            _ if self.entry.reference(relation).is_some_and(|via| self.readable(via.name).is_some()) => {
                format!("refers to `{relation}`, which leads to one record: write `{form}`")
            }
            None => format!("refers to `{relation}`, but no relation leads to several records"),
            Some(_) => format!("refers to an unknown relation `{relation}`{}", hint(relation, known())),
        })
    }

    /// Combines the groups of the `q` parameters with AND.
    pub(super) fn groups(self, groups: &[Group], errors: &mut FieldErrors) -> Condition {
        let mut all = Condition::always();
        let named = |relation: ToMany<'a>, group: &Group| {
            let child = relation.planner(self);
            group.terms.iter().map(|term| child.conditions(&term.name)).sum::<usize>()
        };
        let count = groups.iter().filter_map(|group| Some(named(self.to_many(&group.relation)?, group))).sum::<usize>();
        if count > MAX_CONDITIONS {
            errors.add("q", format!("must have at most {MAX_CONDITIONS} conditions"));
            return all;
        }
        for group in groups {
            let inner = group.terms.first().map_or("", |term| term.key.as_deref().unwrap_or(&term.name));
            let form = format!("q[{}.{inner}]", group.relation);
            let relation = match self.required_relation(&group.relation, &form) {
                Ok(relation) => relation,
                Err(problem) => {
                    errors.add(group.parameter.clone(), problem);
                    continue;
                }
            };
            let mut inner = Condition::always();
            for term in &group.terms {
                match relation.term(self, term) {
                    Ok(condition) => inner = inner.and(condition),
                    Err(problem) => errors.add(term.parameter.clone(), problem),
                }
            }
            all = all.and(relation.quantified(self, group.quantifier, inner));
        }
        all
    }

    /// Splits the keys of groups again now that the fields are known.
    pub(super) fn expand_groups(self, groups: &mut [Group]) {
        for group in groups {
            if let Some(relation) = self.to_many(&group.relation) {
                group.terms.iter_mut().for_each(|term| relation.planner(self).expand(term));
            }
        }
    }

    /// Plans a filter of a saved view or of `filters` with `some` or `none`, whose value is the list of conditions that one
    /// record meets together.
    pub(super) fn quantified(self, filter: &Filter, quantifier: Quantifier) -> Result<Condition, String> {
        let filters = filter.parts()?;
        let form = format!("{}.{}", filter.field, filters.first().map_or("", |part| &part.field));
        let relation = self.required_relation(&filter.field, &form)?;
        let mut problem = None;
        let planned = |part: &Filter| relation.term(self, &part.term()?);
        let inner = super::saved_view::combine(filters.iter(), planned, |index, text| {
            problem.get_or_insert_with(|| format!("{text} (condition {} of `{}`)", index + 1, filter.field));
        });
        match problem {
            Some(problem) => Err(problem),
            None => Ok(relation.quantified(self, quantifier, inner)),
        }
    }
}

impl<'a> ToMany<'a> {
    /// The planner of the records. Their relations lead one step too far, and are refused before they are resolved.
    pub(super) fn planner(self, planner: Planner<'a>) -> Planner<'a> {
        Planner { entry: self.entry, deleted: false, ..planner }
    }

    /// Plans a parameter on the records, which may name several of their fields.
    fn term(self, planner: Planner<'a>, term: &Term) -> Result<Condition, String> {
        let child = self.planner(planner);
        for name in child.names(&term.name) {
            self.check(planner, name)?;
        }
        child.term(term)
    }

    /// Reports a field that the caller may not filter by.
    pub(super) fn check(self, planner: Planner<'a>, name: &str) -> Result<(), String> {
        let meta = self.entry.meta;
        if name.contains('.') {
            return Err(format!("`{}.{name}` is one step too far: name a field of {}", self.name, meta.plural));
        }
        let is_shown = |name: &str| self.fields.is_empty() || self.fields.contains(&name);
        let known = |field: &&FieldMeta| {
            is_filterable(field) && is_shown(field.name) && self.entry.may_read_field(field, planner.caller)
        };
        let may_read = self.is_embedded
            || meta.read_permission.is_none_or(|permission| planner.caller.has_permission(permission))
                && (self.fields.contains(&name) || planner.caller.may(Ability::read(meta.ability)));
        if !may_read {
            let ability = Ability::read(meta.ability);
            return Err(format!("is on {}, which requires the ability `{ability}`", meta.plural));
        }
        match self.entry.field(name).filter(known) {
            Some(_) => Ok(()),
            None => {
                let fields = meta.fields.iter().filter(known).map(|field| field.name);
                Err(format!("refers to an unknown field `{name}` of {}{}", self.name, hint(name, fields)))
            }
        }
    }

    /// The condition that some record of the relation meets `inner`, or that none does.
    fn quantified(self, planner: Planner<'a>, quantifier: Quantifier, inner: Condition) -> Condition {
        let some = self.some(planner, inner);
        match quantifier {
            Quantifier::Some => some,
            Quantifier::None => some.not(),
        }
    }

    /// The condition that at least one record of the relation that the caller can see meets `inner`.
    pub(super) fn some(self, planner: Planner<'a>, inner: Condition) -> Condition {
        // Embedded records are visible if their record is.
        let visible = if self.is_embedded { None } else { (planner.visible)(self.entry) };
        let condition = visible.unwrap_or_else(|| Condition::present(self.entry)).and(inner);
        let (by, table, condition) = match self.route {
            Route::By(by) => (by, self.entry.meta.table, condition),
            Route::Pairs { entry, by, to } => (by, entry.meta.table, Condition::refers(to, self.entry.meta, condition)),
        };
        Condition::Has(Children { by, table, condition: Box::new(condition) })
    }
}
