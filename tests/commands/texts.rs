//! `charter texts` prints the texts that a language lacks, as a file to fill in.

use super::on_both;
use crate::support::program::Program;

on_both!(german_is_complete_and_another_language_is_printed_to_fill_in);

fn german_is_complete_and_another_language_is_printed_to_fill_in(program: Program) {
    assert_eq!(program.done(&["texts", "de"]), "");
    let printed = program.done(&["texts", "fr"]);
    assert!(printed.starts_with("labels:\n"), "{printed}");
    for line in ["  \"product groups\": \"\"", "texts:", "  \"Save\": \"\"", "messages:"] {
        assert!(printed.lines().any(|printed| printed == line), "{line}: {printed}");
    }
    let file: serde_yaml::Value = serde_yaml::from_str(&printed).expect("YAML");
    assert_eq!(file.as_mapping().map(serde_yaml::Mapping::len), Some(3));
    let refused = program.run(&["texts"]);
    assert!(refused.code == 2 && refused.err.contains("<language>"), "{refused:?}");
}
