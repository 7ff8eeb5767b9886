//! The server command `charter`.

use std::process::ExitCode;

/// Serializing rows allocates many small pieces. `docs/performance.md` has the measurements.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The allocator requests huge pages of 2 MiB, most of which an idle server leaves empty. Kernels without this setting are left
    // unchanged.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    charter::app().main()
}
