//! Defaults: whether a field can hold its own.

use charter_model::{FieldType, Misfit};

use crate::ast::{Field, Fill};
use crate::problems::Problems;

pub fn check(field: &Field, problems: &mut Problems) {
    // A misuse of the kind was reported.
    let (Some(kind), Some(fill)) = (&field.kind, &field.default) else { return };
    match fill {
        Fill::Literal(word) => {
            let is_empty_json = *kind == FieldType::Json && matches!(word.text.as_str(), "[]" | "{}");
            let misfit = if is_empty_json { None } else { kind.literal("default", &word.text).err() };
            if let Some(Misfit { reason, help }) = misfit {
                problems.report(word.span, format!("{reason}; {help}"));
            }
        }
        Fill::Now(span) if !kind.facts().takes_now => {
            problems.report(*span, "`default_now` is for a timestamp or a date");
        }
        Fill::Caller(span) if !matches!(kind, FieldType::Ref { .. }) => {
            problems.report(*span, "`default_caller` is for a field that says `reference(\"user\")`");
        }
        Fill::Now(_) | Fill::Caller(_) => {}
    }
}
