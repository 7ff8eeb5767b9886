//! Conditions as readable text for `explain`. Values are replaced by `?`.

use super::condition::{Children, Condition, MatchPosition, Reference, Target, Test};
use crate::record::RECORD;
use crate::record::Source;

/// Describes a condition: `(name contains ? and (qty = ? or qty is null))`.
pub fn describe(condition: &Condition) -> String {
    let list = |list: &[Condition], word: &str, none: &str| match list {
        [] => none.to_string(),
        [one] => describe(one),
        many => format!("({})", many.iter().map(describe).collect::<Vec<_>>().join(word)),
    };
    match condition {
        Condition::All(all) => list(all, " and ", "everything"),
        Condition::Any(any) => list(any, " or ", "nothing"),
        Condition::Not(inner) => format!("not {}", describe(inner)),
        Condition::Test { target, test } => format!("{} {}", target_name(target), test_text(test)),
        Condition::RequiredParents(parents) => format!("its parents in {} are not deleted", parents.tables.join(", ")),
        Condition::Refers(Reference { via, condition, .. }) => {
            format!("{} refers to a record where {}", via.name, describe(condition))
        }
        Condition::Has(Children { by, table, condition }) => {
            format!("a record of {table} refers to it by {} where {}", by.name, describe(condition))
        }
        Condition::ReferencedField { reference, source, test } => format!(
            "{}.{} {}, where {}",
            reference.via.name,
            source.column,
            test_text(test),
            describe(&Condition::Refers(reference.clone()))
        ),
        Condition::Candidates { .. } | Condition::Ids(_) => "is found by the trigram index".to_string(),
        Condition::Expression(expression) => format!("({})", expression.text),
        Condition::Overlaps { field, ids } => format!("{} has any of {} ids", field.name, ids.len()),
    }
}

/// The target as a request names it: `name`, `product_group.name`, `cf.power`.
pub fn target_name(target: &Target) -> String {
    match target {
        Target::Custom { name, .. } => format!("cf.{name}"),
        Target::Column(Source { join: Some(_), .. }) => {
            let mut text = String::new();
            if let Target::Column(source) = target {
                source.write(&mut text, RECORD);
            }
            text.replace('"', "").trim_start_matches("t_").to_string()
        }
        Target::Column(source) => source.column.to_string(),
    }
}

fn test_text(test: &Test) -> String {
    match test {
        Test::Compare(comparison, _) => format!("{} ?", comparison.operator().trim()),
        Test::In { values, negated } => {
            format!("{} any of {} values", if *negated { "is not" } else { "is" }, values.len())
        }
        Test::Like { position, negated, .. } => {
            let (does, not) = match position {
                MatchPosition::Anywhere => ("contains", "contain"),
                MatchPosition::Start => ("begins with", "begin with"),
                MatchPosition::End => ("ends with", "end with"),
            };
            if *negated { format!("does not {not} ?") } else { format!("{does} ?") }
        }
        Test::Constant(holds) => if *holds { "is any value" } else { "is out of range" }.to_string(),
        Test::Null { negated } => if *negated { "is not null" } else { "is null" }.to_string(),
        Test::Blank { negated } => if *negated { "is not blank" } else { "is blank" }.to_string(),
    }
}
