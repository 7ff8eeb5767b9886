//! Access checks: the permissions of a resource and of its fields, and the owner of its records.

use charter_model::{FieldOption, naming};

use super::fields::conditions::{Names, condition};
use super::fields::defaults::refers_to_user;
use super::queries::named;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Name, Resource, Schema};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let permissions = [&resource.read_permission, &resource.write_permission].into_iter().flatten();
    // An inherited permission is reported at the parent.
    for permission in permissions.filter(|permission| permission.span.file == resource.name.span.file) {
        well_formed(permission, problems);
    }
    field_rights(schema, resource, problems);
    row_rules(schema, resource, problems);
    let Some(owner) = &resource.owner else { return };
    let Some(field) = named(resource, owner, "`owner`", problems) else { return };
    if !refers_to_user(&field.kind) {
        let message = format!("`{}` is {}, not a reference to a user", owner.value, field.kind.described());
        let problem = Diagnostic::new(Code::OwnerMisfit, owner.span, message, "not a `ref(user)`")
            .help(format!("declare it: `{}: {{ type: ref(user), default: caller }}`", owner.value));
        problems.push(problem);
    }
}

/// Checks the conditions of `access`.
fn row_rules(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for rule in [&resource.read_rule, &resource.write_rule].into_iter().flatten() {
        let names = Names { others: Some(schema), ..Names::of_record(resource) };
        let Some(node) = condition(rule, &names, problems) else { continue };
        if node.needs_day() {
            let message = "a row rule cannot use `today`, which is another day in another time zone";
            let problem = Diagnostic::new(Code::BadCondition, rule.span, message, "uses `today`");
            problems.push(problem.help("compare a timestamp with `now`"));
        }
        if resource.singleton {
            let message = "a singleton is one record, which every caller with the ability reads";
            let problem = Diagnostic::new(Code::Singleton, rule.span, message, "has no rows");
            problems.push(problem.help("use `permission` instead"));
        }
    }
}

/// Checks `read` and `write` of fields. Records that another resource embeds have none: they belong to its record.
fn field_rights(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let embeds = |field: &Field| field.kind.dependents().is_some_and(|(of, _)| of.value == resource.name.value);
    let holder = schema.resources.iter().find(|other| other.fields.iter().any(embeds));
    for field in &resource.fields {
        for right in [FieldOption::Read, FieldOption::Write].into_iter().filter_map(|one| field.described.get(one)) {
            well_formed(right, problems);
            if let Some(holder) = holder {
                let name = holder.name.as_str();
                let message = format!("`{}` is a field of records that `{name}` embeds", field.declared);
                let problem = Diagnostic::new(Code::Contradiction, right.span, message, "has no rights of its own");
                problems.push(problem.help(format!("declare the permission at the resource `{name}`")));
            }
        }
    }
}

/// A permission is two or more snake_case names joined by points: `settings.manage`.
pub fn well_formed(permission: &Name, problems: &mut Problems) {
    let parts: Vec<&str> = permission.value.split('.').collect();
    if parts.len() < 2 || !parts.iter().all(|part| naming::is_snake_case(part)) {
        let message = format!("`{}` is not the name of a permission", permission.value);
        let problem = Diagnostic::new(Code::BadPermission, permission.span, message, "not a permission")
            .help("a permission has an area and an activity: `settings.manage`");
        problems.push(problem);
    }
}
