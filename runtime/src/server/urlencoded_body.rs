//! Conversion of forms to JSON: `task[people][][id]=3` is `{"task": {"people": [{"id": "3"}]}}`.
//!
//! Every value is text, which each field parses by its own type.

use serde_json::{Map, Value};

use charter_core::error::{Error, Result};
use charter_core::query::{Pair, decode};

/// Parts of a name: the name itself, and one for each pair of brackets.
const MAX_NAME_PARTS: usize = 8;

/// Converts a form. The last value of a repeated name counts, unless the name ends in `[]`, which appends to a list. Numbers in
/// brackets, as in `people[0][id]`, are positions of a list; `tags[]=` alone is an empty list.
///
/// # Errors
/// [`Error::Malformed`] when it cannot be decoded or a name contradicts one before it.
pub(super) fn to_json(form: &[u8]) -> Result<Vec<u8>> {
    let form = std::str::from_utf8(form).map_err(|_| Error::Malformed("The form is not UTF-8.".into()))?;
    pairs_to_json(decode(form)?)
}

/// Converts a form that is already decoded.
///
/// # Errors
/// [`Error::Malformed`] when a name contradicts one before it.
pub(crate) fn pairs_to_json(pairs: Vec<Pair>) -> Result<Vec<u8>> {
    let mut root = Value::Object(Map::new());
    for Pair { name, value } in pairs {
        let malformed = || {
            let form = "`a`, `a[b]`, `a[]` or `a[][b]`";
            Error::Malformed(format!("The form's `{name}` is not of the form {form}, or contradicts a name before it."))
        };
        let path = path(&name).ok_or_else(malformed)?;
        insert(&mut root, &path, value).ok_or_else(malformed)?;
    }
    if let Value::Object(fields) = &mut root {
        fields.values_mut().for_each(make_lists);
    }
    serde_json::to_vec(&root).map_err(Error::internal)
}

/// The parts of a name: `a[b][]` is `a`, `b` and the empty text.
fn path(name: &str) -> Option<Vec<&str>> {
    let (first, mut rest) = name.split_at(name.find('[').unwrap_or(name.len()));
    let mut path = vec![first];
    while !rest.is_empty() {
        let (key, further) = rest.strip_prefix('[')?.split_once(']')?;
        path.push(key);
        rest = further;
    }
    (!first.is_empty() && path.len() <= MAX_NAME_PARTS).then_some(path)
}

/// Inserts a text at a path; `None` when another type is there already.
fn insert(node: &mut Value, path: &[&str], text: String) -> Option<()> {
    match path {
        [] if node.is_array() || node.is_object() => return None,
        [] => *node = Value::String(text),
        ["", rest @ ..] => {
            if node.is_null() {
                *node = Value::Array(Vec::new());
            }
            let list = node.as_array_mut()?;
            // A name that the last element already has starts a new element.
            match list.last_mut().filter(|last| !rest.is_empty() && last.is_object() && !has(last, rest)) {
                Some(last) => insert(last, rest, text)?,
                None => {
                    let mut element = Value::Null;
                    insert(&mut element, rest, text)?;
                    list.push(element);
                }
            }
        }
        [key, rest @ ..] => {
            if node.is_null() {
                *node = Value::Object(Map::new());
            }
            insert(node.as_object_mut()?.entry(*key).or_insert(Value::Null), rest, text)?;
        }
    }
    Some(())
}

fn has(node: &Value, path: &[&str]) -> bool {
    match path {
        [] => true,
        // A nested list takes any number of elements.
        ["", ..] => false,
        [key, rest @ ..] => node.get(key).is_some_and(|inner| has(inner, rest)),
    }
}

/// Turns objects with numbers as keys into lists, and lists of one empty text into empty lists.
fn make_lists(node: &mut Value) {
    match node {
        // The only way for a form to send an empty list.
        Value::Array(list) if matches!(&list[..], [Value::String(text)] if text.is_empty()) => list.clear(),
        Value::Array(list) => list.iter_mut().for_each(make_lists),
        Value::Object(fields) => {
            fields.values_mut().for_each(make_lists);
            let keys: Option<Vec<u32>> = fields.keys().map(|key| key.parse().ok()).collect();
            if let Some(keys) = keys.filter(|keys| !keys.is_empty()) {
                let mut list: Vec<(u32, Value)> =
                    keys.into_iter().zip(std::mem::take(fields).into_iter().map(|(_, v)| v)).collect();
                list.sort_by_key(|(key, _)| *key);
                *node = Value::Array(list.into_iter().map(|(_, value)| value).collect());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(form: &str) -> Value {
        serde_json::from_slice(&to_json(form.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn names_with_brackets_become_objects_and_lists() {
        for (form, expected) in [
            ("", r#"{}"#),
            ("name=a+b%21&name=c", r#"{"name":"c"}"#),
            ("task[subject]=x&task%5Btype%5D=1", r#"{"task":{"subject":"x","type":"1"}}"#),
            ("tags[]=a&tags[]=&tags[]=c", r#"{"tags":["a","","c"]}"#),
            ("tags[]=&t[p][]=", r#"{"tags":[],"t":{"p":[]}}"#),
            ("t[p][][id]=", r#"{"t":{"p":[{"id":""}]}}"#),
            ("t[p][][id]=3&t[p][][mute]=1&t[p][][id]=4", r#"{"t":{"p":[{"id":"3","mute":"1"},{"id":"4"}]}}"#),
            ("f[][in][]=1&f[][in][]=2&f[][x]=3&f[][x]=4", r#"{"f":[{"in":["1","2"],"x":"3"},{"x":"4"}]}"#),
            ("p[10][id]=b&p[2][id]=a", r#"{"p":[{"id":"a"},{"id":"b"}]}"#),
            ("empty", r#"{"empty":""}"#),
        ] {
            assert_eq!(json(form), serde_json::from_str::<Value>(expected).unwrap(), "{form}");
        }
    }

    #[test]
    fn contradicting_or_invalid_names_are_malformed() {
        for form in [
            "a=1&a[b]=2",
            "a[b]=2&a=1",
            "a[]=1&a[b]=2",
            "a[b]=1&a[]=2",
            "a[b",
            "a[b]c",
            "a]=1&[b]=2",
            "[]=1",
            "=1",
            "a[b][c][d][e][f][g][h][i]=1",
            "a=%",
            "a=%zz",
            "a=%ff",
        ] {
            assert!(matches!(to_json(form.as_bytes()), Err(Error::Malformed(_))), "{form}");
        }
        assert!(matches!(to_json(b"a=\xff"), Err(Error::Malformed(_))));
    }
}
