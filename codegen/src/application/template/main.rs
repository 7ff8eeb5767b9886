//! Server command `APPLICATION`.

use std::process::ExitCode;

fn main() -> ExitCode {
    charter_runtime::main(APPLICATION::app())
}
