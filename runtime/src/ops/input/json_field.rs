//! The values of JSON fields: documents, of which either database keeps the same.

use serde_json::Value;

use super::body::UNPAIRED_SURROGATE;
use super::json_scan::{Piece, check_numbers, pieces};

/// So many objects and lists may stand in one another: what is answered, told and kept of a record stands in a few more,
/// and readers of JSON go no deeper than 128.
const MAX_DEPTH: usize = 100;

/// Reads a document from well-formed JSON.
///
/// # Errors
/// Why it cannot be kept as it is.
pub fn read(json: &str) -> Result<Value, String> {
    if !json.starts_with(['{', '[']) {
        return Err("must be an object or a list".into());
    }
    check_depth(json)?;
    check_numbers(json)?;
    // What is left are texts: no number is too large, and nothing too deep.
    let mut value = serde_json::from_str(json).map_err(|_| UNPAIRED_SURROGATE.to_string())?;
    normalize(&mut value)?;
    Ok(value)
}

fn check_depth(json: &str) -> Result<(), String> {
    let mut depth: usize = 0;
    for piece in pieces(json) {
        let Piece::Between(between) = piece else { continue };
        for c in between.chars() {
            match c {
                '[' | '{' => depth += 1,
                ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err(format!("must have at most {MAX_DEPTH} objects and lists in one another"));
            }
        }
    }
    Ok(())
}

/// Refuses what neither database keeps, and makes one value of those of which PostgreSQL keeps one.
fn normalize(value: &mut Value) -> Result<(), String> {
    let is_kept = |text: &str| !text.contains('\0');
    let kept = match value {
        Value::String(text) => is_kept(text),
        Value::Array(list) => return list.iter_mut().try_for_each(normalize),
        Value::Object(map) => {
            map.values_mut().try_for_each(normalize)?;
            map.keys().all(|name| is_kept(name))
        }
        Value::Number(number) => {
            // There is no negative zero in a table.
            if number.as_f64() == Some(0.0) && number.is_f64() {
                *value = 0.0.into();
            }
            true
        }
        _ => true,
    };
    if kept { Ok(()) } else { Err("must not contain a null character".into()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_kept_is_said() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&deep(MAX_DEPTH)).is_ok());
        assert!(read(&deep(MAX_DEPTH).replace("[]", r#"["[[{"]"#)).is_ok(), "texts are no lists");
        for (json, problem) in [
            (deep(MAX_DEPTH + 1).as_str(), "must have at most 100 objects and lists in one another"),
            (r#""x""#, "must be an object or a list"),
            ("[1e400]", "holds the number 1e400, which is too large to be kept; send it as text"),
            (r#"{"a":"\ud800"}"#, UNPAIRED_SURROGATE),
            (r#"{"\udc00":1}"#, UNPAIRED_SURROGATE),
            (r#"["a\u0000"]"#, "must not contain a null character"),
            (r#"{"a\u0000":[]}"#, "must not contain a null character"),
        ] {
            assert_eq!(read(json), Err(problem.into()), "{json}");
        }
    }

    #[test]
    fn there_is_no_negative_zero() {
        let read = read("[-0.0, -0, 0, -1.5, {\"a\": [-0e5]}]").unwrap();
        assert_eq!(read.to_string(), json!([0.0, 0.0, 0, -1.5, { "a": [0.0] }]).to_string());
    }
}
