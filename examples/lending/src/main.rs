//! Server command `lending`.

use std::process::ExitCode;

fn main() -> ExitCode {
    charter_runtime::main(lending::app())
}
