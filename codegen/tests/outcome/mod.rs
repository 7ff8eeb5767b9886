//! Outcome of a command: its exit code and what it printed.

use std::process::Output;

/// Expects an exit code, and returns what the command wrote to standard output and to standard error.
#[track_caller]
pub fn ends(output: Output, code: i32) -> (String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
    (out, err)
}
