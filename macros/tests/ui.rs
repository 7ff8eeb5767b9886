//! Error messages of the derives: `ui/<topic>.rs` has the misuses, `ui/<topic>.stderr` the compiler's output.
//!
//! `TRYBUILD=overwrite cargo test -p charter-macros --test ui` regenerates the output after a change of the messages.

#[test]
fn misuses_are_reported() {
    // Valid structs are in the other tests: one passing case would add code generation to every case.
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
