//! Filters and sorts that no index serves: a warning, because they work on short lists.

use charter_model::Operation;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema, Why};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    // A resource without a list has its own warning.
    if !resource.serves_any(&[Operation::List]) {
        return;
    }
    for unserved in resource.unserved(schema) {
        let name = unserved.name.as_str();
        let asked = if unserved.sorts { "sorting by" } else { "a filter by" };
        let meant = format!("say `unindexed: [{name}]` if that is meant");
        let (message, help) = match &unserved.why {
            Why::TooLong(most) => (
                format!("no index serves {asked} `{name}`, whose text may have more than {most} characters"),
                format!("make it a `string({most})`, or {meant}"),
            ),
            Why::OrderedElsewhere => (
                format!("no index serves {asked} `{name}`, which stands in no column of `{}`", resource.name.value),
                format!("every list sorted by it is sorted anew; {meant}"),
            ),
            Why::FoundElsewhere { via, resource: other, field } => (
                format!("no index serves {asked} `{name}`, which is found by `{other}.{field}` and then `{via}`"),
                match schema.find(other).is_some_and(Resource::is_platform) {
                    true => format!("`{other}` is the platform's, and has no index of it: {meant}"),
                    false => format!("have both indexed, `{field}` in `{other}` and `{via}` here, or {meant}"),
                },
            ),
            Why::FewValues => (
                format!("no index serves {asked} `{name}`, which has few values"),
                format!("say `ordered: [{name}]` if long lists are sorted by it, or {meant}"),
            ),
        };
        problems.push(Diagnostic::new(Code::Unserved, unserved.name.span, message, "every record is read").help(help));
    }
}
