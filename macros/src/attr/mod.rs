//! Reads the attributes of a struct and of its fields, reporting every entry that is not understood.

mod beside;
mod entry;
mod field;
mod infer;
mod kind;
mod resource;

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Fields, Token};

use crate::ast::{Field, Member, Resource, Word};
use crate::names::suggestion;
use crate::problems::Problems;
use entry::{Entry, Value};

/// Reads a resource. What could not be read is reported and left out, or replaced by what fits everything.
pub fn resource(input: &DeriveInput, problems: &mut Problems) -> Option<Resource> {
    let settings = resource::read(&attributes(&input.attrs, "resource", problems), problems);
    if !input.generics.params.is_empty() {
        problems.report(input.generics.span(), "a table has no type parameters; remove them");
        return None;
    }
    let mut members = Vec::new();
    for written in named_fields(input, problems)? {
        let Some(ident) = &written.ident else { continue };
        let written_on = attributes(&written.attrs, "field", problems);
        let column = field::read(ident, &written.ty, written_on, Some(&settings), problems);
        members.push(Member::Column(Box::new(column)));
        for attribute in &written.attrs {
            members.extend(beside::read(attribute, problems));
        }
    }
    Some(Resource { ident: input.ident.clone(), settings, members })
}

/// Reads the fields of the parameters or of the answer of an action.
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
            other => problems.report(span_or(other.span(), &input.ident), "write a struct with named fields"),
        },
        Data::Enum(data) => problems.report(data.enum_token.span, "an enum has no columns; derive this on a struct"),
        Data::Union(data) => problems.report(data.union_token.span, "a union has no columns; derive this on a struct"),
    }
    None
}

/// A unit struct's fields have no place of their own.
fn span_or(span: Span, ident: &syn::Ident) -> Span {
    if span.byte_range().is_empty() { ident.span() } else { span }
}

/// The entries of all attributes of a name.
struct Written {
    entries: Vec<Entry>,
    /// An attribute could not be read, so that what seems to be missing may stand in it.
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

/// The entries of one attribute; `None` when it is no list of entries, which is reported.
fn entries(attribute: &Attribute, problems: &mut Problems) -> Option<Vec<Entry>> {
    let parsed = attribute.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated);
    problems.keep(parsed).map(|entries| entries.into_iter().collect())
}

/// `key = "text"`, which is not empty.
fn text(entry: &Entry, problems: &mut Problems) -> Option<Word> {
    let word = any_text(entry, problems)?;
    if word.text.trim().is_empty() {
        problems.report(word.span, "this text is empty");
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
    problems.report(entry.span(), format!("write `{} = ` and a whole number, without quotes", entry.key()));
    None
}

/// `key` alone.
fn flag(entry: &Entry, problems: &mut Problems) -> Option<Span> {
    if let Entry::Word(ident) = entry {
        return Some(ident.span());
    }
    problems.report(entry.span(), format!("`{0}` stands alone; write `{0}`", entry.key()));
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
            other => problems.report(other.span(), "write a text in quotes here"),
        }
    }
    words
}

/// Fills a place once.
fn once<T>(place: &mut Option<T>, value: Option<T>, entry: &Entry, problems: &mut Problems) {
    once_as(place, value, entry, &format!("`{}` is given twice", entry.key()), problems);
}

/// Fills a place once, for places that several keys fill.
fn once_as<T>(place: &mut Option<T>, value: Option<T>, entry: &Entry, filled: &str, problems: &mut Problems) {
    if place.is_some() {
        problems.report(entry.span(), filled);
    } else {
        *place = value;
    }
}

/// An entry whose key is none of the known ones.
fn unknown(entry: &Entry, known: &[&str], problems: &mut Problems) {
    match entry {
        Entry::Literal(_) | Entry::Labelled(..) => {
            problems.report(entry.span(), "a value alone means nothing here; write `key = value`");
        }
        _ => {
            let key = entry.key();
            let help = suggestion(&key, known.iter().copied());
            problems.report(entry.span(), format!("there is no `{key}` here{help}"));
        }
    }
}
