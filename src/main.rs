//! The server command `charter`.

use std::process::ExitCode;

/// Rows are serialized to JSON in many small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The allocator asks for pages of 2 MiB, most of which a quiet server leaves empty. A kernel that knows no such setting has
    // it as it was.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    charter::app().main()
}
