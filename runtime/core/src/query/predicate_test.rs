//! Converts a predicate and the texts of a parameter into a test.

use charter_model::{Group, Predicate, Reads};

use super::condition::{Comparison, MatchPosition, Test};
use super::plan::{MAX_CONDITIONS, MAX_LIST_ELEMENTS, MAX_VALUE_CHARACTERS};
use super::request::Values;
use super::value;
use crate::db::fold;
use crate::meta::Kind;

/// Limit on the elements of a predicate's list. Each text to search for is a condition of its own.
pub fn max_elements(predicate: Predicate) -> usize {
    if predicate.group() == Group::Text { MAX_CONDITIONS } else { MAX_LIST_ELEMENTS }
}

/// The texts of a term's values, checked against the limits.
pub(super) fn read_texts(predicate: Predicate, values: &Values) -> Result<Vec<String>, String> {
    let most = max_elements(predicate);
    let texts: Vec<String> = match (predicate.reads(), values) {
        (Reads::List, Values::One(text)) if text.chars().count() > MAX_VALUE_CHARACTERS * most => {
            return Err(format!("must have at most {most} elements"));
        }
        (Reads::List, Values::One(text)) => text.split(',').map(String::from).collect(),
        (Reads::List, Values::Repeated(texts)) => texts.clone(),
        (_, Values::One(text)) => vec![text.clone()],
        (_, Values::Repeated(_)) => {
            return Err(format!("takes one value; `{}` is not a list predicate", predicate.name()));
        }
    };
    // A query string always has at least one element; a saved view's filter can have none.
    if texts.is_empty() {
        return Err("needs a value".into());
    }
    if texts.len() > most {
        return Err(format!("must have at most {most} elements"));
    }
    if texts.iter().any(|text| text.chars().count() > MAX_VALUE_CHARACTERS) {
        return Err(format!("must have at most {MAX_VALUE_CHARACTERS} characters"));
    }
    if texts.iter().any(String::is_empty) {
        return Err("must not be blank; use `_blank` or `_null` for records without a value".into());
    }
    Ok(texts)
}

/// Builds the tests of a predicate for values of a kind, of which a value must pass one. If `text` is true, the empty
/// text counts as blank.
pub(super) fn tests(kind: Kind, predicate: Predicate, texts: &[String], text: bool) -> Result<Vec<Test>, String> {
    match predicate {
        Predicate::ContAny => texts.iter().map(|one| like(MatchPosition::Anywhere, one, false)).collect(),
        predicate => test(kind, predicate, texts, text).map(|test| vec![test]),
    }
}

fn like(position: MatchPosition, text: &str, negated: bool) -> Result<Test, String> {
    value::read_value(Kind::Text, text)?;
    Ok(Test::Like { position, needle: fold(text), negated })
}

fn test(kind: Kind, predicate: Predicate, texts: &[String], text: bool) -> Result<Test, String> {
    let first = texts.first().map(String::as_str).unwrap_or_default();
    let compare = |comparison| value::read_comparison(kind, comparison, first).map_err(|p| blank_or(first, p));
    let switch = |affirmed: bool| value::read_boolean(first).map(|holds| holds == affirmed);
    match predicate {
        Predicate::Eq => compare(Comparison::Equal),
        Predicate::NotEq => compare(Comparison::NotEqual),
        Predicate::Lt => compare(Comparison::Less),
        Predicate::Lteq => compare(Comparison::LessOrEqual),
        Predicate::Gt => compare(Comparison::Greater),
        Predicate::Gteq => compare(Comparison::GreaterOrEqual),
        // `tests` makes one test for each text of `cont_any`.
        Predicate::Cont | Predicate::ContAny => like(MatchPosition::Anywhere, first, false),
        Predicate::NotCont => like(MatchPosition::Anywhere, first, true),
        Predicate::Start => like(MatchPosition::Start, first, false),
        Predicate::NotStart => like(MatchPosition::Start, first, true),
        Predicate::End => like(MatchPosition::End, first, false),
        Predicate::NotEnd => like(MatchPosition::End, first, true),
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
            Ok(if values.is_empty() { Test::Constant(negated) } else { Test::In { values, negated } })
        }
    }
}

/// Reports white space alone as blank, because values are trimmed.
fn blank_or(text: &str, problem: String) -> String {
    if text.trim().is_empty() {
        return "must not be blank; use `_blank` or `_null` for records without a value".into();
    }
    problem
}

/// Evaluates a predicate on the labels of a code field and returns tests on the codes, of which a code must pass one.
pub(super) fn label_tests(
    labels: &'static [(i32, &'static str)],
    predicate: Predicate,
    texts: &[String],
) -> Result<Vec<Test>, String> {
    let tests = tests(Kind::Text, predicate, texts, false)?;
    Ok(tests.into_iter().map(|test| label_test(labels, test)).collect())
}

/// Converts a test of the labels of a code field into a test of the codes.
fn label_test(labels: &'static [(i32, &'static str)], test: Test) -> Test {
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
        Test::Like { position, needle, negated } => {
            let label = fold(label);
            let found = match position {
                MatchPosition::Anywhere => label.contains(needle.as_str()),
                MatchPosition::Start => label.starts_with(needle.as_str()),
                MatchPosition::End => label.ends_with(needle.as_str()),
            };
            found != *negated
        }
        Test::In { values, negated } => values.contains(&label.into()) != *negated,
        _ => false,
    };
    if let Test::Null { .. } | Test::Constant(_) | Test::Blank { .. } = test {
        return test;
    }
    // 64-bit like every other integer: PostgreSQL is sent the list as one array type.
    let values: Vec<_> =
        labels.iter().filter(|(_, label)| holds(label)).map(|(code, _)| i64::from(*code).into()).collect();
    if values.is_empty() { Test::Constant(false) } else { Test::In { values, negated: false } }
}
