//! Start-up validation of rights: expressions must not disclose values to callers who may not read them. Codegen checks those in
//! YAML.

use charter_model::expression::{Field, Node};

use super::input::choices;
use crate::catalog::{Catalog, Entry};
use crate::expression;
use crate::meta::{Access, DefaultValue, FieldMeta, Kind, ResourceMeta, RollupMeta, SetValue};

/// The problems of a resource that is written in Rust, each with the expression. Invalid expressions are reported elsewhere.
pub(super) fn problems(catalog: &Catalog, entry: &Entry) -> Vec<String> {
    let meta = entry.meta;
    let mut problems = Vec::new();
    for (place, field, node) in copies(catalog, meta) {
        let reason = first(catalog, meta, node, |of, named, via| {
            let is_held = |right: &str| field.read == right || meta.read_permission == Some(right);
            let of_records = of.read_permission.filter(|right| via && !is_held(right));
            hidden(named, is_held).or_else(|| of_records.map(|right| format!("reading `{}` needs `{right}`", of.name)))
        });
        let readers = |reason| format!("{place}: {reason}, and readers of `{}` need no such right", field.name);
        problems.extend(reason.map(readers));
    }
    for (action, rule) in meta.ruled_actions() {
        let Some((guard, node)) = rule.guard.and_then(|text| Some((text, expression::condition(text, meta).ok()?)))
        else {
            continue;
        };
        let reason = first(catalog, meta, node, |_, named, _| hidden(named, |right| rule.permission == Some(right)));
        let name = action.name;
        let told =
            |reason| format!("`if` of {}.{name}, `{guard}`: {reason}, and a refusal would show its value", meta.name);
        problems.extend(reason.map(told));
    }
    let inputs = meta.actions.iter().flat_map(|action| action.input);
    for field in meta.fields.iter().chain(inputs).filter(|field| !field.choices.is_empty()) {
        let Kind::Ref { resource } = field.kind else { continue };
        let target = catalog.linked(resource);
        let Ok(node) = choices::checked(field.choices, target) else { continue };
        let reason = first(catalog, target.meta, node, |_, named, _| hidden(named, |_| false));
        let (name, text) = (field.name, field.choices);
        let told =
            |reason| format!("`where` of {}.{name}, `{text}`: {reason}, and a refusal would show its value", meta.name);
        problems.extend(reason.map(told));
    }
    problems.extend(meta.fields.iter().filter_map(|field| rollup(catalog, meta, field, field.rollup?)));
    problems
}

/// The problem of a rollup that tells of values or records which not all readers of the field may see.
fn rollup(
    catalog: &Catalog,
    meta: &'static ResourceMeta,
    field: &'static FieldMeta,
    rollup: RollupMeta,
) -> Option<String> {
    let child = catalog.get(rollup.of).ok()?;
    let rows = rollup.rows.and_then(|text| expression::condition(text, child.meta).ok());
    let named = rows.map(Node::fields).unwrap_or_default();
    let named = rollup.field.into_iter().chain([rollup.by]).chain(named);
    let is_held = |right: &str| field.read == right;
    let of_records = child.meta.read_permission.filter(|right| !is_held(right) && meta.read_permission != Some(right));
    let reason = named
        .filter_map(|name| child.field(name))
        .find_map(|named| hidden(named, is_held))
        .or_else(|| of_records.map(|right| format!("reading `{}` needs `{right}`", rollup.of)))?;
    let name = field.name;
    Some(format!("the rollup {}.{name}: {reason}, and readers of `{name}` need no such right", meta.name))
}

/// The expressions whose values a resource stores: each with its place, and with the field that gets the value.
fn copies(catalog: &Catalog, meta: &'static ResourceMeta) -> Vec<(String, &'static FieldMeta, &'static Node)> {
    let find = |name: &str| Some(catalog.linked(name).meta);
    let of = |field: &FieldMeta| format!("{}.{}", meta.name, field.name);
    let mut found = Vec::new();
    for field in meta.fields {
        if let DefaultValue::Expression(text) = field.default
            && let Ok(node) = expression::settable(text, field, meta, &find)
        {
            found.push((format!("the default of {}, `{text}`", of(field)), field, node));
        }
        if !field.value.is_empty()
            && let Ok(node) = expression::computed(field, meta.fields)
        {
            found.push((format!("`value` of {}, `{}`", of(field), field.value), field, node));
        }
    }
    for (action, rule) in meta.ruled_actions() {
        for (name, value) in rule.set {
            if let SetValue::Expression(text) = *value
                && let Some(field) = meta.fields.iter().find(|field| field.name == *name)
                && let Ok(node) = expression::settable(text, field, meta, &find)
            {
                found.push((format!("`set` of {}.{}, `{text}`", meta.name, action.name), field, node));
            }
        }
    }
    found
}

/// The first reason that a field of an expression has: `reason` takes the resource of the field, the field, and true if it is that of
/// a referred record.
fn first(
    catalog: &Catalog,
    meta: &'static ResourceMeta,
    node: &Node,
    reason: impl Fn(&ResourceMeta, &FieldMeta, bool) -> Option<String>,
) -> Option<String> {
    let mut found = None;
    node.visit(&mut |part| {
        let Node::Field(Field { name, via, .. }) = part else { return };
        let of = via.as_ref().map_or(meta, |via| catalog.linked(&via.resource).meta);
        let named = of.fields.iter().find(|field| field.name == name);
        found = found.take().or_else(|| reason(of, named?, via.is_some()));
    });
    found
}

/// The reason why not everybody may know the value of a field. `is_held` is true for a right that the callers have.
fn hidden(field: &FieldMeta, is_held: impl Fn(&str) -> bool) -> Option<String> {
    if field.access == Access::Secret {
        return Some(format!("`{}` is secret", field.name));
    }
    let is_free = field.read.is_empty() || is_held(field.read);
    (!is_free).then(|| format!("reading `{}` needs `{}`", field.name, field.read))
}
