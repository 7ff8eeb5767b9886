//! Files attached to records: uploaded, described, listed below the record that they hang on, and gone with it.
//!
//! The bytes are in a [`Storage`], under the attachment's UUID; a row of `attachments` owns them. Whatever is in storage
//! without an owner stands in `attachment_leftovers` since before its first byte, so that [`sweep`] finds it.

mod access;
mod s3;
mod download;
mod file_name;
mod multipart;
mod pending_deletion;
mod link;
mod s3_config;
mod media_type;
mod content_headers;
mod record;
mod spool;
mod storage;
mod garbage_collection;
mod thumbnail;
mod upload;

pub use access::{attached_to, attachment_ids, check_access, target};
pub use download::{Download, find_download};
pub use link::PATH;
pub use s3_config::S3Config;
pub use content_headers::ContentHeaders;
pub use record::route;
pub use storage::{Part, Storage};
pub use garbage_collection::{collect_garbage, run_garbage_collection};

/// The largest file: 20 MB in the specification, which are 20 × 1024 × 1024 bytes.
pub const MAX_FILE_BYTES: u64 = 20 << 20;
