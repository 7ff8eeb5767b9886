//! Server command `helpdesk`.

use std::process::ExitCode;

fn main() -> ExitCode {
    charter_runtime::main(helpdesk::app())
}
