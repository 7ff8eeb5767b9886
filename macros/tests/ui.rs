//! Every misuse is reported where it stands, with help: `ui/<topic>.rs` beside the compiler's answer to it.
//!
//! After a change of the messages, `TRYBUILD=overwrite cargo test -p charter-macros --test ui` writes them anew.

#[test]
fn misuses_are_reported() {
    // What compiles is in the other tests: a passing case here would make every case pay for generating code.
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
