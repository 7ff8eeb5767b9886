//! Diagnostics: problems found in resources, each with a place, a code and help.

mod catalog;
mod code;
mod render;

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub use catalog::{Entry, entry};
pub use code::Code;

use charter_model::invisible::escape_line;

use crate::source::{Sources, Span};

/// One problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub code: Code,
    pub span: Span,
    /// The headline: a sentence without its full stop.
    pub message: String,
    /// A few words next to the marker under the source.
    pub label: String,
    pub help: Option<String>,
    /// Other places that belong to the problem.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    pub fn new(code: Code, span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { code, span, message: message.into(), label: label.into(), help: None, related: Vec::new() }
    }

    /// Adds what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds another place.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Adds the known word nearest to the written one, or all known words if they are few.
    pub fn did_you_mean<'a>(self, written: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        match suggestion(written, known) {
            Some(help) => self.help(help),
            None => self,
        }
    }
}

/// The most words in a help line.
const MAX_SUGGESTIONS: usize = 20;

/// The known word nearest to the written one, if it is near enough.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase();
    let distances = known.into_iter().map(|word| (strsim::damerau_levenshtein(&lower, word), word));
    let near = distances.filter(|(distance, word)| {
        let (length, other) = (word.chars().count(), lower.chars().count());
        // A distance of half a word is another word: `put` is not `post` with two mistakes. And one letter is near
        // every other.
        *distance <= 1 + length.max(other) / 4
            && (*distance <= 1 || *distance * 2 <= length.min(other))
            && *distance < length.max(other)
    });
    // Most mistakes come after the first letter.
    near.min_by_key(|(distance, word)| (*distance, word.chars().next() != lower.chars().next())).map(|(_, word)| word)
}

fn suggestion<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut known: Vec<&str> = known.into_iter().collect();
    let mut listed = BTreeSet::new();
    known.retain(|word| listed.insert(*word));
    match nearest(written, known.iter().copied()) {
        Some(word) => Some(format!("did you mean `{word}`?")),
        None if known.is_empty() || known.len() > MAX_SUGGESTIONS => None,
        None => Some(format!("known: {}", known.join(", "))),
    }
}

/// The list to which every pass adds.
#[derive(Debug, Default)]
pub struct Problems {
    found: Vec<Diagnostic>,
}

impl Problems {
    pub fn push(&mut self, problem: Diagnostic) {
        self.found.push(problem);
    }

    /// True if there are only warnings.
    pub fn are_warnings(&self) -> bool {
        self.found.iter().all(|problem| problem.code.is_warning())
    }

    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// All problems in the order in which they were found.
    pub fn into_all(self) -> Vec<Diagnostic> {
        self.found
    }

    /// All problems in the order of files and lines.
    pub fn into_report(mut self, sources: Sources) -> Report {
        self.found.sort_by_key(|problem| (problem.span.file, problem.span.start, problem.code));
        self.found.dedup();
        Report { sources, problems: self.found }
    }
}

/// All problems of a folder of resources.
#[derive(Debug)]
pub struct Report {
    sources: Sources,
    problems: Vec<Diagnostic>,
}

impl Report {
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// `resources/product.yaml:14:7`, the start of a problem.
    pub fn locate(&self, problem: &Diagnostic) -> String {
        self.place(problem.span)
    }

    /// The same for any place in the files.
    pub(crate) fn place(&self, span: Span) -> String {
        self.sources.locate(span)
    }

    /// The reports for people, each with its source.
    pub fn render(&self) -> String {
        render::render(&self.sources, &self.problems)
    }

    /// `3 problems in 2 of 7 files`, or warnings. There are never both, because warnings are only searched in valid
    /// resources.
    pub fn summary(&self) -> String {
        let mut files: Vec<_> = self.problems.iter().map(|problem| problem.span.file).collect();
        files.dedup();
        let problems = self.problems.len();
        let warnings = !self.problems.is_empty() && self.problems.iter().all(|problem| problem.code.is_warning());
        let what = if warnings { "warning" } else { "problem" };
        let plural = if problems == 1 { "" } else { "s" };
        format!("{problems} {what}{plural} in {} of {} files", files.len(), self.sources.count())
    }

    /// One line for each problem: `resources/product.yaml:14:7: <message> (C0508)`.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let line = |problem: &Diagnostic| format!("{}: {} ({})", self.locate(problem), problem.message, problem.code);
        self.problems.iter().map(move |problem| escape_line(&line(problem)).into_owned())
    }

    /// The problems for programs.
    pub fn to_json(&self) -> Value {
        let place = |span: Span| {
            let file = self.sources.file(span.file);
            let (line, column) = file.position(span.start);
            let (end_line, end_column) = file.position(span.end);
            json!({ "file": file.path, "line": line, "column": column, "end_line": end_line, "end_column": end_column })
        };
        self.problems
            .iter()
            .map(|problem| {
                let mut object = place(problem.span);
                object["code"] = problem.code.as_str().into();
                object["severity"] = problem.code.severity().into();
                object["message"] = problem.message.clone().into();
                object["label"] = problem.label.clone().into();
                object["help"] = problem.help.clone().into();
                object["related"] = problem
                    .related
                    .iter()
                    .map(|(span, label)| {
                        let mut object = place(*span);
                        object["label"] = label.clone().into();
                        object
                    })
                    .collect();
                object
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn the_nearest_word_wins() {
        assert_eq!(suggestion("nulable", ["nullable", "unique"]).unwrap(), "did you mean `nullable`?");
        assert_eq!(suggestion("Strng", ["string", "text"]).unwrap(), "did you mean `string`?");
    }

    #[test]
    fn a_far_word_gets_the_list() {
        assert_eq!(suggestion("colour", ["seconds", "millis"]).unwrap(), "known: seconds, millis");
        assert_eq!(suggestion("colour", []), None);
    }
}
