//! Deprecation checks: valid days in order, an existing filter, and a replacement that stays.

use charter_model::date::is_day;
use charter_model::{Keyword, Predicate};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Default, Deprecated, Deprecation, Filter, Name, Resource, Schema};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let mut reported = None;
    for deprecation in &resource.deprecated {
        // The two columns of a polymorphic reference share one declaration.
        if reported == Some(deprecation.since.span) {
            continue;
        }
        reported = Some(deprecation.since.span);
        days(deprecation, problems);
        let names = names(schema, resource, deprecation.of);
        if deprecation.of == Deprecated::Filter {
            known(&deprecation.name, deprecation.of, &names, problems);
        }
        if let Some(instead) = &deprecation.instead {
            replacement(resource, deprecation, instead, &names, problems);
        }
        required_field(resource, deprecation, problems);
    }
}

fn days(deprecation: &Deprecation, problems: &mut Problems) {
    let mut days = true;
    for day in [Some(&deprecation.since), deprecation.sunset.as_ref()].into_iter().flatten() {
        if !is_day(day.as_str()) {
            let message = format!("`{}` is not a date", day.value);
            let problem = Diagnostic::new(Code::Deprecation, day.span, message, "not a date");
            problems.push(problem.help("for example `2026-03-21`"));
            days = false;
        }
    }
    if let (Some(sunset), true) = (&deprecation.sunset, days)
        && sunset.value <= deprecation.since.value
    {
        let message = format!("the sunset of `{}` is not after the start of its deprecation", deprecation.name.value);
        let problem = Diagnostic::new(Code::Deprecation, sunset.span, message, "not later")
            .related(deprecation.since.span, "the start")
            .help("give clients time to migrate between the two");
        problems.push(problem);
    }
}

/// The names of all fields, actions or filters.
fn names(schema: &Schema, resource: &Resource, of: Deprecated) -> Vec<String> {
    match of {
        Deprecated::Field => resource.fields.iter().map(|field| field.name.value.clone()).collect(),
        Deprecated::Action => resource.actions.iter().map(|action| action.name.value.clone()).collect(),
        Deprecated::Filter => filters(schema, resource),
    }
}

/// Every filter as `q` names it.
fn filters(schema: &Schema, resource: &Resource) -> Vec<String> {
    let listed = resource.fields.iter().filter(|field| field.is_listed());
    let of_field = listed.flat_map(|field| {
        let predicates = match resource.filter(field) {
            None | Some(Filter::All) => schema.value_kind(resource, field).predicates(),
            Some(Filter::Only(words)) => words.iter().map(|word| word.value).collect(),
        };
        predicates.into_iter().map(|predicate| format!("{}_{}", field.name.value, predicate.word()))
    });
    of_field.collect()
}

fn known(name: &Name, of: Deprecated, names: &[String], problems: &mut Problems) -> bool {
    let known = names.contains(&name.value);
    if !known {
        let message = format!("unknown {} `{}`", of.word(), name.value);
        let problem = Diagnostic::new(Code::Deprecation, name.span, message, format!("unknown {}", of.word()));
        problems.push(match of_several(name.as_str()).filter(|_| of == Deprecated::Filter) {
            Some(each) => {
                problem.help(format!("a filter on several fields is deprecated with the filter of each: {each}"))
            }
            None => problem.did_you_mean(name.as_str(), names.iter().map(String::as_str)),
        });
    }
    known
}

/// The filters behind a filter on several fields: `name_or_code_eq` is `name_eq` and `code_eq`.
fn of_several(name: &str) -> Option<String> {
    let ends = |word: &&&str| name.strip_suffix(*word).is_some_and(|head| head.ends_with('_'));
    let predicate = Predicate::WORDS.iter().filter(ends).max_by_key(|word| word.len())?;
    let names: Vec<&str> = name[..name.len() - predicate.len() - 1].split("_or_").collect();
    let each = names.iter().map(|name| format!("`{name}_{predicate}`"));
    (names.len() > 1).then(|| each.collect::<Vec<_>>().join(", "))
}

fn replacement(
    resource: &Resource,
    deprecation: &Deprecation,
    instead: &Name,
    names: &[String],
    problems: &mut Problems,
) {
    if !known(instead, deprecation.of, names, problems) {
        return;
    }
    let also = resource.deprecated.iter().find(|other| other.of == deprecation.of && other.name.value == instead.value);
    if let Some(also) = also {
        let message = format!("`{}` is deprecated too and cannot replace it", instead.value);
        let problem = Diagnostic::new(Code::Deprecation, instead.span, message, "deprecated too")
            .related(also.since.span, "deprecated here")
            .help("name a replacement that is not deprecated, or remove `instead`");
        problems.push(problem);
    }
}

/// Clients cannot omit a deprecated field that is required.
fn required_field(resource: &Resource, deprecation: &Deprecation, problems: &mut Problems) {
    let field = resource.field(deprecation.name.as_str()).filter(|_| deprecation.of == Deprecated::Field);
    let Some((field, required)) = field.and_then(|field| Some((field, field.places.required?))) else { return };
    if field.default == Default::None {
        let message = format!("`{}` is deprecated and required", field.declared);
        let problem =
            Diagnostic::new(Code::Deprecation, deprecation.since.span, message, "clients cannot stop sending it")
                .related(required, "required here")
                .help("give it a `default`, or make it `nullable: true`");
        problems.push(problem);
    }
}
