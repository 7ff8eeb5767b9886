//! `cargo charter migration`: its files, its errors, and its snapshot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FIRST: &str =
    "resource: product\nfields:\n  name: { type: string(40), nullable: true }\n  old: { type: text, nullable: true }\n";
const SECOND: &str = "resource: product\nfields:\n  name: { type: string(80), nullable: true }\n";

fn project(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("migration").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("resources")).unwrap();
    fs::write(folder.join("resources/product.yaml"), FIRST).unwrap();
    folder
}

fn charter(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    command.arg("migration").args(arguments).current_dir(folder).output().unwrap()
}

#[track_caller]
fn ends(output: Output, code: i32) -> String {
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

/// The names of the files that have an ending, without it, sorted.
fn stems(folder: &Path, ending: &str) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut stems: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(ending)?.to_owned())).collect();
    stems.sort();
    stems
}

fn migrations(folder: &Path) -> Vec<String> {
    stems(&folder.join("migrations"), ".rs")
}

#[test]
fn the_command_writes_a_migration_and_its_snapshot() {
    let folder = project("new");
    assert!(ends(charter(&folder, &["new", "--check"]), 1).contains("products.create(["));
    let told = ends(charter(&folder, &["new", "products"]), 0);
    assert!(told.contains("_000001_products.rs\n") && told.contains("snapshot/product.yaml\n"), "{told}");
    ends(charter(&folder, &["new", "--check"]), 0);
    assert!(ends(charter(&folder, &["new", "again"]), 0).contains("nothing changed"));
    assert_eq!(migrations(&folder).len(), 1);

    fs::write(folder.join("resources/product.yaml"), SECOND).unwrap();
    assert!(ends(charter(&folder, &["new", "--check"]), 1).contains("products.remove(\"old\")"));
    let told = ends(charter(&folder, &["new", "longer"]), 1);
    assert!(told.contains("product.old: the column `old`") && told.contains("--allow-destructive"), "{told}");
    let shown = ends(charter(&folder, &["new", "longer", "--dry-run"]), 0);
    assert!(shown.contains("-- PostgreSQL, up\n") && shown.contains("-- SQLite, down\n"), "{shown}");
    assert_eq!(migrations(&folder).len(), 1);
    ends(charter(&folder, &["new", "longer", "--allow-destructive"]), 0);
    assert!(migrations(&folder)[1].ends_with("_000002_longer"), "{:?}", migrations(&folder));
}

#[test]
fn a_change_without_a_table_updates_only_the_snapshot() {
    let folder = project("behind");
    let list = |length: &str| {
        let yaml = format!("resource: product\nfields:\n  tags: {{ type: list(string({length})) }}\n");
        fs::write(folder.join("resources/product.yaml"), yaml).unwrap();
    };
    list("9");
    ends(charter(&folder, &["new", "products"]), 0);
    list("5");
    let told = ends(charter(&folder, &["new", "--check"]), 1);
    assert!(told.contains("the YAML of product\n") && told.contains("`cargo charter migration snapshot`"), "{told}");
    let shown = ends(charter(&folder, &["new", "shorter", "--dry-run"]), 0);
    assert_eq!(shown, "-- the tables do not change; only the snapshot does\n");
    ends(charter(&folder, &["snapshot"]), 0);
    ends(charter(&folder, &["new", "--check"]), 0);
}

#[test]
fn the_command_says_which_rules_the_migration_verifies() {
    let folder = project("verified");
    ends(charter(&folder, &["new", "products"]), 0);
    let more =
        "  size: { type: integer, nullable: true }\nunique: [{ fields: [name], ignore_case: true, where: size > 0 }]\n";
    fs::write(folder.join("resources/product.yaml"), format!("{FIRST}{more}")).unwrap();
    ends(charter(&folder, &["new", "size"]), 0);
    let narrower =
        format!("{FIRST}{}", more.replace("true }\nunique", "true, max: 9 }\nchecks: [{ that: size != 4 }]\nunique"));
    fs::write(folder.join("resources/product.yaml"), narrower.replace("size > 0", "size > 1")).unwrap();
    let shown = ends(charter(&folder, &["new", "narrower", "--dry-run"]), 0);
    assert!(
        shown.contains(
            "-- warns if rows break `size max: 9`:\nSELECT count(*), min(\"id\") FROM \"products\" WHERE (NOT (\"size\" <= 9));\n"
        ),
        "{shown}"
    );
    let told = ends(charter(&folder, &["new", "narrower"]), 0);
    let expected = [
        "stops before any change if rows of `products` have the same `name` without regard to case where `size > 1`",
        "warns of rows of `products` that break `checks: size != 4`",
        "warns of rows of `products` that break `size max: 9`",
    ];
    let expected: String = expected.iter().map(|line| format!("when it runs, it {line}\n")).collect();
    assert!(told.ends_with(&expected), "{told}");
    ends(charter(&folder, &["new", "--check"]), 0);
}

#[test]
fn a_named_folder_of_migrations_must_exist() {
    let folder = project("named");
    let told = ends(charter(&folder, &["new", "products", "--migrations", "nope"]), 2);
    assert!(told.contains("the folder `nope` does not exist") && !folder.join("nope").exists(), "{told}");
    fs::create_dir_all(folder.join("nope")).unwrap();
    ends(charter(&folder, &["new", "products", "--migrations", "nope"]), 0);
}

/// Migration numbers have six digits.
#[test]
fn migration_numbers_have_at_most_six_digits() {
    let folder = project("numbers");
    fs::create_dir_all(folder.join("migrations/snapshot")).unwrap();
    fs::write(folder.join("migrations/m29990101_999999_last.rs"), "").unwrap();
    let told = ends(charter(&folder, &["new", "products"]), 1);
    assert!(told.contains("no number is free after m29990101_999999"), "{told}");
    assert_eq!(migrations(&folder), ["m29990101_999999_last"]);
    assert_eq!(stems(&folder.join("migrations/snapshot"), ".yaml"), [""; 0]);
}

/// Without a snapshot, the migration would create every table again.
#[test]
fn a_missing_snapshot_is_an_error() {
    let folder = project("lost");
    ends(charter(&folder, &["new", "products"]), 0);
    fs::remove_dir_all(folder.join("migrations/snapshot")).unwrap();
    fs::write(folder.join("resources/product.yaml"), SECOND).unwrap();
    for arguments in [&["new", "longer"][..], &["new", "longer", "--dry-run"], &["new", "--check"]] {
        let told = ends(charter(&folder, arguments), 1);
        assert!(
            told.contains("the snapshot folder `migrations/snapshot` is missing")
                && told.contains("_products.rs exists")
                && told.contains("migration snapshot"),
            "{told}"
        );
    }
    assert_eq!(migrations(&folder).len(), 1);
    // The layout of a crate of migrations.
    fs::create_dir_all(folder.join("migrations/src")).unwrap();
    let (from, to) = (folder.join("migrations"), folder.join("migrations/src/service"));
    fs::create_dir_all(&to).unwrap();
    let name = format!("{}.rs", migrations(&folder)[0]);
    fs::rename(from.join(&name), to.join(&name)).unwrap();
    let told = ends(charter(&folder, &["new", "longer"]), 1);
    assert!(
        told.contains("`migrations/src/service/snapshot` is missing") && told.contains("--migrations migrations/src/"),
        "{told}"
    );
    ends(charter(&folder, &["snapshot", "--migrations", "migrations/src/service"]), 0);
    ends(charter(&folder, &["new", "--check"]), 0);
}

#[test]
fn the_command_writes_a_snapshot_for_manual_migrations() {
    let folder = project("snapshot");
    ends(charter(&folder, &["snapshot"]), 0);
    ends(charter(&folder, &["new", "--check"]), 0);
    assert!(migrations(&folder).is_empty());
    for wrong in ["", "Upper", "two words", "_a", "a__b"] {
        ends(charter(&folder, &["new", wrong]), 2);
    }
    fs::write(folder.join("migrations/snapshot/product.yaml"), "label: [").unwrap();
    assert!(ends(charter(&folder, &["new", "--check"]), 2).contains("product.yaml is not a snapshot"));
}
