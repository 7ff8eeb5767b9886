//! Layout of JSON on a page: a value stands on one line if it fits, with its keys in the order of the server.

use serde_json::value::RawValue;

/// Characters of a line.
const WIDTH: usize = 112;

/// The same JSON in the layout of the pages. Text that is not JSON is returned as it is.
pub fn arranged(json: &str) -> String {
    match serde_json::from_str::<&RawValue>(json.trim()) {
        Ok(value) => arrange(value.get(), 0) + "\n",
        Err(_) => json.to_string(),
    }
}

fn arrange(value: &str, indent: usize) -> String {
    let value = value.trim();
    let (open, close) = match value.chars().next() {
        Some('{') => ('{', '}'),
        Some('[') => ('[', ']'),
        _ => return value.to_string(),
    };
    let members = members(&value[1..value.len() - 1]);
    if members.is_empty() {
        return format!("{open}{close}");
    }
    let on_one_line = |member: &(Option<&str>, &str)| named(member, arrange(member.1, 0));
    let line = members.iter().map(on_one_line).collect::<Vec<_>>().join(", ");
    let padding = if open == '{' { " " } else { "" };
    if !line.contains('\n') && indent + line.chars().count() + 4 <= WIDTH {
        return format!("{open}{padding}{line}{padding}{close}");
    }
    let inner = " ".repeat(indent + 2);
    let lines = members.iter().map(|member| format!("{inner}{}", named(member, arrange(member.1, indent + 2))));
    format!("{open}\n{}\n{}{close}", lines.collect::<Vec<_>>().join(",\n"), " ".repeat(indent))
}

fn named((name, _): &(Option<&str>, &str), value: String) -> String {
    name.map_or_else(|| value.clone(), |name| format!("{name}: {value}"))
}

/// Members of an object with their names, or elements of a list without.
fn members(inner: &str) -> Vec<(Option<&str>, &str)> {
    let (mut found, mut name) = (Vec::new(), None);
    let (mut depth, mut in_text, mut escaped, mut start) = (0, false, false, 0);
    for (at, sign) in inner.char_indices() {
        match sign {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ':' if depth == 0 => (name, start) = (Some(inner[start..at].trim()), at + 1),
            ',' if depth == 0 => {
                found.push((name.take(), &inner[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inner[start..].trim().is_empty() {
        found.push((name, &inner[start..]));
    }
    found
}

#[test]
fn long_object_is_broken_into_lines_and_short_one_is_not() {
    assert_eq!(
        arranged(r#"{"b":[1,2],"a":{"x":"{,\"}"},"c":{}}"#),
        "{ \"b\": [1, 2], \"a\": { \"x\": \"{,\\\"}\" }, \"c\": {} }\n"
    );
    let text = "x".repeat(WIDTH);
    assert_eq!(
        arranged(&format!(r#"{{"a":1,"b":["{text}"]}}"#)),
        format!("{{\n  \"a\": 1,\n  \"b\": [\n    \"{text}\"\n  ]\n}}\n")
    );
    assert_eq!(arranged("plain"), "plain");
}
