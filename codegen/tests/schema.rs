//! The JSON Schema compared with the check: editors and the generator must accept the same files.

mod validator;

use std::path::{Path, PathBuf};

use charter_codegen::{Code, Report, Sources, compile_sources, entry, reference};
use regex::Regex;
use serde_json::Value;
use validator::Schema;

/// Codes for the shape of a value, which the schema can check.
const OF_SHAPE: &[Code] = &[
    Code::UnknownKey,
    Code::WrongShape,
    Code::MissingKey,
    Code::UnknownWord,
    Code::BadName,
    Code::BadPermission,
    Code::UnknownType,
    Code::TypeArguments,
];

/// Messages of these codes that the schema cannot see: the line break at the end of a block, and a plural without a
/// key.
const UNSEEN: &[&str] = &["ends with a line break", "the plural, `"];

fn schema() -> Schema {
    Schema::read(&reference::schema())
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The problems or warnings of sources.
fn with_report<T>(sources: Sources, read: impl FnOnce(&Report) -> T) -> T {
    match &compile_sources(sources) {
        Ok(output) => read(output.warnings()),
        Err(report) => read(report),
    }
}

/// The resource files of an example, each with its value; none for one that is not valid YAML.
fn values(example: &str) -> Vec<(String, Option<Value>)> {
    let sources = Sources::from_example(example);
    sources.iter().map(|(_, file)| (file.path.clone(), serde_yaml::from_str(&file.text).ok())).collect()
}

#[test]
fn the_schema_accepts_every_valid_file() {
    let schema = schema();
    for place in ["tests/golden", "../resources", "../examples/helpdesk/resources", "../examples/lending/resources"] {
        for (_, file) in Sources::load(&folder(place)).iter() {
            assert!(schema.takes(&serde_yaml::from_str(&file.text).unwrap()), "{place}: {}", file.path);
        }
    }
    for &code in Code::ALL {
        for (path, value) in values(entry(code).right) {
            assert!(value.is_some_and(|value| schema.takes(&value)), "{path} of {code}");
        }
    }
}

#[test]
fn the_schema_rejects_every_wrong_shape() {
    let schema = schema();
    let (mut refused, mut differences) = (0, Vec::new());
    for (_, case) in Sources::load(&folder("tests/diagnostics")).iter() {
        // The file, whether the problem is one of shape, and the message.
        let problems: Vec<(String, bool, String)> = with_report(Sources::from_example(&case.text), |report| {
            let problems = report.problems().iter().map(|problem| {
                let place = report.locate(problem);
                let seen = UNSEEN.iter().all(|unseen| !problem.message.contains(unseen));
                let file = place.split(':').next().unwrap_or_default().to_owned();
                (file, seen && OF_SHAPE.contains(&problem.code), format!("{place}: {}", problem.message))
            });
            problems.collect()
        });
        for (path, value) in values(&case.text).into_iter().filter_map(|(path, value)| Some((path, value?))) {
            let of_file = || problems.iter().filter(|(file, ..)| *file == path);
            let taken = schema.takes(&value);
            refused += usize::from(!taken);
            if taken {
                differences.extend(of_file().filter(|(_, of_shape, _)| *of_shape).map(|(.., what)| what.clone()));
            } else if of_file().next().is_none() {
                differences.push(format!("{path} of {} is refused by the schema alone", case.path));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(refused > 50, "{refused} files are refused");
}

/// Values of every shape, as YAML.
const VALUES: &[&str] = &[
    "",
    "null",
    "true",
    "\"true\"",
    "1",
    "\"1\"",
    "01",
    "1.5",
    "-1",
    "4294967296",
    "word",
    "Word",
    "\"a b\"",
    "a.b",
    "a.b.c",
    "2026-03-21",
    "now",
    "text",
    "string(5)",
    "list(text)",
    "shown",
    "none",
    "all",
    "created",
    "[]",
    "[null]",
    "[1]",
    "[word]",
    "[word, word]",
    "[[]]",
    "[[word]]",
    "[list]",
    "{}",
    "{ word: }",
    "{ word: word }",
    "{ word: {} }",
    "{ word: [] }",
    "{ word: [eq] }",
    "{ word: [null, true] }",
    "{ word: all }",
    "{ word: text }",
    "{ Word: text }",
    "{ 1: word }",
    "{ 01: word }",
    "{ 1: }",
    "{ read: a.b }",
    "{ read: a }",
    "{ write: }",
    "{ on: record }",
    "{ since: 2026-03-21 }",
    "{ word: { since: 2026-03-21 } }",
    "{ word: { on: record } }",
    "{ word: { one: word } }",
    "{ word: { many: word, fields: [] } }",
];

/// Places of keys: their table in the schema, and a resource with `@` for the line of a key.
const PLACES: &[(&str, &str)] = &[
    ("", "resource: note\n@\nfields: { word: { type: string(5), nullable: true } }\n"),
    ("field", "resource: note\nfields:\n  word:\n    type: string(5)\n    nullable: true\n    @\n"),
    (
        "parameter",
        "resource: note\nactions:\n  go:\n    on: record\n    input:\n      word:\n        type: string(5)\n        nullable: true\n        @\n",
    ),
    (
        "answer",
        "resource: note\nactions:\n  go:\n    on: record\n    answer: gone\n    output:\n      word:\n        type: string(5)\n        @\n",
    ),
    ("action", "resource: note\nactions:\n  go:\n    on: record\n    @\n"),
    (
        "include",
        "resource: note\nfields: { note_id: { type: ref(note), nullable: true } }\nincludes:\n  word:\n    one: note_id\n    @\n",
    ),
    (
        "deprecation",
        "resource: note\nfields:\n  word:\n    type: string(5)\n    nullable: true\n    deprecated:\n      since: 2026-03-21\n      @\n",
    ),
    ("permission", "resource: note\npermission:\n  @\n"),
];

/// The keys of a place.
fn keys(schema: &Schema, place: &str) -> Vec<String> {
    let table = match place {
        "" => &schema.root,
        "permission" => &schema.root["properties"]["permission"]["anyOf"][1],
        name => &schema.root["definitions"][name],
    };
    let table = table.get("properties").or_else(|| table["anyOf"][1].get("properties"));
    table.and_then(Value::as_object).expect(place).keys().cloned().collect()
}

#[test]
fn every_key_accepts_the_same_values_in_both() {
    let schema = schema();
    let (mut seen, mut differences) = (0, Vec::new());
    for (place, text) in PLACES {
        let indent: String =
            text.lines().find(|line| line.contains('@')).unwrap().chars().take_while(|c| *c == ' ').collect();
        for key in keys(&schema, place) {
            // Replaces the existing line.
            let others = Regex::new(&format!("(?m)^{indent}{key}: .*\n")).unwrap().replace(text, "").into_owned();
            for value in VALUES {
                let yaml = others.replace('@', &format!("{key}: {value}"));
                let Ok(read) = serde_yaml::from_str::<Value>(&yaml) else { continue };
                let taken = schema.takes(&read);
                let (of_shape, any) =
                    with_report(Sources::from_texts([("resources/note.yaml", yaml.as_str())]), |report| {
                        let problems = || report.problems().iter().filter(|problem| !problem.code.is_warning());
                        let of_shape = problems().find(|problem| OF_SHAPE.contains(&problem.code));
                        (of_shape.map(|problem| problem.message.clone()), problems().next().is_some())
                    });
                seen += 1;
                match of_shape {
                    Some(message) if taken => differences.push(format!("{place} `{key}: {value}`: {message}")),
                    // Editors read an unquoted `true` as a boolean, not as a name.
                    _ if !taken && !any && *value != "true" => {
                        differences.push(format!("{place} `{key}: {value}`: the schema alone refuses it"))
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(seen > 4_000, "{seen} values were tried");
}
