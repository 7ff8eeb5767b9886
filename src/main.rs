//! The server command `charter`.

use std::process::ExitCode;

fn main() -> ExitCode {
    charter::app().main()
}
