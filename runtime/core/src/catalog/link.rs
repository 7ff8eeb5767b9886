//! Linker: resolves the names in the metadata, and reports those that lead nowhere. A derive sees only one struct,
//! and the YAML checks do not see hand-written structs.

use std::collections::HashMap;
use std::sync::Arc;

use charter_model::title::TitleFormat;

use super::Parent;
use crate::meta::{FieldMeta, IncludeTarget, Kind, ResourceMeta, Rule, Shown};
use crate::record::{Join, ParentClause, RequiredParents, Source};

/// Limit on the chain of references that required parents are followed through.
const MAX_DEPTH: usize = 4;

/// The resources of an application, by name.
type Metas<'m> = HashMap<&'m str, &'static ResourceMeta>;

/// The condition that no required parent of `meta`'s records is soft-deleted, transitively. `None` if no required
/// reference leads to a resource with soft delete.
pub(super) fn required_parents(meta: &ResourceMeta, metas: &Metas<'_>) -> Option<RequiredParents> {
    let mut tables = Vec::new();
    let clauses = parent_clauses(meta, metas, 1, &mut tables);
    (!clauses.is_empty()).then_some(RequiredParents { clauses, tables })
}

/// The clause of each required reference. `depth` numbers the aliases and ends cycles. `tables` collects the tables.
fn parent_clauses(
    meta: &ResourceMeta,
    metas: &Metas<'_>,
    depth: usize,
    tables: &mut Vec<&'static str>,
) -> Vec<ParentClause> {
    let mut found = Vec::new();
    for field in meta.fields.iter().filter(|f| !f.nullable && depth <= MAX_DEPTH) {
        let Kind::Ref { resource } = field.kind else { continue };
        let Some(target) = metas.get(resource) else { continue };
        let (inner, table) = (format!("s{depth}"), target.table);
        let mut required = String::new();
        if target.soft_delete {
            required.push_str(&format!(" AND {inner}.\"deleted_at\" IS NULL"));
        }
        for clause in parent_clauses(target, metas, depth + 1, tables) {
            required.push_str(" AND ");
            clause.write(&mut required, &inner);
        }
        if !required.is_empty() {
            tables.push(table);
            let before = format!("EXISTS (SELECT 1 FROM \"{table}\" AS {inner} WHERE {inner}.\"id\" = ");
            found.push(ParentClause { before, column: field.name, after: required + ")" });
        }
    }
    found
}

/// The parents of `meta`'s records: the record in the nested path or, without a path, each record that can embed
/// them.
pub(super) fn parents(meta: &ResourceMeta, metas: &Metas<'_>) -> Vec<Parent> {
    let parent = |name: &str, resource| {
        let field = meta.fields.iter().find(|field| field.name == name)?;
        Some(Parent { field, resource })
    };
    if let Some(under) = meta.under {
        return parent(under.field, under.resource).into_iter().collect();
    }
    if !meta.operations.is_empty() || !meta.actions.is_empty() {
        return Vec::new();
    }
    let holders = metas.values().flat_map(|holder| holder.fields.iter().map(|field| (holder.name, field.kind)));
    let mut parents: Vec<Parent> = holders
        .filter_map(|(holder, kind)| match kind.dependents() {
            Some((resource, by)) if *resource == meta.name => parent(by, holder),
            _ => None,
        })
        .collect();
    parents.sort_by_key(|parent| (parent.resource, parent.field.name));
    parents
}

/// The source of each derived field.
pub(super) fn derived(
    meta: &'static ResourceMeta,
    metas: &Metas<'_>,
    required_parents_by_name: &HashMap<&str, Arc<RequiredParents>>,
    problems: &mut Vec<String>,
) -> HashMap<&'static str, Source> {
    let mut sources = HashMap::new();
    for field in meta.fields {
        let Kind::Derived { via, field: target } = field.kind else { continue };
        let source = meta.fields.iter().find(|f| f.name == via).and_then(|via_field| match via_field.kind {
            Kind::Code { values } if target == "label" => Some(Source::label(via_field, values)),
            Kind::Ref { resource } => {
                let other = metas.get(resource)?;
                let found =
                    other.fields.iter().find(|f| f.name == target && f.is_column() && f.shown != Shown::Never)?;
                let join = Join { meta: other, required_parents: required_parents_by_name.get(resource).cloned() };
                Some(Source::through(via, join, found))
            }
            _ => None,
        });
        match source {
            Some(source) => drop(sources.insert(field.name, source)),
            None => problems
                .push(format!("{}.{} is derived from `{via}.{target}`, which does not exist", meta.name, field.name)),
        }
    }
    sources
}

/// Reports each name that leads to no resource, or to no field of one.
pub(super) fn check(meta: &'static ResourceMeta, metas: &Metas<'_>, problems: &mut Vec<String>) {
    let name = meta.name;
    let mut resources: Vec<&str> = meta.under.iter().map(|under| under.resource).collect();
    // Fields of other resources, each with its resource.
    let mut fields: Vec<(&str, &str)> = Vec::new();
    for field in meta.fields {
        match field.kind {
            Kind::Ref { resource } | Kind::RefList { resource } => resources.push(resource),
            Kind::Embedded { resource, by } => fields.push((resource, by)),
            Kind::Links { resource, through, by, to } => {
                resources.push(resource);
                fields.extend([(through, by), (through, to)]);
            }
            Kind::PolymorphicType { type_names } => {
                for type_name in type_names.iter().filter(|name| !metas.values().any(|other| other.type_name == **name))
                {
                    problems
                        .push(format!("{name} refers to the type `{type_name}`, which the application does not have"));
                }
            }
            _ => {}
        }
        fields.extend(field.rules.iter().filter_map(|rule| match rule {
            Rule::Exists { resource, field } => Some((*resource, *field)),
            _ => None,
        }));
    }
    for include in meta.includes {
        match include.target {
            IncludeTarget::Many { resource, by } => fields.push((resource, by)),
            IncludeTarget::Links { field } if !has_links(meta, field) => {
                problems.push(format!("{name} includes `{}` by `{field}`, which has no links", include.name));
            }
            IncludeTarget::One { via } if !has(meta, via) => {
                problems.push(format!("{name} includes `{}` through `{via}`, which is not a field", include.name));
            }
            _ => {}
        }
    }
    resources.extend(fields.iter().map(|(resource, _)| resource));
    for resource in resources.into_iter().filter(|name| !metas.contains_key(name)) {
        problems.push(format!("{name} refers to the resource `{resource}`, which the application does not have"));
    }
    for (resource, field) in fields {
        if metas.get(resource).is_some_and(|other| !has(other, field)) {
            problems.push(format!("{name} refers to `{resource}.{field}`, which is not a field"));
        }
    }
}

/// True if the resource has a column of this name.
fn has(meta: &ResourceMeta, name: &str) -> bool {
    meta.fields.iter().any(|field| field.name == name && field.is_column())
}

/// True if the resource has links by this name.
fn has_links(meta: &ResourceMeta, name: &str) -> bool {
    meta.fields.iter().any(|field| field.name == name && matches!(field.kind, Kind::Links { .. }))
}

/// The title of a resource. Its fields must exist in list items.
pub(super) fn title(meta: &ResourceMeta, text: &str, problems: &mut Vec<String>) -> Option<TitleFormat> {
    let title = match TitleFormat::read(text) {
        Ok(title) => title,
        Err(problem) => {
            problems.push(format!("the title of {}: {problem}", meta.plural));
            return None;
        }
    };
    let is_listed = |name: &str| meta.fields.iter().any(|field| field.name == name && field.shown == Shown::Always);
    let unknown = title.fields().find(|name| !is_listed(name)).map(str::to_owned);
    match unknown {
        Some(name) => {
            problems.push(format!("the title of {} names `{name}`, which its list does not show", meta.plural));
            None
        }
        None => Some(title),
    }
}

/// True if some field of a resource needs a right to be read or set.
pub(super) fn has_field_rights(meta: &ResourceMeta, derived: &HashMap<&'static str, Source>) -> bool {
    let has_right = |field: &FieldMeta| !field.write.is_empty() || !super::read_right(derived, field).is_empty();
    meta.fields.iter().any(has_right)
}
