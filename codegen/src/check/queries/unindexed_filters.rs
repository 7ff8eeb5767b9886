//! Filters and sorts that no index serves: a warning, because they work on short lists.

use charter_model::Operation;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Resource, Schema, UnservedReason};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    // A resource without a list has its own warning.
    if !resource.serves_any(&[Operation::List]) {
        return;
    }
    for unserved in resource.unserved(schema) {
        let name = unserved.name.as_str();
        let query = if unserved.sorts { "sorting by" } else { "a filter by" };
        let accept = format!("add `unindexed: [{name}]` to accept this");
        let (message, help) = match &unserved.why {
            UnservedReason::TooLong(most) => (
                format!("no index serves {query} `{name}`: its text may have more than {most} characters"),
                format!("make it a `string({most})`, or {accept}"),
            ),
            UnservedReason::OrderedElsewhere => (
                format!("no index serves {query} `{name}`, which is not a column of `{}`", resource.name.value),
                format!("the database sorts all records for each list; {accept}"),
            ),
            UnservedReason::FoundElsewhere { via, resource: other, field } => (
                format!("no index serves {query} `{name}`, which needs indexes of `{other}.{field}` and `{via}`"),
                match schema.find(other).is_some_and(Resource::is_platform) {
                    true => format!("`{other}` is a platform resource without such an index; {accept}"),
                    false => format!("index `{field}` in `{other}` and `{via}` here, or {accept}"),
                },
            ),
            UnservedReason::FewValues => (
                format!("no index serves {query} `{name}`, which has few distinct values"),
                format!("add `ordered: [{name}]` if long lists are sorted by it, or {accept}"),
            ),
        };
        problems.push(Diagnostic::new(Code::Unserved, unserved.name.span, message, "reads every record").help(help));
    }
}
