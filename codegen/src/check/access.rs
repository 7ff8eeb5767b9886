//! Access checks: the permissions of a resource and the owner of its records.

use charter_model::naming;

use super::queries::named;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Name, Resource, Schema};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    let permissions = [&resource.read_permission, &resource.write_permission].into_iter().flatten();
    // An inherited permission is reported at the parent.
    for permission in permissions.filter(|permission| permission.span.file == resource.name.span.file) {
        well_formed(permission, problems);
    }
    let Some(owner) = &resource.owner else { return };
    let Some(field) = named(resource, owner, "`owner`", problems) else { return };
    let refers_to_user = field.kind.target().is_some_and(|target| target.value == "user");
    if !refers_to_user && !field.kind.is_unknown() {
        let message = format!("`{}` is {}, not a reference to a user", owner.value, field.kind.described());
        let problem = Diagnostic::new(Code::OwnerMisfit, owner.span, message, "not a `ref(user)`")
            .help(format!("declare it: `{}: {{ type: ref(user), default: caller }}`", owner.value));
        problems.push(problem);
    }
}

/// A permission is two or more snake_case names joined by points: `settings.manage`.
fn well_formed(permission: &Name, problems: &mut Problems) {
    let parts: Vec<&str> = permission.value.split('.').collect();
    if parts.len() < 2 || !parts.iter().all(|part| naming::is_snake_case(part)) {
        let message = format!("`{}` is not the name of a permission", permission.value);
        let problem = Diagnostic::new(Code::BadPermission, permission.span, message, "not a permission")
            .help("a permission has an area and an activity: `settings.manage`");
        problems.push(problem);
    }
}
