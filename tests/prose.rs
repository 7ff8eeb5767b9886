//! Style of comments, messages, documents and names: no headless clause opens a sentence, and no banned word is used.

mod workspace;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use workspace::{Source, root, sources};

/// Folders with source files that people write.
const FOLDERS: [&str; 8] = ["src", "codegen", "macros", "migrations", "runtime", "examples", "tests", "benches"];

/// Files that quote other texts: the sentences of the specification, and the banned ones.
const QUOTING: [&str; 2] = ["docs/specification.md", "tests/prose.rs"];

/// Names with more parts are those of tests, and are checked as sentences.
const MAX_NAME_PARTS: usize = 3;

/// An item's name in a source file.
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    let modifiers = r"(?:pub(?:\([^)]*\))? )?(?:async |const |unsafe )*";
    let kinds = "(?:fn|mod|struct|enum|trait|type|const|static)";
    Regex::new(&format!(r"(?m)^\s*{modifiers}{kinds} (\w+)")).unwrap()
});

/// A text in quotes.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap());

/// Code in a document or a comment.
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new("`[^`]*`").unwrap());

/// The border between the parts of a name in camel case.
static CAMEL_CASE: LazyLock<Regex> = LazyLock::new(|| Regex::new("([a-z0-9])([A-Z])").unwrap());

/// The words of `tests/prose/banned.txt`, as patterns with their replacements.
struct Style {
    opening: Regex,
    any_word: Regex,
    words: Vec<(Regex, String)>,
    names: Vec<(Regex, String)>,
}

impl Style {
    fn read() -> Style {
        let (mut words, mut names) = (Vec::new(), Vec::new());
        let list = fs::read_to_string(root().join("tests/prose/banned.txt")).unwrap();
        for line in list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (word, instead) = line.split_once(" | ").unwrap();
            match word.strip_prefix("name ") {
                Some(part) => names.push((Regex::new(&format!("(^|_){part}(_|$)")).unwrap(), instead.to_string())),
                None => words.push((Regex::new(&format!(r"(?i)\b{word}\b")).unwrap(), instead.to_string())),
            }
        }
        let any_word =
            words.iter().map(|(word, _)| word.as_str().trim_start_matches("(?i)")).collect::<Vec<_>>().join("|");
        let any_word = Regex::new(&format!("(?i)(?:{any_word})")).unwrap();
        let opening = Regex::new(r"(?:^|[.!?] |\*\* |[|>-] )(What|Who|Whoever|Whether|So)[ ,]").unwrap();
        Style { opening, any_word, words, names }
    }

    /// Problems of a paragraph.
    fn problems(&self, paragraph: &str) -> Vec<String> {
        let mut found = Vec::new();
        for opening in self.opening.captures_iter(paragraph) {
            found.push(format!("a sentence begins with `{}`: {paragraph}", &opening[1]));
        }
        if !self.any_word.is_match(paragraph) {
            return found;
        }
        for (word, instead) in &self.words {
            if let Some(hit) = word.find(paragraph) {
                found.push(format!("`{}` ({instead}): {paragraph}", hit.as_str()));
            }
        }
        found
    }

    /// A problem of a name: a banned part, or in a long name, which is a sentence, those of a sentence.
    fn problems_of_name(&self, name: &str) -> Option<String> {
        let parts = CAMEL_CASE.replace_all(name, "${1}_$2").to_lowercase();
        if parts.split('_').count() <= MAX_NAME_PARTS {
            return self.names.iter().find(|(word, _)| word.is_match(&parts)).map(|(_, instead)| instead.clone());
        }
        let sentence = parts.replace('_', " ");
        let (first, rest) = sentence.split_at(1);
        self.problems(&format!("{}{rest}", first.to_uppercase())).into_iter().next()
    }
}

/// The paragraphs of a source file's comments, and its texts in quotes.
fn paragraphs_of_code(source: &Source) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    let mut is_code = false;
    for (index, line) in source.text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']).trim());
        match comment {
            Some(words) if words.starts_with("```") => (is_code, is_open) = (!is_code, false),
            Some(words) if words.is_empty() || is_code => is_open = false,
            Some(words) => match found.last_mut().filter(|_| is_open && !words.starts_with(['-', '|', '#'])) {
                Some((_, paragraph)) => *paragraph = format!("{paragraph} {words}"),
                None => {
                    found.push((index + 1, words.to_string()));
                    is_open = true;
                }
            },
            None => {
                (is_open, is_code) = (false, false);
                // A text that contains a space is for people.
                let texts = QUOTED.captures_iter(line).map(|captures| captures[1].to_string());
                found.extend(texts.filter(|text| text.contains(' ')).map(|text| (index + 1, text)));
            }
        }
    }
    found
}

/// The paragraphs of a document, without its code blocks.
fn paragraphs_of_document(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let words = line.trim();
        if words.starts_with("```") {
            (is_code, is_open) = (!is_code, false);
        } else if is_code || words.is_empty() || line.starts_with("    ") && !is_open {
            is_open = false;
        } else {
            let begins = words.starts_with(['-', '|', '#', '>']);
            match found.last_mut().filter(|_| is_open && !begins) {
                Some((_, paragraph)) => *paragraph = format!("{paragraph} {words}"),
                None => found.push((index + 1, words.trim_start_matches(['#', '-', ' ']).to_string())),
            }
            is_open = true;
        }
    }
    found
}

/// A text in which each piece of code in backquotes is `x`.
fn without_code(paragraph: &str) -> String {
    CODE.replace_all(paragraph, "`x`").into_owned()
}

/// The comments of a YAML file, and its texts for people.
fn paragraphs_of_yaml(text: &str) -> Vec<(usize, String)> {
    let texts = Regex::new(r#"(?:^# |\b(?:description|help|label): )(?:"([^"]+)|([^",}]+))"#).unwrap();
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let words = texts.captures_iter(line).filter_map(|captures| captures.get(1).or(captures.get(2)));
        found.extend(words.map(|words| (index + 1, words.as_str().to_string())));
    }
    found
}

fn quotes(path: &str) -> bool {
    QUOTING.contains(&path)
}

/// Documents and declarations of resources.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | ".git" | "data" | "golden" | "fixtures" | "node_modules") {
                documents(&path, found);
            }
        } else if name.ends_with(".md") || name.ends_with(".yaml") {
            found.push(path);
        }
    }
}

#[test]
fn comments_messages_and_documents_keep_the_style() {
    let style = Style::read();
    let mut found = Vec::new();
    let mut judge = |path: &str, paragraphs: Vec<(usize, String)>| {
        for (line, paragraph) in paragraphs {
            let problems = style.problems(&without_code(&paragraph));
            found.extend(problems.into_iter().map(|problem| format!("{path}:{line}: {problem}")));
        }
    };
    for source in FOLDERS.iter().flat_map(|folder| sources(folder)).filter(|source| !quotes(&source.path)) {
        judge(&source.path, paragraphs_of_code(&source));
    }
    let mut pages = Vec::new();
    documents(root(), &mut pages);
    for page in pages {
        let path = page.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&page).unwrap();
        match path.ends_with(".yaml") {
            true => judge(&path, paragraphs_of_yaml(&text)),
            false if !quotes(&path) => judge(&path, paragraphs_of_document(&text)),
            false => {}
        }
    }
    assert!(found.is_empty(), "{} problems\n{}", found.len(), found.join("\n"));
}

#[test]
fn names_in_code_have_no_banned_word() {
    let style = Style::read();
    let mut found = Vec::new();
    for source in FOLDERS.iter().flat_map(|folder| sources(folder)) {
        for name in DEFINITION.captures_iter(&source.text).map(|captures| captures[1].to_string()) {
            found.extend(style.problems_of_name(&name).map(|problem| format!("{}: `{name}`: {problem}", source.path)));
        }
    }
    assert!(found.is_empty(), "{} names\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_planted_sentence_is_found() {
    let style = Style::read();
    for planted in [
        "What was read lately is kept.",
        "The cache is full. Whoever comes beyond waits.",
        "The index is built anew.",
        "| `x` | Whether it is there |",
    ] {
        assert!(!style.problems(planted).is_empty(), "{planted}");
    }
    assert_eq!(style.problems("The cache holds what was read. It expires whether or not it is used."), [""; 0]);
    let names = ["what_is_declared_is_used", "is_told", "Judge", "read_again"];
    assert_eq!(names.map(|name| style.problems_of_name(name).is_some()), [true; 4]);
    assert_eq!(style.problems_of_name("disabled_webhook_can_be_enabled_again"), None);
}
