//! Pages as a book: each is in `docs/SUMMARY.md`, and every link leads to a file and to a heading of it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// Folders of the book, below `docs/`.
const FOLDERS: [&str; 4] = ["docs", "docs/decisions", "docs/guides", "docs/performance"];

/// Documents outside of the book.
const OUTSIDE: [&str; 9] = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "examples/helpdesk/README.md",
    "examples/lending/README.md",
    ".github/pull_request_template.md",
    ".github/ISSUE_TEMPLATE/bug.md",
    ".github/ISSUE_TEMPLATE/feature.md",
];

/// Most clicks from the introduction to a page that answers a question of a newcomer.
const MAX_CLICKS: usize = 2;

/// The documents that people write.
pub fn documents() -> Vec<PathBuf> {
    let outside = OUTSIDE.iter().map(|path| root().join(path));
    outside.chain(FOLDERS.iter().flat_map(|folder| pages(folder))).collect()
}

/// Documents in a folder, without the folders below it.
fn pages(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// Targets of the links in a text, without those in code.
fn links(text: &str) -> Vec<String> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            found.extend(targets.map(String::from));
        }
    }
    found
}

/// Anchors of the headings of a page, as mdBook and GitHub make them: letters, digits, `_` and `-` in lower case, spaces as
/// `-`, and a number for a heading that has the same anchor as one before it.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut found, mut counts, mut is_code) = (BTreeSet::new(), HashMap::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        // A link in a heading counts with its text alone.
        let text = heading.trim().split("](").enumerate().map(|(index, part)| match index {
            0 => part,
            _ => part.split_once(')').map_or("", |(_, rest)| rest),
        });
        let text = text.collect::<String>();
        let signs = text.chars().filter_map(|sign| match sign {
            _ if sign.is_alphanumeric() || sign == '_' || sign == '-' => Some(sign.to_ascii_lowercase()),
            _ if sign.is_whitespace() => Some('-'),
            _ => None,
        });
        let anchor: String = signs.collect();
        let count = counts.entry(anchor.clone()).and_modify(|count| *count += 1).or_insert(0);
        found.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
    }
    found
}

#[test]
fn every_link_leads_to_a_file_and_to_a_heading() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            let (file, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            if link.contains("://") || link.contains(' ') {
                continue;
            }
            let target = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let is_page = target.extension().is_some_and(|end| end == "md");
            let has_anchor = anchor.is_none_or(|anchor| {
                is_page && fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor))
            });
            if !target.exists() || !has_anchor {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_once() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let mut listed = links(&summary);
    listed.sort();
    let mut present: Vec<String> = FOLDERS
        .iter()
        .flat_map(|folder| pages(folder))
        .map(|page| page.strip_prefix(root().join("docs")).unwrap().display().to_string())
        .filter(|page| page != "SUMMARY.md")
        .collect();
    present.sort();
    let missing: Vec<_> = present.iter().filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
    assert_eq!(listed, present, "docs/SUMMARY.md lists each page once, and no other file");
}

/// The first page of the book asks ten questions, each with a link to its answer.
#[test]
fn ten_questions_are_answered_within_two_clicks() {
    let introduction = root().join("docs/introduction.md");
    let text = fs::read_to_string(&introduction).unwrap();
    let questions: Vec<&str> = text.lines().filter(|line| line.starts_with("| ") && line.contains("? |")).collect();
    assert_eq!(questions.len(), 10, "{questions:?}");
    for question in questions {
        assert!(!links(question).is_empty(), "no answer: {question}");
    }
    // All guides and references are near, so that an answer that needs two pages is found too.
    let near = reached(&introduction, MAX_CLICKS);
    for page in pages("docs/guides") {
        assert!(near.contains(&page), "{} is more than {MAX_CLICKS} clicks from the introduction", page.display());
    }
}

/// Pages that a reader reaches from a page by at most this number of links in the text.
fn reached(page: &Path, clicks: usize) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::from([page.to_path_buf()]);
    for _ in 0..clicks {
        let targets = found.iter().flat_map(|page| {
            let text = fs::read_to_string(page).unwrap_or_default();
            let files = links(&text).into_iter().filter(|link| !link.contains("://"));
            let files = files.map(|link| link.split('#').next().unwrap_or_default().to_string());
            files.filter(|file| file.ends_with(".md")).map(|file| page.parent().unwrap().join(file)).collect::<Vec<_>>()
        });
        let targets: Vec<PathBuf> = targets.filter_map(|path| path.canonicalize().ok()).collect();
        found.extend(targets);
    }
    found
}

#[test]
fn anchors_are_those_of_mdbook() {
    let text = "# One `two_x` & three\n## Where do I add …?\n```sh\n# comment\n```\n### One `two_x` & three\n#### [Link](a.md)\n";
    let wanted = ["link", "one-two_x--three", "one-two_x--three-1", "where-do-i-add-"];
    assert_eq!(anchors(text), wanted.map(String::from).into());
}
