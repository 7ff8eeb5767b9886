//! `jobs` as written.

use super::keys;
use super::mapping::Mapping;
use super::tree::Entry;
use crate::source::Spanned;

type Name = Spanned<String>;

/// A background job.
#[derive(Debug, Clone)]
pub struct JobSyntax {
    pub name: Name,
    pub every: Name,
    pub attempts: Option<Spanned<u32>>,
    pub timeout: Option<Name>,
    pub external: Option<Spanned<bool>>,
}

/// Reads the value of `jobs`.
pub fn jobs(outer: &mut Mapping<'_, '_>) -> Vec<JobSyntax> {
    outer.entries("jobs").iter().filter_map(|entry| job(entry, outer)).collect()
}

fn job(entry: &Entry, outer: &mut Mapping<'_, '_>) -> Option<JobSyntax> {
    let mut mapping = Mapping::open(&keys::JOB, &entry.value, outer.problems);
    mapping.span = entry.key.span;
    mapping.require("every");
    let every = mapping.text("every");
    let (attempts, timeout) = (mapping.count("attempts"), mapping.text("timeout"));
    let external = mapping.flag("external");
    mapping.close();
    Some(JobSyntax { name: entry.key.clone(), every: every?, attempts, timeout, external })
}
