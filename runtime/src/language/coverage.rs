//! Tests that every text of the panel is in the tables of this crate, and that nothing else is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use super::{Part, parts};

/// A folder of this crate.
fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

/// The paths and texts of the files below a folder with one of these endings.
fn files(folder: &Path, ending: &str, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|one| one == ending) {
            let text = std::fs::read_to_string(&path).expect("a text");
            found.push((path, text));
        }
    }
}

/// The code of the panel without its unit tests.
fn code() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&folder("panel"), "rs", &mut found);
    found.retain(|(path, _)| path.file_stem().is_none_or(|name| name != "tests"));
    for (_, text) in &mut found {
        if let Some(at) = text.find("#[cfg(test)]") {
            text.truncate(at);
        }
    }
    found
}

/// The English texts of the code and the scripts.
fn used() -> BTreeSet<String> {
    let of_code = Regex::new(r#"(?s)\btext!\(\s*"((?:[^"\\]|\\.)*)""#).expect("a pattern");
    let of_html = Regex::new(r#"(?s)\bhtml_text!\(\s*"((?:[^"\\]|\\.)*)""#).expect("a pattern");
    let of_scripts = Regex::new(r#"\btranslate\('((?:[^'\\]|\\.)*)'"#).expect("a pattern");
    let continued = Regex::new(r"\\\n\s*").expect("a pattern");
    let mut found = BTreeSet::new();
    for (_, text) in code() {
        for pattern in [&of_code, &of_html] {
            let texts =
                pattern.captures_iter(&text).map(|text| continued.replace_all(&text[1], "").replace("\\\"", "\""));
            found.extend(texts);
        }
    }
    let mut scripts = Vec::new();
    files(&folder("panel/asset"), "js", &mut scripts);
    for (_, text) in scripts {
        found.extend(of_scripts.captures_iter(&text).map(|text| text[1].replace("\\'", "'")));
    }
    found
}

type Texts = BTreeMap<String, String>;

/// The texts and the messages of the files of German, by file name.
fn german() -> Vec<(String, Texts, Texts)> {
    let mut found = Vec::new();
    files(&folder("language/de"), "yaml", &mut found);
    let read = |(path, text): (PathBuf, String)| {
        let name = path.file_stem().expect("a name").to_string_lossy().to_string();
        let file: BTreeMap<String, Texts> = serde_yaml::from_str(&text).expect("a table");
        let part = |part: &str| file.get(part).cloned().unwrap_or_default();
        (name, part("texts"), part("messages"))
    };
    found.into_iter().map(read).collect()
}

#[test]
fn every_file_of_german_is_loaded() {
    let loaded = super::Tables::new(&[("de", "{}")]).expect("tables").find("de").expect("German");
    for (file, texts, _) in german() {
        let missing: Vec<&String> = texts.keys().filter(|text| loaded.table.get(text).is_none()).collect();
        assert!(missing.is_empty(), "de/{file}.yaml is not in BUILT_IN");
    }
}

#[test]
fn every_text_of_the_panel_is_in_german() {
    let known: BTreeSet<String> = german().into_iter().flat_map(|(_, texts, _)| texts.into_keys()).collect();
    let missing: Vec<String> = used().difference(&known).map(|text| format!("  {text:?}: \"\"")).collect();
    assert!(missing.is_empty(), "missing in runtime/src/language/de:\n{}", missing.join("\n"));
}

#[test]
fn every_text_of_the_tables_is_used_once() {
    let used = used();
    let mut seen = BTreeSet::new();
    for (file, texts, _) in german() {
        for text in texts.into_keys() {
            assert!(seen.insert(text.clone()), "two files have {text:?}");
            // `every_consequence_is_in_german` compares them.
            let is_looked_up = file == "consequences";
            assert!(is_looked_up || used.contains(&text), "{file}.yaml: no page has the text {text:?}");
        }
    }
}

/// The effects and the nouns of consequences, which the panel translates when it shows them.
#[test]
fn every_consequence_is_in_german() {
    let effects = Regex::new(r#"Effect(?:::new\(| \{\s*one:)\s*"([^"]*)",\s*(?:many: )?"([^"]*)""#).expect("a pattern");
    let nouns = Regex::new(r#"Subject::Named\(\s*"([^"]*)",\s*"([^"]*)"\)"#).expect("a pattern");
    let mut sources = Vec::new();
    files(&folder("../core/src/ops"), "rs", &mut sources);
    files(&folder("../platform/src"), "rs", &mut sources);
    let mut used = BTreeSet::new();
    for (_, text) in &sources {
        for found in effects.captures_iter(text).chain(nouns.captures_iter(text)) {
            used.extend([found[1].to_string(), found[2].to_string()]);
        }
    }
    let tables = german().into_iter().find(|(file, ..)| file == "consequences");
    let known: BTreeSet<String> = tables.into_iter().flat_map(|(_, texts, _)| texts.into_keys()).collect();
    assert_eq!(used, known, "left: the code, right: consequences.yaml");
}

#[test]
fn a_translation_has_the_values_of_its_text() {
    let values = |text: &str| -> BTreeSet<String> {
        let parts = parts(text).into_iter();
        parts.filter_map(|part| if let Part::Value(name) = part { Some(name.to_string()) } else { None }).collect()
    };
    for (file, texts, messages) in german() {
        for (english, german) in texts.iter().chain(&messages) {
            assert_eq!(values(english), values(german), "{file}.yaml: {english}");
        }
    }
}

/// The condition of a webhook is refused with the mistake in it.
#[test]
fn a_mistake_in_a_condition_is_in_german() {
    let tables = super::Tables::new(&[("de", "labels: { tax class: Steuerklasse }")]).expect("tables");
    let german = tables.find("de").expect("German");
    for (english, text) in [
        (
            "is not valid for tax_class at character 3: there is no field `x`; did you mean `y`?",
            "gilt nicht für Steuerklasse, Zeichen 3: es gibt kein Feld `x`; meinten Sie `y`?",
        ),
        (
            "is not valid for tax class at character 1: this is a number, and not a condition; compare it with a value: `=`, `<`, `is not null`",
            "gilt nicht für Steuerklasse, Zeichen 1: das ist eine Zahl und keine Bedingung; vergleichen Sie es mit einem Wert: `=`, `<`, `is not null`",
        ),
    ] {
        assert_eq!(german.table.message(english).as_deref(), Some(text), "{english}");
    }
}

/// A text in markup stands between braces, and an attribute that people hear or read is one of these.
#[test]
fn no_text_of_a_page_is_in_english_only() {
    let content = Regex::new(r#"[{}\)] ?"([^"]*[A-Za-z][a-z]+[^"]*)""#).expect("a pattern");
    let attribute = Regex::new(r#"(?:aria-label|placeholder|title|alt|data-confirm)=(?:\{ ?)?"([^"]*[A-Za-z][^"]*)""#)
        .expect("a pattern");
    let mut found = Vec::new();
    for (path, text) in code() {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with("//") || ["format!(", "json!(", "tracing::"].iter().any(|code| line.contains(code)) {
                continue;
            }
            let name = path.strip_prefix(folder("panel")).expect("a file of the panel").display();
            for text in content.captures_iter(line).chain(attribute.captures_iter(line)) {
                // Parts of the names of inputs and ids: `.value`, `[json]`, `field-`.
                let is_name =
                    text[1].contains(['/', '=', '_', '[']) || text[1].starts_with('.') || text[1].ends_with('-');
                if !EXCEPTIONS.contains(&&text[1]) && !is_name {
                    found.push(format!("{name}:{}: {:?}", number + 1, &text[1]));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} texts are not in `text!`:\n{}", found.len(), found.join("\n"));
}

/// Literals that are no words: names of keys, ids and types.
const EXCEPTIONS: &[&str] =
    &[" user invite", "; Secure", "mailto:", "no-cache", "Ctrl K", "-error", "datetime-local", "get", "post", "text"];
