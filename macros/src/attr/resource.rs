//! Reader of `#[resource(…)]`.

use charter_model::rate::Rate;
use charter_model::{Deprecated, Keyword};
use syn::Type;

use super::entry::{Entry, Value};
use super::{Written, action_rule, flag, once, text, texts, unknown};
use crate::ast::{Action, Check, Deprecation, Include, Public, Settings, Target, Under, Unique, Word};
use crate::problems::Problems;

const RESOURCE_KEYS: &[&str] = &[
    "name",
    "plural",
    "label",
    "description",
    "menu",
    "columns",
    "type_name",
    "table",
    "path",
    "ability",
    "read_permission",
    "write_permission",
    "owner",
    "public",
    "read_rule",
    "write_rule",
    "under",
    "operations",
    "singleton",
    "soft_delete",
    "custom_fields",
    "attachments",
    "events",
    "emits",
    "unique",
    "check",
    "frozen",
    "index",
    "search",
    "title",
    "ordered",
    "order",
    "include",
    "action",
    "reveal",
    "deprecated",
];

pub fn read(written: &Written, problems: &mut Problems) -> Settings {
    let mut settings = Settings { malformed: written.malformed, ..Settings::default() };
    for entry in &written.entries {
        match entry.key().as_str() {
            "name" => once(&mut settings.name, text(entry, problems), entry, problems),
            "plural" => once(&mut settings.plural, text(entry, problems), entry, problems),
            "label" => once(&mut settings.label, text(entry, problems), entry, problems),
            "description" => once(&mut settings.description, text(entry, problems), entry, problems),
            "menu" => once(&mut settings.menu, text(entry, problems), entry, problems),
            "columns" => settings.columns.extend(texts(entry, problems)),
            "type_name" => once(&mut settings.type_name, text(entry, problems), entry, problems),
            "table" => once(&mut settings.table, text(entry, problems), entry, problems),
            "path" => once(&mut settings.path, text(entry, problems), entry, problems),
            "ability" => once(&mut settings.ability, text(entry, problems), entry, problems),
            "read_permission" => once(&mut settings.read_permission, text(entry, problems), entry, problems),
            "write_permission" => once(&mut settings.write_permission, text(entry, problems), entry, problems),
            "owner" => once(&mut settings.owner, text(entry, problems), entry, problems),
            "public" => once(&mut settings.public, public(entry, problems), entry, problems),
            "read_rule" => once(&mut settings.read_rule, text(entry, problems), entry, problems),
            "write_rule" => once(&mut settings.write_rule, text(entry, problems), entry, problems),
            "under" => once(&mut settings.under, under(entry, problems), entry, problems),
            "operations" => once(&mut settings.operations, operations(entry, problems), entry, problems),
            "singleton" => once(&mut settings.singleton, flag(entry, problems), entry, problems),
            "soft_delete" => once(&mut settings.soft_delete, flag(entry, problems), entry, problems),
            "custom_fields" => once(&mut settings.custom_fields, flag(entry, problems), entry, problems),
            "attachments" => once(&mut settings.attachments, flag(entry, problems), entry, problems),
            "events" => once(&mut settings.events, flag(entry, problems), entry, problems),
            "emits" => settings.extra_events.extend(texts(entry, problems)),
            "unique" => settings.unique.extend(unique(entry, problems)),
            "check" => settings.checks.extend(check(entry, problems)),
            "frozen" => once(&mut settings.frozen, text(entry, problems), entry, problems),
            "index" => settings.indexes.push(texts(entry, problems)),
            "search" => settings.search.extend(texts(entry, problems)),
            "title" => once(&mut settings.title, text(entry, problems), entry, problems),
            "order" => settings.order.extend(texts(entry, problems)),
            "ordered" => settings.ordered.extend(texts(entry, problems)),
            "include" => settings.includes.extend(include(entry, problems)),
            "action" => settings.actions.extend(action(entry, problems)),
            "reveal" => settings.reveals.extend(reveal(entry, problems)),
            "deprecated" => settings.deprecated.extend(deprecated(entry, problems)),
            _ => unknown(entry, RESOURCE_KEYS, problems),
        }
    }
    settings
}

/// The list may be empty: `operations()` is a table without routes.
fn operations(entry: &Entry, problems: &mut Problems) -> Option<Vec<Word>> {
    match entry {
        Entry::List(_, inside) if inside.is_empty() => Some(Vec::new()),
        _ => Some(texts(entry, problems)),
    }
}

/// `unique("a", "b")`, or `unique(fields("a"), where = "…", ignore_case)`.
fn unique(entry: &Entry, problems: &mut Problems) -> Option<Unique> {
    let (mut fields, mut rows, mut ignore_case) = (Vec::new(), None, None);
    let parts = inside(entry, "\"…\", …", problems)?;
    if parts.iter().all(|part| part.key().is_empty()) {
        return Some(Unique { fields: texts(entry, problems), rows, ignore_case });
    }
    for part in parts {
        match part.key().as_str() {
            "fields" => fields.extend(texts(part, problems)),
            "where" => once(&mut rows, text(part, problems), part, problems),
            "ignore_case" => once(&mut ignore_case, flag(part, problems), part, problems),
            _ => unknown(part, &["fields", "where", "ignore_case"], problems),
        }
    }
    let fields = needed((!fields.is_empty()).then_some(fields), "fields", entry, problems);
    Some(Unique { fields: fields?, rows, ignore_case })
}

fn check(entry: &Entry, problems: &mut Problems) -> Option<Check> {
    let (mut that, mut field, mut message) = (None, None, None);
    for part in inside(entry, "that = \"…\"", problems)? {
        match part.key().as_str() {
            "that" => once(&mut that, text(part, problems), part, problems),
            "field" => once(&mut field, text(part, problems), part, problems),
            "message" => once(&mut message, text(part, problems), part, problems),
            _ => unknown(part, &["that", "field", "message"], problems),
        }
    }
    Some(Check { that: needed(that, "that", entry, problems)?, field, message })
}

fn under(entry: &Entry, problems: &mut Problems) -> Option<Under> {
    let (mut resource, mut field) = (None, None);
    for part in inside(entry, "resource = \"…\", field = \"…\"", problems)? {
        match part.key().as_str() {
            "resource" => once(&mut resource, text(part, problems), part, problems),
            "field" => once(&mut field, text(part, problems), part, problems),
            _ => unknown(part, &["resource", "field"], problems),
        }
    }
    let resource = needed(resource, "resource", entry, problems);
    let field = needed(field, "field", entry, problems);
    Some(Under { resource: resource?, field: field? })
}

/// `public(create("subject"), limit = "20/hour")`
fn public(entry: &Entry, problems: &mut Problems) -> Option<Public> {
    let (mut create, mut limit) = (Vec::new(), None);
    for part in inside(entry, "create(\"…\"), limit = \"…\"", problems)? {
        match part.key().as_str() {
            "create" => create.extend(texts(part, problems)),
            "limit" => once(&mut limit, text(part, problems), part, problems),
            _ => unknown(part, &["create", "limit"], problems),
        }
    }
    let read = |limit: Word| match Rate::read(&limit.text) {
        Ok(rate) => rate,
        Err(help) => {
            problems.report(limit.span, help);
            Rate::DEFAULT
        }
    };
    let limit = limit.map_or(Rate::DEFAULT, read);
    Some(Public { create, limit })
}

const INCLUDE_KEYS: &[&str] = &["name", "via", "many", "by", "links", "custom_fields", "allowed_actions", "fields"];

fn include(entry: &Entry, problems: &mut Problems) -> Option<Include> {
    let (mut name, mut via, mut many, mut by, mut links) = (None, None, None, None, None);
    let (mut custom_fields, mut allowed_actions) = (None, None);
    let mut fields = Vec::new();
    for part in inside(entry, "name = \"…\", via = \"…\"", problems)? {
        match part.key().as_str() {
            "name" => once(&mut name, text(part, problems), part, problems),
            "via" => once(&mut via, text(part, problems), part, problems),
            "many" => once(&mut many, text(part, problems), part, problems),
            "by" => once(&mut by, text(part, problems), part, problems),
            "links" => once(&mut links, text(part, problems), part, problems),
            "custom_fields" => once(&mut custom_fields, flag(part, problems), part, problems),
            "allowed_actions" => once(&mut allowed_actions, flag(part, problems), part, problems),
            "fields" => fields.extend(texts(part, problems)),
            _ => unknown(part, INCLUDE_KEYS, problems),
        }
    }
    let name = needed(name, "name", entry, problems);
    let target = match (via, many, by, links, custom_fields, allowed_actions) {
        (Some(via), None, None, None, None, None) => Target::One { via },
        (None, Some(resource), Some(by), None, None, None) => Target::Many { resource, by },
        (None, None, None, Some(field), None, None) => Target::Links { field },
        (None, None, None, None, Some(_), None) => Target::CustomFieldValues,
        (None, None, None, None, None, Some(_)) => Target::AllowedActions,
        _ => {
            let forms =
                "`via = \"…\"`, `many = \"…\", by = \"…\"`, `links = \"…\"`, `custom_fields` or `allowed_actions`";
            problems.report(entry.span(), format!("an include takes exactly one of {forms}"));
            return None;
        }
    };
    Some(Include { name: name?, target, fields })
}

const ACTION_KEYS: &[&str] = &[
    "name",
    "on",
    "method",
    "input",
    "output",
    "key",
    "creates",
    "event",
    "until",
    "confirm",
    "external",
    "needs_write",
    "reveal",
    "description",
    "transition",
    "rule",
];

fn action(entry: &Entry, problems: &mut Problems) -> Option<Action> {
    let (mut name, mut on, mut method, mut input) = (None, None, None, None);
    let (mut output, mut key, mut creates, mut event, mut until) = (None, None, None, None, None);
    let (mut external, mut needs_write, mut confirm, mut description) = (None, None, None, None);
    let (mut reveals, mut rule) = (Vec::new(), None);
    for part in inside(entry, "name = \"…\", on = \"…\"", problems)? {
        match part.key().as_str() {
            "name" => once(&mut name, text(part, problems), part, problems),
            "on" => once(&mut on, text(part, problems), part, problems),
            "method" => once(&mut method, text(part, problems), part, problems),
            "input" => once(&mut input, named_type(part, problems), part, problems),
            "output" => once(&mut output, named_type(part, problems), part, problems),
            "key" => once(&mut key, text(part, problems), part, problems),
            "creates" => once(&mut creates, flag(part, problems), part, problems),
            "event" => once(&mut event, text(part, problems), part, problems),
            "until" => once(&mut until, text(part, problems), part, problems),
            "confirm" => once(&mut confirm, text(part, problems), part, problems),
            "external" => once(&mut external, flag(part, problems), part, problems),
            "needs_write" => once(&mut needs_write, flag(part, problems), part, problems),
            "reveal" => reveals.extend(reveal(part, problems)),
            "description" => once(&mut description, text(part, problems), part, problems),
            "transition" => once(&mut rule, action_rule::transition(part, problems), part, problems),
            "rule" => once(&mut rule, action_rule::rule(part, problems), part, problems),
            _ => {
                unknown(part, ACTION_KEYS, problems);
            }
        }
    }
    let name = needed(name, "name", entry, problems);
    let on = needed(on, "on", entry, problems);
    let (name, on) = (name?, on?);
    Some(Action {
        name,
        on,
        method,
        input,
        output,
        key,
        creates,
        event,
        until,
        confirm,
        external,
        needs_write,
        reveals,
        rule,
        description,
    })
}

fn reveal(entry: &Entry, problems: &mut Problems) -> Option<(Word, Word)> {
    let (mut name, mut description) = (None, None);
    for part in inside(entry, "name = \"…\", description = \"…\"", problems)? {
        match part.key().as_str() {
            "name" => once(&mut name, text(part, problems), part, problems),
            "description" => once(&mut description, text(part, problems), part, problems),
            _ => unknown(part, &["name", "description"], problems),
        }
    }
    let name = needed(name, "name", entry, problems);
    Some((name?, needed(description, "description", entry, problems)?))
}

fn deprecated(entry: &Entry, problems: &mut Problems) -> Option<Deprecation> {
    let (mut named, mut since, mut sunset, mut instead) = (None, None, None, None);
    for part in inside(entry, "field = \"…\", since = \"2026-03-21\"", problems)? {
        match part.key().as_str() {
            "since" => once(&mut since, text(part, problems), part, problems),
            "sunset" => once(&mut sunset, text(part, problems), part, problems),
            "instead" => once(&mut instead, text(part, problems), part, problems),
            key => match Deprecated::read(key) {
                Some(of) => once(&mut named, text(part, problems).map(|name| (of, name)), part, problems),
                None => unknown(part, &[Deprecated::WORDS, &["since", "sunset", "instead"]].concat(), problems),
            },
        }
    }
    let since = needed(since, "since", entry, problems);
    let Some((of, name)) = named else {
        problems.report(entry.span(), "`deprecated` needs one of `field`, `filter` and `action`");
        return None;
    };
    Some(Deprecation { of, name, since: since?, sunset, instead })
}

/// `key = Path`
pub fn named_type(entry: &Entry, problems: &mut Problems) -> Option<Type> {
    if let Entry::Pair(_, Value::Type(ty)) = entry {
        return Some(Type::clone(ty));
    }
    problems.report(entry.span(), format!("write `{} = ` and the name of a struct, without quotes", entry.key()));
    None
}

/// The entries between the parentheses of a key.
pub fn inside<'e>(entry: &'e Entry, usage: &str, problems: &mut Problems) -> Option<&'e [Entry]> {
    if let Entry::List(_, inside) = entry {
        return Some(inside);
    }
    problems.report(entry.span(), format!("write `{}({usage})`", entry.key()));
    None
}

pub fn needed<T>(value: Option<T>, key: &str, entry: &Entry, problems: &mut Problems) -> Option<T> {
    if value.is_none() {
        problems.report(entry.span(), format!("`{}` needs `{key}`", entry.key()));
    }
    value
}
