//! What a predicate asks of values of a kind: the texts of a parameter, read and made a test.

use super::condition::{Comparison, MatchPosition, Test};
use super::plan::{MAX_LIST_ELEMENTS, MAX_VALUE_CHARACTERS};
use super::predicate::{Predicate, Reads};
use super::request::Values;
use super::value;
use crate::db::fold;
use crate::meta::Kind;

/// The texts of a term's values, within the limits.
pub fn read_texts(predicate: Predicate, values: &Values) -> Result<Vec<String>, String> {
    let texts: Vec<String> = match (predicate.reads(), values) {
        (Reads::List, Values::One(text)) if text.chars().count() > MAX_VALUE_CHARACTERS * MAX_LIST_ELEMENTS => {
            return Err(format!("must have at most {MAX_LIST_ELEMENTS} elements"));
        }
        (Reads::List, Values::One(text)) => text.split(',').map(String::from).collect(),
        (Reads::List, Values::Repeated(texts)) => texts.clone(),
        (_, Values::One(text)) => vec![text.clone()],
        (_, Values::Repeated(_)) => {
            return Err(format!("takes one value; `{}` is not a list predicate", predicate.name()));
        }
    };
    // No query string has a list without elements; a filter of a view may try one, which nothing could match.
    if texts.is_empty() {
        return Err("needs a value".into());
    }
    if texts.len() > MAX_LIST_ELEMENTS {
        return Err(format!("must have at most {MAX_LIST_ELEMENTS} elements"));
    }
    if texts.iter().any(|text| text.chars().count() > MAX_VALUE_CHARACTERS) {
        return Err(format!("must have at most {MAX_VALUE_CHARACTERS} characters"));
    }
    if texts.iter().any(String::is_empty) {
        return Err("must not be blank; ask `_blank` or `_null` for records without a value".into());
    }
    Ok(texts)
}

/// What a predicate asks of values of a kind. `text` says whether the empty text counts as blank.
pub fn test(kind: Kind, predicate: Predicate, texts: &[String], text: bool) -> Result<Test, String> {
    let first = texts.first().map(String::as_str).unwrap_or_default();
    let compare = |comparison| value::read_comparison(kind, comparison, first).map_err(|p| blank_or(first, p));
    let like = |place, negated| {
        value::read_value(Kind::Text, first)?;
        Ok(Test::Like { place, needle: fold(first), negated })
    };
    let switch = |affirmed: bool| value::read_boolean(first).map(|holds| holds == affirmed);
    match predicate {
        Predicate::Eq => compare(Comparison::Equal),
        Predicate::NotEq => compare(Comparison::NotEqual),
        Predicate::Lt => compare(Comparison::Less),
        Predicate::Lteq => compare(Comparison::LessOrEqual),
        Predicate::Gt => compare(Comparison::Greater),
        Predicate::Gteq => compare(Comparison::GreaterOrEqual),
        Predicate::Cont => like(MatchPosition::Anywhere, false),
        Predicate::NotCont => like(MatchPosition::Anywhere, true),
        Predicate::Start => like(MatchPosition::Start, false),
        Predicate::End => like(MatchPosition::End, false),
        Predicate::Null => Ok(Test::Null { negated: !switch(true)? }),
        Predicate::NotNull => Ok(Test::Null { negated: switch(true)? }),
        Predicate::Blank if text => Ok(Test::Blank { negated: !switch(true)? }),
        Predicate::Present if text => Ok(Test::Blank { negated: switch(true)? }),
        Predicate::Blank => Ok(Test::Null { negated: !switch(true)? }),
        Predicate::Present => Ok(Test::Null { negated: switch(true)? }),
        Predicate::True => Ok(Test::Compare(Comparison::Equal, switch(true)?.into())),
        Predicate::False => Ok(Test::Compare(Comparison::Equal, switch(false)?.into())),
        Predicate::In | Predicate::NotIn => {
            let negated = predicate == Predicate::NotIn;
            let blank = texts.iter().find(|text| text.trim().is_empty()).map_or(first, String::as_str);
            let values = value::read_list(kind, texts).map_err(|p| blank_or(blank, p))?;
            Ok(if values.is_empty() { Test::Known(negated) } else { Test::Among { values, negated } })
        }
    }
}

/// White space alone is as blank as nothing, where text is trimmed.
fn blank_or(text: &str, problem: String) -> String {
    if text.trim().is_empty() {
        return "must not be blank; ask `_blank` or `_null` for records without a value".into();
    }
    problem
}

/// A predicate on the label of a code is decided here: it selects some of the codes.
pub fn label_test(
    labels: &'static [(i32, &'static str)],
    predicate: Predicate,
    texts: &[String],
) -> Result<Test, String> {
    let kind = Kind::Text;
    let test = test(kind, predicate, texts, false)?;
    let holds = |label: &str| match &test {
        Test::Compare(comparison, sea_orm::Value::String(Some(value))) => {
            let order = label.cmp(value.as_str());
            match comparison {
                Comparison::Equal => order.is_eq(),
                Comparison::NotEqual => order.is_ne(),
                Comparison::Less => order.is_lt(),
                Comparison::LessOrEqual => order.is_le(),
                Comparison::Greater => order.is_gt(),
                Comparison::GreaterOrEqual => order.is_ge(),
            }
        }
        Test::Like { place, needle, negated } => {
            let label = fold(label);
            let found = match place {
                MatchPosition::Anywhere => label.contains(needle.as_str()),
                MatchPosition::Start => label.starts_with(needle.as_str()),
                MatchPosition::End => label.ends_with(needle.as_str()),
            };
            found != *negated
        }
        Test::Among { values, negated } => values.contains(&label.into()) != *negated,
        _ => false,
    };
    if let Test::Null { .. } | Test::Known(_) | Test::Blank { .. } = test {
        return Ok(test);
    }
    // As wide as every whole number that is compared: PostgreSQL is sent the list in one type.
    let values: Vec<_> =
        labels.iter().filter(|(_, label)| holds(label)).map(|(code, _)| i64::from(*code).into()).collect();
    Ok(if values.is_empty() { Test::Known(false) } else { Test::Among { values, negated: false } })
}
