//! Documents agree with the code: generated tables, links, named files and quoted code. `UPDATE=1 cargo test --test docs` writes what differs.

mod book;
mod reference;
mod release;
mod specification;
mod workspace;

use std::fmt::Write;
use std::fs;

use book::documents;
use charter_runtime::config::SETTINGS;
use charter_runtime::error::CODES;
use workspace::root;

/// Compares the part of a document between `<!-- name -->` and `<!-- /name -->` with what it must be.
fn check(document: &str, name: &str, wanted: &str) {
    let path = root().join(document);
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{document} has no {begin}"));
    let (present, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{document} has no {end}"));
    let wanted = format!("\n{}\n\n", wanted.trim());
    if present == wanted {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
    } else {
        panic!("{document}: `{name}` is stale; `UPDATE=1 cargo test --test docs` writes it");
    }
}

#[test]
fn the_table_of_settings_is_that_of_the_code() {
    let mut table = String::from("| Variable | Flag | Default | Meaning |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let default = if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
        let about = setting.about;
        writeln!(table, "| `{}` | `--{}` | {default} | {about} |", setting.variable(), setting.flag).unwrap();
    }
    check("docs/operations.md", "settings", &table);
}

#[test]
fn the_table_of_error_codes_is_that_of_the_code() {
    let mut table = String::from("| Code | Status | Meaning |\n|---|---|---|\n");
    for (code, status, meaning) in CODES {
        writeln!(table, "| `{code}` | {status} | {meaning} |").unwrap();
    }
    check("docs/errors.md", "codes", &table);
}

/// Text in backquotes with a slash and a source file's extension must be an existing file, except for the files of the
/// resource that `docs/adding-a-resource.md` adds, and those that a page writes (`<!-- file: name -->`).
#[test]
fn every_file_that_is_named_is_there() {
    let ends = [".rs", ".yaml", ".md", ".toml", ".json"];
    let mut missing = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let is_path = |word: &&str| {
            // A path with a leading slash is an endpoint.
            word.contains('/')
                && !word.starts_with('/')
                && ends.iter().any(|end| word.ends_with(end))
                && !word.contains(['<', '*', ' ', '…'])
        };
        let named = text.split('`').skip(1).step_by(2).filter(is_path).filter(|path| {
            let beside = document.parent().unwrap().join(path);
            let is_written = text.contains(&format!("<!-- file: {path} -->"));
            !is_written && !path.contains("supplier") && !root().join(path).exists() && !beside.exists()
        });
        missing.extend(named.map(|path| format!("{}: {path}", document.display())));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A block of code behind `<!-- from: file -->` is a part of that file.
#[test]
fn code_that_is_quoted_is_that_of_the_file() {
    let mut changed = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for quoted in text.split("<!-- from: ").skip(1) {
            let (file, rest) = quoted.split_once(" -->").unwrap();
            let code = rest.split("```").nth(1).and_then(|block| block.split_once('\n')).map_or("", |(_, code)| code);
            let present = fs::read_to_string(root().join(file)).unwrap_or_default();
            if code.is_empty() || !present.contains(code) {
                changed.push(format!("{}: {file}", document.display()));
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// The dashboard asks only for metrics and labels that the page of operations lists.
#[test]
fn dashboard_of_grafana_names_documented_metrics() {
    let dashboard = fs::read_to_string(root().join("deploy/grafana.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    let page = fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let name =
        regex::Regex::new(r"\b(?:http_server|charter)_[a-z_]+|\bdb_client_(?:operation|connection)_[a-z_]+").unwrap();
    let labels = regex::Regex::new(r"by \(([a-z_, ]+)\)").unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() >= 10, "{panels:?}");
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
        let expression = target["expr"].as_str().unwrap();
        assert!(name.is_match(expression), "{expression}");
        for found in name.find_iter(expression).map(|found| found.as_str()) {
            let metric = ["_bucket", "_sum", "_count"].iter().find_map(|end| found.strip_suffix(end)).unwrap_or(found);
            assert!([found, metric].iter().any(|name| page.contains(&format!("`{name}`"))), "{found} in {expression}");
        }
        for list in labels.captures_iter(expression) {
            for label in list[1].split(", ").filter(|label| *label != "le") {
                assert!(page.contains(&format!("`{label}`")), "{label} in {expression}");
            }
        }
    }
}
