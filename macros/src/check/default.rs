//! Checks that a field can hold its default.

use charter_model::{FieldType, Misfit};

use crate::ast::{DefaultValue, Field};
use crate::problems::Problems;

pub fn check(field: &Field, problems: &mut Problems) {
    // A missing kind was reported.
    let (Some(kind), Some(default)) = (&field.kind, &field.default) else { return };
    match default {
        DefaultValue::Literal(word) => {
            let is_empty_json = *kind == FieldType::Json && matches!(word.text.as_str(), "[]" | "{}");
            let misfit = if is_empty_json { None } else { kind.literal("default", &word.text).err() };
            if let Some(Misfit { reason, help }) = misfit {
                // The help of the model is for YAML.
                let help = match kind {
                    kind if kind.facts().takes_now => "write `default_now`".to_owned(),
                    FieldType::Ref { .. } => "only `reference(\"user\")` has a default: `default_caller`".to_owned(),
                    FieldType::Json => "write `{}` or `[]`".to_owned(),
                    _ => help,
                };
                problems.report(word.span, format!("{reason}; {help}"));
            }
        }
        DefaultValue::Now(span) if !kind.facts().takes_now => {
            problems.report(*span, "`default_now` applies to a timestamp or a date only");
        }
        DefaultValue::Caller(span) if !matches!(kind, FieldType::Ref { .. }) => {
            problems.report(*span, "`default_caller` applies to a `reference(\"user\")` only");
        }
        // The start checks an expression, because it may name fields of other resources.
        DefaultValue::Now(_) | DefaultValue::Caller(_) | DefaultValue::Hook(_) | DefaultValue::Expression(_) => {}
    }
}
