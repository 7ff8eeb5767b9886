//! Lowering: completes the written resources with names, defaults, types and both ends of relations.

mod expressions;
mod field;
mod joins;
mod kind;
mod links;
mod relation;
mod resource;
mod rollup;
mod states;

use links::Links;

use crate::diagnostic::{Code, Diagnostic, Problems, nearest};
use crate::model::{IncludeTarget, Resource, Schema};
use crate::platform;
use crate::source::{Sources, Span};
use crate::syntax::Syntax;

/// The schema of all files. Parts that cannot be completed are reported, and left out or marked unknown.
pub fn lower(mut syntax: Syntax, sources: &Sources, problems: &mut Problems) -> Schema {
    let joins = joins::resources(&syntax, &Links::of(&syntax, sources), sources, problems);
    syntax.resources.extend(joins);
    let links = Links::of(&syntax, sources);
    let declared = syntax.resources.iter().map(|written| resource::lower(written, &links, &syntax, sources, problems));
    let mut resources: Vec<_> = declared.collect();
    // A file that could not be read may name it.
    if syntax.unreadable.is_empty() {
        seeds_of_nobody(&resources, sources, problems);
    }
    rollup::complete(&mut resources);
    rollup::indexes(&mut resources);
    found_by(&mut resources);
    resources.extend(platform::resources());
    let language = |(code, name): &(String, String)| (code.clone(), sources.folder.join(name));
    let languages = syntax.languages.iter().map(language).collect();
    Schema { resources, unreadable: syntax.unreadable, languages }
}

/// Records in each resource the fields by which others find its records.
fn found_by(resources: &mut [Resource]) {
    let mut asked: Vec<(String, String)> = Vec::new();
    for resource in resources.iter() {
        asked.extend(resource.under.iter().map(|under| (resource.name.value.clone(), under.field.clone())));
        let embedded = resource.fields.iter().filter_map(|field| field.kind.dependents());
        asked.extend(embedded.map(|(resource, by)| (resource.value.clone(), by.value.clone())));
        let rollups = resource.fields.iter().filter_map(|field| field.rollup.as_ref());
        asked.extend(rollups.map(|rollup| (rollup.resource.value.clone(), rollup.by.value.clone())));
        asked.extend(resource.includes.iter().filter_map(|include| match &include.target {
            IncludeTarget::Many { resource, by } => Some((resource.value.clone(), by.value.clone())),
            _ => None,
        }));
    }
    for (name, by) in asked {
        for resource in resources.iter_mut().filter(|resource| resource.name.value == name) {
            // An unknown or wrong field is reported where it is named.
            let field = resource.field(&by).filter(|field| field.kind.target().is_some());
            let Some(field) = field.map(|field| field.name.clone()) else { continue };
            if !resource.found_by.contains(&field) {
                resource.found_by.push(field);
            }
        }
    }
}

/// Reports seed files that no resource names.
fn seeds_of_nobody(resources: &[Resource], sources: &Sources, problems: &mut Problems) {
    for (file, source) in sources.seeds() {
        let name = source.name();
        let named = |resource: &Resource| resource.seed.as_ref().is_some_and(|seed| seed.name.value == name);
        if resources.iter().any(named) {
            continue;
        }
        let free = resources.iter().filter(|resource| resource.seed.as_ref().is_none_or(|seed| !seed.exists));
        let whose = nearest(source.stem(), free.map(|resource| resource.name.as_str()));
        let help = match whose {
            Some(resource) => format!("add `seed: {name}` to `{resource}`, or remove the file"),
            None => format!("add `seed: {name}` to the resource of these rows, or remove the file"),
        };
        let span = Span { file, start: 0, end: source.text.lines().next().map_or(0, str::len) };
        let message = format!("no resource names the seed file `{name}`");
        problems.push(Diagnostic::new(Code::Seed, span, message, "rows are never inserted").help(help));
    }
}
