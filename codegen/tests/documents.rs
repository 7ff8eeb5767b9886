//! The generated documents are up to date and complete. `UPDATE=1` writes them.

use std::path::{Path, PathBuf};

use charter_codegen::{Code, Sources, compile_sources, reference};
use regex::Regex;
use serde_json::Value;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[test]
fn documents_are_up_to_date() {
    if std::env::var_os("UPDATE").is_some() {
        reference::write(&docs()).unwrap();
    }
    assert_eq!(reference::stale(&docs()), [""; 0], "`cargo charter docs --write` writes them");
}

#[test]
fn every_code_has_a_section_with_its_report() {
    let documents = reference::documents();
    let text = &documents.iter().find(|document| document.name == "diagnostics.md").unwrap().text;
    for &code in Code::ALL {
        assert!(text.contains(&format!("\n### {code}: ")), "{code}");
        assert!(text.contains(&format!("{}[{code}]: ", code.severity())), "{code}");
    }
}

#[test]
fn every_key_of_the_schema_is_described() {
    let schema: Value = serde_json::from_str(&reference::schema()).unwrap();
    let mut properties = 0;
    visit(&schema, &mut |object| {
        for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            assert!(property["description"].is_string(), "{name}");
            properties += 1;
        }
    });
    assert!(properties > 60, "{properties}");
}

/// The schema and the generator accept the same types.
#[test]
fn the_schema_and_the_check_accept_the_same_types() {
    let schema: Value = serde_json::from_str(&reference::schema()).unwrap();
    let pattern = Regex::new(schema["definitions"]["type"]["pattern"].as_str().unwrap()).unwrap();
    let types = [
        ("string(1)", true),
        ("string(65535)", true),
        ("string( 5 )", true),
        ("string(0)", false),
        ("string(05)", false),
        ("string(+5)", false),
        ("string (5)", false),
        ("string(65536)", false),
        ("list(string(65535))", true),
        ("list(string(0))", false),
        ("decimal(1, 0)", true),
        ("decimal(18,18)", true),
        ("decimal( 12 , 4 )", true),
        ("decimal(0, 0)", false),
        ("decimal(19, 2)", false),
        ("decimal(4, 6)", false),
        ("decimal(12, 13)", false),
        ("ref(note|user)", true),
        ("text", true),
        ("text()", false),
    ];
    for (text, taken) in types {
        let yaml =
            format!("# resources/note.yaml\nresource: note\nfields:\n  a:\n    type: {text}\n    required: true\n");
        assert_eq!(compile_sources(Sources::from_example(&yaml)).is_ok(), taken, "the check: {text}");
        assert_eq!(pattern.is_match(text), taken, "the schema: {text}");
    }
}

/// Unquoted text keeps its spelling, even if YAML reads another type; the numbers of a code do not.
#[test]
fn the_schema_and_the_check_accept_the_same_texts_and_numbers() {
    let schema: Value = serde_json::from_str(&reference::schema()).unwrap();
    let field = &schema["definitions"]["field"]["anyOf"][1]["properties"];
    for key in ["label", "description", "pattern", "group"] {
        let yaml = format!(
            "# resources/note.yaml\nresource: note\nfields:\n  a: {{ type: string(5), nullable: true, {key}: 5 }}\n"
        );
        assert!(compile_sources(Sources::from_example(&yaml)).is_ok(), "{key}");
        assert!(field[key]["type"].as_array().is_some_and(|types| types.contains(&"number".into())), "{key}");
    }
    let codes = field["values"]["anyOf"][1]["patternProperties"].as_object().unwrap();
    let pattern = Regex::new(codes.keys().next().unwrap()).unwrap();
    for (number, taken) in [("0", true), ("10", true), ("-1", true), ("010", false), ("+5", false), ("-0", false)] {
        let yaml = format!(
            "# resources/note.yaml\nresource: note\nfields:\n  a: {{ type: code, values: {{ {number}: 7 }}, required: true }}\n"
        );
        assert_eq!(compile_sources(Sources::from_example(&yaml)).is_ok(), taken, "the check: {number}");
        assert_eq!(pattern.is_match(number), taken, "the schema: {number}");
    }
}

fn visit(value: &Value, seen: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            seen(object);
            object.values().for_each(|value| visit(value, seen));
        }
        Value::Array(items) => items.iter().for_each(|value| visit(value, seen)),
        _ => {}
    }
}
