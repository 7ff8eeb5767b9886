//! The generated documents are fresh, and say what they must. `UPDATE=1` writes them.

use std::path::{Path, PathBuf};

use charter_codegen::{Code, reference};
use serde_json::Value;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[test]
fn documents_are_as_they_would_be_written_now() {
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
