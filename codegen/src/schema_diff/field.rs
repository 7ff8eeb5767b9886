//! Changes of a field, a parameter or a field of an output: existence, access, default, rules and queries.

use charter_model::Number;

use super::{Changes, Effect, Pair, kind, lacking, quoted};
use crate::snapshot::{Access, Default, Field, Resource, Shown};

/// The declaration that the field belongs to.
#[derive(Clone, Copy)]
pub enum Role<'a> {
    Record(&'a Resource),
    Input,
    Output,
}

impl Role<'_> {
    /// True if clients write the field.
    fn is_writable(self, field: &Field) -> bool {
        match self {
            Role::Record(resource) => field.is_writable() && writes(resource),
            Role::Input => true,
            Role::Output => false,
        }
    }

    /// True if clients read the field.
    fn is_shown(self, field: &Field) -> bool {
        match self {
            Role::Record(_) => field.is_shown(),
            Role::Input => false,
            Role::Output => true,
        }
    }

    fn is_column(self, field: &Field) -> bool {
        matches!(self, Role::Record(_)) && field.is_column()
    }
}

/// True if clients write records of the resource. A resource without operations is written with the one that embeds it.
fn writes(resource: &Resource) -> bool {
    let is_write = |operation: &String| operation == "create" || operation == "update";
    resource.operations.is_empty() || resource.operations.iter().any(is_write)
}

pub fn compare_all(pairs: &[Pair<'_, Field>], role: Role<'_>, changes: &mut Changes<'_>) {
    for pair in pairs {
        match (pair.before, pair.after) {
            (Some(before), Some(after)) => compare(before, after, role, &mut changes.within(&after.name)),
            (None, Some(new)) => added(new, role, &mut changes.within(&new.name)),
            (Some(gone), None) => removed(gone, role, &mut changes.within(&gone.name)),
            (None, None) => {}
        }
    }
}

/// The deletion mark follows from `delete: soft`, which is reported for the resource.
fn is_servers_own(field: &Field) -> bool {
    field.shown == Shown::Never
}

fn added(field: &Field, role: Role<'_>, changes: &mut Changes<'_>) {
    if is_servers_own(field) {
        return;
    }
    let data = (role.is_column(field) && needs_backfill(field)).then(|| match can_be_filled(field) {
        true => "existing rows have no value: the migration needs a `backfill`".to_owned(),
        false => {
            "existing rows have no value: add it with `nullable: true`, fill the rows, and then require it".to_owned()
        }
    });
    match field.required && role.is_writable(field) {
        true => changes.push_with(Effect::Breaking, "added and required: requests without it are rejected", data),
        false => changes.push_with(Effect::Addition, "it is added", data),
    }
}

/// True if adding the column, or making it not null, needs a value for existing rows.
pub fn needs_backfill(field: &Field) -> bool {
    let literal = matches!(field.default, Default::Literal { .. });
    let has_value = literal || field.value.is_some() || field.initial.is_some() || field.backfill.is_some();
    !has_value && !field.nullable && !field.kind.facts().starts_empty
}

/// True if one value can fill all existing rows.
pub fn can_be_filled(field: &Field) -> bool {
    !field.rules.contains_key("unique") && field.kind.facts().can_be_filled
}

fn removed(field: &Field, role: Role<'_>, changes: &mut Changes<'_>) {
    if is_servers_own(field) {
        return;
    }
    let data = role.is_column(field).then(|| "its values are lost".to_owned());
    let breaks = role.is_shown(field) || role.is_writable(field);
    changes.push_with(if breaks { Effect::Breaking } else { Effect::Internal }, "it is removed", data);
}

fn compare(before: &Field, after: &Field, role: Role<'_>, changes: &mut Changes<'_>) {
    if before.name != after.name {
        changes.push(Effect::Breaking, format!("renamed from `{}`", before.name));
    }
    let data = role.is_column(after) && role.is_column(before);
    kind::compare(before, after, role.is_writable(after), data, changes);
    if before.from != after.from && before.from.is_some() && after.from.is_some() {
        let way = |field: &Field| field.from.clone().unwrap_or_default();
        changes.push(Effect::Breaking, format!("it showed `{}` and shows `{}`", way(before), way(after)));
    } else if before.from.is_some() != after.from.is_some() {
        derived(before, changes);
    }
    presence(before, after, role, changes);
    default(before, after, role, changes);
    access(before, after, changes);
    computed(before, after, changes);
    rollup(before, after, changes);
    rules(before, after, role, changes);
    choices(before, after, role, changes);
    on_delete(before, after, changes);
    sequence(before, after, changes);
    queries(before, after, changes);
}

/// Compares the records from which the database has the value.
fn rollup(before: &Field, after: &Field, changes: &mut Changes<'_>) {
    match (&before.rollup, &after.rollup) {
        (None, None) => {}
        (Some(then), Some(now)) if then == now => {}
        (None, Some(now)) => changes.push(Effect::Breaking, format!("it is the rollup `{now}`")),
        (Some(then), None) => changes.push(Effect::Breaking, format!("no longer the rollup `{then}`: clients set it")),
        (Some(then), Some(now)) => changes.push_with(
            Effect::Breaking,
            format!("it was the rollup `{then}` and is `{now}`"),
            Some("the start computes the values of all records again".to_owned()),
        ),
    }
}

/// Compares the numbers that the server assigns.
fn sequence(before: &Field, after: &Field, changes: &mut Changes<'_>) {
    match (&before.sequence, &after.sequence) {
        (None, Some(format)) => {
            changes.push(Effect::Addition, format!("the server assigns the next number of `{format}`"))
        }
        (Some(_), None) => changes.push(Effect::Breaking, "the server assigns no number: clients must send it"),
        (Some(then), Some(now)) if then != now => {
            changes.push(Effect::Addition, format!("new numbers have the form `{now}` in place of `{then}`"));
        }
        (Some(_), Some(_)) if before.numbering != after.numbering => {
            let word = |field: &Field| field.numbering.clone().unwrap_or_else(|| "fast".to_owned());
            changes.push(Effect::Internal, format!("`numbering` was `{}` and is `{}`", word(before), word(after)));
        }
        _ => {}
    }
}

/// Compares the records that a reference can get. A changed condition may be narrower.
fn choices(before: &Field, after: &Field, role: Role<'_>, changes: &mut Changes<'_>) {
    let narrower = if role.is_writable(after) { Effect::Breaking } else { Effect::Internal };
    match (&before.choices, &after.choices) {
        (then, now) if then == now => {}
        (None, Some(now)) => changes.push(narrower, format!("it can only get records with `{now}`")),
        (Some(then), Some(now)) => {
            changes.push(narrower, format!("it could get records with `{then}` and can get those with `{now}`"));
        }
        (Some(then), None) => {
            changes.push(Effect::Addition, format!("it can also get records without `{then}`"));
        }
        (None, None) => {}
    }
}

/// Compares the effects of the deletion of the record that a reference refers to.
fn on_delete(before: &Field, after: &Field, changes: &mut Changes<'_>) {
    let (then, now) = (before.on_delete.as_deref(), after.on_delete.as_deref());
    match (then, now) {
        _ if then == now => {}
        (_, Some("cascade")) => {
            let data = Some("its records are deleted with the record that they refer to".to_owned());
            changes.push_with(Effect::Breaking, "`on_delete` is `cascade`", data);
        }
        (_, Some("restrict")) => {
            changes.push(Effect::Breaking, "`on_delete` is `restrict`: deletions of referred records are refused");
        }
        (_, Some(effect)) => {
            changes.push(Effect::Addition, format!("`on_delete` is `{effect}`: deletions set it to null"));
        }
        (Some("restrict"), None) => changes.push(Effect::Addition, "no longer `on_delete: restrict`"),
        (Some(effect), None) => {
            changes
                .push(Effect::Breaking, format!("no longer `on_delete: {effect}`: it refers to the record as before"));
        }
        (None, None) => {}
    }
}

fn derived(before: &Field, changes: &mut Changes<'_>) {
    match &before.from {
        Some(way) => changes.push(Effect::Breaking, format!("it showed `{way}` and has a column of its own")),
        None => {
            let lost = Some("its own values are lost".to_owned());
            changes.push_with(Effect::Breaking, "it has no column any more and is derived", lost);
        }
    }
}

fn computed(before: &Field, after: &Field, changes: &mut Changes<'_>) {
    let replaced = Some("the migration computes the values of existing rows".to_owned());
    match (&before.value, &after.value) {
        (None, None) => {}
        (Some(then), Some(now)) if then == now => {}
        (None, Some(now)) => changes.push_with(Effect::Breaking, format!("it is computed: `{now}`"), replaced),
        (Some(then), Some(now)) => {
            changes.push_with(Effect::Breaking, format!("it was computed as `{then}` and is `{now}`"), replaced);
        }
        (Some(then), None) => {
            changes.push(Effect::Breaking, format!("no longer computed as `{then}`: it keeps the values it has"));
        }
    }
}

fn presence(before: &Field, after: &Field, role: Role<'_>, changes: &mut Changes<'_>) {
    match (before.nullable, after.nullable) {
        (false, true) if role.is_shown(after) => changes.push(Effect::Breaking, "it can be null in responses"),
        (false, true) => changes.push(Effect::Addition, "it can be null"),
        (true, false) => {
            let data = (role.is_column(after) && needs_backfill(after)).then(|| match can_be_filled(after) {
                true => "rows where it is null stop the migration unless it has a `backfill`".to_owned(),
                false => "rows where it is null stop the migration: fill them first".to_owned(),
            });
            let effect = if role.is_writable(after) { Effect::Breaking } else { Effect::Addition };
            changes.push_with(effect, "it cannot be null", data);
        }
        _ => {}
    }
    match (before.required, after.required) {
        (false, true) => changes.push(Effect::Breaking, "it is required: requests without it are rejected"),
        (true, false) => changes.push(Effect::Addition, "no longer required"),
        _ => {}
    }
}

fn default(before: &Field, after: &Field, role: Role<'_>, changes: &mut Changes<'_>) {
    let effect = if role.is_writable(after) { Effect::Breaking } else { Effect::Internal };
    let word = |default: &Default| match default {
        Default::None => "none".to_owned(),
        Default::Now => "now".to_owned(),
        Default::Caller => "caller".to_owned(),
        Default::Hook => "hook".to_owned(),
        Default::Literal { value } => format!("\"{value}\""),
        Default::Expression { value } => format!("`{value}`"),
    };
    match (&before.default, &after.default) {
        (then, now) if then == now => {}
        (Default::None, now) if before.required => {
            changes.push(Effect::Addition, format!("its default is {}", word(now)));
        }
        (then, now) => {
            changes.push(effect, format!("its default was {} and is {}", word(then), word(now)));
        }
    }
}

fn access(before: &Field, after: &Field, changes: &mut Changes<'_>) {
    match (before.access, after.access) {
        (then, now) if then == now => {}
        (Access::Secret, _) => {
            let shown = Some("values that were secret are shown".to_owned());
            changes.push_with(Effect::Breaking, "no longer secret", shown);
        }
        (_, Access::Secret) => changes.push(Effect::Breaking, "secret: no longer shown"),
        (_, Access::ReadOnly) => {
            changes.push(Effect::Breaking, "read-only: the server ignores the value that clients send")
        }
        (Access::Writable, Access::Immutable) => {
            changes.push(Effect::Breaking, "immutable: changes after create are rejected");
        }
        _ => changes.push(Effect::Addition, "clients can write it"),
    }
    match (before.shown, after.shown) {
        (Shown::Always, Shown::Detail) => changes.push(Effect::Breaking, "no longer shown in list items"),
        (Shown::Detail, Shown::Always) => changes.push(Effect::Addition, "shown in list items"),
        _ => {}
    }
}

fn rules(before: &Field, after: &Field, role: Role<'_>, changes: &mut Changes<'_>) {
    let narrower = if role.is_writable(after) { Effect::Breaking } else { Effect::Internal };
    for (key, now) in &after.rules {
        let stops = (key == "unique").then(|| "rows with the same value stop the migration".to_owned());
        match before.rules.get(key) {
            Some(then) if then == now => {}
            Some(then) => {
                let effect = if is_wider(key, then, now) { Effect::Addition } else { narrower };
                changes.push(effect, format!("`{key}` was `{then}` and is `{now}`"));
            }
            None if key == "unique" => changes.push_with(narrower, "it must be unique", stops),
            None => changes.push(narrower, format!("the rule `{key}: {now}` is added")),
        }
    }
    for (key, then) in before.rules.iter().filter(|(key, _)| !after.rules.contains_key(*key)) {
        match key.as_str() {
            "unique" => changes.push(Effect::Addition, "it can repeat"),
            _ => changes.push(Effect::Addition, format!("the rule `{key}: {then}` is removed")),
        }
    }
}

/// True if a bound allows every value that it allowed before.
pub fn is_wider(key: &str, then: &str, now: &str) -> bool {
    let (Some(then), Some(now)) = (Number::read(then), Number::read(now)) else { return false };
    match key {
        "min" | "above" | "min_length" => now <= then,
        "max" | "below" | "max_length" => now >= then,
        _ => false,
    }
}

/// Compares predicates and sorting. A change of the type implies other predicates.
fn queries(before: &Field, after: &Field, changes: &mut Changes<'_>) {
    let gone: Vec<String> = lacking(&before.predicates, &after.predicates).into_iter().cloned().collect();
    let new: Vec<String> = lacking(&after.predicates, &before.predicates).into_iter().cloned().collect();
    if !gone.is_empty() {
        changes.push(Effect::Breaking, format!("predicates removed: {}", quoted(&gone)));
    }
    if !new.is_empty() {
        changes.push(Effect::Addition, format!("predicates added: {}", quoted(&new)));
    }
    match (before.sorts, after.sorts) {
        (true, false) => changes.push(Effect::Breaking, "no longer sortable"),
        (false, true) => changes.push(Effect::Addition, "sortable"),
        _ => {}
    }
}
