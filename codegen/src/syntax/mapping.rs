//! Reader of a mapping by key and shape. Unknown, missing and misshapen values are reported, and reading continues.

use std::collections::{BTreeMap, BTreeSet};

use charter_model::Keyword;
use charter_model::number::{LEADING_ZERO, without_zeros};

use super::aliases;
use super::keys::{Key, Table};
use super::misplaced_keys;
use super::tree::{Entry, Node, Value};
use super::type_word::names_type;
use crate::diagnostic::{Code, Diagnostic, Problems, nearest};
use crate::source::{Span, Spanned};
use crate::syntax::spacing::{odd_space, torn_colon};

/// A mapping that is being read.
pub struct Mapping<'a, 'p> {
    pub table: &'static Table,
    /// The start of the mapping.
    pub span: Span,
    entries: &'a [Entry],
    taken: BTreeSet<&'static str>,
    /// Known keys that an unknown one may stand for, so that they are not reported as missing, with the value to read
    /// in their place.
    misspelt: BTreeMap<&'static str, Option<&'a Entry>>,
    /// The node is a mapping. Anything else is reported already.
    is_mapping: bool,
    pub problems: &'p mut Problems,
}

impl<'a, 'p> Mapping<'a, 'p> {
    /// Opens a node as a mapping with the keys of `table`. Unknown keys are reported here.
    pub fn open(table: &'static Table, node: &'a Node, problems: &'p mut Problems) -> Mapping<'a, 'p> {
        let (entries, is_mapping): (&[Entry], bool) = match &node.value {
            Value::Map(entries) => (entries, true),
            Value::Null => (&[], true),
            _ => {
                let key = table.what.split_once(' ').map_or(table.what, |(_, what)| what);
                let key = if table.key("sunset").is_some() { "deprecated" } else { key };
                let problem = with_shape(misshapen(node, table.what, "a mapping"), key, node);
                problems.push(match problem.help.is_none() && table.key("resource").is_some() {
                    true => problem.help("a file needs `resource: <name>`, and `fields:` below it"),
                    false => problem,
                });
                (&[], false)
            }
        };
        let mut misspelt = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let written = entry.key.as_str();
            if table.key(written).is_some() {
                continue;
            }
            let known = || table.keys.iter().map(|key| key.name);
            let foreign = aliases::help(table, entry);
            // `type:text` without a space is one word to YAML.
            let torn = written.split_once(':').and_then(|(head, rest)| Some((table.key(head)?.name, rest)));
            misspelt.extend(torn.map(|(head, _)| (head, None)));
            let other = foreign.map_or_else(|| nearest(written, known()), |(_, means)| means);
            let key = other.and_then(|name| table.key(name));
            misspelt.extend(
                key.map(|key| (key.name, Some(entry).filter(|entry| misplaced_keys::fits(key.shape, &entry.value)))),
            );
            let message = format!("{} has no key `{written}`", table.what);
            let problem = Diagnostic::new(Code::UnknownKey, entry.key.span, message, "unknown key");
            let before = index.checked_sub(1).map(|before| &entries[before]);
            let misplaced = misplaced(table, before, entry);
            if misplaced.is_some() {
                misspelt.entry("fields").or_insert(None);
            }
            let torn = torn.and_then(|_| torn_colon(written));
            let odd = odd_space(written)
                .map(|odd| format!("the key contains {odd}: remove it, or put a plain space in its place"));
            problems.push(match (torn.or(odd).or(misplaced), foreign) {
                (Some(help), _) => problem.help(help),
                (None, Some((help, _))) => problem.help(help),
                (None, None) => problem.did_you_mean(written, known()),
            });
        }
        Mapping { table, span: node.span, entries, taken: BTreeSet::new(), misspelt, is_mapping, problems }
    }

    /// The node under a key. A key that the table lacks is a bug in this crate.
    pub fn node(&mut self, name: &str) -> Option<&'a Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    fn entry(&mut self, name: &str) -> Option<&'a Entry> {
        let key: &Key = self.table.key(name).unwrap_or_else(|| panic!("unknown key `{name}` in {}", self.table.what));
        self.taken.insert(key.name);
        let written = self.entries.iter().find(|entry| entry.key.value == key.name);
        written.or_else(|| self.misspelt.get(key.name).copied().flatten())
    }

    /// The place of a key, if it is present.
    pub fn key_span(&mut self, name: &str) -> Option<Span> {
        self.entry(name).map(|entry| entry.key.span)
    }

    /// A single value as written. A null is refused.
    pub fn text(&mut self, name: &str) -> Option<Spanned<String>> {
        let node = self.node(name)?;
        if let (true, Some(word)) = (node.is_null_word(), node.scalar()) {
            let help = format!("remove `{name}`, or put the word in quotes: `{name}: \"{}\"`", word.value);
            self.problems.push(misshapen(node, &format!("`{name}`"), "a single value").help(help));
            return None;
        }
        if let Value::List(items) = &node.value
            && let ([item], None) = (items.as_slice(), aliases::shape(name, node))
            && let Some(only) = item.scalar()
        {
            let problem = misshapen(node, &format!("`{name}`"), "a single value");
            self.problems.push(problem.help(format!("write `{name}: {}`, without brackets", only.value)));
            return None;
        }
        scalar(node, name, "a single value", self.problems)
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: &str) -> Option<Spanned<bool>> {
        let node = self.node(name)?;
        let value = match &node.value {
            Value::Scalar { text, plain: true } => text.parse().ok(),
            _ => None,
        };
        if value.is_none() {
            let problem = misshapen(node, &format!("`{name}`"), "true or false");
            self.problems.push(match aliases::flag(node) {
                Some(word) if node.is_quoted() => problem.help(format!("write `{name}: {word}`, without quotes")),
                Some(word) => problem.help(format!("write `{name}: {word}`")),
                None if node.is_null() => or_left_out(problem, node),
                None => problem.help(format!("write `{name}: true`, or remove it")),
            });
        }
        value.map(|value| Spanned::new(value, node.span))
    }

    /// A whole number from 0.
    pub fn count(&mut self, name: &str) -> Option<Spanned<u32>> {
        let text = self.text(name)?;
        if let Some(plain) = without_zeros(text.as_str()) {
            let message = format!("`{}` {LEADING_ZERO}", text.value);
            let problem = Diagnostic::new(Code::WrongShape, text.span, message, "not an integer");
            self.problems.push(problem.help(format!("write `{name}: {plain}`")));
            return None;
        }
        let value = text.value.parse().ok();
        if value.is_none() {
            let is_number = text.value.bytes().all(|byte| byte.is_ascii_digit());
            let (message, label) = match is_number && !text.value.is_empty() {
                true => (format!("the maximum of `{name}` is {}, not `{}`", u32::MAX, text.value), "too many"),
                false => (format!("`{name}` must be an integer, not `{}`", text.value), "not an integer"),
            };
            self.problems.push(Diagnostic::new(Code::WrongShape, text.span, message, label));
        }
        value.map(|value| Spanned::new(value, text.span))
    }

    /// One of a closed set of words.
    pub fn word<T: Keyword>(&mut self, name: &str) -> Option<Spanned<T>> {
        let text = self.text(name)?;
        read_word(name, &text, self.problems)
    }

    /// A list of single values.
    pub fn texts(&mut self, name: &str) -> Option<Vec<Spanned<String>>> {
        let node = self.node(name)?;
        let found = texts(node, name, self.problems);
        // The key counts as absent, so that one mistake has one report.
        matches!(node.value, Value::List(_)).then_some(found)
    }

    /// A list of words of a closed set.
    pub fn words<T: Keyword>(&mut self, name: &str) -> Option<Vec<Spanned<T>>> {
        let texts = self.texts(name)?;
        Some(texts.iter().filter_map(|text| read_word(name, text, self.problems)).collect())
    }

    /// A list of lists of names.
    pub fn sets(&mut self, name: &str) -> Vec<Spanned<Vec<Spanned<String>>>> {
        let Some(node) = self.node(name) else { return Vec::new() };
        let Value::List(items) = &node.value else {
            let problem = misshapen(node, &format!("`{name}`"), "a list of lists of names");
            self.problems.push(as_set(problem, name, node));
            return Vec::new();
        };
        let is_list = |item: &&Node| matches!(item.value, Value::List(_));
        for other in items.iter().filter(|item| !is_list(item)) {
            let problem = misshapen(other, &format!("a set of `{name}`"), "a list of names");
            self.problems.push(as_set(problem, name, other));
        }
        let sets = items.iter().filter(is_list);
        sets.map(|item| Spanned::new(texts(item, name, self.problems), item.span)).collect()
    }

    /// The elements of a list of mappings.
    pub fn items(&mut self, name: &str) -> &'a [Node] {
        let Some(node) = self.node(name) else { return &[] };
        let Value::List(items) = &node.value else {
            let problem = with_shape(misshapen(node, &format!("`{name}`"), "a list"), name, node);
            self.problems.push(or_left_out(problem, node));
            return &[];
        };
        items
    }

    /// The entries of a mapping from names.
    pub fn entries(&mut self, name: &str) -> &'a [Entry] {
        let Some(node) = self.node(name) else { return &[] };
        match &node.value {
            Value::Map(entries) => entries,
            // Entries at the wrong level are reported already.
            Value::Null if self.misspelt.contains_key(name) => &[],
            _ => {
                let problem = with_shape(misshapen(node, &format!("`{name}`"), "a mapping"), name, node);
                self.problems.push(or_left_out(problem, node));
                &[]
            }
        }
    }

    /// True if the lack of a key deserves its own report.
    pub fn may_lack(&self, name: &str) -> bool {
        self.is_mapping && !self.misspelt.contains_key(name)
    }

    /// Reports a missing key.
    pub fn require(&mut self, name: &str) {
        if self.node(name).is_none() && self.may_lack(name) {
            let message = format!("{} needs the key `{name}`", self.table.what);
            let problem = Diagnostic::new(Code::MissingKey, self.span, message, format!("`{name}` is missing"));
            let example = self.table.key(name).map_or("", |key| key.example);
            self.problems.push(problem.help(format!("for example, `{example}`")));
        }
    }

    /// Ends the reading. In debug builds, every key of the table must have been read.
    pub fn close(self) {
        debug_assert!(
            self.table.keys.iter().all(|key| self.taken.contains(key.name)),
            "a key of {} is never read",
            self.table.what
        );
    }
}

/// The help for an unknown key: a field at the wrong level, or the rest of a text after a comma.
fn misplaced(table: &Table, before: Option<&Entry>, entry: &Entry) -> Option<String> {
    match &entry.value.value {
        Value::Scalar { text, .. } if table.key("detail").is_some() => {
            names_type(text).then(|| format!("indent `{}` under `fields`", entry.key.value))
        }
        Value::Map(keys) if table.key("fields").is_some() => {
            let is_field = keys.iter().any(|key| matches!(key.key.as_str(), "type" | "from" | "many"));
            is_field.then(|| format!("indent `{}` under `fields`", entry.key.value))
        }
        Value::Null => torn_at_comma(before?, entry),
        _ => None,
    }
}

/// The help for a key that is the rest of the value before it: `label: Big, blue` or `ratio: 1,5`.
pub fn torn_at_comma(before: &Entry, entry: &Entry) -> Option<String> {
    let (Value::Scalar { text, plain: true }, Value::Null) = (&before.value.value, &entry.value.value) else {
        return None;
    };
    let (name, rest) = (&before.key.value, &entry.key.value);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // In a flow mapping the two are a comma and perhaps a space apart; on separate lines more.
    match entry.key.span.start.checked_sub(before.value.span.end)? {
        1 if are_digits(text.trim_start_matches('-')) && are_digits(rest) => {
            Some(format!("write the number with a decimal point: `{name}: {text}.{rest}`"))
        }
        1 => Some(format!("put text with a comma in quotes: `{name}: \"{text},{rest}\"`")),
        2 => Some(format!("put text with a comma in quotes: `{name}: \"{text}, {rest}\"`")),
        _ => None,
    }
}

/// A single value; anything else is reported.
pub fn scalar(node: &Node, name: &str, expected: &str, problems: &mut Problems) -> Option<Spanned<String>> {
    let text = node.scalar();
    if text.is_none() {
        let problem = with_shape(misshapen(node, &format!("`{name}`"), expected), name, node);
        problems.push(match node.is_null() {
            true => problem.help("put text that starts with `#` in quotes, or remove the key"),
            false => problem,
        });
    }
    text
}

/// A list of single values; anything else is reported.
pub fn texts(node: &Node, name: &str, problems: &mut Problems) -> Vec<Spanned<String>> {
    let Value::List(items) = &node.value else {
        let problem = misshapen(node, &format!("`{name}`"), "a list");
        problems.push(in_brackets(problem, node, |text| format!("{name}: [{text}]")));
        return Vec::new();
    };
    let within = |item: &Node| match &item.value {
        Value::List(inner) => inner.iter().map(Node::scalar).collect(),
        _ => item.scalar().map(|text| vec![text]),
    };
    let flat: Option<Vec<Vec<Spanned<String>>>> = items.iter().map(within).collect();
    let mut texts = Vec::new();
    for item in items {
        match item.scalar() {
            Some(text) => texts.push(text),
            None => {
                let problem = misshapen(item, &format!("`{name}`"), "a list of single values");
                problems.push(match &flat {
                    Some(flat) => problem.help(in_one_pair(name, &flat.concat())),
                    None => problem,
                });
            }
        }
    }
    texts
}

/// The help for a list of lists where a list is expected.
fn in_one_pair(name: &str, texts: &[Spanned<String>]) -> String {
    let words: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
    format!("write one pair of brackets: `{name}: [{}]`", words.join(", "))
}

/// A word of a closed set; anything else is reported.
pub fn read_word<T: Keyword>(name: &str, text: &Spanned<String>, problems: &mut Problems) -> Option<Spanned<T>> {
    let value = T::read(text.as_str());
    if value.is_none() {
        let message = format!("`{name}` does not take `{}`", text.value);
        let problem = Diagnostic::new(Code::UnknownWord, text.span, message, "unknown word");
        problems.push(match aliases::word(name, text.as_str()) {
            Some(help) => problem.help(help),
            None => problem.did_you_mean(text.as_str(), T::KEYWORDS.iter().map(|(word, _)| *word)),
        });
    }
    value.map(|value| Spanned::new(value, text.span))
}

/// The diagnostic of a value of the wrong shape.
pub fn misshapen(node: &Node, what: &str, expected: &str) -> Diagnostic {
    let message = format!("{what} must be {expected}, not {}", node.described());
    let problem = Diagnostic::new(Code::WrongShape, node.span, message, format!("expected {expected}"));
    match &node.value {
        Value::Scalar { text, plain: true } => match torn_colon(text) {
            Some(help) => problem.help(help),
            None => problem,
        },
        _ => problem,
    }
}

/// Adds the form of this grammar for a shape of other systems.
fn with_shape(problem: Diagnostic, key: &str, node: &Node) -> Diagnostic {
    match aliases::shape(key, node) {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Adds the set for a single name. A field that is unique alone has its own key.
fn as_set(problem: Diagnostic, name: &str, node: &Node) -> Diagnostic {
    match (name, &node.value) {
        ("unique", Value::Scalar { text, .. }) => problem.help(format!(
            "write `unique: true` at `{text}` for one field, or list all fields of the set: `unique: [[{text}, …]]`"
        )),
        _ => in_brackets(problem, node, |text| format!("{name}: [[{text}]]")),
    }
}

/// Adds the list for a single value.
pub fn in_brackets(problem: Diagnostic, node: &Node, list: impl Fn(&str) -> String) -> Diagnostic {
    match &node.value {
        Value::Scalar { text, .. } if !node.is_null() => problem.help(format!("write `{}`", list(text))),
        Value::Map(entries) if !entries.is_empty() => {
            let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
            problem.help(format!("write `{}`", list(&names.join(", "))))
        }
        _ => or_left_out(problem, node),
    }
}

/// Adds the help for an empty value: a forgotten line is more likely than an empty list.
pub fn or_left_out(problem: Diagnostic, node: &Node) -> Diagnostic {
    match node.is_null() {
        true => problem.help("remove the key if it has no value"),
        false => problem,
    }
}
