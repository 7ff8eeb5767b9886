//! Reads `#[field(…)]`.

use proc_macro2::Ident;
use syn::Type;

use super::beside::split;
use super::entry::Entry;
use super::{any_text, flag, infer, kind, number, once, text, texts, unknown};
use crate::ast::{Field, Fill, Flags, Kind, Rule, Says, Settings};
use crate::names::plain;
use crate::problems::Problems;

const FLAGS: &[&str] =
    &["required", "read_only", "immutable", "secret", "internal", "detail", "no_sort", "no_filter", "filter"];

/// What can be said even of a column that is the same everywhere.
const QUERYING: &[&str] = &["detail", "no_sort", "no_filter", "filter"];

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

/// Reads one field. `settings` are those of its resource; a parameter has none.
pub fn read(
    ident: &Ident,
    ty: &Type,
    entries: &[Entry],
    settings: Option<&Settings>,
    problems: &mut Problems,
) -> Field {
    let name = plain(ident);
    let (mut kind, mut default, mut flags, mut rules) = (None, None, Flags::default(), Vec::<Rule>::new());
    for entry in entries {
        let key = entry.key();
        match key.as_str() {
            key if kind::WORDS.contains(&key) => once(&mut kind, Some(kind::read(entry, problems)), entry, problems),
            "default" => once(&mut default, any_text(entry, problems).map(Fill::Literal), entry, problems),
            "default_now" => once(&mut default, flag(entry, problems).map(Fill::Now), entry, problems),
            "default_caller" => once(&mut default, flag(entry, problems).map(Fill::Caller), entry, problems),
            key if FLAGS.contains(&key) => read_flag(&mut flags, entry, problems),
            key if RULES.contains(&key) => rules.extend(read_rule(entry, problems)),
            _ => unknown(entry, &[kind::WORDS, FLAGS, DEFAULTS, RULES].concat(), problems),
        }
    }
    let inner = infer::inside_option(ty);
    let kind = match kind {
        _ if name == "custom_fields" && settings.is_some_and(|s| s.custom_fields.is_some()) => Kind::CustomFields,
        Some(kind) => kind,
        None => infer::kind(inner.unwrap_or(ty), ident, problems),
    };
    if settings.is_some() {
        for entry in entries.iter().filter(|entry| name == "id" && !QUERYING.contains(&entry.key().as_str())) {
            let message = "`id` is the same for every resource; only how it is filtered and sorted can be said";
            problems.report(entry.span(), message);
        }
        known_column(&name, ident, &mut flags, settings);
    }
    infer::check(&kind, inner.unwrap_or(ty), problems);
    Field { ident: ident.clone(), name, ty: ty.clone(), nullable: inner.is_some(), kind, flags, default, rules }
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
    let place = match key.as_str() {
        "required" => &mut flags.required,
        "read_only" => &mut flags.read_only,
        "immutable" => &mut flags.immutable,
        "secret" => &mut flags.secret,
        "internal" => &mut flags.internal,
        "detail" => &mut flags.detail,
        "no_sort" => &mut flags.no_sort,
        _ => &mut flags.no_filter,
    };
    once(place, flag(entry, problems), entry, problems);
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
                problems.report(word.span, "write a resource, a point, and a field of it: `exists = \"currency.code\"`");
                return None;
            };
            Says::Exists { resource: resource.to_owned(), field: field.to_owned() }
        }
    };
    Some(Rule { span: entry.span(), says })
}
