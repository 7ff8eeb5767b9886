//! Values of JSON fields, limited to those that both databases store identically.

use serde_json::Value;

use super::body::UNPAIRED_SURROGATE;
use crate::json_scan::{Piece, check_numbers, pieces};

/// Maximum nesting of objects and lists. Responses, events and audit entries nest a record a few levels deeper, and
/// JSON parsers commonly stop at 128.
const MAX_DEPTH: usize = 100;

/// Reads a value from well-formed JSON.
///
/// # Errors
/// The validation message, if it cannot be stored unchanged.
pub fn read(json: &str) -> Result<Value, String> {
    if !json.starts_with(['{', '[']) {
        return Err("must be an object or a list".into());
    }
    check_depth(json)?;
    check_numbers(json)?;
    // Numbers and depth are checked: only a string can still fail.
    let mut value = serde_json::from_str(json).map_err(|_| UNPAIRED_SURROGATE.to_string())?;
    normalize(&mut value)?;
    Ok(value)
}

fn check_depth(json: &str) -> Result<(), String> {
    let mut depth: usize = 0;
    for piece in pieces(json) {
        let Piece::Between(tokens) = piece else { continue };
        for c in tokens.chars() {
            match c {
                '[' | '{' => depth += 1,
                ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err(format!("must be nested at most {MAX_DEPTH} levels deep"));
            }
        }
    }
    Ok(())
}

/// Refuses null characters, which PostgreSQL cannot store in `jsonb`, and normalizes negative zero.
fn normalize(value: &mut Value) -> Result<(), String> {
    let is_storable = |text: &str| !text.contains('\0');
    let is_valid = match value {
        Value::String(text) => is_storable(text),
        Value::Array(list) => return list.iter_mut().try_for_each(normalize),
        Value::Object(map) => {
            map.values_mut().try_for_each(normalize)?;
            map.keys().all(|name| is_storable(name))
        }
        Value::Number(number) => {
            // PostgreSQL has no negative zero in `jsonb`.
            if number.as_f64() == Some(0.0) && number.is_f64() {
                *value = 0.0.into();
            }
            true
        }
        _ => true,
    };
    if is_valid { Ok(()) } else { Err("must not contain a null character".into()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn value_that_cannot_be_stored_unchanged_is_refused() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&deep(MAX_DEPTH)).is_ok());
        assert!(read(&deep(MAX_DEPTH).replace("[]", r#"["[[{"]"#)).is_ok(), "brackets in strings do not count");
        for (json, problem) in [
            (deep(MAX_DEPTH + 1).as_str(), "must be nested at most 100 levels deep"),
            (r#""x""#, "must be an object or a list"),
            ("[1e400]", "contains the number 1e400, which is too large to store; send it as a string"),
            (r#"{"a":"\ud800"}"#, UNPAIRED_SURROGATE),
            (r#"{"\udc00":1}"#, UNPAIRED_SURROGATE),
            (r#"["a\u0000"]"#, "must not contain a null character"),
            (r#"{"a\u0000":[]}"#, "must not contain a null character"),
        ] {
            assert_eq!(read(json), Err(problem.into()), "{json}");
        }
    }

    #[test]
    fn negative_zero_is_stored_as_zero() {
        let read = read("[-0.0, -0, 0, -1.5, {\"a\": [-0e5]}]").unwrap();
        assert_eq!(read.to_string(), json!([0.0, 0.0, 0, -1.5, { "a": [0.0] }]).to_string());
    }
}
