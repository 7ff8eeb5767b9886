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
        let meant = format!("add `unindexed: [{name}]` to accept this");
        let (message, help) = match &unserved.why {
            Why::TooLong(most) => (
                format!("no index serves {asked} `{name}`: its text may have more than {most} characters"),
                format!("make it a `string({most})`, or {meant}"),
            ),
            Why::OrderedElsewhere => (
                format!("no index serves {asked} `{name}`, which is not a column of `{}`", resource.name.value),
                format!("the database sorts all records for each list; {meant}"),
            ),
            Why::FoundElsewhere { via, resource: other, field } => (
                format!("no index serves {asked} `{name}`, which needs indexes of `{other}.{field}` and `{via}`"),
                match schema.find(other).is_some_and(Resource::is_platform) {
                    true => format!("`{other}` is a platform resource without such an index; {meant}"),
                    false => format!("index `{field}` in `{other}` and `{via}` here, or {meant}"),
                },
            ),
            Why::FewValues => (
                format!("no index serves {asked} `{name}`, which has few distinct values"),
                format!("add `ordered: [{name}]` if long lists are sorted by it, or {meant}"),
            ),
        };
        problems.push(Diagnostic::new(Code::Unserved, unserved.name.span, message, "reads every record").help(help));
    }
}
