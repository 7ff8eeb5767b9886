//! The server command `charter`.

use std::process::ExitCode;

fn main() -> ExitCode {
    charter_runtime::main(charter::app())
}
