//! The server command `charter`.

use std::process::ExitCode;

/// Rows become JSON in many small pieces; `docs/performance.md` has what this saves.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    charter::app().main()
}
