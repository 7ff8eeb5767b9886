//! `sequence` of a field: its format, its type, and the keys that contradict it.

use charter_model::FieldOption;
use charter_model::sequence::SequenceFormat;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Kind, Resource, Schema, Type};
use crate::source::Span;

/// A year and month for the length of a number.
const SOME_MONTH: (i32, u32) = (2000, 1);

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    for field in &resource.fields {
        check_field(resource, field, problems);
    }
}

fn check_field(resource: &Resource, field: &Field, problems: &mut Problems) {
    let name = &field.declared;
    let mut refuse = |span: Span, message: String, label: &str, help: &str| {
        problems.push(Diagnostic::new(Code::BadSequence, span, message, label).help(help));
    };
    let Some(sequence) = field.described.get(FieldOption::Sequence) else {
        if let Some(numbering) = field.described.get(FieldOption::Numbering) {
            let message = format!("`{name}` has no `sequence`, to which `numbering` belongs");
            refuse(numbering.span, message, "without `sequence`", "add `sequence: \"{0000}\"`, or remove `numbering`");
        }
        return;
    };
    let max = match &field.kind {
        Kind::Known(Type::String { max }) => *max as usize,
        Kind::Unknown => return,
        other => {
            let message = format!("`{name}` is {}, and only a `string` takes a `sequence`", other.described());
            return refuse(sequence.span, message, "not a `string`", "use `type: string(40)`");
        }
    };
    if resource.singleton {
        let message = format!("`{name}` belongs to a singleton, whose one record has no number");
        return refuse(sequence.span, message, "one record", "remove `sequence`");
    }
    for (place, key) in [(field.places.required, "required"), (field.places.default, "default")] {
        if let Some(place) = place {
            let message =
                format!("`{name}` has a `sequence`, so that the server gives the value that a client leaves out");
            refuse(place, message, "contradicts", &format!("remove `{key}`"));
        }
    }
    match SequenceFormat::read(sequence.as_str()) {
        Err(problem) => {
            let message = format!("`{}` is not a format of numbers: {problem}", sequence.value);
            refuse(sequence.span, message, "not a format", "for example `TCK-{year}-{0000}`");
        }
        Ok(format) => {
            let length = format.frame(SOME_MONTH.0, SOME_MONTH.1).text(1).chars().count();
            if length > max {
                let message = format!("a number has {length} characters, and `{name}` has at most {max}");
                refuse(sequence.span, message, "too long", &format!("use at least `string({length})`"));
            }
        }
    }
}
