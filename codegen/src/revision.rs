//! Resources of a git revision, read without touching the working tree.

use std::path::Path;
use std::process::Command;

use crate::source::{Sources, is_hidden};

impl Sources {
    /// The files of a folder at a revision; none if the folder did not exist.
    ///
    /// # Errors
    /// The message of git: there is no repository, or no such revision.
    pub fn at_revision(folder: &Path, revision: &str) -> Result<Sources, String> {
        // The revision first, because git would report an unknown one as an unknown path.
        git(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
            .map_err(|problem| match problem.is_empty() {
                true => format!("unknown revision `{revision}`"),
                false => problem,
            })?;
        let prefix = git(folder, &["rev-parse", "--show-prefix"])?;
        let tree = format!("{revision}:{}", prefix.trim_end());
        // Fails if the folder did not exist.
        let names = git(folder, &["ls-tree", "--name-only", "--full-tree", "-z", &tree]).unwrap_or_default();
        let shown = folder.to_string_lossy();
        let mut texts = Vec::new();
        let names = names.split('\0').filter(|name| name.ends_with(".yaml") || name.ends_with(".yml"));
        for name in names.filter(|name| !is_hidden(name)) {
            texts.push((format!("{shown}/{name}"), git(folder, &["show", &format!("{revision}:./{name}")])?));
        }
        Ok(Sources::from_texts(texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))))
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
    let output = output.map_err(|problem| format!("git cannot be run: {problem}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
