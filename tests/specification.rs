//! The page that names, for every sentence of the specification, the tests that prove it: each test is there, and no
//! sentence is missing.

use std::fs;
use std::path::PathBuf;

use super::workspace::root;

/// A row of the page: a sentence, and the tests behind it.
struct Row {
    sentence: String,
    tests: Vec<String>,
    /// The page says that it does not hold yet.
    is_open: bool,
}

/// The rows of one of the two parts of the page.
fn rows(part: &str) -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/specification.md")).expect("the page is there");
    let begin = format!("<!-- {part} -->");
    let (_, rest) = page.split_once(&begin).expect("the page has this part");
    let (part, _) = rest.split_once("<!-- /").expect("the part ends");
    let mut rows = Vec::new();
    for line in part.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Sentence ")) {
        let (sentence, tests) = line.trim_matches('|').rsplit_once(" | ").expect("a row has two cells");
        let is_open = tests.trim().starts_with("Not yet: ");
        let tests = tests.split('`').skip(1).step_by(2).filter(|_| !is_open).map(String::from).collect();
        let sentence = sentence.trim().replace("\\|", "|").replace("\\<", "<");
        rows.push(Row { sentence, tests, is_open });
    }
    rows
}

/// The file of a test, by its path as the harness writes it.
fn source(module: &str) -> Option<String> {
    let (folder, module) = match module.split_once("::") {
        Some(("codegen", rest)) => ("codegen/tests", rest),
        _ => ("tests", module),
    };
    let path = format!("{folder}/{}", module.replace("::", "/"));
    let files = [format!("{path}.rs"), format!("{path}/mod.rs")];
    files.iter().find_map(|file| fs::read_to_string(root().join(file)).ok())
}

/// True if a source has a test of this name: marked with an attribute, or listed in `on_both!`.
fn has_test(source: &str, name: &str) -> bool {
    let both = source.split("on_both!(").skip(1).filter_map(|rest| rest.split_once(')'));
    let on_both = both
        .flat_map(|(names, _)| names.split(','))
        .any(|listed| listed.rsplit(':').next().unwrap_or_default().trim() == name);
    let marked = source.split("test]").skip(1).any(|rest| {
        let line = rest.lines().find(|line| line.contains("fn ")).unwrap_or_default();
        line.split("fn ").nth(1).is_some_and(|rest| rest.starts_with(&format!("{name}(")))
    });
    (on_both || marked) && source.contains(&format!("fn {name}("))
}

#[test]
fn every_test_that_the_page_names_is_there() {
    let mut wrong = Vec::new();
    for row in rows("service").into_iter().chain(rows("decisions")) {
        if row.is_open {
            eprintln!("\n*** NOT YET: {} ***\n", row.sentence);
        } else if row.tests.is_empty() {
            wrong.push(format!("no test: {}", row.sentence));
        }
        for test in row.tests {
            let (module, name) = test.rsplit_once("::").unwrap_or(("", &test));
            if !source(module).is_some_and(|source| has_test(&source, name)) {
                wrong.push(format!("no such test: {test}"));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

charter_testing::needs_specification! {
    #[test]
    fn every_sentence_of_the_specification_is_on_its_page() {
        let folders = ["../shared/spec", "../../shared/spec"].map(|folder| root().join(folder));
        let folder = folders.iter().find(|folder| folder.join("service.md").is_file()).expect("the specification is there");
        for part in ["service", "decisions"] {
            let specified = sentences(&folder.join(format!("{part}.md")));
            assert!(specified.len() > 100, "{}", specified.len());
            let page: Vec<String> = rows(part).into_iter().map(|row| row.sentence).collect();
            for (number, sentence) in specified.iter().enumerate() {
                let found = page.get(number);
                assert_eq!(found, Some(sentence), "docs/specification.md, part {part}, row {number}");
            }
            assert_eq!(page.len(), specified.len(), "the page has what {part}.md has not");
        }
    }
}

/// The sentences of a document, and the rows of its tables as sentences, in their order.
fn sentences(path: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(path).expect("the specification is text");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_rule = |line: &str| line.starts_with('|') && line.chars().all(|c| "|-: ".contains(c));
    let mut found = Vec::new();
    let mut paragraph = String::new();
    for (number, line) in lines.iter().enumerate() {
        let item = line.strip_prefix("- ").or_else(|| {
            let (digits, rest) = line.split_once(". ")?;
            (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
        });
        if line.is_empty() || line.starts_with('#') || line.starts_with('|') || item.is_some() {
            split(&std::mem::take(&mut paragraph), &mut found);
        }
        if line.starts_with('|') {
            let is_head = lines.get(number + 1).is_some_and(|next| is_rule(next));
            if !is_rule(line) && !is_head {
                let cells = line.trim_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty());
                found.push(cells.collect::<Vec<_>>().join(" · "));
            }
        } else if let Some(item) = item {
            paragraph = item.to_string();
        } else if !line.is_empty() && !line.starts_with('#') {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    split(&paragraph, &mut found);
    found
}

/// Splits a paragraph behind each full stop that a new sentence follows.
fn split(paragraph: &str, found: &mut Vec<String>) {
    let mut begin = 0;
    for (at, _) in paragraph.match_indices(['.', '!', '?']) {
        let rest = paragraph[at + 1..].strip_prefix(')').unwrap_or(&paragraph[at + 1..]);
        let Some(next) = rest.strip_prefix(' ').and_then(|next| next.chars().next()) else { continue };
        if next.is_ascii_uppercase() || "`\"*({~".contains(next) {
            let end = paragraph.len() - rest.len();
            found.push(paragraph[begin..end].trim().to_string());
            begin = end;
        }
    }
    let last = paragraph[begin..].trim();
    if !last.is_empty() {
        found.push(last.to_string());
    }
}
