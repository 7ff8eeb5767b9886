//! `search`: records in which each word of a text is in some text field, and the order by which those whose title
//! begins with the text come first.

use charter_model::{Predicate, Storage};

use super::condition::{Condition, MatchPosition, Target, Test};
use super::plan::{MAX_VALUE_CHARACTERS, Order, Planner, any};
use super::resolve::allows;
use super::value::read_value;
use crate::catalog::{Entry, name_field};
use crate::db::fold;
use crate::meta::{Access, FieldMeta, Kind, Shown};
use crate::principal::Principal;
use crate::record::Source;

/// Limit on the words of a search. Each is a condition on every searched field.
pub const MAX_SEARCH_WORDS: usize = 10;

/// The text fields that a search of a resource reads and the caller may read, the title first: those with a substring
/// index, which `search:` names; else the field that names the records or the first text of a list item, if its filters
/// allow `cont`.
pub fn search_fields(entry: &Entry, caller: &Principal) -> Vec<&'static FieldMeta> {
    let is_text = |field: &&'static FieldMeta| {
        field.is_column()
            && field.shown != Shown::Never
            && field.access != Access::Secret
            && matches!(field.kind.storage(), Some(Storage::String(_) | Storage::Text))
    };
    let title = name_field(entry).filter(is_text);
    let mut fields: Vec<&'static FieldMeta> = match entry.meta.search {
        [] => {
            let own = entry.meta.fields.iter().filter(is_text).filter(|field| field.shown == Shown::Always);
            let mut candidates = title.into_iter().chain(own);
            candidates.find(|field| allows(field, Predicate::Cont, field.kind)).into_iter().collect()
        }
        indexed => indexed.iter().filter_map(|name| entry.field(name)).filter(is_text).collect(),
    };
    fields.sort_by_key(|field| title.is_none_or(|title| title.name != field.name));
    fields.retain(|field| entry.may_read_field(field, caller));
    fields
}

/// The words of a search, case-folded.
///
/// # Errors
/// The problem, if the text is too long, has too many words, or contains a null character.
pub fn search_words(text: &str) -> Result<Vec<String>, String> {
    if text.chars().count() > MAX_VALUE_CHARACTERS {
        return Err(format!("must have at most {MAX_VALUE_CHARACTERS} characters"));
    }
    read_value(Kind::Text, text)?;
    let words: Vec<String> = text.split_whitespace().map(fold).collect();
    if words.len() > MAX_SEARCH_WORDS {
        return Err(format!("must have at most {MAX_SEARCH_WORDS} words"));
    }
    Ok(words)
}

impl Planner<'_> {
    /// Plans a search: its condition, and the order of a list without `sort`.
    pub(super) fn search(self, text: &str) -> Result<(Condition, Order), String> {
        let fields = search_fields(self.entry, self.caller);
        let Some(title) = fields.first() else {
            return Err(format!("{} have no text that you can search", self.entry.meta.plural));
        };
        let words = search_words(text)?;
        let contains = |field: &'static FieldMeta, word: &String| {
            let test = Test::Like { position: MatchPosition::Anywhere, needle: word.clone(), negated: false };
            Condition::test(Source::own(field), test)
        };
        let in_some_field = |word: &String| any(fields.iter().map(|field| contains(field, word)).collect());
        let condition = words.iter().map(in_some_field).reduce(Condition::and).unwrap_or_else(Condition::always);
        let target = Target::Column(Source::own(title));
        Ok((condition, Order { target, descending: false, prefix: Some(fold(text.trim())) }))
    }
}
