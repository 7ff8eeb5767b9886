//! Reads `#[field(…)]`.

use proc_macro2::Ident;
use syn::Type;

use super::beside::split;
use super::entry::Entry;
use super::resource::named_type;
use super::{Written, any_text, flag, infer, kind, number, once, once_as, text, texts, unknown};
use crate::ast::{Field, Fill, Flags, Kind, Rule, Says, Settings, Word};
use crate::names::plain;
use crate::problems::Problems;

const FLAGS: &[&str] = &[
    "required",
    "read_only",
    "immutable",
    "write_only",
    "secret",
    "internal",
    "detail",
    "no_sort",
    "no_filter",
    "filter",
    "label",
    "help",
    "group",
    "widget",
    "description",
    "example",
    "schema",
];

/// What can be said even of a column that is the same everywhere.
const QUERYING: &[&str] = &["detail", "no_sort", "no_filter", "filter", "label", "group", "description"];

const RULES: &[&str] = &[
    "min",
    "max",
    "above",
    "below",
    "min_length",
    "max_length",
    "pattern",
    "url",
    "email",
    "unique",
    "exists",
    "differs_from",
    "after",
    "not_before",
];

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
            key if kind::WORDS.contains(&key) => {
                let read = kind::read(entry, problems);
                once_as(&mut kind, Some(read), entry, "this field has a kind already", problems);
            }
            "default" => fill(any_text(entry, problems).map(Fill::Literal), problems),
            "default_now" => fill(flag(entry, problems).map(Fill::Now), problems),
            "default_caller" => fill(flag(entry, problems).map(Fill::Caller), problems),
            key if FLAGS.contains(&key) => read_flag(&mut flags, entry, problems),
            key if RULES.contains(&key) => rules.extend(read_rule(entry, problems)),
            key => {
                // It may have been meant as the kind.
                unread = true;
                match MEANT.iter().find(|(word, _)| *word == key) {
                    Some((_, help)) => problems.report(entry.span(), format!("there is no `{key}` here; {help}")),
                    None => unknown(entry, &[kind::WORDS, FLAGS, DEFAULTS, RULES].concat(), problems),
                }
            }
        }
    }
    let inner = infer::inside_option(ty);
    let kind = match kind {
        _ if name == "custom_fields" && settings.is_some_and(|s| s.custom_fields.is_some()) => Kind::CustomFields,
        Some(kind) => kind,
        None if unread => Kind::Unknown,
        None => infer::kind(inner.unwrap_or(ty), ident, problems),
    };
    if settings.is_some() {
        known_column(&name, ident, &mut flags, settings);
    }
    let known_type = infer::check(&kind, inner.unwrap_or(ty), problems);
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
    match name {
        "id" if settings_say(|s| s.singleton.is_some()) => flags.internal = flags.internal.or(Some(ident.span())),
        "id" => flags.read_only = flags.read_only.or(Some(ident.span())),
        "deleted_at" if settings_say(|s| s.soft_delete.is_some()) => {
            flags.internal = flags.internal.or(Some(ident.span()));
        }
        _ => {}
    }
}

pub fn read_flag(flags: &mut Flags, entry: &Entry, problems: &mut Problems) {
    let key = entry.key();
    if key == "filter" {
        let predicates = texts(entry, problems);
        return once(&mut flags.filter, Some(predicates), entry, problems);
    }
    match key.as_str() {
        "label" => return once(&mut flags.label, text(entry, problems), entry, problems),
        "help" => return once(&mut flags.help, text(entry, problems), entry, problems),
        "group" => return once(&mut flags.group, text(entry, problems), entry, problems),
        "widget" => return once(&mut flags.widget, widget(entry, problems), entry, problems),
        "description" => return once(&mut flags.description, text(entry, problems), entry, problems),
        "example" => return once(&mut flags.example, any_text(entry, problems), entry, problems),
        "schema" => return once(&mut flags.schema, named_type(entry, problems), entry, problems),
        _ => {}
    }
    let place = match key.as_str() {
        "required" => &mut flags.required,
        "read_only" => &mut flags.read_only,
        "immutable" => &mut flags.immutable,
        "write_only" => &mut flags.write_only,
        "secret" => &mut flags.secret,
        "internal" => &mut flags.internal,
        "detail" => &mut flags.detail,
        "no_sort" => &mut flags.no_sort,
        _ => &mut flags.no_filter,
    };
    once(place, flag(entry, problems), entry, problems);
}

/// The words for an input.
const WIDGETS: &[&str] = &["textarea", "radio", "monospace", "money"];

fn widget(entry: &Entry, problems: &mut Problems) -> Option<Word> {
    let word = text(entry, problems)?;
    if WIDGETS.contains(&word.text.as_str()) {
        return Some(word);
    }
    problems.report(word.span, format!("write one of {}", WIDGETS.join(", ")));
    None
}

fn read_rule(entry: &Entry, problems: &mut Problems) -> Option<Rule> {
    let says = match entry.key().as_str() {
        "min" => Says::Min(text(entry, problems)?),
        "max" => Says::Max(text(entry, problems)?),
        "above" => Says::Above(text(entry, problems)?),
        "below" => Says::Below(text(entry, problems)?),
        "min_length" => Says::MinLength(number(entry, problems)?),
        "max_length" => Says::MaxLength(number(entry, problems)?),
        "pattern" => Says::Pattern(text(entry, problems)?),
        "url" => flag(entry, problems).map(|_| Says::Url)?,
        "email" => flag(entry, problems).map(|_| Says::Email)?,
        "unique" => flag(entry, problems).map(|_| Says::Unique)?,
        "differs_from" => Says::DiffersFrom(text(entry, problems)?),
        "after" => Says::After(text(entry, problems)?),
        "not_before" => Says::NotBefore(text(entry, problems)?),
        _ => {
            let word = text(entry, problems)?;
            let Some((resource, field)) = split(&word.text) else {
                problems
                    .report(word.span, "write a resource, a point, and a field of it: `exists = \"currency.code\"`");
                return None;
            };
            Says::Exists { resource: resource.to_owned(), field: field.to_owned() }
        }
    };
    Some(Rule { span: entry.span(), says })
}
