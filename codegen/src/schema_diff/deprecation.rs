//! Changes of deprecations, and whether a removal keeps the announced date.

use super::{Change, Changes, Effect};
use crate::snapshot::{Deprecation, Resource};

pub fn compare(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    for (place, now) in &after.deprecated {
        let mut changes = changes.within(place);
        let instead = now.instead.as_ref().map(|name| format!(": use `{name}`")).unwrap_or_default();
        let sunset = now.sunset.as_ref().map(|day| format!(", and will be removed on {day}")).unwrap_or_default();
        match before.deprecated.get(place) {
            None => changes.push(Effect::Addition, format!("deprecated since {}{sunset}{instead}", now.since)),
            Some(then) => both(then, now, &mut changes),
        }
    }
    for (place, _) in before.deprecated.iter().filter(|(place, _)| !after.deprecated.contains_key(*place)) {
        if is_there(after, place) {
            changes.within(place).push(Effect::Internal, "no longer deprecated");
        }
    }
}

fn both(then: &Deprecation, now: &Deprecation, changes: &mut Changes<'_>) {
    let word = |day: &Option<String>| day.clone().unwrap_or_else(|| "unknown".to_owned());
    match (&then.sunset, &now.sunset) {
        (was, is) if was == is => {}
        (was, is) => {
            // An earlier sunset leaves clients less time than was announced.
            let earlier = matches!((was, is), (Some(was), Some(is)) if is < was);
            let effect = if earlier { Effect::Breaking } else { Effect::Internal };
            changes.push(effect, format!("the sunset was {} and is {}", word(was), word(is)));
        }
    }
    if (&then.since, &then.instead) != (&now.since, &now.instead) {
        changes.push(Effect::Internal, "the details of its deprecation changed");
    }
}

/// True if the field, filter or action at a place still exists.
fn is_there(resource: &Resource, place: &str) -> bool {
    match place.split_once('.') {
        Some(("fields", name)) => resource.fields.contains_key(name),
        Some(("actions", name)) => resource.actions.contains_key(name),
        Some((_, filter)) => filters(resource, filter).is_some(),
        None => false,
    }
}

/// The field of a filter, if the filter is allowed.
fn filters<'r>(resource: &'r Resource, filter: &str) -> Option<&'r str> {
    let mut fields = resource.fields.values();
    let asks = |predicate: &str, name: &str| filter == format!("{name}_{predicate}");
    fields.find_map(|field| {
        field.predicates.iter().any(|predicate| asks(predicate, &field.name)).then_some(field.name.as_str())
    })
}

/// Adds the deprecation to the message of each removal. `today` is the current day.
pub fn describe_removals(before: &Resource, after: Option<&Resource>, today: &str, changes: &mut [Change]) {
    for (place, deprecation) in &before.deprecated {
        if after.is_some_and(|after| is_there(after, place)) {
            continue;
        }
        let (changed, about) = match place.split_once('.') {
            Some(("filters", filter)) => {
                let Some(field) = filters(before, filter) else { continue };
                (format!("fields.{field}"), format!(" (`{filter}` {})", removal(deprecation, today)))
            }
            _ => (place.clone(), format!(" ({})", removal(deprecation, today))),
        };
        for change in changes.iter_mut().filter(|change| change.at == changed && is_removal(change)) {
            change.message.push_str(&about);
        }
    }
}

fn is_removal(change: &Change) -> bool {
    ["it is removed", "the action is removed", "predicates removed"]
        .iter()
        .any(|removal| change.message.starts_with(removal))
}

/// True if a removal keeps the announced day, as a clause of a sentence.
fn removal(deprecation: &Deprecation, today: &str) -> String {
    match &deprecation.sunset {
        Some(day) if day.as_str() <= today => format!("removed as announced, on or after {day}"),
        Some(day) => format!("removed before {day}, the sunset that was announced"),
        None => format!("deprecated since {}, without a sunset", deprecation.since),
    }
}
