//! Examples of the explanations: the wrong one of each code has that problem only, the right one compiles.

use charter_codegen::{Code, Sources, compile_sources, entry};

#[test]
fn every_wrong_example_has_its_problem_and_no_other() {
    for &code in Code::ALL {
        let result = compile_sources(Sources::from_example(entry(code).wrong));
        assert_eq!(result.is_ok(), code.is_warning(), "{code}");
        let report = match &result {
            Ok(output) => output.warnings(),
            Err(report) => report,
        };
        let found: Vec<Code> = report.problems().iter().map(|problem| problem.code).collect();
        assert!(found.iter().all(|found| *found == code) && !found.is_empty(), "{code}:\n{}", report.render());
    }
}

#[test]
fn every_right_example_compiles() {
    for &code in Code::ALL {
        match compile_sources(Sources::from_example(entry(code).right)) {
            Ok(output) => assert!(output.warnings().problems().is_empty(), "{code}:\n{}", output.warnings().render()),
            Err(report) => panic!("{code}:\n{}", report.render()),
        }
    }
}

#[test]
fn codes_are_in_order_and_read_back() {
    assert!(Code::ALL.windows(2).all(|pair| pair[0].as_str() < pair[1].as_str()));
    assert!(Code::ALL.iter().all(|code| Code::read(&code.as_str().to_lowercase()) == Some(*code)));
}
