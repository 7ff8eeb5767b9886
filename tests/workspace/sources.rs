//! The source files of a folder, and their code without comments and tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::imports;

#[derive(Debug)]
pub struct Source {
    /// From the workspace's folder: `runtime/src/query/parse.rs`.
    pub path: String,
    pub text: String,
}

/// The Rust files below a folder of the workspace, in the order of their paths. Build output and
/// the cases of compile-fail tests are excluded.
pub fn sources(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&super::root().join(folder), &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | ".git" | "data" | "golden" | "ui") {
                collect(&path, found);
            }
        } else if name.ends_with(".rs") {
            let below = path.strip_prefix(super::root()).expect("it stands in the workspace");
            let text = fs::read_to_string(&path).expect("a source file is text");
            found.push(Source { path: below.display().to_string(), text });
        }
    }
}

impl Source {
    /// The code without comments, and without the tests at its end.
    pub fn code(&self) -> String {
        let code = self.text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().map(|line| match line.find("//") {
            // A `//` after a colon is in a URL.
            Some(at) if !line[..at].ends_with(':') => &line[..at],
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Every path in the code that begins with a crate: `crate::meta::Kind`.
    pub fn names(&self) -> BTreeSet<String> {
        let inner = self.path.split_once("src/").map_or("", |(_, inner)| inner).trim_end_matches(".rs");
        let mut module: Vec<&str> = inner.split('/').collect();
        if module.last().is_some_and(|last| matches!(*last, "mod" | "lib" | "main")) {
            module.pop();
        }
        imports::names(&self.code(), &module)
    }

    /// True if the code names this path or something below it.
    pub fn uses(&self, path: &str) -> bool {
        self.names().iter().any(|name| name == path || name.starts_with(&format!("{path}::")))
    }

    /// The words of the code: names, and words in string literals.
    pub fn words(&self) -> BTreeSet<String> {
        words(&self.code())
    }

    /// The words of the code outside of string literals. The code must not have escaped quotes or raw strings.
    pub fn words_outside_texts(&self) -> BTreeSet<String> {
        self.code().split('"').step_by(2).flat_map(words).collect()
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(String::from).collect()
}
