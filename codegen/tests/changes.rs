//! Effects of changes: `changes/cases.out` for `changes/cases.txt`. `UPDATE=1` writes the differences.
//!
//! A case is a headline with the effect, `breaking` or `safe` for clients and `data` if it is dangerous for data, then the
//! lines to remove from `changes/base.yaml` and the lines to add in their place. Of equal lines, the next one is meant.

mod compare;

use std::fs;
use std::path::{Path, PathBuf};

use charter_codegen::migration::Plan;
use charter_codegen::schema_diff::{Diff, Effect};
use charter_codegen::snapshot::{Resource, Snapshot};
use charter_codegen::{Sources, snapshot};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/changes")
}

fn base() -> String {
    fs::read_to_string(folder().join("base.yaml")).unwrap()
}

fn taken(yaml: &str) -> Snapshot {
    snapshot(Sources::from_example(yaml)).unwrap_or_else(|report| panic!("{}\n{yaml}", report.render()))
}

struct Case {
    expected: String,
    name: String,
    yaml: String,
}

/// Every case with the YAML after its edits.
fn cases() -> Vec<Case> {
    let text = fs::read_to_string(folder().join("cases.txt")).unwrap();
    let cases = text.split("=== ").skip(1).map(|case| {
        let (headline, edits) = case.split_once('\n').unwrap();
        let (expected, name) = headline.split_once(" | ").unwrap();
        Case { expected: expected.to_owned(), name: name.to_owned(), yaml: edited(edits) }
    });
    cases.collect()
}

/// The base without the removed lines, and with the added lines in place of the last one, indented alike.
fn edited(edits: &str) -> String {
    let mut lines: Vec<String> = base().lines().map(str::to_owned).collect();
    let mut at = if edits.starts_with('+') { lines.len() } else { 0 };
    let mut indent = String::new();
    for edit in edits.lines() {
        if let Some(wanted) = edit.strip_prefix("- ") {
            let is_it = |line: &String| line.trim() == wanted.trim();
            let behind = lines.iter().skip(at).position(is_it).map(|found| at + found);
            let found = behind.or_else(|| lines.iter().position(is_it));
            at = found.unwrap_or_else(|| panic!("the base has no line `{wanted}`"));
            let line = lines.remove(at);
            indent = line[..line.len() - line.trim_start().len()].to_owned();
        } else {
            let new = edit.strip_prefix("+ ").unwrap_or_else(|| panic!("`{edit}` is no edit"));
            lines.insert(at, format!("{indent}{new}"));
            at += 1;
        }
    }
    lines.join("\n")
}

/// The changes of a difference, in the form of the headlines.
fn found(diff: &Diff) -> String {
    let clients = match diff.effect() {
        None => "none",
        Some(Effect::Breaking) => "breaking",
        Some(_) => "safe",
    };
    if diff.is_dangerous() { format!("{clients}, data") } else { clients.to_owned() }
}

#[test]
fn every_change_has_the_expected_effect() {
    let before = taken(&base());
    let mut wrong = Vec::new();
    let mut text = String::new();
    for case in cases() {
        let diff = Diff::between(&before, &taken(&case.yaml), "2026-06-01");
        if found(&diff) != case.expected {
            wrong.push(format!("{}: {} instead of {}\n{}", case.name, found(&diff), case.expected, diff.render()));
        }
        text.push_str(&format!("=== {}\n{}", case.name, diff.render()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases().len() >= 60);
    let difference = compare::with_file(&folder().join("cases.out"), &text);
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
}

#[test]
fn changes_of_an_open_door_have_their_effects() {
    let yaml = |public: &str| {
        let fields = "fields:\n  text: { type: text, required: true }\n  note: { type: text, nullable: true }\n";
        taken(&format!("# resources/memo.yaml\nresource: memo\n{public}{fields}"))
    };
    let change = |before: &str, after: &str| Diff::between(&yaml(before), &yaml(after), "2026-06-01").to_json();
    let (closed, open) = ("", "public: { create: [text], limit: 5/day }\n");
    let wide = "public: { create: [text, note], limit: 5/day }\n";
    for (before, after, effect, message) in [
        (closed, open, "safe", "anybody may create records with `text`, 5/day"),
        (open, closed, "breaking", "nobody without a token creates records any more"),
        (open, wide, "safe", "anybody may send `note`"),
        (wide, open, "breaking", "nobody without a token may send `note`"),
        (open, "public: { create: [text] }\n", "safe", "the limit was 5/day and is 20/hour"),
    ] {
        let json = change(before, after);
        let found = &json["changes"][0];
        let expected = (&"public".into(), &effect.into(), &message.into());
        assert_eq!((&found["at"], &found["clients"], &found["message"]), expected, "{json}");
    }
    assert_eq!(change(open, open)["changes"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_snapshot_is_read_back_unchanged() {
    for case in cases() {
        let now = taken(&case.yaml);
        let read = |(name, resource): (&String, &Resource)| {
            (name.clone(), Resource::read(name, &resource.text()).unwrap_or_else(|problem| panic!("{problem}")))
        };
        let read = Snapshot { resources: now.resources.iter().map(read).collect() };
        assert_eq!(read, now.kept(), "{}", case.name);
        assert!(Plan::between(&read, &now).is_empty(), "{}", case.name);
    }
}

#[test]
fn a_snapshot_rewrites_only_changed_files() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snapshot");
    let _ = fs::remove_dir_all(&folder);
    assert_eq!(Snapshot::read(&folder), Ok(Snapshot::default()));
    let mut snapshot = taken(&base());
    assert_eq!(snapshot.write(&folder).unwrap(), ["group.yaml", "leaf.yaml", "part.yaml", "place.yaml", "thing.yaml"]);
    assert_eq!(snapshot.write(&folder).unwrap(), Vec::<String>::new());
    assert_eq!(Snapshot::read(&folder), Ok(snapshot.kept()));
    // A file that is not a snapshot stays.
    fs::write(folder.join("mine.yaml"), "mine: true\n").unwrap();
    assert!(Snapshot::read(&folder).unwrap_err().contains("mine.yaml"));
    snapshot.resources.remove("place");
    assert_eq!(snapshot.write(&folder).unwrap(), ["place.yaml"]);
    assert!(folder.join("mine.yaml").exists() && !folder.join("place.yaml").exists());
}

#[test]
fn json_has_every_change_with_its_effect() {
    let yaml = base().replace("  note:     { type: text, nullable: true }\n", "");
    let json = Diff::between(&taken(&base()), &taken(&yaml), "2026-06-01").to_json();
    assert_eq!((&json["version"], &json["dangerous"]), (&"major".into(), &true.into()));
    let change = &json["changes"][0];
    assert_eq!((&change["resource"], &change["at"]), (&"thing".into(), &"fields.note".into()));
    assert_eq!((&change["clients"], &change["data"]), (&"breaking".into(), &"its values are lost".into()));
}
