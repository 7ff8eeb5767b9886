//! The documents that are made from the tables of this crate, so that they cannot differ from what it does.

mod diagnostics;
mod json_schema;
mod yaml;

use std::fs;
use std::io;
use std::path::Path;

pub use diagnostics::explanation;

/// A document and its name in the folder of documents.
#[derive(Debug)]
pub struct Document {
    pub name: &'static str,
    pub text: String,
}

/// All of them.
pub fn documents() -> Vec<Document> {
    vec![
        Document { name: "resource.schema.json", text: json_schema::text() },
        Document { name: "yaml-reference.md", text: yaml::text() },
        Document { name: "diagnostics.md", text: diagnostics::text() },
    ]
}

/// The JSON Schema by which editors complete and check a resource.
pub fn schema() -> String {
    json_schema::text()
}

/// Writes the documents that changed, and answers their names.
pub fn write(folder: &Path) -> io::Result<Vec<&'static str>> {
    let stale = stale(folder);
    fs::create_dir_all(folder)?;
    for document in documents().iter().filter(|document| stale.contains(&document.name)) {
        fs::write(folder.join(document.name), &document.text)?;
    }
    Ok(stale)
}

/// The names of the documents in a folder that are not as they would be written now.
pub fn stale(folder: &Path) -> Vec<&'static str> {
    let documents = documents();
    let changed = documents.iter().filter(|document| {
        fs::read_to_string(folder.join(document.name)).map_or(true, |present| present != document.text)
    });
    changed.map(|document| document.name).collect()
}
