//! A condition in words, as it was understood, without any of its values.

use super::condition::{Condition, MatchPosition, Reference, Target, Test};
use crate::catalog::Source;
use crate::record::RECORD;

/// `(name contains ? and (qty = ? or qty is null))`
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
        Condition::Standing(standing) => format!("what it needs of {} is not deleted", standing.tables.join(", ")),
        Condition::Refers(Reference { via, to, .. }) => format!("{} leads to what meets {}", via.name, describe(to)),
        Condition::Through { reference, source, test } => format!(
            "{}.{} {}, where {}",
            reference.via.name,
            source.column,
            test_text(test),
            describe(&Condition::Refers(reference.clone()))
        ),
        Condition::Candidates { .. } | Condition::Ids(_) => "is found by the trigram index".to_string(),
        Condition::Overlaps { field, ids } => format!("{} has any of {} ids", field.name, ids.len()),
    }
}

/// As a request names it: `name`, `product_group.name`, `cf.power`.
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
        Test::Among { values, negated } => {
            format!("{} any of {} values", if *negated { "is not" } else { "is" }, values.len())
        }
        Test::Like { place, negated, .. } => {
            let (does, not) = match place {
                MatchPosition::Anywhere => ("contains", "contain"),
                MatchPosition::Start => ("begins with", "begin with"),
                MatchPosition::End => ("ends with", "end with"),
            };
            if *negated { format!("does not {not} ?") } else { format!("{does} ?") }
        }
        Test::Known(holds) => if *holds { "is any number" } else { "is a number that none can be" }.to_string(),
        Test::Null { negated } => if *negated { "is not null" } else { "is null" }.to_string(),
        Test::Blank { negated } => if *negated { "is not blank" } else { "is blank" }.to_string(),
    }
}
