//! Reads `#[field(…)]`.

use charter_model::{Access, DisplayOption, Keyword, OptionTakes, RuleArgument, RuleFacts, RuleTakes, Widget};
use proc_macro2::{Ident, Span};
use syn::Type;

use super::beside::split;
use super::entry::Entry;
use super::resource::named_type;
use super::{Written, any_text, flag, infer, kind, number, once, once_as, text, texts, unknown};
use crate::ast::{Field, Fill, Flags, Kind, Rule, Settings, Word};
use crate::names::plain;
use crate::problems::Problems;

/// Flags that stand alone, but for `filter` and `schema`. Access and display options are keys too.
const FLAGS: &[&str] = &["required", "detail", "no_sort", "no_filter", "filter", "schema"];

/// What can be said even of a column that is the same everywhere.
const QUERYING: &[&str] = &["detail", "no_sort", "no_filter", "filter", "label", "group", "description"];

const DEFAULTS: &[&str] = &["default", "default_now", "default_caller"];

/// What the words of the YAML, and of other places, are here.
const MEANT: &[(&str, &str)] = &[
    ("enum", "write `enumeration(\"…\")`"),
    ("ref", "write `reference(\"…\")`"),
    ("bool", "write `boolean`"),
    ("int", "write `integer`"),
    ("nullable", "make the type an `Option`"),
    ("access", "write `read_only`, `immutable`, `write_only` or `secret`"),
    ("type", "write the kind itself, such as `string(255)`"),
];

/// Reads one field. `settings` are those of its resource; a parameter has none.
pub fn read(ident: &Ident, ty: &Type, written: Written, settings: Option<&Settings>, problems: &mut Problems) -> Field {
    let name = plain(ident);
    let Written { mut entries, malformed: mut unread } = written;
    if settings.is_some() && name == "id" {
        entries.retain(|entry| fits_id(entry, problems));
    }
    let (mut kind, mut default, mut flags, mut rules) = (None, None, Flags::default(), Vec::<Rule>::new());
    for entry in &entries {
        let mut fill = |value, problems: &mut Problems| {
            once_as(&mut default, value, entry, "this field has a default already", problems);
        };
        match entry.key().as_str() {
            "default" => fill(any_text(entry, problems).map(Fill::Literal), problems),
            "default_now" => fill(flag(entry, problems).map(Fill::Now), problems),
            "default_caller" => fill(flag(entry, problems).map(Fill::Caller), problems),
            key if is_flag(key) => read_flag(&mut flags, entry, problems),
            key => {
                if let Some(facts) = kind::attributes().find(|facts| facts.attribute == key) {
                    let read = kind::read(facts, entry, problems);
                    once_as(&mut kind, Some(read), entry, "this field has a kind already", problems);
                    continue;
                }
                if let Some((_, takes)) = RuleFacts::attributes().find(|(rule, _)| *rule == key) {
                    rules.extend(read_rule(takes, entry, problems));
                    continue;
                }
                // It may have been meant as the kind.
                unread = true;
                match MEANT.iter().find(|(word, _)| *word == key) {
                    Some((_, help)) => problems.report(entry.span(), format!("there is no `{key}` here; {help}")),
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
        known_column(&name, ident, &mut flags, settings);
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

/// The key is the same everywhere, but for how it is filtered and sorted.
fn fits_id(entry: &Entry, problems: &mut Problems) -> bool {
    let fits = QUERYING.contains(&entry.key().as_str());
    if !fits {
        let message = "`id` is the same for every resource; only how it is filtered and sorted can be said";
        problems.report(entry.span(), message);
    }
    fits
}

/// The access of the columns that every resource, or every soft-deleted one, has.
fn known_column(name: &str, ident: &Ident, flags: &mut Flags, settings: Option<&Settings>) {
    let settings_say = |says: fn(&Settings) -> bool| settings.is_some_and(says);
    let access = match name {
        "id" if settings_say(|s| s.singleton.is_some()) => Access::Internal,
        "id" => Access::ReadOnly,
        "deleted_at" if settings_say(|s| s.soft_delete.is_some()) => Access::Internal,
        _ => return,
    };
    let place = flags.access(access).or(Some(ident.span()));
    give(flags, access, place);
}

/// Whether a key is one of [`read_flag`].
fn is_flag(key: &str) -> bool {
    FLAGS.contains(&key) || access(key).is_some() || DisplayOption::read(key).is_some()
}

/// Every key of a field, for suggestions.
fn keys() -> Vec<&'static str> {
    let kinds = kind::attributes().map(|facts| facts.attribute);
    let access = Access::WORDS.iter().map(|(word, _)| *word);
    let others = [FLAGS, DisplayOption::WORDS, DEFAULTS].into_iter().flatten().copied();
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
        give(flags, access, place);
        return;
    }
    if let Some(option) = DisplayOption::read(&key) {
        let text = match option.facts().takes {
            OptionTakes::Text => text(entry, problems),
            OptionTakes::Literal => any_text(entry, problems),
            OptionTakes::Widget => widget(entry, problems),
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

/// Gives a field an access, in the order of [`Access::WORDS`].
fn give(flags: &mut Flags, access: Access, place: Option<Span>) {
    let order = |wanted: Access| Access::WORDS.iter().position(|(_, access)| *access == wanted);
    flags.access.retain(|(given, _)| *given != access);
    flags.access.extend(place.map(|span| (access, span)));
    flags.access.sort_by_key(|(given, _)| order(*given));
}

fn widget(entry: &Entry, problems: &mut Problems) -> Option<Word> {
    let word = text(entry, problems)?;
    if Widget::read(&word.text).is_some() {
        return Some(word);
    }
    problems.report(word.span, format!("write one of {}", Widget::WORDS.join(", ")));
    None
}

fn read_rule(takes: RuleTakes, entry: &Entry, problems: &mut Problems) -> Option<Rule> {
    let argument = match takes {
        RuleTakes::Number | RuleTakes::Text | RuleTakes::Field => RuleArgument::Text(text(entry, problems)?),
        RuleTakes::Count => RuleArgument::Count(number(entry, problems)?),
        RuleTakes::Flag | RuleTakes::Format => flag(entry, problems).map(|_| RuleArgument::Flag)?,
        RuleTakes::Path => {
            let word = text(entry, problems)?;
            let Some((resource, field)) = split(&word.text) else {
                problems
                    .report(word.span, "write a resource, a point, and a field of it: `exists = \"currency.code\"`");
                return None;
            };
            let part = |text: &str| Word { text: text.to_owned(), span: word.span };
            RuleArgument::Path { resource: part(resource), field: part(field) }
        }
    };
    charter_model::Rule::read(&entry.key(), argument).map(|says| Rule { span: entry.span(), says })
}
