//! Comparison of a text with its golden file; `UPDATE=1` writes the file.

use std::fs;
use std::path::Path;

/// The difference; none if the texts are equal or the file was written.
pub fn with_file(path: &Path, text: &str) -> Option<String> {
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == text {
        return None;
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, text).unwrap();
        return None;
    }
    Some(format!("{} (UPDATE=1 writes it):\n{}", path.display(), difference(&expected, text)))
}

/// The names of the files of a folder that have an ending, without it.
#[allow(dead_code)] // Not every test that compares has a folder of cases.
pub fn files_ending(folder: &Path, ending: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(ending)?.to_owned())).collect();
    names.sort();
    names
}

/// The lines between the common start and the common end, expected before found.
fn difference(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let same = expected.iter().zip(&found).take_while(|(expected, found)| expected == found).count();
    let rest = expected.len().min(found.len()) - same;
    let same_end = expected.iter().rev().zip(found.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let mut text = format!("from line {}:\n", same + 1);
    for line in &expected[same..expected.len() - same_end] {
        text.push_str(&format!("- {line}\n"));
    }
    for line in &found[same..found.len() - same_end] {
        text.push_str(&format!("+ {line}\n"));
    }
    text
}
