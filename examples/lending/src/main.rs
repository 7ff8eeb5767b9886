//! Server command `lending`.

use std::process::ExitCode;

fn main() -> ExitCode {
    lending::app().main()
}
