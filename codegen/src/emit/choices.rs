//! Names of the enums that the derives declare for fields with a closed list of values.

use charter_model::naming;

use crate::model::{ActionOutput, Field, Resource};

/// Types that a generated file uses or declares. An enum of that name would hide it.
const TAKEN: &[&str] = &[
    "Action",
    "ActiveModel",
    "Behaviour",
    "Column",
    "Condition",
    "Consequence",
    "Context",
    "Date",
    "DateTimeUtc",
    "Decimal",
    "Draft",
    "Entity",
    "Event",
    "Future",
    "Input",
    "Json",
    "Model",
    "Option",
    "Output",
    "PrimaryKey",
    "Relation",
    "Resource",
    "Result",
    "Route",
    "Schedule",
    "Send",
    "String",
    "Time",
    "Uuid",
    "Vec",
];

/// The enum of a field of the record or of the input or output of an action: `Status`, `ConvertMethod`. `None` if its values
/// have no names in Rust.
pub fn name(resource: &Resource, field: &Field) -> Option<String> {
    let mut taken: Vec<String> = TAKEN.iter().map(|name| (*name).to_owned()).collect();
    for action in &resource.actions {
        taken.extend(["Input", "Output"].map(|end| naming::upper_camel(action.name.as_str()) + end));
    }
    // Those before it come first.
    for (owner, other) in fields(resource) {
        let name = wanted(owner, other).map(|name| free(name, &taken));
        if std::ptr::eq(other, field) {
            return name;
        }
        taken.extend(name);
    }
    None
}

fn free(mut name: String, taken: &[String]) -> String {
    while taken.contains(&name) {
        name.push_str("Value");
    }
    name
}

fn wanted(action: Option<&str>, field: &Field) -> Option<String> {
    field.kind.known()?.variants()?;
    Some(action.map(naming::upper_camel).unwrap_or_default() + &naming::upper_camel(field.name.as_str()))
}

/// The columns of the record, then the inputs and outputs of its actions.
fn fields(resource: &Resource) -> impl Iterator<Item = (Option<&str>, &Field)> {
    let columns = resource.fields.iter().filter(|field| field.is_column()).map(|field| (None, field));
    columns.chain(resource.actions.iter().flat_map(|action| {
        let output = match &action.output {
            ActionOutput::Fields { fields, .. } => fields.as_slice(),
            _ => &[],
        };
        action.input.iter().chain(output).map(|field| (Some(action.name.as_str()), field))
    }))
}
