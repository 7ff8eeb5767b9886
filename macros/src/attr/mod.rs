//! Reader of the attributes of a struct and of its fields. It reports every entry that it cannot read.

mod action_rule;
mod entry;
mod field;
pub mod infer;
mod kind;
mod resource;
mod virtual_fields;

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Fields, Token};

use crate::ast::{Field, Member, Resource, Word};
use crate::names::suggestion;
use crate::problems::Problems;
use entry::{Entry, Value};

/// Reads a resource. Unreadable parts are reported and left out, or replaced by values that pass every check.
pub fn resource(input: &DeriveInput, problems: &mut Problems) -> Option<Resource> {
    let settings = resource::read(&attributes(&input.attrs, "resource", problems), problems);
    if !input.generics.params.is_empty() {
        problems.report(input.generics.span(), "a resource cannot have type parameters; remove them");
        return None;
    }
    let mut members = Vec::new();
    for written in named_fields(input, problems)? {
        let Some(ident) = &written.ident else { continue };
        let written_on = attributes(&written.attrs, "field", problems);
        let column = field::read(ident, &written.ty, written_on, Some(&settings), problems);
        members.push(Member::Column(Box::new(column)));
        for attribute in &written.attrs {
            members.extend(virtual_fields::read(attribute, problems));
        }
    }
    Some(Resource { ident: input.ident.clone(), settings, members })
}

/// Reads the fields of an action's parameters or of its answer.
pub fn parameters(input: &DeriveInput, problems: &mut Problems) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    for written in named_fields(input, problems)? {
        let Some(ident) = &written.ident else { continue };
        let written_on = attributes(&written.attrs, "field", problems);
        fields.push(field::read(ident, &written.ty, written_on, None, problems));
    }
    Some(fields)
}

fn named_fields<'i>(input: &'i DeriveInput, problems: &mut Problems) -> Option<&'i Punctuated<syn::Field, Token![,]>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => return Some(&fields.named),
            other => {
                problems.report(span_or(other.span(), &input.ident), "this derive needs a struct with named fields")
            }
        },
        Data::Enum(data) => problems.report(data.enum_token.span, "an enum has no columns; this derive needs a struct"),
        Data::Union(data) => {
            problems.report(data.union_token.span, "a union has no columns; this derive needs a struct")
        }
    }
    None
}

/// The fields of a unit struct have no span.
fn span_or(span: Span, ident: &syn::Ident) -> Span {
    if span.byte_range().is_empty() { ident.span() } else { span }
}

/// The entries of all attributes of one name.
struct Written {
    entries: Vec<Entry>,
    /// True if an attribute could not be read: a key that seems to be missing may be in it.
    malformed: bool,
}

fn attributes(attributes: &[Attribute], name: &str, problems: &mut Problems) -> Written {
    let mut written = Written { entries: Vec::new(), malformed: false };
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        match entries(attribute, problems) {
            Some(entries) => written.entries.extend(entries),
            None => written.malformed = true,
        }
    }
    written
}

/// The entries of one attribute; none if it is not a list of entries, which is reported.
fn entries(attribute: &Attribute, problems: &mut Problems) -> Option<Vec<Entry>> {
    let parsed = attribute.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated);
    problems.keep(parsed).map(|entries| entries.into_iter().collect())
}

/// `key = "text"`, where the text is not empty.
fn text(entry: &Entry, problems: &mut Problems) -> Option<Word> {
    let word = any_text(entry, problems)?;
    if word.text.trim().is_empty() {
        problems.report(word.span, "the text is empty");
        return None;
    }
    Some(word)
}

/// `key = "text"`.
fn any_text(entry: &Entry, problems: &mut Problems) -> Option<Word> {
    if let Entry::Pair(_, Value::Text(word)) = entry {
        return Some(word.clone());
    }
    problems.report(entry.span(), format!("write `{} = \"…\"`", entry.key()));
    None
}

/// `key = 3`.
fn number(entry: &Entry, problems: &mut Problems) -> Option<u32> {
    if let Entry::Pair(_, Value::Number(number)) = entry
        && let Ok(number) = u32::try_from(number.value)
    {
        return Some(number);
    }
    problems.report(entry.span(), format!("write `{} = ` and an integer, without quotes", entry.key()));
    None
}

/// `key` without a value.
fn flag(entry: &Entry, problems: &mut Problems) -> Option<Span> {
    if let Entry::Word(ident) = entry {
        return Some(ident.span());
    }
    problems.report(entry.span(), format!("`{0}` takes no value; write `{0}`", entry.key()));
    None
}

/// `key("a", "b")` with at least one text.
fn texts(entry: &Entry, problems: &mut Problems) -> Vec<Word> {
    let usage = || format!("write `{}(\"…\", …)`", entry.key());
    let Entry::List(_, inside) = entry else {
        problems.report(entry.span(), usage());
        return Vec::new();
    };
    if inside.is_empty() {
        problems.report(entry.span(), format!("`{}` is empty; {}", entry.key(), usage()));
    }
    let mut words = Vec::new();
    for item in inside {
        match item {
            Entry::Literal(Value::Text(word)) => words.push(word.clone()),
            other => problems.report(other.span(), "a text in quotes is expected here"),
        }
    }
    words
}

/// Sets a value that may be given once.
fn once<T>(place: &mut Option<T>, value: Option<T>, entry: &Entry, problems: &mut Problems) {
    once_as(place, value, entry, &format!("`{}` is given twice", entry.key()), problems);
}

/// Sets a value that several keys can give, once.
fn once_as<T>(place: &mut Option<T>, value: Option<T>, entry: &Entry, filled: &str, problems: &mut Problems) {
    if place.is_some() {
        problems.report(entry.span(), filled);
    } else {
        *place = value;
    }
}

/// Reports an entry with an unknown key.
fn unknown(entry: &Entry, known: &[&str], problems: &mut Problems) {
    match entry {
        Entry::Literal(_) | Entry::Labelled(..) => {
            problems.report(entry.span(), "a value without a key; write `key = value`");
        }
        _ => {
            let key = entry.key();
            let help = suggestion(&key, known.iter().copied());
            problems.report(entry.span(), format!("unknown key `{key}`{help}"));
        }
    }
}
