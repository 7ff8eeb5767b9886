//! Start-up validation of the linked resources: path conflicts, patterns, conditions, predicates of filters.

use std::collections::HashMap;

use charter_model::Predicate;
use charter_model::reserved::{COLLECTION_PAGES, RECORD_PAGES, TOP_PATHS};
use charter_model::sequence::SequenceFormat;

use super::action::rule::first_state;
use super::input::choices;
use super::write::open_door;
use super::{Route, compile_pattern, paths, startup_rights};
use crate::catalog::{Catalog, Entry};
use crate::expression::{self, Find};
use crate::meta::{ActionOutput, ActionRule, FieldMeta, Filter, Kind, OnDelete, ResourceMeta, Rule, SetValue, Shown};
use crate::{query, rollups};

/// Links the resources of an application and validates them.
///
/// # Errors
/// Every unresolved or duplicate name, in one text. If there are none, every path conflict, invalid pattern, condition
/// and predicate.
pub fn link_routes(routes: &[Route]) -> Result<Catalog, String> {
    let catalog = Catalog::link(routes.iter().map(|route| (route.meta, route.behavior())).collect())?;
    let problems = validate(&catalog);
    if problems.is_empty() { Ok(catalog) } else { Err(problems.join("\n")) }
}

/// Every problem of the linked resources.
fn validate(catalog: &Catalog) -> Vec<String> {
    let mut problems = Vec::new();
    path_conflicts(catalog, &mut problems);
    for entry in catalog.entries() {
        let meta = entry.meta;
        for (place, field, siblings) in fields(meta) {
            for rule in field.rules {
                if let Rule::Pattern(pattern) = rule
                    && let Err(problem) = compile_pattern(pattern)
                {
                    problems.push(format!("the pattern of {place}{} cannot be compiled: {problem}", field.name));
                }
                if let Rule::RequiredWhen(text) = rule
                    && let Err(mistake) = expression::condition_over_fields(text, siblings)
                {
                    let (name, message) = (field.name, mistake.message);
                    problems.push(format!("`required_when` of {place}{name}, `{text}`: {message}"));
                }
            }
            if !field.value.is_empty()
                && let Err(problem) = expression::computed(field, siblings)
            {
                problems.push(format!("`value` of {place}{}, `{}`: {problem}", field.name, field.value));
            }
        }
        for (place, field, _) in fields(meta).filter(|(_, field, _)| !field.choices.is_empty()) {
            let problem = match field.kind {
                Kind::Ref { resource } => choices::checked(field.choices, catalog.linked(resource)).err(),
                _ => Some("the field is no reference to one resource".to_owned()),
            };
            let text = field.choices;
            problems.extend(problem.map(|problem| format!("`where` of {place}{}, `{text}`: {problem}", field.name)));
        }
        let find = |name: &str| Some(catalog.linked(name).meta);
        problems.extend(expression::defaults(meta, &find).err().map(|problem| format!("{}: {problem}", meta.name)));
        for rule in [meta.read_rule, meta.write_rule].into_iter().flatten() {
            let problem = match expression::condition_over(rule, meta, &find) {
                Err(mistake) => mistake.message,
                Ok(node) if node.needs_day() => "it cannot use `today`".to_owned(),
                Ok(_) => continue,
            };
            problems.push(format!("a row rule of {}, `{rule}`: {problem}", meta.plural));
        }
        problems.extend(invalid_conditions(meta));
        problems.extend(rollups::check(catalog, meta));
        problems.extend(meta.fields.iter().filter_map(|field| invalid_filter(entry, field)));
        problems.extend(startup_rights::problems(catalog, entry));
        problems.extend(open_door::problem(entry));
        problems.extend(invalid_order(entry));
        let is_hidden = |name: &&&str| entry.field(name).is_none_or(|field| field.shown == Shown::Never);
        let unknown = meta.columns.iter().find(is_hidden);
        problems
            .extend(unknown.map(|name| format!("`columns` of {} lists `{name}`, which no list shows", meta.plural)));
        problems.extend(meta.fields.iter().filter_map(|field| invalid_sequence(entry, field)));
        problems.extend(meta.fields.iter().filter_map(|field| invalid_on_delete(catalog, entry, field)));
        for (action, rule) in meta.ruled_actions() {
            let problem = invalid_rule(meta, rule, &find);
            problems.extend(problem.map(|problem| format!("the action {}.{}: {problem}", meta.name, action.name)));
        }
        for action in meta.actions.iter().filter(|action| action.input.iter().any(|field| field.name == action.name)) {
            // In a body, the input can be an object under the action's name.
            problems.push(format!("a parameter of the action `{}` of {} has its name", action.name, meta.plural));
        }
    }
    problems
}

/// The problem of a field whose `on_delete` could never take effect.
fn invalid_on_delete(catalog: &Catalog, entry: &Entry, field: &'static FieldMeta) -> Option<String> {
    let (effect, place) = (field.on_delete?, format!("{}.{}", entry.meta.name, field.name));
    let Kind::Ref { resource } = field.kind else {
        return Some(format!("{place} has `on_delete` and is no reference to one resource"));
    };
    let is_kept = entry.meta.soft_delete && !catalog.linked(resource).meta.soft_delete;
    match effect {
        OnDelete::Clear if !field.nullable => Some(format!("{place} has `on_delete = \"clear\"` and cannot be null")),
        OnDelete::Cascade if is_kept => Some(format!(
            "{place} has `on_delete = \"cascade\"`, but its soft-deleted records would refer to no {resource}"
        )),
        _ => None,
    }
}

/// The first key of the default order by which lists cannot be sorted.
fn invalid_order(entry: &Entry) -> Option<String> {
    let is_ordered = |key: &&str| {
        let field = entry.field(key.strip_prefix('-').unwrap_or(key));
        field.is_some_and(|field| field.shown == Shown::Always && query::is_ordered(entry.source(field).kind()))
    };
    let wrong = entry.meta.order.iter().find(|key| !is_ordered(key))?;
    Some(format!("`order` of {} lists `{wrong}`, by which its list cannot be sorted", entry.meta.plural))
}

/// The problem of a field whose numbers could not be assigned.
fn invalid_sequence(entry: &Entry, field: &'static FieldMeta) -> Option<String> {
    let place = format!("{}.{}", entry.meta.name, field.name);
    match SequenceFormat::read(field.sequence) {
        _ if field.sequence.is_empty() => None,
        Err(problem) => Some(format!("`sequence` of {place}: {problem}")),
        Ok(_) if !matches!(field.kind, Kind::String { .. }) => {
            Some(format!("{place} has a `sequence` and is no string"))
        }
        Ok(_) if !field.rules.contains(&Rule::Unique) => Some(format!("{place} has a `sequence` and is not unique")),
        Ok(_) => None,
    }
}

/// The problems of the conditions over whole records of a resource.
fn invalid_conditions(meta: &'static ResourceMeta) -> Vec<String> {
    let checks = meta.checks.iter().map(|check| ("a check", check.that));
    let rows = meta.unique.iter().filter_map(|set| Some(("a unique set", set.rows?)));
    let conditions = checks.chain(rows).map(|(what, text)| (what, text, true));
    let conditions = conditions.chain(meta.frozen.map(|condition| ("`frozen`", condition, false)));
    let problem = |(what, text, is_of_record): (_, &'static str, _)| {
        let problem = match expression::condition(text, meta) {
            Err(mistake) => mistake.message,
            Ok(node) if is_of_record && !node.is_constant() => "it depends on the request".to_owned(),
            Ok(_) => return None,
        };
        Some(format!("{what} of {}, `{text}`: {problem}", meta.name))
    };
    conditions.filter_map(problem).collect()
}

/// The problem of a field whose `filter` allows a predicate that its type does not accept.
fn invalid_filter(entry: &Entry, field: &'static FieldMeta) -> Option<String> {
    let Filter::Only(allowed) = field.filter else { return None };
    let source = entry.source(field);
    let kind = source.kind();
    let fits = |name: &str| Predicate::from_name(name).is_some_and(|predicate| kind.accepts(predicate));
    let misfit = allowed.iter().find(|name| !fits(name))?;
    Some(format!("`filter` of {}.{} lists `{misfit}`, which its type does not support", entry.meta.name, field.name))
}

/// The problem of a transition, or of an action with a condition or values, of a resource that is written in Rust. Codegen
/// checks those in YAML.
fn invalid_rule(meta: &'static ResourceMeta, rule: &ActionRule, find: Find<'_>) -> Option<String> {
    if let Some(change) = rule.change {
        let state = meta.fields.iter().find(|field| field.name == change.field)?;
        let (Kind::Enum { values }, Some(_)) = (state.kind, first_state(state)) else {
            return Some(format!("`{}` is not an enum with a default", state.name));
        };
        if let Some(unknown) = change.from.iter().chain([&change.to]).find(|state| !values.contains(state)) {
            return Some(format!("`{unknown}` is not a state"));
        }
    }
    for (name, value) in rule.set {
        let Some(field) = meta.fields.iter().find(|field| field.name == *name) else {
            return Some(format!("`{name}` is not a field"));
        };
        if let SetValue::Expression(text) = value
            && let Err(problem) = expression::settable(text, field, meta, find)
        {
            return Some(format!("the value of `{name}`, `{text}`: {problem}"));
        }
    }
    let mistake = expression::condition(rule.guard?, meta).err()?;
    Some(format!("the condition `{}`: {}", rule.guard?, mistake.message))
}

/// The fields of a resource, and the parameters and output fields of its actions, each with the prefix of its name and with all
/// fields of its record.
fn fields(meta: &'static ResourceMeta) -> impl Iterator<Item = (String, &'static FieldMeta, &'static [FieldMeta])> {
    let own = std::iter::once((format!("{}.", meta.name), meta.fields));
    let of_actions = meta.actions.iter().flat_map(|action| {
        let output = match action.output {
            ActionOutput::Fields { fields, .. } => fields,
            ActionOutput::Record | ActionOutput::Created => &[],
        };
        [action.input, output].map(|fields| (format!("{}.{}.", meta.name, action.name), fields))
    });
    own.chain(of_actions).flat_map(|(place, all)| all.iter().map(move |field| (place.clone(), field, all)))
}

/// Reports paths that two resources, actions or pages share, in the API or in the panel.
fn path_conflicts(catalog: &Catalog, problems: &mut Vec<String>) {
    let mut taken: HashMap<String, &str> = TOP_PATHS.iter().map(|name| ((*name).to_owned(), "the server")).collect();
    let all = catalog.entries().iter().flat_map(|entry| {
        let served = paths(catalog, entry).into_iter().map(|path| without_names(&path));
        served.chain(pages(catalog, entry)).map(|path| (path, entry.meta.plural))
    });
    for (path, owner) in all {
        if let Some(other) = taken.insert(path.clone(), owner) {
            problems.push(format!("`/{path}` is a path of {other} and of {owner}"));
        }
    }
}

/// Panel pages below the list and the record of a resource.
fn pages(catalog: &Catalog, entry: &Entry) -> Vec<String> {
    let collection = without_names(&crate::ops::collection(catalog, entry));
    let record = if entry.meta.singleton { collection.clone() } else { format!("{collection}/{{}}") };
    let of_list = COLLECTION_PAGES.iter().filter(|_| !entry.meta.singleton);
    let of_list = of_list.map(|page| format!("{collection}/{page}"));
    of_list.chain(RECORD_PAGES.iter().map(|page| format!("{record}/{page}"))).collect()
}

/// The path without the names of parameters, which do not distinguish paths: `products/{}/accessories`.
fn without_names(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
