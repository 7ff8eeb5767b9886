//! Reading of YAML: the types of the grammar, and robustness against broken input.

use std::fs;
use std::path::Path;

use charter_codegen::{Report, Sources, compile_sources};

/// The generated Rust of a resource `note`.
fn note(yaml: &str) -> String {
    let sources = Sources::from_texts([("resources/note.yaml", yaml)]);
    let output = compile_sources(sources).unwrap_or_else(|report| panic!("{}", report.render()));
    output.file("note").unwrap().text()
}

fn report(yaml: &str) -> Report {
    compile_sources(Sources::from_texts([("resources/note.yaml", yaml)])).unwrap_err()
}

#[test]
fn a_comma_in_a_type_is_read_in_every_style() {
    let styles = [
        "resource: note\nfields:\n  size: { type: decimal(12, 4), default: 0 }\n",
        "resource: note\nfields:\n  size: { default: 0, type: decimal(12,4) }\n",
        "resource: note\nfields:\n  size: { type: \"decimal(12, 4)\", default: 0 }\n",
        "resource: note\nfields:\n  size:\n    type: decimal(12, 4)\n    default: 0\n",
        "resource: note\nfields: { size: { type: decimal( 12 , 4 ), default: 0 } }\n",
    ];
    for style in styles {
        assert!(note(style).contains("#[field(decimal(12, 4), default = \"0\")]"), "{style}");
    }
}

#[test]
fn a_bigint_has_64_bits() {
    let yaml = "resource: note\nfields:\n  size: { type: bigint, default: 2000000000000000000, \
                min: -9223372036854775808, max: 9223372036854775807 }\n";
    let text = note(yaml);
    assert!(text.contains("2000000000000000000") && text.contains("9223372036854775807"), "{text}");
}

#[test]
fn a_deeply_nested_type_is_rejected() {
    let report = report(&format!("resource: note\nfields:\n  a: {}\n", "list(".repeat(100_000)));
    assert!(report.problems()[0].message.len() < 200, "{}", report.problems()[0].message);
}

#[test]
fn two_torn_types_in_one_mapping_are_two_types() {
    let yaml = "resource: note\nactions:\n  sum:\n    on: collection\n    answer: sum\n    \
                output: { a: decimal(9, 2), b: decimal(8, 2), c: decimal(9, 2) }\n";
    let text = note(yaml);
    assert!(text.contains("pub a: Decimal<2>") && text.contains("decimal(8, 2)") && text.contains("pub c: Decimal<2>"));
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    let yaml = "resource: note\nfields:\n  title: { type: string(9), required: true }\n";
    assert_eq!(note(&yaml.replace('\n', "\r\n")), note(yaml));
    assert_eq!(note(&format!("\u{feff}{yaml}")), note(yaml));
}

#[test]
fn columns_count_characters() {
    let report = report("resource: note\nlabel: \"Größe\"\nfields:\n  ä: { type: text, nullable: true, ö: 1 }\n");
    let places: Vec<String> = report.problems().iter().map(|problem| report.locate(problem)).collect();
    assert_eq!(places, ["resources/note.yaml:4:3", "resources/note.yaml:4:36"]);
}

#[test]
fn quoted_default_words_are_text() {
    let yaml = "resource: note\nfields:\n  title: { type: string(9), default: \"now\" }\n  at: { type: timestamp, default: now }\n";
    let text = note(yaml);
    assert!(text.contains("default = \"now\"") && text.contains("default_now"), "{text}");
}

#[test]
fn a_permission_is_inherited_from_the_nearest_ancestor() {
    let sources = Sources::from_texts([
        ("resources/note.yaml", "resource: note\npermission: { read: secret.read, write: secret.write }\n"),
        ("resources/line.yaml", "resource: line\nunder: note\npermission: { write: other.write }\n"),
    ]);
    let output = compile_sources(sources).unwrap_or_else(|report| panic!("{}", report.render()));
    let text = output.file("line").unwrap().text();
    assert!(text.contains("read_permission = \"secret.read\""), "{text}");
    assert!(text.contains("write_permission = \"other.write\""), "{text}");
}

#[test]
fn an_empty_folder_is_an_empty_index() {
    let output = compile_sources(Sources::from_texts([])).unwrap();
    assert_eq!(output.files().len(), 1);
}

/// Every golden case without each of its lines in turn, truncated at every tenth byte, and with multi-byte letters
/// inserted there.
#[test]
fn no_input_panics() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in ["activity", "exchange_rate", "document", "settings"] {
        let text = fs::read_to_string(golden.join(format!("{name}.yaml"))).unwrap();
        let path = format!("resources/{name}.yaml");
        let lines: Vec<&str> = text.lines().collect();
        for skipped in 0..lines.len() {
            let rest = lines.iter().enumerate().filter(|(at, _)| *at != skipped).map(|(_, line)| format!("{line}\n"));
            render(&path, &rest.collect::<String>());
        }
        for end in (0..text.len()).step_by(10).filter(|end| text.is_char_boundary(*end)) {
            render(&path, &text[..end]);
            let (before, behind) = text.split_at(end);
            for odd in ["–", "“x”", "ü: ", "–a: b"] {
                render(&path, &format!("{before}{odd}{behind}"));
            }
        }
    }
    for odd in [
        "",
        "\n",
        "-",
        "- a",
        "a",
        "[",
        "{",
        "? a",
        "&a *a",
        "*a",
        "!!x",
        "\t",
        "a: b: c",
        "%YAML 9",
        "---\n---",
        "\u{0}",
        "a–b: c",
        "“a”b: c",
        "{ a: b, c: d–e: f }",
        "{ a: “b”c: d }",
    ] {
        render("resources/odd.yaml", odd);
        render("resources/odd.yaml", &format!("resource: odd\nfields: {odd}\n"));
        render("resources/odd.yaml", &format!("resource: odd\nfields:\n  a: {{ type: {odd} }}\n"));
    }
}

fn render(path: &str, text: &str) {
    match compile_sources(Sources::from_texts([(path, text)])) {
        Ok(output) => output.files().iter().for_each(|file| drop(file.text())),
        Err(report) => {
            assert!(!report.problems().is_empty());
            report.render();
            report.to_json();
        }
    }
}
