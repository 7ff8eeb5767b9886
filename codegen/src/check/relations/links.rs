//! Links: whether the records at both ends have ids and are written alone.

use super::references::known;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Resource, Schema};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for field in &resource.fields {
        let Some((target, _)) = field.kind.links() else { continue };
        if !known(schema, target, problems) {
            continue;
        }
        let ends = [(schema.find(target.as_str()), target.span, "cannot be linked")];
        for (end, span, label) in ends.into_iter().chain([(Some(resource), field.name.span, "cannot have links")]) {
            if let Some((message, help)) = end.and_then(|end| refusal(schema, end)) {
                problems.push(Diagnostic::new(Code::LinkTarget, span, message, label).help(help));
            }
        }
    }
}

/// The reason why records of a resource cannot be an end of links, with the correction.
fn refusal(schema: &Schema, resource: &Resource) -> Option<(String, String)> {
    let name = resource.name.as_str();
    if resource.singleton {
        let message = format!("`{name}` is a singleton, which has no ids to link");
        return Some((message, "link records of another resource".to_owned()));
    }
    let holder = schema.declared().find(|other| {
        let holds = |field: &Field| field.kind.dependents().is_some_and(|(held, _)| held.value == name);
        other.fields.iter().any(holds)
    });
    holder.map(|holder| {
        let message = format!("the records of `{name}` are written with those of `{}`", holder.name.value);
        (message, format!("put the links into `{}`, or give `{name}` routes of its own", holder.name.value))
    })
}
