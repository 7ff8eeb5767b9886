//! `charter import`: a file of the machine, its report and the exit code.

use serde_json::Value;

use super::on_both;
use crate::support::program::Program;

on_both!(file_is_rehearsed_and_imported, wrong_arguments_are_reported);

fn write(program: &Program, name: &str, text: &str) -> String {
    let path = program.path().join(name);
    std::fs::write(&path, text).expect("the folder can be written");
    path.display().to_string()
}

fn file_is_rehearsed_and_imported(program: Program) {
    let file = write(&program, "products.csv", "Name,Code,weight\nLamp,L1,1\nDesk,D1,heavy\n");
    let import = ["import", &file, "--resource", "products", "--match-by", "sku", "--map", "Code=sku"];
    let said = program.run(&[&import[..], &["--rehearse"]].concat());
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("row 3: weight must be a number"), "{said:?}");
    assert!(said.out.contains("2 rows; 1 would be created, 0 changed, 0 unchanged, 1 refused"), "{said:?}");
    assert!(said.err.contains("1 of 2 rows were refused"), "{said:?}");
    let said = program.run(&[&import[..], &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    assert_eq!((&report["status"], &report["created"]), (&"done".into(), &1.into()), "{report}");
    assert_eq!((&report["refused"][0]["number"], said.code), (&3.into(), 1));
    let fixed = write(&program, "fixed.csv", "Name,Code,weight\nLamp,L1,1\nDesk,D1,2\n");
    let again = ["import", &fixed, "--resource", "products", "--match-by", "sku", "--map", "Code=sku"];
    assert!(program.done(&again).contains("2 rows; 1 were created, 0 changed, 1 unchanged, 0 refused"));
}

fn wrong_arguments_are_reported(program: Program) {
    let file = write(&program, "x.csv", "name\nLamp\n");
    for (arguments, problem) in [
        (&[&file[..], "--resource", "product"][..], "must be the plural name of a resource"),
        (&[&file, "--resource", "products", "--map", "name"], "must have the form Column=field"),
        (&[&file, "--resource", "products", "--map", "Name=sku"], "did you mean `name`?"),
        (&[&file, "--resource", "products", "--match-by", "sku"], "a column is mapped to"),
        (&[&file, "--resource", "products", "--user", "none@example.com"], "none@example.com"),
        (&["none.csv", "--resource", "products"], "none.csv"),
    ] {
        let said = program.run(&[&["import"][..], arguments].concat());
        assert!(said.code == 1 && said.err.contains(problem), "{said:?}");
    }
}
