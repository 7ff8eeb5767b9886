//! Files attached to records: uploaded, described, listed below the record that they hang on, and gone with it.
//!
//! The bytes are in a [`Storage`], under the attachment's UUID; a row of `attachments` owns them. Whatever is in storage
//! without an owner stands in `attachment_pending_deletions` since before its first byte, so that [`sweep`] finds it.

mod access;
mod bucket;
mod delivery;
mod file_name;
mod form;
mod leftover;
mod link;
mod location;
mod media_type;
mod presentation;
mod record;
mod spool;
mod storage;
mod sweep;
mod thumbnail;
mod upload;

pub use access::{hangs_on, of, reach, target};
pub use delivery::{Delivery, find};
pub use link::PATH;
pub use location::Location;
pub use presentation::Presentation;
pub use record::route;
pub use storage::{Part, Storage};
pub use sweep::{sweep, sweep_once};

/// The largest file: 20 MB in the specification, which are 20 × 1024 × 1024 bytes.
pub const MOST_BYTES: u64 = 20 << 20;
