//! `cargo charter new`, run as a command: the files that it writes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const FIELDS: &[&str] = &[
    "name:string!",
    "price:decimal(2)",
    "rate:decimal(18,8)!",
    "group:ref(product_group)",
    "owner:ref(product_group|thing)",
    "in_use:boolean=true",
    "size:enum(small|large)=small",
    "way:code(1=In|2=Out)=1",
    "seen_at:timestamp=now",
    "day:date",
    "number:uuid",
    "notes:text",
    "tags:list(string(50))",
    "more:json",
    "count:integer",
];

/// A folder with one resource.
fn project(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scaffold").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("resources")).unwrap();
    let group = "resource: product_group\nfields:\n  name: { type: string(40), required: true }\n";
    fs::write(folder.join("resources/product_group.yaml"), group).unwrap();
    folder
}

fn charter(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that rejects its arguments does not read the input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[track_caller]
fn ends(output: Output, code: i32) -> String {
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

fn written(folder: &Path, resource: &str) -> String {
    fs::read_to_string(folder.join(format!("resources/{resource}.yaml"))).unwrap()
}

#[test]
fn a_plural_is_written_with_a_question() {
    let folder = project("plural");
    let told = ends(charter(&folder, &["new", "suppliers", "by:ref(user)=caller"], ""), 0);
    assert!(told.contains("use the singular: `supplier`?"), "{told}");
    assert!(written(&folder, "suppliers").contains("default: caller }"));
    let told = ends(charter(&folder, &["new", "address", "name:string!"], ""), 0);
    assert!(!told.contains("plural"), "{told}");
}

#[test]
fn every_kind_of_field_is_written_and_every_comment_is_valid() {
    let folder = project("all");
    ends(charter(&folder, &[&["new", "thing"], FIELDS].concat(), ""), 0);
    ends(charter(&folder, &["check"], ""), 0);
    let text = written(&folder, "thing");
    assert!(text.contains("  price:    { type: decimal(12, 2), default: 0 }\n"), "{text}");
    let said = text.replace("\n#: ", "\n");
    assert!(said.lines().count() == text.lines().count() && said != text);
    for key in [
        "delete: soft",
        "custom_fields: true",
        "attachments: true",
        "search: [name, notes]",
        "includes: { group: group_id }",
    ] {
        assert!(said.contains(&format!("\n{key}\n")), "{key} is not said in\n{said}");
    }
    fs::write(folder.join("resources/thing.yaml"), said).unwrap();
    ends(charter(&folder, &["check"], ""), 0);
    ends(charter(&folder, &["migration", "new", "things"], ""), 0);
}

#[test]
fn fields_are_prompted_for_if_none_are_given() {
    let folder = project("asked");
    ends(charter(&folder, &["new", "thing"], "name:string!\n price:decimal(2) \n\nlate:text\n"), 0);
    let text = written(&folder, "thing");
    assert!(text.contains("  name:  { type: string(255), required: true }\n"), "{text}");
    assert!(text.contains("price:") && !text.contains("late"), "{text}");
    assert!(ends(charter(&folder, &["new", "other"], "\n"), 2).contains("a resource needs fields"));
}

#[test]
fn invalid_fields_are_reported_and_not_written() {
    let folder = project("wrong");
    let told = ends(charter(&folder, &["new", "thing", "group:ref(nowhere)", "a:strin"], ""), 1);
    assert!(told.contains("resources/thing.yaml:") && told.contains("nowhere") && told.contains("strin"), "{told}");
    assert!(told.contains("nothing was written") && !folder.join("resources/thing.yaml").exists(), "{told}");
    assert!(ends(charter(&folder, &["new", "thing", "name"], ""), 2).contains("`name` is not a field"));
    assert!(ends(charter(&folder, &["new", "product_group", "a:text"], ""), 2).contains("already exists"));
    ends(charter(&folder, &["new", "../thing", "a:text"], ""), 1);
    assert!(!folder.join("thing.yaml").exists());
}

#[test]
fn an_empty_folder_gets_an_application() {
    let folder = project("empty");
    fs::remove_dir_all(folder.join("resources")).unwrap();
    let told = ends(charter(&folder, &["new", "thing", "name:string!"], ""), 0);
    for path in [
        "Cargo.toml",
        "build.rs",
        "src/main.rs",
        "src/lib.rs",
        "src/resources/mod.rs",
        "tests/tables.rs",
        "tests/things.rs",
        "README.md",
        "Dockerfile",
        ".cargo/config.toml",
        ".github/workflows/ci.yml",
        ".gitignore",
        "docs/resource.schema.json",
        "resources/thing.yaml",
    ] {
        assert!(told.contains(&format!("wrote {path}\n")) && folder.join(path).is_file(), "{told}");
    }
    ends(charter(&folder, &["check"], ""), 0);
    let schema = "# yaml-language-server: $schema=../docs/resource.schema.json\n";
    assert!(written(&folder, "thing").starts_with(schema), "editors find the keys");
    // In an existing application, only the resource is written.
    let told = ends(charter(&folder, &["new", "other", "name:string!"], ""), 0);
    assert!(told.starts_with("wrote resources/other.yaml\n"), "{told}");
    let told = ends(charter(&folder, &["new", "third", "name:string!", "--version", "0.1.0"], ""), 2);
    assert!(told.contains("are for a new application") && !folder.join("resources/third.yaml").exists(), "{told}");
}

#[test]
fn crates_of_a_new_application_come_from_the_place_that_is_named() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let checkout = checkout.to_str().unwrap();
    let near = "charter-runtime = { path = \"../";
    let places: [(&[&str], &str); 4] = [
        (&[], near),
        (&["--path", checkout], near),
        (
            &["--git", "https://git.example/charter", "--rev", "abc"],
            "git = \"https://git.example/charter\", rev = \"abc\"",
        ),
        (&["--version", "0.1.0"], "charter-runtime = \"0.1.0\"\n"),
    ];
    for (place, expected) in places {
        let folder = project("source");
        fs::remove_dir_all(folder.join("resources")).unwrap();
        ends(charter(&folder, &[&["new", "thing", "name:string!"], place].concat(), ""), 0);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(expected), "{place:?}: {manifest}");
        // Versions of a lock file of another place could not be found.
        assert_eq!(folder.join("Cargo.lock").is_file(), expected == near, "{place:?}");
    }
}

#[test]
fn a_folder_that_is_no_checkout_is_refused_and_nothing_is_written() {
    let folder = project("elsewhere");
    fs::remove_dir_all(folder.join("resources")).unwrap();
    for (place, problem) in [
        (&["--path", "/nowhere"][..], "`/nowhere` is not a checkout of Charter"),
        (&["--rev", "abc"], "--git <URL>"),
        (&["--git", "https://git.example/charter", "--version", "0.1.0"], "cannot be used with"),
    ] {
        let told = ends(charter(&folder, &[&["new", "thing", "name:string!"], place].concat(), ""), 2);
        assert!(told.contains(problem), "{told}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{place:?}");
    }
}

/// The first command of the page on adding a resource.
#[test]
fn the_command_of_the_documentation_writes_its_example() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/adding-a-resource.md")).unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix("cargo charter new ")).expect("the page has the line");
    let arguments: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('\'')).collect();
    let folder = project("page");
    ends(charter(&folder, &[&["new"], arguments.as_slice()].concat(), ""), 0);
    let text = written(&folder, "supplier");
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    let fields = rest.split("```").next().unwrap().lines().filter(|line| line.starts_with("  "));
    for field in fields {
        let (name, rest) = field.trim().split_once(':').unwrap();
        let kind = rest.split_once("type: ").unwrap().1.split([',', '}']).next().unwrap().trim();
        assert!(text.contains(&format!("  {name}:")) && text.contains(kind), "{name}: {kind} is not in\n{text}");
    }
}
