//! Documents that are generated from the tables of this crate.

mod diagnostics;
mod json_schema;
mod yaml;

use std::fs;
use std::io;
use std::path::Path;

pub use diagnostics::explanation;

/// A document with its file name.
#[derive(Debug)]
pub struct Document {
    pub name: &'static str,
    pub text: String,
}

/// All documents.
pub fn documents() -> Vec<Document> {
    vec![
        Document { name: "resource.schema.json", text: json_schema::text() },
        Document { name: "yaml-reference.md", text: yaml::text() },
        Document { name: "diagnostics.md", text: diagnostics::text() },
    ]
}

/// The JSON Schema of a resource, for editors.
pub fn schema() -> String {
    json_schema::text()
}

/// Writes the changed documents and returns their names.
pub fn write(folder: &Path) -> io::Result<Vec<&'static str>> {
    let stale = stale(folder);
    fs::create_dir_all(folder)?;
    for document in documents().iter().filter(|document| stale.contains(&document.name)) {
        fs::write(folder.join(document.name), &document.text)?;
    }
    Ok(stale)
}

/// The names of the documents in a folder that are out of date.
pub fn stale(folder: &Path) -> Vec<&'static str> {
    let documents = documents();
    let changed = documents.iter().filter(|document| {
        fs::read_to_string(folder.join(document.name)).map_or(true, |present| present != document.text)
    });
    changed.map(|document| document.name).collect()
}
