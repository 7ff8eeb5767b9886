//! Reports, case by case: `diagnostics/<case>.txt` for `diagnostics/<case>.yaml`. `UPDATE=1` writes the differences.
//!
//! A case can contain several files, each after a comment with its name.

mod compare;

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use charter_codegen::{Code, Output, Report, Sources, compile, compile_sources};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// The outcome of a case.
struct Case(Result<Output, Report>);

/// The problems or warnings of a case.
impl Deref for Case {
    type Target = Report;

    fn deref(&self) -> &Report {
        self.0.as_ref().map_or_else(|report| report, Output::warnings)
    }
}

fn report(case: &str) -> Case {
    let text = fs::read_to_string(folder().join(format!("{case}.yaml"))).unwrap();
    let report = Case(compile_sources(Sources::from_example(&text)));
    assert!(!report.problems().is_empty(), "{case} has no problem");
    report
}

fn cases() -> Vec<String> {
    compare::files_ending(&folder(), ".yaml")
}

#[test]
fn each_case_gives_its_report() {
    let mut differences = Vec::new();
    for case in cases() {
        let report = report(&case);
        let text = format!("{}{}\n", report.render(), report.summary());
        differences.extend(compare::with_file(&folder().join(format!("{case}.txt")), &text));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_report_has_a_case() {
    assert_eq!(compare::files_ending(&folder(), ".txt"), cases());
}

#[test]
fn every_code_has_a_case() {
    let reports: Vec<Case> = cases().iter().map(|case| report(case)).collect();
    for &code in Code::ALL {
        let found = reports.iter().flat_map(|report| report.problems()).any(|problem| problem.code == code);
        assert!(found, "{code} is in no case of tests/diagnostics");
    }
}

#[test]
fn ten_mistakes_in_one_file_are_ten_reports_with_a_place_and_help() {
    let report = report("ten_mistakes");
    let mut codes: Vec<Code> = report.problems().iter().map(|problem| problem.code).collect();
    codes.sort();
    codes.dedup();
    assert!(codes.len() >= 10, "{codes:?}");
    for problem in report.problems() {
        assert!(problem.help.is_some(), "{}", problem.message);
        assert!(report.locate(problem).starts_with("resources/product.yaml:"), "{}", problem.message);
    }
}

#[test]
fn limits_of_the_databases_are_reported() {
    let problems = |columns: usize, references: usize| problems_of("integer, default: 0", columns, references);
    assert_eq!(problems(1_496, 0), [""; 0]);
    assert_eq!(problems(1_497, 0), ["`wide` has 1501 columns; the maximum is 1500"]);
    assert_eq!(problems(0, 60), [""; 0]);
    assert_eq!(problems(0, 61), ["`wide` shows fields of 61 other records; the maximum is 60"]);
    // Three system columns have 8 bytes each. The name comes before the aligned columns.
    for (kind, most) in [("bigint", 1_013), ("timestamp", 1_013), ("uuid", 506), ("decimal(18, 9)", 540)] {
        let kind = format!("{kind}, nullable: true");
        assert_eq!(problems_of(&kind, most, 0), [""; 0], "{kind}");
        let problems = problems_of(&kind, most + 1, 0);
        assert!(problems.len() == 1 && problems[0].contains("the maximum is 8160"), "{kind}: {problems:?}");
    }
    let problems_of_all = problems_of("decimal(18, 9), nullable: true", 1_497, 0);
    assert_eq!(problems_of_all, ["`wide` has 1501 columns; the maximum is 1500"]);
}

fn problems_of(kind: &str, columns: usize, references: usize) -> Vec<String> {
    let mut yaml =
        String::from("# resources/wide.yaml\nresource: wide\nfields:\n  name: { type: text, nullable: true }\n");
    (0..columns).for_each(|at| yaml.push_str(&format!("  c{at}: {{ type: {kind} }}\n")));
    for at in 0..references {
        yaml.push_str(&format!("  r{at}_id: {{ type: ref(wide), nullable: true }}\n"));
        yaml.push_str(&format!("  r{at}_a: {{ from: r{at}_id.name }}\n  r{at}_b: {{ from: r{at}_id.id }}\n"));
    }
    let case = Case(compile_sources(Sources::from_example(&yaml)));
    case.problems().iter().map(|problem| problem.message.clone()).collect()
}

#[test]
fn problems_are_sorted_by_file_and_line() {
    for case in cases() {
        let report = report(&case);
        let places: Vec<_> = report.problems().iter().map(|problem| (problem.span.file, problem.span.start)).collect();
        assert!(places.is_sorted(), "{case}");
    }
}

#[test]
fn a_file_that_is_not_text_is_reported_and_the_others_are_checked() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not_text");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("binary.yaml"), [0xff, 0xfe, 0x00]).unwrap();
    fs::write(folder.join("product.yaml"), "resource: product\nfelds: {}\n").unwrap();
    let report = compile(&folder).unwrap_err();
    let codes: Vec<Code> = report.problems().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::Unreadable, Code::UnknownKey]);
    assert!(report.render().contains("binary.yaml"), "{}", report.render());
}

#[test]
fn misplaced_resource_files_are_reported() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misplaced");
    fs::create_dir_all(folder.join("more/still")).unwrap();
    for path in ["supplier.YAML", "more/product.yaml", "more/still/member.yml", "more/notes.txt"] {
        fs::write(folder.join(path), "resource: supplier\n").unwrap();
    }
    let report = compile(&folder).unwrap_err();
    let problems: Vec<&str> = report.problems().iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    for (problem, path) in problems.iter().zip(["more/product.yaml", "more/still/member.yml", "supplier.YAML"]) {
        assert!(problem.contains(path), "{problem}");
    }
}

#[test]
fn a_missing_folder_is_reported() {
    let report = compile(Path::new("tests/nowhere")).unwrap_err();
    assert_eq!(report.problems().len(), 1);
    assert!(report.render().contains("tests/nowhere"), "{}", report.render());
}
