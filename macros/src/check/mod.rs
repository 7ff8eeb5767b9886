//! Checks of a struct: each pass reports the misuses that its tokens prove.
//!
//! Facts about other resources, such as the target of an include, are checked by codegen, and by the runtime when the
//! application starts.

mod default;
mod field;
mod record;
mod settings;

use crate::ast::{Field, Member, Resource};
use crate::problems::Problems;

pub fn resource(resource: &Resource, problems: &mut Problems) {
    record::check(resource, problems);
    settings::check(resource, problems);
    let names: Vec<&str> = resource.members.iter().map(|member| member.name().0).collect();
    for member in &resource.members {
        match member {
            Member::Column(column) => field::column(column, resource, problems),
            Member::Derived(derived) => field::derived(derived, resource, problems),
            Member::Embedded(_) | Member::Links(_) => {}
            Member::Computed(computed) => {
                for name in &computed.from {
                    settings::find_column(resource, name, problems);
                }
            }
        }
    }
    for column in resource.columns() {
        field::rules(column, &names, problems);
        default::check(column, problems);
    }
}

pub fn input(fields: &[Field], problems: &mut Problems) {
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    for parameter in fields {
        field::input(parameter, problems);
        field::rules(parameter, &names, problems);
        default::check(parameter, problems);
    }
}

pub fn output(fields: &[Field], problems: &mut Problems) {
    for parameter in fields {
        field::output(parameter, problems);
    }
}
