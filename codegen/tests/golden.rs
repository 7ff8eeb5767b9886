//! Generated code, case by case: `golden/<case>.rs` for `golden/<case>.yaml`. `UPDATE=1` writes the differences.

mod compare;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use charter_codegen::{Output, compile};
use proc_macro2::{TokenStream, TokenTree};

const MOST_LINES: usize = 150;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn output(folder: &Path) -> Output {
    compile(folder).unwrap_or_else(|report| panic!("{}{}", report.render(), report.summary()))
}

/// Every generated file of the cases, with its name.
fn generated() -> Vec<(String, String)> {
    // The path is relative to the package, as in a build script, so that the output does not depend on its place.
    let output = output(Path::new("tests/golden"));
    output.files().iter().map(|file| (file.name.clone(), file.text())).collect()
}

/// The same for the resources of the application.
fn own() -> Vec<(String, String)> {
    let output = output(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../resources"));
    output.files().iter().map(|file| (file.name.clone(), file.text())).collect()
}

#[test]
fn each_case_gives_its_file() {
    let mut differences = Vec::new();
    for (name, text) in generated() {
        differences.extend(compare::with_file(&folder().join(format!("{name}.rs")), &text));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_file_has_a_case() {
    let cases: BTreeSet<String> = generated().into_iter().map(|(name, _)| name).collect();
    for file in compare::files_ending(&folder(), ".rs") {
        assert!(cases.contains(&file), "golden/{file}.rs has no case; remove it");
    }
}

#[test]
fn generated_code_is_rust_and_short() {
    for (name, text) in generated().into_iter().chain(own()) {
        syn::parse_file(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{name}.rs has {lines} lines");
    }
}

#[test]
fn generated_code_has_no_branches() {
    for (name, text) in generated().into_iter().chain(own()) {
        let words = words(text.parse().unwrap());
        for banned in ["if", "else", "match", "for", "while", "loop", "unsafe"] {
            assert!(!words.iter().any(|word| word == banned), "{name}.rs has `{banned}`");
        }
    }
}

#[test]
fn generated_code_names_only_exports_of_the_runtime() {
    for (name, text) in generated().into_iter().chain(own()) {
        let own: BTreeSet<String> = generated().into_iter().chain(self::own()).map(|(name, _)| name).collect();
        for (before, after) in paths(text.parse().unwrap()) {
            let allowed = match before.as_str() {
                "charter_runtime" => after == "generated",
                "generated" | "diagnostic" | "clippy" => true,
                "Route" => after == "of",
                "Schedule" => after == "every",
                "of" => after == "<",
                module => own.contains(module) && after == "route",
            };
            assert!(allowed, "{name}.rs names `{before}::{after}`");
        }
    }
}

/// Every identifier of the code, attributes included, without comments and literals.
fn words(tokens: TokenStream) -> Vec<String> {
    tokens
        .into_iter()
        .flat_map(|tree| match tree {
            TokenTree::Group(group) => words(group.stream()),
            TokenTree::Ident(ident) => vec![ident.to_string()],
            _ => Vec::new(),
        })
        .collect()
}

/// The two names around each `::`.
fn paths(tokens: TokenStream) -> Vec<(String, String)> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found: Vec<(String, String)> = trees
        .iter()
        .flat_map(|tree| match tree {
            TokenTree::Group(group) => paths(group.stream()),
            _ => Vec::new(),
        })
        .collect();
    for window in trees.windows(4) {
        if let [before, TokenTree::Punct(first), TokenTree::Punct(second), after] = window
            && (first.as_char(), second.as_char()) == (':', ':')
        {
            found.push((before.to_string(), after.to_string()));
        }
    }
    found
}
