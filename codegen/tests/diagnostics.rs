//! What is reported, case by case: `diagnostics/<case>.yaml` gives `diagnostics/<case>.txt`. `UPDATE=1` writes what differs.
//!
//! A case may hold several files, each under a comment with its name.

mod compare;

use std::fs;
use std::path::{Path, PathBuf};

use charter_codegen::{Code, Output, Report, Sources, compile, compile_sources};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// What is wrong with a case, or what its developer is warned of.
fn report(case: &str) -> Report {
    let text = fs::read_to_string(folder().join(format!("{case}.yaml"))).unwrap();
    let report = compile_sources(Sources::from_example(&text)).map_or_else(|report| report, Output::into_warnings);
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
fn no_report_is_left_without_its_case() {
    assert_eq!(compare::files_ending(&folder(), ".txt"), cases());
}

#[test]
fn every_code_has_a_case() {
    let reports: Vec<Report> = cases().iter().map(|case| report(case)).collect();
    for &code in Code::ALL {
        let found = reports.iter().flat_map(Report::problems).any(|problem| problem.code == code);
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
fn problems_stand_in_the_order_of_files_and_lines() {
    for case in cases() {
        let report = report(&case);
        let places: Vec<_> = report.problems().iter().map(|problem| problem.span).collect();
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
fn a_folder_that_is_not_there_is_a_problem_too() {
    let report = compile(Path::new("tests/nowhere")).unwrap_err();
    assert_eq!(report.problems().len(), 1);
    assert!(report.render().contains("tests/nowhere"), "{}", report.render());
}
