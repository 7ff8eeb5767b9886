//! Output and exit codes of `cargo charter`.

mod outcome;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use outcome::ends;
use serde_json::Value;

const GOOD: &str = "resource: product\nfields:\n  name: { type: text, nullable: true }\n";
const BAD: &str = "resource: product\nfields:\n  name: { type: txt, nulable: true }\n";

/// A folder with `resources/product.yaml`.
fn project(name: &str, product: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("resources")).unwrap();
    fs::write(folder.join("resources/product.yaml"), product).unwrap();
    folder
}

fn charter(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    command.args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn check_of_good_resources() {
    let folder = project("check_good", GOOD);
    let (out, _) = ends(charter(&folder, &["check"]), 0);
    assert_eq!(out, "1 resource, no problems\n");
    let (out, _) = ends(charter(&folder, &["check", "--format", "json"]), 0);
    assert_eq!(out, "[]\n");
}

#[test]
fn warnings_are_printed_and_fail_only_if_denied() {
    let folder = project("check_warns", &format!("{GOOD}sorts: [name]\n"));
    let (out, _) = ends(charter(&folder, &["check"]), 0);
    assert!(out.contains("warning[C0508]: no index serves sorting by `name`"), "{out}");
    assert!(out.contains(" --> resources/product.yaml:4:9") && out.contains("`unindexed: [name]`"), "{out}");
    assert!(out.ends_with("\n1 resource, no problems, 1 warning in 1 of 1 files\n"), "{out}");
    ends(charter(&folder, &["check", "--deny-warnings"]), 1);
    let (out, _) = ends(charter(&folder, &["check", "--format", "json"]), 0);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&told[0]["code"], &told[0]["severity"]), (&"C0508".into(), &"warning".into()));

    let meant = project("check_meant", &format!("{GOOD}sorts: [name]\nunindexed: [name]\n"));
    let (out, _) = ends(charter(&meant, &["check", "--deny-warnings"]), 0);
    assert_eq!(out, "1 resource, no problems\n");
    // With a problem, warnings are not reported.
    let both = project("check_both", &format!("{BAD}sorts: [name]\n"));
    let (out, _) = ends(charter(&both, &["check"]), 1);
    assert!(!out.contains("warning["), "{out}");
}

#[test]
fn the_resources_of_this_repository_have_no_warnings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["resources", "examples/helpdesk/resources", "examples/lending/resources"] {
        ends(charter(&root, &["check", "--deny-warnings", "--dir", folder]), 0);
    }
}

#[test]
fn invalid_utf_8_is_reported_with_its_line() {
    let folder = project("check_bytes", GOOD);
    for (bytes, told) in [
        (&b"resource: product\nlabel: \xE9t\xE9\n"[..], "the byte 0xE9 of line 2 is not UTF-8: save it as UTF-8"),
        (b"\xFF\xFEr\0e\0", "the file is UTF-16: save it as UTF-8"),
        (b"resource: product\nlabel: a\0b\n", "line 2 contains a null character: remove it"),
    ] {
        fs::write(folder.join("resources/product.yaml"), bytes).unwrap();
        let (out, _) = ends(charter(&folder, &["check"]), 1);
        assert!(out.contains(told), "{out}");
    }
}

#[test]
fn check_reports_every_problem_and_a_summary() {
    let folder = project("check_bad", BAD);
    let (out, _) = ends(charter(&folder, &["check"]), 1);
    assert!(out.contains("error[C0201]: unknown type `txt`\n --> resources/product.yaml:3:17"), "{out}");
    assert!(out.contains("help: did you mean `nullable`?"), "{out}");
    assert!(out.ends_with("\n2 problems in 1 of 1 files\n"), "{out}");
}

#[test]
fn files_of_editors_are_not_resources() {
    let folder = project("left", GOOD);
    fs::write(folder.join("resources/.hidden.yaml"), "resource: [").unwrap();
    fs::create_dir_all(folder.join("resources/.backup")).unwrap();
    fs::write(folder.join("resources/.backup/product.yaml"), GOOD).unwrap();
    // Editors create lock files as dangling links.
    #[cfg(unix)]
    std::os::unix::fs::symlink("nobody@nowhere", folder.join("resources/.#product.yaml")).unwrap();
    let (out, _) = ends(charter(&folder, &["check"]), 0);
    assert!(out.contains("1 resource, no problems"), "{out}");
}

/// `cargo charter explain | head -1`
#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = project("unread", "resource: product\nno_key: 1\n");
    for (arguments, code) in
        [(vec!["schema"], 0), (vec!["explain"], 0), (vec!["explain", "C0002"], 0), (vec!["check"], 1)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
        let child =
            command.args(&arguments).current_dir(&folder).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let (_, told) = ends(child.wait_with_output().unwrap(), code);
        assert_eq!(told, "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_errors_and_invalid_arguments_are_reported() {
    use std::os::unix::ffi::OsStrExt;
    let folder = project("unprinted", GOOD);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    let child = command.arg("schema").current_dir(&folder).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let (_, err) = ends(child.wait_with_output().unwrap(), 1);
    assert!(err.starts_with("stdout is not writable: "), "{err}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-charter"));
    let nowhere = std::ffi::OsStr::from_bytes(b"\xff");
    let output = command.arg("check").arg("--dir").arg(nowhere).current_dir(&folder).output().unwrap();
    let (_, err) = ends(output, 2);
    assert!(err.starts_with("the folder `"), "{err}");
}

#[test]
fn check_as_json_has_the_places() {
    let folder = project("check_json", BAD);
    let (out, _) = ends(charter(&folder, &["check", "--format", "json"]), 1);
    let problems: Value = serde_json::from_str(&out).unwrap();
    let second = &problems[1];
    assert_eq!(second["code"], "C0002");
    assert_eq!(second["file"], "resources/product.yaml");
    assert_eq!((&second["line"], &second["column"], &second["end_column"]), (&3.into(), &22.into(), &29.into()));
    assert_eq!(second["help"], "did you mean `nullable`?");
}

#[test]
fn the_folder_is_an_option() {
    let folder = project("dir", GOOD);
    fs::rename(folder.join("resources"), folder.join("declared")).unwrap();
    ends(charter(&folder, &["check", "--dir", "declared"]), 0);
    let (_, err) = ends(charter(&folder, &["check"]), 2);
    assert!(err.contains("the folder `resources` does not exist"), "{err}");
}

#[test]
fn expand_prints_one_resource_or_the_index() {
    let folder = project("expand", GOOD);
    let (out, _) = ends(charter(&folder, &["expand", "product"]), 0);
    assert!(out.starts_with("// Generated from resources/product.yaml."), "{out}");
    assert!(out.contains("pub name: Option<String>"), "{out}");
    let (out, _) = ends(charter(&folder, &["expand", "resources"]), 0);
    assert!(out.contains("pub mod product;"), "{out}");
    let (_, err) = ends(charter(&folder, &["expand", "prodct"]), 2);
    assert!(err.contains("valid names are product, resources"), "{err}");
}

#[test]
fn expand_of_bad_resources_reports_them() {
    let folder = project("expand_bad", BAD);
    let (out, err) = ends(charter(&folder, &["expand", "product"]), 1);
    assert!(out.is_empty() && err.contains("C0201"), "{out}\n{err}");
}

#[test]
fn schema_is_a_json_schema() {
    let folder = project("schema", GOOD);
    let (out, _) = ends(charter(&folder, &["schema"]), 0);
    let schema: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(schema["required"][0], "resource");
}

#[test]
fn explain_lists_and_explains() {
    let folder = project("explain", GOOD);
    let (out, _) = ends(charter(&folder, &["explain"]), 0);
    assert!(out.contains("C0002  an unknown key\n"), "{out}");
    let (out, _) = ends(charter(&folder, &["explain", "c0002"]), 0);
    assert!(out.starts_with("## C0002:") && out.contains("nulable"), "{out}");
    let (out, _) = ends(charter(&folder, &["explain", "--format", "json"]), 0);
    assert!(serde_json::from_str::<Value>(&out).unwrap().as_array().unwrap().len() > 40);
    let (out, _) = ends(charter(&folder, &["explain", "C0002", "--format", "json"]), 0);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["code"], "C0002");
    ends(charter(&folder, &["explain", "C9999"]), 2);
}

#[test]
fn docs_are_written_and_compared() {
    let folder = project("docs", GOOD);
    let (out, _) = ends(charter(&folder, &["docs"]), 1);
    assert!(out.contains("cargo charter docs --write"), "{out}");
    ends(charter(&folder, &["docs", "--write"]), 0);
    ends(charter(&folder, &["docs", "--check"]), 0);
    fs::write(folder.join("docs/diagnostics.md"), "changed by hand").unwrap();
    let (out, _) = ends(charter(&folder, &["docs", "--check"]), 1);
    assert_eq!(out.lines().count(), 1, "{out}");
}

#[test]
fn wrong_usage_is_2_and_help_is_0() {
    let folder = project("usage", GOOD);
    ends(charter(&folder, &[]), 2);
    ends(charter(&folder, &["chek"]), 2);
    ends(charter(&folder, &["check", "--format", "xml"]), 2);
    ends(charter(&folder, &["docs", "--write", "--check"]), 2);
    ends(charter(&folder, &["--help"]), 0);
}

#[test]
fn the_subcommand_name_of_cargo_is_skipped() {
    let folder = project("subcommand", GOOD);
    ends(charter(&folder, &["charter", "check"]), 0);
}

fn git(folder: &Path, arguments: &[&str]) {
    let author = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").args(author).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn diff_compares_with_a_revision_and_exits_by_severity() {
    let folder = project("diff", GOOD);
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "first"]);
    let (out, _) = ends(charter(&folder, &["diff"]), 0);
    assert_eq!(out, "no change\n");

    fs::write(folder.join("resources/product.yaml"), format!("{GOOD}  size: {{ type: integer, default: 1 }}\n"))
        .unwrap();
    let (out, _) = ends(charter(&folder, &["diff"]), 0);
    assert!(out.contains("safe      product.fields.size: it is added\n"), "{out}");
    assert!(out.ends_with("0 breaking for clients, 1 safe, 0 dangerous for data: a minor version\n"), "{out}");

    git(&folder, &["commit", "--quiet", "--all", "--message", "second"]);
    fs::write(folder.join("resources/product.yaml"), GOOD).unwrap();
    let (out, _) = ends(charter(&folder, &["diff", "--format", "json"]), 1);
    let diff: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&diff["version"], &diff["changes"][0]["at"]), (&"major".into(), &"fields.size".into()));
    ends(charter(&folder, &["diff", "HEAD~1"]), 0);
    // It runs from a subfolder of the repository too.
    ends(charter(&folder.join("resources"), &["diff", "--dir", ".", "HEAD"]), 1);

    // In the revision the folder did not exist: everything is added.
    fs::create_dir(folder.join("more")).unwrap();
    fs::write(folder.join("more/product.yaml"), GOOD).unwrap();
    let (out, _) = ends(charter(&folder, &["diff", "--dir", "more"]), 0);
    assert!(out.contains("product: the resource is added"), "{out}");
}

#[test]
fn a_failed_diff_exits_with_2() {
    let folder = project("diff_nothing", GOOD);
    let (_, err) = ends(charter(&folder, &["diff", "no-such-revision"]), 2);
    assert!(!err.is_empty());
    ends(charter(&folder, &["diff", "--dir", "nowhere"]), 2);
    fs::write(folder.join("resources/product.yaml"), BAD).unwrap();
    let (_, err) = ends(charter(&folder, &["diff"]), 2);
    assert!(err.contains("C0201"), "{err}");
}

#[test]
fn diagram_draws_the_lifecycle_of_a_resource_or_of_all() {
    let states =
        "states:\n  field: status\n  transitions:\n    solve: { from: open, to: solved, if: name is not null }\n";
    let status = "  status: { type: enum, values: [open, solved], default: open }\n";
    let folder = project("diagram", &format!("{GOOD}{status}{states}"));
    let diagram =
        "stateDiagram-v2\n    [*] --> open\n    open --> solved: solve [name is not null]\n    solved --> [*]\n";
    let (out, _) = ends(charter(&folder, &["diagram", "product"]), 0);
    assert_eq!(out, diagram);
    fs::write(folder.join("resources/note.yaml"), GOOD.replace("product", "note")).unwrap();
    let (out, _) = ends(charter(&folder, &["diagram"]), 0);
    assert_eq!(out, format!("%% product\n{diagram}"));
    let (_, problem) = ends(charter(&folder, &["diagram", "note"]), 2);
    assert_eq!(problem, "no resource `note` has `states`; resources with `states`: product\n");
    fs::remove_file(folder.join("resources/product.yaml")).unwrap();
    let (out, _) = ends(charter(&folder, &["diagram"]), 0);
    assert_eq!(out, "no resource has `states`\n");
}
