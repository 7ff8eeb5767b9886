//! Writing of the output: changed files only, no orphans, and fast enough for every build.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use charter_codegen::{Output, Sources, compile, compile_sources};

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn output(texts: &[(&str, &str)]) -> Output {
    let sources = Sources::from_texts(texts.iter().copied());
    compile_sources(sources).unwrap_or_else(|report| panic!("{}", report.render()))
}

const PRODUCT: (&str, &str) =
    ("resources/product.yaml", "resource: product\nfields:\n  name: { type: text, nullable: true }\n");
const MEMBER: (&str, &str) = ("resources/member.yaml", "resource: member\n");

fn times(folder: &Path) -> BTreeMap<String, SystemTime> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().modified().unwrap()))
        .collect()
}

#[test]
fn one_file_for_each_resource_and_the_index() {
    let folder = folder("each");
    assert_eq!(output(&[MEMBER, PRODUCT]).write(&folder).unwrap(), ["member", "product", "resources"]);
    assert_eq!(times(&folder).into_keys().collect::<Vec<_>>(), ["member.rs", "product.rs", "resources.rs"]);
}

#[test]
fn unchanged_files_are_not_rewritten() {
    let folder = folder("unchanged");
    output(&[MEMBER, PRODUCT]).write(&folder).unwrap();
    let before = times(&folder);
    assert!(output(&[MEMBER, PRODUCT]).write(&folder).unwrap().is_empty());
    assert_eq!(times(&folder), before);

    let changed = ("resources/product.yaml", "resource: product\nfields:\n  name: { type: text, default: \"\" }\n");
    assert_eq!(output(&[MEMBER, changed]).write(&folder).unwrap(), ["product"]);
    // A comment in the YAML does not change the Rust.
    let commented = ("resources/member.yaml", "# People and organisations.\nresource: member\n");
    assert!(output(&[commented, changed]).write(&folder).unwrap().is_empty());
}

#[test]
fn written_files_equal_the_printed_ones() {
    let folder = folder("shown");
    let output = output(&[PRODUCT]);
    output.write(&folder).unwrap();
    assert_eq!(fs::read_to_string(folder.join("product.rs")).unwrap(), output.file("product").unwrap().text());
}

#[test]
fn orphans_are_removed_and_other_files_stay() {
    let folder = folder("orphans");
    output(&[MEMBER, PRODUCT]).write(&folder).unwrap();
    fs::write(folder.join("other.rs"), "// written by hand\n").unwrap();
    fs::write(folder.join("notes.txt"), "// Generated elsewhere\n").unwrap();
    output(&[PRODUCT]).write(&folder).unwrap();
    let left: Vec<String> = times(&folder).into_keys().collect();
    assert_eq!(left, ["notes.txt", "other.rs", "product.rs", "resources.rs"]);
}

#[test]
fn a_hundred_resources_are_generated_within_seconds() {
    let yaml = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/activity.yaml")).unwrap();
    let others =
        ["activity_participant", "member", "product", "product_group", "tax_class", "stock_level", "accessory"].map(
            |name| {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.yaml"));
                (format!("resources/{name}.yaml"), fs::read_to_string(path).unwrap())
            },
        );
    let copies = (0..100).map(|number| {
        let name = format!("activity{number}");
        let embedded = "  participants:         { many: activity_participant }\n";
        (
            format!("resources/{name}.yaml"),
            yaml.replace("resource: activity", &format!("resource: {name}")).replace(embedded, ""),
        )
    });
    let texts: Vec<(String, String)> =
        copies.chain(others).chain([("resources/activity.yaml".to_owned(), yaml.clone())]).collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();

    let folder = folder("hundred");
    let mut took = Vec::new();
    for _ in 0..2 {
        let start = Instant::now();
        output(&texts).write(&folder).unwrap();
        took.push(start.elapsed());
    }
    println!("first {:?}, unchanged {:?}", took[0], took[1]);
    // Measured at 0.3 s in a debug build; the bound leaves room for a loaded machine.
    assert!(took.iter().all(|took| *took < Duration::from_secs(3)), "{took:?}");
}

#[test]
fn referenced_rows_are_seeded_first() {
    let folder = folder("seeds");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let named = "fields:\n  name: { type: string(30), required: true, unique: true }\n";
    for (name, further) in [
        ("adder", "  next_id: { type: ref(bear), nullable: true }\n"),
        ("bear", "  last: { type: string(30), nullable: true, exists: cat.name }\n"),
        ("cat", ""),
    ] {
        write(&format!("{name}.yaml"), &format!("resource: {name}\nseed: {name}.seed.yaml\n{named}{further}"));
        write(&format!("{name}.seed.yaml"), "[]\n");
    }
    let output = compile(&folder).unwrap_or_else(|report| panic!("{}", report.render()));
    output.write(&folder).unwrap();
    let index = fs::read_to_string(folder.join("resources.rs")).unwrap();
    let at = |name: &str| index.find(&format!("{name}.seed.yaml")).unwrap();
    assert!(at("cat") < at("bear") && at("bear") < at("adder"), "{index}");
}
