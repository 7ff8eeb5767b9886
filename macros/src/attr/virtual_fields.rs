//! Reader of `#[derived(…)]`, `#[embedded(…)]`, `#[links(…)]` and `#[computed(…)]`: fields without a column, written on the column
//! before them.

use charter_model::{FieldOption, OptionFacts};
use proc_macro2::Span;
use syn::Attribute;
use syn::spanned::Spanned;

use super::entry::{Entry, Value};
use super::field::read_flag;
use super::{entries, flag, once, text, texts, unknown};
use crate::ast::{Computed, Derived, Embedded, Flags, Links, Member, Word};
use crate::problems::Problems;

/// Reads the attribute if it is one of the four.
pub fn read(attribute: &Attribute, problems: &mut Problems) -> Option<Member> {
    if attribute.path().is_ident("derived") {
        derived(attribute.path().span(), &entries(attribute, problems)?, problems).map(Member::Derived)
    } else if attribute.path().is_ident("embedded") {
        embedded(attribute.path().span(), &entries(attribute, problems)?, problems).map(Member::Embedded)
    } else if attribute.path().is_ident("links") {
        links(attribute.path().span(), &entries(attribute, problems)?, problems).map(Member::Links)
    } else if attribute.path().is_ident("computed") {
        computed(attribute.path().span(), &entries(attribute, problems)?, problems).map(Member::Computed)
    } else {
        None
    }
}

/// Keys of a derived field and of an embedded one, without display options.
const DERIVED_KEYS: &[&str] = &["detail", "no_sort", "no_filter", "filter"];
const EMBEDDED_KEYS: &[&str] = &["detail"];

/// The keys, with the display options that apply.
fn with_options(keys: &[&'static str], fits: fn(OptionFacts) -> bool) -> Vec<&'static str> {
    let options = FieldOption::ALL.iter().filter(|option| fits(option.facts())).map(|option| option.key());
    keys.iter().copied().chain(options).collect()
}

fn derived(span: Span, entries: &[Entry], problems: &mut Problems) -> Option<Derived> {
    let (mut from, mut flags) = (None, Flags::default());
    let known = with_options(DERIVED_KEYS, |option| option.of_derived);
    let (name, rest) = name(span, entries, problems);
    for entry in rest {
        match entry.key().as_str() {
            "from" => once(&mut from, text(entry, problems), entry, problems),
            key if known.contains(&key) => read_flag(&mut flags, entry, problems),
            _ => unknown(entry, &[&["from"], known.as_slice()].concat(), problems),
        }
    }
    let Some(from) = from else {
        problems.report(span, "a derived field needs `from`: `from = \"product_group_id.name\"`");
        return None;
    };
    let Some((via, field)) = split(&from.text) else {
        problems.report(
            from.span,
            "`from` takes a reference field and a field of the other resource: `\"product_group_id.name\"`",
        );
        return None;
    };
    let word = |text: &str| Word { text: text.to_owned(), span: from.span };
    Some(Derived { name: name?, via: word(via), field: word(field), flags })
}

fn embedded(span: Span, entries: &[Entry], problems: &mut Problems) -> Option<Embedded> {
    let (name, [resource, by], flags) = parts(span, ["resource", "by"], entries, problems);
    if resource.is_none() || by.is_none() {
        problems.report(span, "an embedded field needs `resource = \"…\"` and `by = \"…\"`");
    }
    Some(Embedded { name: name?, resource: resource?, by: by?, flags })
}

fn links(span: Span, entries: &[Entry], problems: &mut Problems) -> Option<Links> {
    let names = ["resource", "through", "by", "to"];
    let (name, [resource, through, by, to], flags) = parts(span, names, entries, problems);
    if [&resource, &through, &by, &to].iter().any(|part| part.is_none()) {
        problems.report(span, "links need `resource = \"…\"`, `through = \"…\"`, `by = \"…\"` and `to = \"…\"`");
    }
    Some(Links { name: name?, resource: resource?, through: through?, by: by?, to: to?, flags })
}

/// The name of an embedded field or of links, the texts of its required keys, and its display options.
fn parts<const N: usize>(
    span: Span,
    keys: [&'static str; N],
    entries: &[Entry],
    problems: &mut Problems,
) -> (Option<Word>, [Option<Word>; N], Flags) {
    let (mut parts, mut flags) = ([const { None }; N], Flags::default());
    let known = with_options(EMBEDDED_KEYS, |option| option.of_embedded);
    let (name, rest) = name(span, entries, problems);
    for entry in rest {
        let key = entry.key();
        if let Some(position) = keys.iter().position(|part| *part == key) {
            once(&mut parts[position], text(entry, problems), entry, problems);
        } else if known.contains(&key.as_str()) {
            read_flag(&mut flags, entry, problems);
        } else {
            unknown(entry, &[&keys, known.as_slice()].concat(), problems);
        }
    }
    (name, parts, flags)
}

fn computed(span: Span, entries: &[Entry], problems: &mut Problems) -> Option<Computed> {
    let (mut from, mut nullable) = (Vec::new(), None);
    let (name, rest) = name(span, entries, problems);
    for entry in rest {
        match entry.key().as_str() {
            "from" => from.extend(texts(entry, problems)),
            "nullable" => once(&mut nullable, flag(entry, problems), entry, problems),
            _ => unknown(entry, &["from", "nullable"], problems),
        }
    }
    if from.is_empty() {
        problems.report(span, "a computed field needs the columns that it reads: `from(\"uuid\", \"size\")`");
    }
    Some(Computed { name: name?, from, nullable })
}

/// The name is the first entry, in quotes.
fn name<'e>(span: Span, entries: &'e [Entry], problems: &mut Problems) -> (Option<Word>, &'e [Entry]) {
    match entries {
        [Entry::Literal(Value::Text(name)), rest @ ..] => (Some(name.clone()), rest),
        rest => {
            problems.report(span, "the first entry must be the name of the field, in quotes");
            (None, rest)
        }
    }
}

/// Splits `a.b` in two.
pub fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once('.').filter(|(left, right)| !left.is_empty() && !right.is_empty() && !right.contains('.'))
}
