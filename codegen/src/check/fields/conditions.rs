//! Conditions over the fields of a record: their words, names and types.

use charter_model::expression::{self, Mistake, Scope, Type};

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Kind, Name};
use crate::source::Span;

/// The fields that a condition may name.
struct Fields<'a>(&'a [Field]);

impl Scope for Fields<'_> {
    fn field(&self, name: &str) -> Option<Type> {
        let field = self.0.iter().find(|field| field.name.value == name && field.is_column())?;
        match &field.kind {
            Kind::Known(kind) => Type::of(kind),
            Kind::Unknown => None,
        }
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().filter(|field| field.is_column()).map(|field| field.name.value.clone()).collect()
    }
}

/// Checks the condition of `required_when`.
pub fn required_when(field: &Field, condition: &Name, fields: &[Field], problems: &mut Problems) {
    if !field.nullable && !field.kind.is_unknown() {
        let message = format!("`{}` always has a value, so that `required_when` never applies", field.declared);
        let problem = Diagnostic::new(Code::BadCondition, condition.span, message, "never applies");
        problems.push(problem.help("add `nullable: true`, or use `required: true` instead"));
        return;
    }
    // The type of such a field is reported already.
    if fields.iter().any(|other| other.kind.is_unknown() && condition.value.contains(other.name.as_str())) {
        return;
    }
    if let Err(mistake) = expression::check(&condition.value, &Fields(fields)) {
        problems.push(diagnostic(condition, &mistake));
    }
}

fn diagnostic(condition: &Name, mistake: &Mistake) -> Diagnostic {
    let problem = Diagnostic::new(Code::BadCondition, place(condition, mistake), &mistake.message, "here");
    let written = condition.value.get(mistake.span.clone()).unwrap_or_default();
    match &mistake.help {
        Some(help) => problem.help(help),
        None => problem.did_you_mean(written, mistake.known.iter().map(String::as_str)),
    }
}

/// The place of a mistake in the file. In a text with escapes or line breaks it is the whole text.
fn place(condition: &Name, mistake: &Mistake) -> Span {
    let Span { file, start, end } = condition.span;
    let quote = match (end - start).checked_sub(condition.value.len()) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return condition.span,
    };
    // The end of the text has no character of its own.
    let last = condition.value.len().saturating_sub(1);
    let from = mistake.span.start.min(last);
    Span { file, start: start + quote + from, end: start + quote + mistake.span.end.max(from + 1) }
}
