//! Text of diagnostics: a headline with the code, the place, the source with markers, and help.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use charter_model::invisible::escape_lines;

use super::Diagnostic;
use crate::source::{Sources, Span};

/// All problems, each followed by an empty line.
pub fn render(sources: &Sources, problems: &[Diagnostic]) -> String {
    let renderer = Renderer::plain();
    let mut text = String::new();
    for problem in problems {
        text.push_str(&renderer.render(&[group(sources, problem)]));
        text.push_str("\n\n");
    }
    // Characters of the YAML that a terminal would obey.
    escape_lines(&text).into_owned()
}

fn group<'a>(sources: &'a Sources, problem: &'a Diagnostic) -> Group<'a> {
    let level = if problem.code.is_warning() { Level::WARNING } else { Level::ERROR };
    let title = level.primary_title(problem.message.as_str()).id(problem.code.as_str());
    let file = sources.file(problem.span.file);
    let mut group = if file.text.is_empty() {
        title.element(Origin::path(file.path.as_str()))
    } else {
        let beside = problem.related.iter().filter(|(span, _)| span.file == problem.span.file);
        title.element(
            snippet(sources, problem.span)
                .annotation(AnnotationKind::Primary.span(problem.span.range()).label(problem.label.as_str()))
                .annotations(
                    beside.map(|(span, label)| AnnotationKind::Context.span(span.range()).label(label.as_str())),
                ),
        )
    };
    for (span, label) in problem.related.iter().filter(|(span, _)| span.file != problem.span.file) {
        let mark = AnnotationKind::Context.span(span.range()).label(label.as_str());
        group = group.element(snippet(sources, *span).annotation(mark));
    }
    match &problem.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

fn snippet<'a, T: Clone>(sources: &'a Sources, span: Span) -> Snippet<'a, T> {
    let file = sources.file(span.file);
    Snippet::source(file.text.as_str()).path(file.path.as_str())
}
