//! Files of texts in other languages, `de.language.yaml`: pairs of an English text and its translation.

use std::collections::BTreeSet;

use super::tree::{Entry, Node, Value};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::{FileId, LANGUAGE_SUFFIX, SourceFile, Span, Spanned};

/// The keys of a file.
const KEYS: [&str; 4] = ["name", "labels", "texts", "messages"];

/// Reports what is wrong in a file, and returns the code of its language.
pub fn read(id: FileId, file: &SourceFile, node: Option<&Node>, problems: &mut Problems) -> Option<String> {
    let code = file.name().trim_end_matches(LANGUAGE_SUFFIX);
    if !is_language_code(code) {
        let span = Span { file: id, start: 0, end: file.text.lines().next().map_or(0, str::len) };
        let message = format!("`{code}` is no code of a language");
        let help = "name the file for the language, as in the attribute `lang` of HTML: `de.language.yaml`";
        problems.push(Diagnostic::new(Code::Language, span, message, "").help(help));
        return None;
    }
    match &node?.value {
        Value::Null => {}
        Value::Map(entries) => entries.iter().for_each(|entry| read_part(entry, problems)),
        _ => {
            let node = node?;
            let message = format!("a file of texts must be a mapping, not {}", node.described());
            let problem = Diagnostic::new(Code::Language, node.span, message, "expected a mapping");
            problems.push(problem.help("write `labels:`, and below it `English text: translation`"));
        }
    }
    Some(code.to_owned())
}

/// `de`, `pt-BR` (BCP 47).
fn is_language_code(code: &str) -> bool {
    let mut parts = code.split('-');
    let first = parts.next().unwrap_or_default();
    let is_primary = (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_lowercase());
    is_primary
        && parts.all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn read_part(entry: &Entry, problems: &mut Problems) {
    match (entry.key.as_str(), &entry.value.value) {
        ("name", Value::Scalar { .. }) | ("labels" | "texts" | "messages", Value::Null) => {}
        ("name", _) => misshapen(entry, "the language's own name: `name: Deutsch`", problems),
        ("labels" | "texts" | "messages", Value::Map(texts)) => texts.iter().for_each(|text| read_text(text, problems)),
        ("labels" | "texts" | "messages", _) => misshapen(entry, "a mapping: `English text: translation`", problems),
        (unknown, _) => {
            let message = format!("a file of texts has no key `{unknown}`");
            let problem = Diagnostic::new(Code::Language, entry.key.span, message, "unknown key");
            problems.push(problem.did_you_mean(unknown, KEYS));
        }
    }
}

fn misshapen(entry: &Entry, expected: &str, problems: &mut Problems) {
    let message = format!("`{}` cannot be {}", entry.key.value, entry.value.described());
    let problem = Diagnostic::new(Code::Language, entry.value.span, message, "");
    problems.push(problem.help(format!("write {expected}")));
}

/// A translation is a text with the values of its English text.
fn read_text(entry: &Entry, problems: &mut Problems) {
    let Some(text) = entry.value.scalar().filter(|text| !text.value.is_empty()) else {
        let message = format!("the translation of `{}` is {}", entry.key.value, entry.value.described());
        let problem = Diagnostic::new(Code::Language, entry.value.span, message, "expected a text");
        problems.push(problem.help("remove the line to show the English text"));
        return;
    };
    let (english, translated) = (values(&entry.key), values(&text));
    for value in english.symmetric_difference(&translated) {
        let (what, help) = match english.contains(value) {
            true => ("lacks", format!("write `{{{value}}}` where the value belongs")),
            false => ("has", "values are those in braces in the English text".to_owned()),
        };
        let message = format!("the translation of `{}` {what} the value `{{{value}}}`", entry.key.value);
        let problem = Diagnostic::new(Code::Language, entry.value.span, message, "");
        problems.push(problem.help(help));
    }
}

/// The names in braces.
fn values(text: &Spanned<String>) -> BTreeSet<String> {
    let bare = text.value.replace("{{", "").replace("}}", "");
    let names = bare.split('{').skip(1).filter_map(|part| part.split_once('}'));
    names.map(|(name, _)| name.to_owned()).collect()
}
