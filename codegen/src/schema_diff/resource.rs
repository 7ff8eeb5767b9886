//! Changes of a resource: names, access, operations, deletion, indexes and includes.

use super::{Changes, Effect, Pair, action, deprecation, field, fields, lacking, quoted, record_rules, unique};
use crate::snapshot::{Include, Resource};

pub fn compare(pair: &Pair<'_, Resource>, changes: &mut Changes<'_>) {
    match (pair.before, pair.after) {
        (None, Some(_)) => changes.push(Effect::Addition, "the resource is added"),
        (Some(before), None) => {
            let lost = format!("the table `{}` and all its rows are lost", before.table);
            changes.push_with(Effect::Breaking, "the resource is removed", Some(lost));
        }
        (Some(before), Some(after)) => both(before, after, changes),
        (None, None) => {}
    }
}

fn both(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    names(before, after, changes);
    callers(before, after, changes);
    operations(before, after, changes);
    deletion(before, after, changes);
    field::compare_all(
        &fields(&before.fields, &after.fields),
        field::Role::Record(after),
        &mut changes.within("fields"),
    );
    labels(before, after, changes);
    unique::compare(before, after, changes);
    sets(before, after, changes);
    title(before, after, changes);
    order(before, after, changes);
    record_rules::compare(before, after, changes);
    includes(before, after, changes);
    action::compare_all(&before.actions, &after.actions, changes);
    deprecation::compare(before, after, changes);
}

fn names(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    let key = "the key of a record and the prefix of events change";
    if before.name != after.name {
        let stays = "saved views, custom fields and polymorphic references keep the former name".to_owned();
        let message = format!("the name was `{}` and is `{}`: {key}", before.name, after.name);
        changes.push_with(Effect::Breaking, message, Some(stays));
    }
    if before.plural != after.plural {
        let message = format!("`plural` was `{}` and is `{}`: the key of a list changes", before.plural, after.plural);
        // A rename is reported with the name.
        let data = (before.name == after.name).then(|| {
            let what = if before.fields.contains_key("custom_fields") {
                "saved views and custom fields"
            } else {
                "saved views"
            };
            format!("{what} keep the former plural and are not found under the new one")
        });
        changes.push_with(Effect::Breaking, message, data);
    }
    changes.breaking_if("the path", &before.path, &after.path, "the old path is not found");
    changes.breaking_if(
        "`timestamps`",
        &before.timestamps,
        &after.timestamps,
        "the format of timestamps in responses changes",
    );
    if before.label != after.label {
        changes.push(Effect::Internal, format!("`label` was `{}` and is `{}`", before.label, after.label));
    }
    if before.table != after.table {
        changes.push(Effect::Internal, format!("`table` was `{}` and is `{}`", before.table, after.table));
    }
    if before.hooks != after.hooks {
        let (then, now) = (quoted(&before.hooks), quoted(&after.hooks));
        changes
            .push(Effect::Internal, format!("`hooks` were [{then}] and are [{now}]: the effect depends on their code"));
    }
    if before.seed != after.seed {
        changes.push(Effect::Internal, "`seed` names another file");
    }
}

/// Compares the fields that anybody may send without a token, and their limit.
fn public(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    let mut changes = changes.within("public");
    let (then, now) = match (&before.public, &after.public) {
        (then, now) if then == now => return,
        (None, Some((fields, limit))) => {
            let opened = format!("anybody may create records with {}, {limit}", quoted(fields));
            return changes.push(Effect::Addition, opened);
        }
        (Some(_), None) => return changes.push(Effect::Breaking, "nobody without a token creates records any more"),
        (Some(then), Some(now)) => (then, now),
        (None, None) => return,
    };
    let gone: Vec<String> = lacking(&then.0, &now.0).into_iter().cloned().collect();
    let new: Vec<String> = lacking(&now.0, &then.0).into_iter().cloned().collect();
    if !gone.is_empty() {
        changes.push(Effect::Breaking, format!("nobody without a token may send {}", quoted(&gone)));
    }
    if !new.is_empty() {
        changes.push(Effect::Addition, format!("anybody may send {}", quoted(&new)));
    }
    if then.1 != now.1 {
        changes.push(Effect::Internal, format!("the limit was {} and is {}", then.1, now.1));
    }
}

/// Compares abilities, permissions and the owner.
fn callers(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    let refused = "tokens with the old ability are rejected";
    changes.breaking_if("`ability`", &before.ability, &after.ability, refused);
    let permissions = [
        ("read", &before.read_permission, &after.read_permission),
        ("write", &before.write_permission, &after.write_permission),
    ];
    for (what, then, now) in permissions {
        match (then, now) {
            (then, now) if then == now => {}
            (Some(then), None) => {
                changes.push(Effect::Addition, format!("the permission `{then}` is no longer needed to {what}"))
            }
            (_, Some(now)) => changes.push(Effect::Breaking, format!("the permission `{now}` is needed to {what}")),
            (None, None) => {}
        }
    }
    match (&before.owner, &after.owner) {
        (then, now) if then == now => {}
        (Some(then), None) => {
            let shown = format!("records that `owner: {then}` hid from others are visible to all");
            changes.push_with(Effect::Addition, "`owner` is removed", Some(shown));
        }
        (_, Some(now)) => {
            changes.push(Effect::Breaking, format!("`owner` is `{now}`: others no longer see the records"));
        }
        (None, None) => {}
    }
    public(before, after, changes);
    row_rule("read", &before.read_rule, &after.read_rule, changes);
    row_rule("write", &before.write_rule, &after.write_rule, changes);
}

/// Compares a rule of `access`. A changed one may hide records from some callers and show them to others.
fn row_rule(what: &str, before: &Option<String>, after: &Option<String>, changes: &mut Changes<'_>) {
    match (before, after) {
        (then, now) if then == now => {}
        (Some(then), None) => {
            let freed = format!("callers may {what} records that `{then}` kept from them");
            changes.push_with(Effect::Addition, format!("`access.{what}` is removed"), Some(freed));
        }
        (None, Some(now)) => {
            let message = format!("callers may {what} only the records for which `{now}`");
            changes.push(Effect::Breaking, message);
        }
        (Some(then), Some(now)) => {
            let freed = format!("callers may {what} records that `{then}` kept from them, if `{now}` holds");
            let message = format!("callers may {what} only the records for which `{now}`, and not `{then}`");
            changes.push_with(Effect::Breaking, message, Some(freed));
        }
        (None, None) => {}
    }
}

fn operations(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    for gone in lacking(&before.operations, &after.operations) {
        changes.within("operations").push(Effect::Breaking, format!("`{gone}` is no longer served"));
    }
    for new in lacking(&after.operations, &before.operations) {
        changes.within("operations").push(Effect::Addition, format!("`{new}` is served"));
    }
    match (before.singleton, after.singleton) {
        (true, false) => {
            let lost = Some("the row is lost: the table is created again".to_owned());
            let message = "no longer a singleton: records get an id, and a list is served";
            changes.push_with(Effect::Breaking, message, lost);
        }
        (false, true) => {
            let lost = "all rows are lost: the table is created again".to_owned();
            changes.push_with(Effect::Breaking, "a singleton now: it has no list and no ids", Some(lost));
        }
        _ => {}
    }
    match (before.attachments, after.attachments) {
        (true, false) => {
            let data = Some("the files attached to its records become unreachable".to_owned());
            changes.push_with(Effect::Breaking, "attachments are removed", data);
        }
        (false, true) => changes.push(Effect::Addition, "attachments are added"),
        _ => {}
    }
    match (before.events, after.events) {
        (true, false) => changes.push(Effect::Breaking, "`events` are no longer emitted"),
        (false, true) => changes.push(Effect::Addition, "`events` are emitted"),
        _ => {}
    }
    for old in lacking(&before.emits, &after.emits) {
        changes.within("emits").push(Effect::Breaking, format!("the event `{old}` is no longer emitted"));
    }
    for new in lacking(&after.emits, &before.emits) {
        changes.within("emits").push(Effect::Addition, format!("the event `{new}` is emitted"));
    }
}

fn deletion(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    match (before.soft_delete, after.soft_delete) {
        (true, false) => {
            let mut back = "deletion marks are lost: deleted records reappear".to_owned();
            let is_unique = after.fields.values().any(|field| field.rules.contains_key("unique"));
            if is_unique || !after.unique.is_empty() {
                back.push_str(", and stop the migration if they repeat a unique value");
            }
            let message = "a delete removes the row: deleted records can no longer be listed or restored";
            changes.push_with(Effect::Breaking, message, Some(back));
        }
        (false, true) => changes.push(Effect::Addition, "a delete marks the row, which can be restored"),
        _ => {}
    }
}

/// Reports fields that show a label of a code which changed.
fn labels(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    let mut changes = changes.within("fields");
    for pair in fields(&before.fields, &after.fields) {
        let (Some(then), Some(now)) = (pair.before, pair.after) else { continue };
        let is_other = |(number, label): (&i32, &String)| then.codes.get(number).is_some_and(|then| then != label);
        if !now.codes.iter().any(is_other) {
            continue;
        }
        let shows = format!("{}.label", now.name);
        for shown in after.fields.values().filter(|field| field.from.as_deref() == Some(&shows)) {
            changes.within(&shown.name).push(Effect::Breaking, format!("it shows another label of `{}`", now.name));
        }
    }
}

/// Compares indexes.
fn sets(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    // A set stays the same under the new names of its fields.
    let renamed = |set: &Vec<String>| -> Vec<String> { set.iter().map(|name| renamed(after, before, name)).collect() };
    let then: Vec<Vec<String>> = before.indexes.iter().map(renamed).collect();
    for set in lacking(&after.indexes, &then) {
        changes.within("indexes").push(Effect::Internal, format!("an index on {} is added", quoted(set)));
    }
    for set in lacking(&then, &after.indexes) {
        changes.within("indexes").push(Effect::Internal, format!("the index on {} is removed", quoted(set)));
    }
    let then = renamed(&before.search);
    for name in lacking(&after.search, &then) {
        changes.within("search").push(Effect::Internal, format!("a substring index on `{name}` is added"));
    }
    for name in lacking(&then, &after.search) {
        changes.within("search").push(Effect::Internal, format!("the substring index on `{name}` is removed"));
    }
    let then = renamed(&before.ordered);
    for name in lacking(&after.ordered, &then) {
        changes.within("ordered").push(Effect::Internal, format!("an order index on `{name}` is added"));
    }
    for name in lacking(&then, &after.ordered) {
        changes.within("ordered").push(Effect::Internal, format!("the order index on `{name}` is removed"));
    }
}

/// Compares the titles of records, which the panel and the search show.
fn title(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    if before.title != after.title {
        let words =
            |title: &Option<String>| title.as_ref().map_or_else(|| "one field".to_owned(), |text| format!("`{text}`"));
        let message = format!("records were named by {} and are by {}", words(&before.title), words(&after.title));
        changes.within("title").push(Effect::Internal, message);
    }
}

/// Compares the order of lists without `sort`.
fn order(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    let renamed_key = |key: &String| {
        let (sign, name) = key.strip_prefix('-').map_or(("", key.as_str()), |name| ("-", name));
        let now = after.fields.values().find(|field| field.renamed_from.as_deref() == Some(name));
        format!("{sign}{}", now.map_or(name, |field| field.name.as_str()))
    };
    let then: Vec<String> = before.order.iter().map(renamed_key).collect();
    if then != after.order {
        let words = |keys: &[String]| if keys.is_empty() { "`id`".to_owned() } else { quoted(keys) };
        let message =
            format!("lists without `sort` were ordered by {} and are by {}", words(&then), words(&after.order));
        changes.within("order").push(Effect::Breaking, message);
    }
}

/// The later name of a field of the earlier resource.
pub fn renamed(after: &Resource, before: &Resource, name: &str) -> String {
    let pairs = fields(&before.fields, &after.fields);
    let pair = pairs.iter().find(|pair| pair.before.is_some_and(|field| field.name == name));
    pair.and_then(|pair| pair.after).map_or(name, |field| field.name.as_str()).to_owned()
}

fn includes(before: &Resource, after: &Resource, changes: &mut Changes<'_>) {
    let mut changes = changes.within("includes");
    for name in before.includes.keys().filter(|name| !after.includes.contains_key(*name)) {
        changes.within(name).push(Effect::Breaking, "the include is removed");
    }
    for (name, now) in &after.includes {
        let mut changes = changes.within(name);
        match before.includes.get(name) {
            None => changes.push(Effect::Addition, "the include is added"),
            Some(then) => include(then, &renamed(after, before, &then.loads), now, &mut changes),
        }
    }
}

fn include(then: &Include, then_loads: &str, now: &Include, changes: &mut Changes<'_>) {
    if then_loads != now.loads {
        changes.push(Effect::Breaking, format!("it loaded `{}` and loads `{}`", then.loads, now.loads));
    }
    match (then.fields.is_empty(), now.fields.is_empty()) {
        (false, true) => changes.push(Effect::Addition, "it shows every field of a list item"),
        (true, false) => changes.push(Effect::Breaking, format!("it shows only {}", quoted(&now.fields))),
        _ => {
            for name in lacking(&then.fields, &now.fields) {
                changes.push(Effect::Breaking, format!("it no longer shows `{name}`"));
            }
            for name in lacking(&now.fields, &then.fields) {
                changes.push(Effect::Addition, format!("it shows `{name}`"));
            }
        }
    }
}
