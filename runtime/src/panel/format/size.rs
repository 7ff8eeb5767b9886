//! Sizes of files as people read them, in decimal units.

use crate::language::text;

/// `12.3 MB`
pub(crate) fn format_size(bytes: u64) -> String {
    let parts = |unit: u64| (bytes / unit, bytes % unit / (unit / 10));
    match bytes {
        0..1_000 => text!("{count} bytes", count = bytes),
        1_000..1_000_000 => text!("{count} KB", count = bytes / 1_000),
        1_000_000..1_000_000_000 => {
            let (whole, tenths) = parts(1_000_000);
            text!("{whole}.{tenths} MB", whole = whole, tenths = tenths)
        }
        _ => {
            let (whole, tenths) = parts(1_000_000_000);
            text!("{whole}.{tenths} GB", whole = whole, tenths = tenths)
        }
    }
}
