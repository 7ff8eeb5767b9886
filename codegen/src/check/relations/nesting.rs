//! Nested resources: whether the parent exists and has a path.

use super::references::known;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let Some(under) = &resource.under else { return };
    if !known(schema, &under.resource, problems) {
        return;
    }
    let Some(parent) = schema.find(under.resource.as_str()) else { return };
    let (message, label) = if parent.is_platform() {
        (format!("`{}` is a platform resource and cannot be a parent", parent.name.value), "not a declared resource")
    } else if parent.singleton {
        (format!("`{}` is a singleton and cannot be a parent", parent.name.value), "has no ids")
    } else if let Some(circle) = circle(schema, resource) {
        (format!("`{}` is its own ancestor: {circle}", resource.name.value), "closes a cycle")
    } else if let Some(above) = &parent.under {
        let message = format!("`{}` is under `{}` and cannot be a parent", parent.name.value, above.resource.value);
        (message, "nested too deep")
    } else {
        return;
    };
    let problem = Diagnostic::new(Code::Nesting, under.resource.span, message, label)
        .help("remove `under`; a `ref` field keeps the reference without the path");
    problems.push(problem);
}

/// `a under b under a`, if following the parents leads back to the resource.
fn circle(schema: &Schema, resource: &Resource) -> Option<String> {
    let mut path = vec![resource.name.as_str()];
    let mut at = resource;
    while let Some(parent) = at.under.as_ref().and_then(|under| schema.find(under.resource.as_str())) {
        path.push(parent.name.as_str());
        if std::ptr::eq(parent, resource) {
            return Some(path.join(" under "));
        }
        // A cycle that this resource only leads into is reported at its members.
        if path.len() > schema.resources.len() {
            return None;
        }
        at = parent;
    }
    None
}
