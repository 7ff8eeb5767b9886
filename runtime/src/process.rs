//! Process-wide settings of a server: its memory allocator, and the size of the pages that the allocator requests.

/// Rows are serialized to JSON in many small allocations. An application that has an allocator of its own disables the feature
/// `mimalloc` of this crate.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Disables pages of 2 MiB for the allocator: in a server with few requests most of such a page stays empty. A kernel without
/// this setting keeps its own.
pub(crate) fn disable_huge_pages() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
