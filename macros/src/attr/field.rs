//! Reader of `#[field(…)]`.

use charter_model::{
    Access, FieldOption, Keyword, Numbering, OnDelete, OptionTakes, RollupFunction, RuleArgument, RuleFacts, RuleTakes,
    Widget,
};
use proc_macro2::{Ident, Span};
use syn::Type;

use super::entry::Entry;
use super::resource::{inside, named_type, needed};
use super::virtual_fields::split;
use super::{Written, any_text, flag, infer, kind, number, once, once_as, text, texts, unknown};
use crate::ast::{DefaultValue, Field, Flags, Kind, Rollup, Settings, SpannedRule, Word};
use crate::names::plain;
use crate::problems::Problems;

/// Keys that are neither access nor display options. All but `filter`, `schema` and `rollup` take no value.
const FLAG_KEYS: &[&str] = &["required", "detail", "no_sort", "no_filter", "filter", "schema", "rollup"];

const ROLLUP_KEYS: &[&str] = &["function", "of", "by", "field", "where"];

/// Keys that `id` takes: it has the same type and access in every resource.
const ID_KEYS: &[&str] = &["detail", "no_sort", "no_filter", "filter", "label", "group", "description"];

const DEFAULT_KEYS: &[&str] = &["default", "default_now", "default_caller", "default_hook", "default_value"];

/// Corrections for keys of the YAML and of other frameworks.
const CORRECTIONS: &[(&str, &str)] = &[
    ("enum", "write `enumeration(\"…\")`"),
    ("ref", "write `reference(\"…\")`"),
    ("bool", "write `boolean`"),
    ("int", "write `integer`"),
    ("nullable", "make the Rust type an `Option`"),
    ("access", "write `read_only`, `immutable`, `write_only` or `secret`"),
    ("type", "write the kind itself, such as `string(255)`"),
];

/// Reads one field. `settings` are those of its resource; a parameter has none.
pub fn read(ident: &Ident, ty: &Type, written: Written, settings: Option<&Settings>, problems: &mut Problems) -> Field {
    let name = plain(ident);
    let Written { mut entries, malformed: mut unread } = written;
    if settings.is_some() && name == "id" {
        entries.retain(|entry| is_id_key(entry, problems));
    }
    let (mut kind, mut default, mut flags, mut rules) = (None, None, Flags::default(), Vec::<SpannedRule>::new());
    for entry in &entries {
        let mut fill = |value, problems: &mut Problems| {
            once_as(&mut default, value, entry, "the field has more than one default", problems);
        };
        match entry.key().as_str() {
            "default" => fill(any_text(entry, problems).map(DefaultValue::Literal), problems),
            "default_value" => fill(text(entry, problems).map(DefaultValue::Expression), problems),
            "default_now" => fill(flag(entry, problems).map(DefaultValue::Now), problems),
            "default_caller" => fill(flag(entry, problems).map(DefaultValue::Caller), problems),
            "default_hook" => fill(flag(entry, problems).map(DefaultValue::Hook), problems),
            key if is_flag(key) => read_flag(&mut flags, entry, problems),
            key => {
                if let Some(facts) = kind::attributes().find(|facts| facts.attribute == key) {
                    let read = kind::read(facts, entry, problems);
                    once_as(&mut kind, Some(read), entry, "the field has more than one kind", problems);
                    continue;
                }
                if let Some((_, takes)) = RuleFacts::attributes().find(|(rule, _)| *rule == key) {
                    rules.extend(read_rule(takes, entry, problems));
                    continue;
                }
                // The unknown key may be a misspelt kind.
                unread = true;
                match CORRECTIONS.iter().find(|(word, _)| *word == key) {
                    Some((_, help)) => problems.report(entry.span(), format!("unknown key `{key}`; {help}")),
                    None => unknown(entry, &keys(), problems),
                }
            }
        }
    }
    let inner = infer::inside_option(ty);
    let kind = match kind {
        _ if name == "custom_fields" && settings.is_some_and(|s| s.custom_fields.is_some()) => Some(Kind::CustomFields),
        Some(kind) => kind,
        None if unread => None,
        None => infer::kind(inner.unwrap_or(ty), ident, problems),
    };
    if settings.is_some() {
        set_server_access(&name, ident, &mut flags, settings);
    }
    if let Some(place) = flags.value().map(|value| value.span) {
        add_access(&mut flags, Access::ReadOnly, Some(place));
    }
    if let Some(place) = flags.rollup.as_ref().map(|rollup| rollup.span) {
        add_access(&mut flags, Access::ReadOnly, Some(place));
    }
    let known_type = infer::check(kind.as_ref(), inner.unwrap_or(ty), problems);
    Field {
        ident: ident.clone(),
        name,
        ty: ty.clone(),
        known_type,
        nullable: inner.is_some(),
        kind,
        flags,
        default,
        rules,
    }
}

/// Only querying and display options apply to the key of a resource.
fn is_id_key(entry: &Entry, problems: &mut Problems) -> bool {
    let fits = ID_KEYS.contains(&entry.key().as_str());
    if !fits {
        let message = "`id` takes only display and query options: its type and access are the same in every resource";
        problems.report(entry.span(), message);
    }
    fits
}

/// Sets the access of `id` and `deleted_at`.
fn set_server_access(name: &str, ident: &Ident, flags: &mut Flags, settings: Option<&Settings>) {
    let has_setting = |has: fn(&Settings) -> bool| settings.is_some_and(has);
    let access = match name {
        "id" if has_setting(|s| s.singleton.is_some()) => Access::Internal,
        "id" => Access::ReadOnly,
        "deleted_at" if has_setting(|s| s.soft_delete.is_some()) => Access::Internal,
        _ => return,
    };
    let place = flags.access(access).or(Some(ident.span()));
    add_access(flags, access, place);
}

/// True for a key that [`read_flag`] reads.
fn is_flag(key: &str) -> bool {
    FLAG_KEYS.contains(&key) || access(key).is_some() || FieldOption::read(key).is_some()
}

/// Every key of a field, for suggestions.
fn keys() -> Vec<&'static str> {
    let kinds = kind::attributes().map(|facts| facts.attribute);
    let access = Access::WORDS.iter().map(|(word, _)| *word);
    let others = [FLAG_KEYS, FieldOption::WORDS, DEFAULT_KEYS].into_iter().flatten().copied();
    kinds.chain(access).chain(others).chain(RuleFacts::attributes().map(|(key, _)| key)).collect()
}

fn access(key: &str) -> Option<Access> {
    Access::WORDS.iter().find(|(word, _)| *word == key).map(|(_, access)| *access)
}

pub fn read_flag(flags: &mut Flags, entry: &Entry, problems: &mut Problems) {
    let key = entry.key();
    if let Some(access) = access(&key) {
        let mut place = flags.access(access);
        once(&mut place, flag(entry, problems), entry, problems);
        add_access(flags, access, place);
        return;
    }
    if let Some(option) = FieldOption::read(&key) {
        let text = match option.facts().takes {
            OptionTakes::Text | OptionTakes::Right | OptionTakes::Sequence | OptionTakes::Expression => {
                text(entry, problems)
            }
            OptionTakes::Literal => any_text(entry, problems),
            OptionTakes::Widget => word_of::<Widget>(entry, problems),
            OptionTakes::OnDelete => word_of::<OnDelete>(entry, problems),
            OptionTakes::Numbering => word_of::<Numbering>(entry, problems),
        };
        match flags.display.iter().any(|(given, _)| *given == option) {
            true => problems.report(entry.span(), format!("`{key}` is given twice")),
            false => flags.display.extend(text.map(|text| (option, text))),
        }
        return;
    }
    match key.as_str() {
        "filter" => {
            let predicates = texts(entry, problems);
            return once(&mut flags.filter, Some(predicates), entry, problems);
        }
        "rollup" => {
            let rollup = rollup(entry, problems);
            return once(&mut flags.rollup, rollup, entry, problems);
        }
        "schema" => return once(&mut flags.schema, named_type(entry, problems), entry, problems),
        _ => {}
    }
    let place = match key.as_str() {
        "required" => &mut flags.required,
        "detail" => &mut flags.detail,
        "no_sort" => &mut flags.no_sort,
        _ => &mut flags.no_filter,
    };
    once(place, flag(entry, problems), entry, problems);
}

/// `rollup(function = "sum", of = "line", by = "invoice_id", field = "total", where = "…")`
fn rollup(entry: &Entry, problems: &mut Problems) -> Option<Rollup> {
    let (mut function, mut of, mut by, mut field, mut rows) = (None, None, None, None, None);
    for part in inside(entry, "function = \"count\", of = \"…\", by = \"…\"", problems)? {
        match part.key().as_str() {
            "function" => once(&mut function, word_of::<RollupFunction>(part, problems), part, problems),
            "of" => once(&mut of, text(part, problems), part, problems),
            "by" => once(&mut by, text(part, problems), part, problems),
            "field" => once(&mut field, text(part, problems), part, problems),
            "where" => once(&mut rows, text(part, problems), part, problems),
            _ => unknown(part, ROLLUP_KEYS, problems),
        }
    }
    let function = needed(function, "function", entry, problems);
    let of = needed(of, "of", entry, problems);
    let by = needed(by, "by", entry, problems);
    let (function, of, by) = (function?, of?, by?);
    if (function.text == "count") == field.is_some() {
        problems.report(function.span, "a `count` has no `field`; a `sum`, `min` and `max` have one");
        return None;
    }
    Some(Rollup { span: entry.span(), function, of, by, field, rows })
}

/// Adds an access to a field, in the order of [`Access::WORDS`].
fn add_access(flags: &mut Flags, access: Access, place: Option<Span>) {
    let order = |wanted: Access| Access::WORDS.iter().position(|(_, access)| *access == wanted);
    flags.access.retain(|(given, _)| *given != access);
    flags.access.extend(place.map(|span| (access, span)));
    flags.access.sort_by_key(|(given, _)| order(*given));
}

/// One word of a set.
fn word_of<T: Keyword>(entry: &Entry, problems: &mut Problems) -> Option<Word> {
    let word = text(entry, problems)?;
    if T::read(&word.text).is_some() {
        return Some(word);
    }
    let words: Vec<&str> = T::KEYWORDS.iter().map(|(word, _)| *word).collect();
    problems.report(word.span, format!("write one of {}", words.join(", ")));
    None
}

fn read_rule(takes: RuleTakes, entry: &Entry, problems: &mut Problems) -> Option<SpannedRule> {
    let argument = match takes {
        RuleTakes::Number | RuleTakes::Text | RuleTakes::Field | RuleTakes::Condition => {
            RuleArgument::Text(text(entry, problems)?)
        }
        RuleTakes::Count => RuleArgument::Count(number(entry, problems)?),
        RuleTakes::Flag | RuleTakes::Format => flag(entry, problems).map(|_| RuleArgument::Flag)?,
        RuleTakes::Path => {
            let word = text(entry, problems)?;
            let Some((resource, field)) = split(&word.text) else {
                problems.report(word.span, "`exists` takes a resource and a field: `exists = \"currency.code\"`");
                return None;
            };
            let part = |text: &str| Word { text: text.to_owned(), span: word.span };
            RuleArgument::Path { resource: part(resource), field: part(field) }
        }
    };
    charter_model::Rule::read(&entry.key(), argument).map(|rule| SpannedRule { span: entry.span(), rule })
}
