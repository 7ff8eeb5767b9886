//! The tables of all languages: the files of this module, then those of the application, whose texts come first.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use super::message::{MESSAGE, MessagePattern};
use super::{Language, SOURCE};
use charter_core::error::{Error, Result};

/// The files of a language of this crate.
macro_rules! files {
    ($($path:literal),+ $(,)?) => { &[$(include_str!($path)),+] };
}

/// The languages of this crate: code, own name and files.
const BUILT_IN: &[(&str, &str, &[&str])] = &[(
    "de",
    "Deutsch",
    files![
        "de/bulk.yaml",
        "de/confirmation.yaml",
        "de/consequences.yaml",
        "de/dashboard.yaml",
        "de/errors.yaml",
        "de/format.yaml",
        "de/frame.yaml",
        "de/imports.yaml",
        "de/jobs.yaml",
        "de/labels.yaml",
        "de/list.yaml",
        "de/messages.yaml",
        "de/record.yaml",
        "de/script.yaml",
        "de/session.yaml"
    ],
)];

/// Limits of a message that is translated. It can contain text of a client, and each message in another doubles the work.
const MAX_MESSAGE_BYTES: usize = 2_000;
const MAX_DEPTH: u8 = 4;

/// The texts of one language.
#[derive(Debug, Default)]
pub(super) struct Table {
    texts: HashMap<String, String>,
    labels: HashMap<String, String>,
    messages: Vec<MessagePattern>,
}

/// A file of texts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The language's own name, if this crate has no table of it.
    name: Option<String>,
    /// English texts of the panel.
    #[serde(default)]
    texts: BTreeMap<String, String>,
    /// English labels and explanations of resources, fields, choices and actions. They are apart from the texts, because
    /// a page `History` and a genre `History` have different names elsewhere.
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// English messages of the API. A value in braces is any text.
    #[serde(default)]
    messages: BTreeMap<String, String>,
}

impl Table {
    pub(super) fn get(&self, english: &str) -> Option<&str> {
        self.texts.get(english).map(String::as_str)
    }

    pub(super) fn label(&self, english: &str) -> Option<&str> {
        self.labels.get(english).map(String::as_str)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(english, text)| (english.as_str(), text.as_str()))
    }

    /// The pattern with the longest text comes before others. A message within a message that no pattern has stays as it
    /// is.
    pub(super) fn message(&self, message: &str) -> Option<String> {
        if message.len() > MAX_MESSAGE_BYTES {
            return None;
        }
        self.joined_messages(message).or_else(|| self.complete_message(message, MAX_DEPTH)).or_else(|| {
            let with_english =
                |name: &str, value: &str| self.value(name, value, MAX_DEPTH).or_else(|| Some(value.to_string()));
            self.messages.iter().find_map(|pattern| pattern.translate(message, with_english))
        })
    }

    /// Several messages about one field: `is required; must be a number`.
    fn joined_messages(&self, messages: &str) -> Option<String> {
        let parts: Option<Vec<String>> =
            messages.split("; ").map(|one| self.complete_message(one, MAX_DEPTH)).collect();
        parts.filter(|parts| parts.len() > 1).map(|parts| parts.join("; "))
    }

    fn complete_message(&self, message: &str, depth: u8) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        self.messages
            .iter()
            .find_map(|pattern| pattern.translate(message, |name, value| self.value(name, value, depth)))
    }

    /// A value of a message by its name. A sentence within another has no full stop of its own.
    fn value(&self, name: &str, value: &str, depth: u8) -> Option<String> {
        match name {
            MESSAGE => self.complete_message(value, depth).or_else(|| {
                let sentence = self.complete_message(&format!("{value}."), depth)?;
                Some(sentence.trim_end_matches('.').to_string())
            }),
            // Some messages have the plural as the API spells it: `exchange_rates`.
            "record" | "records" => Some(self.label(&value.replace('_', " ")).unwrap_or(value).to_string()),
            _ => Some(value.to_string()),
        }
    }
}

/// The texts that a language lacks, and those that nothing uses.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The key of a file of texts.
    pub key: &'static str,
    pub missing: Vec<String>,
    pub unused: Vec<String>,
}

/// All languages that users can choose, English first.
#[derive(Debug)]
pub(crate) struct Tables {
    languages: Vec<Arc<Language>>,
}

impl Default for Tables {
    fn default() -> Self {
        let (code, name) = (SOURCE.to_string(), "English".to_string());
        Tables { languages: vec![Arc::new(Language { code, name, table: Table::default(), script: OnceLock::new() })] }
    }
}

impl Tables {
    /// English, and the languages of the application's files: pairs of code and YAML. A panel whose labels are English only
    /// would be half in another language.
    ///
    /// # Errors
    /// [`Error::Internal`] if a file is no table.
    pub(crate) fn new(of_application: &[(&str, &str)]) -> Result<Tables> {
        let mut tables = Tables::default();
        for (code, yaml) in of_application {
            tables.add(code, code, yaml)?;
            tables.add_built_in(code)?;
        }
        Ok(tables)
    }

    /// Adds the files that this crate has of a language.
    fn add_built_in(&mut self, code: &str) -> Result<()> {
        let Some((code, name, files)) = BUILT_IN.iter().find(|(known, ..)| *known == code) else { return Ok(()) };
        let of_application = self.find(code).map_or(0, |language| language.table.messages.len());
        files.iter().try_for_each(|yaml| self.add(code, name, yaml))?;
        self.sort_messages(code, of_application);
        Ok(())
    }

    /// Adds a file to the language with this code. Texts that the language has already stay as they are.
    ///
    /// # Errors
    /// [`Error::Internal`] if the file is no table.
    pub(super) fn add(&mut self, code: &str, name: &str, yaml: &str) -> Result<()> {
        let problem = |error: serde_yaml::Error| Error::internal(format!("language {code}: {error}"));
        // A map would keep the last of two equal keys; a YAML value refuses them.
        let _: serde_yaml::Value = serde_yaml::from_str(yaml).map_err(problem)?;
        // Not from the value, in which a text like `24` or `True` is a number or a boolean.
        let file: File = serde_yaml::from_str(yaml).map_err(problem)?;
        let at = match self.languages.iter().position(|language| language.code == code) {
            Some(at) => at,
            None => {
                let (code, name) = (code.to_string(), name.to_string());
                self.languages.push(Arc::new(Language {
                    code,
                    name,
                    table: Table::default(),
                    script: OnceLock::new(),
                }));
                self.languages.len() - 1
            }
        };
        let Some(language) = Arc::get_mut(&mut self.languages[at]) else { return Ok(()) };
        match file.name {
            Some(name) => language.name = name,
            // The application has added texts to a language of this crate.
            None if language.name == language.code => language.name = name.to_string(),
            None => {}
        }
        for (english, text) in file.texts {
            language.table.texts.entry(english).or_insert(text);
        }
        for (english, label) in file.labels {
            language.table.labels.entry(english).or_insert(label);
        }
        let known = language.table.messages.len();
        for pattern in file.messages.into_iter().map(|(english, text)| MessagePattern::new(english, text)) {
            language.table.messages.extend(pattern.without_code());
            language.table.messages.push(pattern);
        }
        self.sort_messages(code, known);
        Ok(())
    }

    /// Sorts the messages of a language from a position.
    fn sort_messages(&mut self, code: &str, from: usize) {
        let language = self.languages.iter_mut().find(|language| language.code == code);
        if let Some(language) = language.and_then(Arc::get_mut) {
            language.table.messages[from..].sort_by_key(MessagePattern::rank);
        }
    }

    /// Compares a language with the texts of the panel, which the first language of this crate has, and with the labels of
    /// the application.
    ///
    /// # Errors
    /// [`Error::Internal`] if a file of this crate is no table.
    pub(crate) fn compare(&self, code: &str, labels: &BTreeSet<String>) -> Result<[Comparison; 3]> {
        let mut built_in = Tables::default();
        for code in [BUILT_IN[0].0, code] {
            built_in.add_built_in(code)?;
        }
        let nothing = Table::default();
        let (complete, own) = (built_in.find(BUILT_IN[0].0), built_in.find(code));
        let language = self.find(code).or_else(|| own.clone());
        let complete = complete.as_deref().map_or(&nothing, |language| &language.table);
        let (own, known) = (
            own.as_deref().map_or(&nothing, |language| &language.table),
            language.as_deref().map_or(&nothing, |language| &language.table),
        );
        let texts = |texts: &HashMap<String, String>| texts.keys().cloned().collect::<BTreeSet<String>>();
        // Each message with code is in the table once more without the backticks.
        let messages = |table: &Table| {
            let all: BTreeSet<String> = table.messages.iter().map(|one| one.english().to_string()).collect();
            let bare: BTreeSet<String> =
                all.iter().filter(|text| text.contains('`')).map(|text| text.replace('`', "")).collect();
            all.difference(&bare).cloned().collect::<BTreeSet<String>>()
        };
        let without = |some: &BTreeSet<String>, others: &BTreeSet<String>| some.difference(others).cloned().collect();
        let used: BTreeSet<String> = labels.union(&texts(&own.labels)).cloned().collect();
        Ok([
            Comparison {
                key: "labels",
                missing: without(labels, &texts(&known.labels)),
                unused: without(&texts(&known.labels), &used),
            },
            Comparison {
                key: "texts",
                missing: without(&texts(&complete.texts), &texts(&known.texts)),
                unused: without(&texts(&known.texts), &texts(&complete.texts)),
            },
            // Nobody lists the messages of an application's hooks.
            Comparison { key: "messages", missing: without(&messages(complete), &messages(known)), unused: Vec::new() },
        ])
    }

    /// All languages, English first.
    pub(crate) fn all(&self) -> &[Arc<Language>] {
        &self.languages
    }

    /// The language with this code.
    pub(crate) fn find(&self, code: &str) -> Option<Arc<Language>> {
        self.languages.iter().find(|language| language.code == code).cloned()
    }

    /// The first language of an `Accept-Language` header that there is (RFC 9110, section 12.5.4); English by default.
    /// Browsers list the languages in the order of preference.
    pub(crate) fn preferred(&self, accepted: Option<&str>) -> Arc<Language> {
        let wanted = accepted.unwrap_or_default().split(',').filter_map(|part| {
            let (range, weight) = part.split_once(';').unwrap_or((part, ""));
            let is_refused = matches!(weight.trim().strip_prefix("q="), Some("0" | "0.0" | "0.00" | "0.000"));
            (!is_refused).then(|| range.trim().to_ascii_lowercase())
        });
        let find = |range: String| {
            let is_named = |language: &&Arc<Language>| {
                let code = language.code.to_ascii_lowercase();
                range == code || range.strip_prefix(&code).is_some_and(|rest| rest.starts_with('-'))
            };
            self.languages.iter().find(is_named).cloned()
        };
        wanted.into_iter().find_map(find).unwrap_or_else(|| self.languages[0].clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_browser_is_the_first_that_there_is() {
        let mut tables = Tables::default();
        tables.add("de", "Deutsch", "texts: {}").expect("a table");
        for (accepted, code) in [
            (None, "en"),
            (Some(""), "en"),
            (Some("de"), "de"),
            (Some("de-AT,de;q=0.9,en;q=0.8"), "de"),
            (Some("fr-FR, fr;q=0.9, DE;q=0.8, en;q=0.7"), "de"),
            (Some("en-GB,en;q=0.9,de;q=0.8"), "en"),
            (Some("de;q=0, en"), "en"),
            (Some("den"), "en"),
            (Some("fr"), "en"),
        ] {
            assert_eq!(tables.preferred(accepted).code, code, "{accepted:?}");
        }
    }

    #[test]
    fn a_text_of_the_application_comes_before_that_of_the_platform() {
        let mut tables = Tables::default();
        tables.add("de", "de", "{ name: Deutsch (Sie), texts: { Save: Sichern } }").expect("a table");
        tables.add("de", "Deutsch", "texts: { Save: Speichern, Cancel: Abbrechen }").expect("a table");
        let german = tables.find("de").expect("the language");
        assert_eq!((german.table.get("Save"), german.table.get("Cancel")), (Some("Sichern"), Some("Abbrechen")));
    }

    #[test]
    fn the_message_with_the_longest_text_wins() {
        let mut tables = Tables::default();
        let yaml = "messages: { '{name} is not known': 'A {name}', 'The field {name} is not known': 'B {name}' }";
        tables.add("de", "Deutsch", yaml).expect("a table");
        let german = tables.find("de").expect("the language");
        assert_eq!(german.table.message("The field x is not known").as_deref(), Some("B x"));
        assert_eq!(german.table.message("unheard of"), None);
    }

    #[test]
    fn a_message_within_a_message_and_a_noun_are_translated() {
        let tables =
            Tables::new(&[("de", "labels: { tax class: Steuerklasse, tax classes: Steuerklassen }")]).expect("tables");
        let german = tables.find("de").expect("the language");
        for (english, text) in [
            ("must be at least 3 (element 2)", "muss mindestens 3 sein (Element 2)"),
            ("must be one of a, b; did you mean `b`?", "muss einer dieser Werte sein: a, b; meinten Sie `b`?"),
            ("does not refer to an existing tax class", "verweist auf keinen vorhandenen Datensatz (Steuerklasse)"),
            ("is not a view of tax_classes", "ist keine Ansicht von Steuerklassen"),
            (
                "must have at least 12 characters; is already taken",
                "muss mindestens 12 Zeichen haben; ist bereits vergeben",
            ),
            (
                "refers to a deleted tax class; restore that record first",
                "verweist auf einen gelöschten Datensatz (Steuerklasse); stellen Sie ihn zuerst wieder her",
            ),
            ("is refused: Not found", "wird abgelehnt: Nicht gefunden"),
            ("is refused: quite new", "wird abgelehnt: quite new"),
            ("requires the permission a.b", "erfordert die Berechtigung a.b"),
            ("The request is not valid: name is required.", "Die Anfrage ist ungültig: name muss angegeben werden."),
            (
                "The request is not valid: name is required (and 2 more).",
                "Die Anfrage ist ungültig: name muss angegeben werden (und 2 weitere).",
            ),
            ("has no name for column 3 in its first row", "hat in der ersten Zeile keinen Namen für Spalte 3"),
            ("is empty in its first row", "ist leer in der ersten Zeile"),
        ] {
            assert_eq!(german.table.message(english).as_deref(), Some(text), "{english}");
        }
    }

    #[test]
    fn a_text_may_look_like_a_number_or_a_boolean() {
        let mut tables = Tables::default();
        tables.add("de", "Deutsch", "labels: { True: Wahr, 24: vierundzwanzig, Rate: 7 }").expect("a table");
        let german = tables.find("de").expect("the language");
        let found = ["True", "24", "Rate"].map(|label| german.table.label(label));
        assert_eq!(found, [Some("Wahr"), Some("vierundzwanzig"), Some("7")]);
    }

    #[test]
    fn a_message_of_a_client_does_not_take_long() {
        let mut tables = Tables::default();
        let yaml = "messages: { 'is refused: {message}': 'ist abgelehnt: {message}', 'is required': 'fehlt' }";
        tables.add("de", "Deutsch", yaml).expect("a table");
        let german = tables.find("de").expect("the language");
        assert_eq!(german.table.message("is refused: is required").as_deref(), Some("ist abgelehnt: fehlt"));
        for nested in [60, 1_000] {
            let message = format!("{}x", "is refused: ".repeat(nested));
            // Without limits, each level takes twice the time of the next.
            german.table.message(&message);
        }
    }

    #[test]
    fn a_file_that_is_no_table_is_an_error() {
        for yaml in ["texts: [Save]", "text: {}", "texts: { Save: Sichern, Save: Speichern }", "["] {
            assert!(Tables::default().add("de", "Deutsch", yaml).is_err(), "{yaml}");
        }
    }
}
