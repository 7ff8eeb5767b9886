//! Examples: whether each is a value that a client could send.

use charter_model::{FieldOption, Misfit};

use super::defaults::own_rules;
use crate::check::scopes;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for scope in scopes(resource) {
        for field in scope.fields {
            let Some(example) = field.described.get(FieldOption::Example) else { continue };
            let kind = schema.value_kind(resource, field);
            if let Err(Misfit { reason, help }) = kind.value(example.as_str()) {
                let message = format!("the example does not fit `{}`: {reason}", field.declared);
                let label = format!("not {}", kind.described());
                problems.push(Diagnostic::new(Code::DefaultMisfit, example.span, message, label).help(help));
            } else {
                own_rules(field, "example", example.as_str(), example.span, problems);
            }
        }
    }
}
