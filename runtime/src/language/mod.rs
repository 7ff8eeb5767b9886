//! The languages of the panel: each text is written in English where it is used, and a table has it in other languages.
//!
//! A page is rendered in the language of its reader, which [`Language::scope`] sets for the task of the request. `text!`
//! is a text, `html_text!` a text with markup in it, [`label`] a label from metadata, and [`message`] a message of the API.
//! The tables are the files in the folders of this module, with those of the application, which come first
//! (`resources/<code>.language.yaml`). See `docs/languages.md`.

#[cfg(test)]
mod coverage;
mod message;
mod table;

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::{Arc, OnceLock};

use maud::{Markup, PreEscaped, Render};

use table::Table;
pub(crate) use table::{Comparison, Tables};

tokio::task_local! {
    static CURRENT: Arc<Language>;
}

/// The language of the texts in the code.
pub(crate) const SOURCE: &str = "en";

/// A language that users can choose.
#[derive(Debug)]
pub(crate) struct Language {
    /// `de`, as in the attribute `lang` (BCP 47).
    pub code: String,
    /// The language's own name for itself: `Deutsch`.
    pub name: String,
    table: Table,
    /// The texts of the scripts as a script, and its hash, once they are asked for.
    pub script: OnceLock<(String, String)>,
}

impl Language {
    /// Runs a future whose texts are in this language.
    pub(crate) async fn scope<F: Future>(self: Arc<Self>, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }

    /// Runs a function whose texts are in this language.
    pub(crate) fn sync_scope<T>(self: &Arc<Self>, run: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self.clone(), run)
    }

    /// The texts of the scripts: pairs of English and this language.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.table.texts()
    }
}

/// The code of the current language; English outside of a [`Language::scope`].
pub(crate) fn current_code() -> String {
    with_current(|language| language.code.clone()).unwrap_or_else(|| SOURCE.to_string())
}

fn with_current<T>(read: impl FnOnce(&Language) -> T) -> Option<T> {
    CURRENT.try_with(|language| read(language)).ok()
}

/// A label from metadata in the current language; the same label if its table lacks it.
pub(crate) fn label(english: &str) -> String {
    with_current(|language| language.table.label(english).map(String::from))
        .flatten()
        .unwrap_or_else(|| english.to_string())
}

/// An English text in the current language; the same text if its table lacks it.
pub(crate) fn translate(english: &str) -> String {
    with_current(|language| language.table.get(english).map(String::from))
        .flatten()
        .unwrap_or_else(|| english.to_string())
}

/// A message of the API in the current language; the same message if no table knows it.
pub(crate) fn message(english: &str) -> String {
    with_current(|language| language.table.message(english)).flatten().unwrap_or_else(|| english.to_string())
}

/// The text of `text!`.
pub(crate) fn fill(english: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut filled = String::new();
    for part in parts(&translate(english)) {
        match part {
            Part::Literal(text) => filled.push_str(&text),
            Part::Value(name) => match values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => filled.push_str(&value.to_string()),
                None => filled.push_str(name),
            },
        }
    }
    filled
}

/// The text of `html_text!`: the text is escaped, and the values are rendered.
pub(crate) fn fill_html(english: &str, values: &[(&str, &dyn Render)]) -> Markup {
    let mut filled = String::new();
    for part in parts(&translate(english)) {
        match part {
            Part::Literal(text) => text.render_to(&mut filled),
            Part::Value(name) => match values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => value.render_to(&mut filled),
                None => name.render_to(&mut filled),
            },
        }
    }
    PreEscaped(filled)
}

/// A part of a text, as of a format string: `All {records}`, with `{{` and `}}` for braces.
#[derive(Debug, PartialEq, Eq)]
enum Part<'t> {
    Literal(Cow<'t, str>),
    Value(&'t str),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        if !before.is_empty() {
            parts.push(Part::Literal(before.into()));
        }
        rest = match brace.get(1..).and_then(|inner| inner.split_once('}')) {
            _ if brace.starts_with("{{") || brace.starts_with("}}") => {
                parts.push(Part::Literal(brace[..1].into()));
                &brace[2..]
            }
            Some((name, after)) if brace.starts_with('{') => {
                parts.push(Part::Value(name));
                after
            }
            _ => {
                parts.push(Part::Literal(brace[..1].into()));
                &brace[1..]
            }
        };
    }
    if !rest.is_empty() {
        parts.push(Part::Literal(rest.into()));
    }
    parts
}

/// A text of the panel in the language of the reader, with values by name: `text!("All {records}", records = noun)`.
macro_rules! text {
    ($english:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        // The compiler compares the names with those in the text.
        let _ = || { $(let $name = "";)* let _ = format_args!($english $(, $name = $name)*); };
        $crate::language::fill($english, &[$((stringify!($name), &$value as &dyn std::fmt::Display)),*])
    }};
}

/// Like `text!`, as HTML: the text is escaped, and a value may be markup.
macro_rules! html_text {
    ($english:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        let _ = || { $(let $name = "";)* let _ = format_args!($english $(, $name = $name)*); };
        $crate::language::fill_html($english, &[$((stringify!($name), &$value as &dyn maud::Render)),*])
    }};
}

pub(crate) use {html_text, text};

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    fn german(yaml: &str) -> Arc<Language> {
        let mut tables = Tables::default();
        tables.add("de", "Deutsch", yaml).expect("a table");
        tables.find("de").expect("the language")
    }

    #[test]
    fn a_text_outside_of_a_language_is_english() {
        assert_eq!(text!("All {records}", records = "products"), "All products");
        assert_eq!(current_code(), "en");
    }

    #[tokio::test]
    async fn a_text_is_in_the_language_of_the_task_and_keeps_its_values() {
        let language = german("texts:\n  All {records}: Alle {records}\n  '{{{name}}}': '{name} {{in Klammern}}'\n");
        language
            .scope(async {
                assert_eq!(text!("All {records}", records = "{Produkte}"), "Alle {Produkte}");
                assert_eq!(text!("{{{name}}}", name = 7), "7 {in Klammern}");
                assert_eq!(text!("Not in the table"), "Not in the table");
                assert_eq!(current_code(), "de");
            })
            .await;
    }

    #[tokio::test]
    async fn markup_in_a_text_is_kept_and_the_text_is_escaped() {
        let language = german("texts:\n  Open {name}: '<{name}> öffnen'\n");
        let opened = language.scope(async { html_text!("Open {name}", name = html! { b { "&" } }) }).await;
        assert_eq!(opened.into_string(), "&lt;<b>&amp;</b>&gt; öffnen");
        assert_eq!(html_text!("Open {name}", name = "<i>").into_string(), "Open &lt;i&gt;");
    }

    #[test]
    fn unpaired_braces_are_text() {
        for text in ["{", "}", "a } b", "a { b", "{a"] {
            let read: String = parts(text)
                .iter()
                .map(|part| match part {
                    Part::Literal(text) => text.as_ref(),
                    Part::Value(name) => name,
                })
                .collect();
            assert_eq!(read, text);
        }
    }
}
