//! Attachments: files uploaded to a record, listed below it and deleted with it.
//!
//! A row of `attachments` owns the bytes in [`Storage`] under its UUID. A file without such a row has a row in
//! `attachment_leftovers` from before its first byte, by which [`collect_garbage`] finds it.

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

/// Maximum file size: 20 MB in the specification, read as 20 × 1024 × 1024 bytes.
pub const MAX_FILE_BYTES: u64 = 20 << 20;
