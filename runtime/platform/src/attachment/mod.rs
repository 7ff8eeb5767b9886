//! Attachments: files uploaded to a record, listed below it and deleted with it.
//!
//! A row of `attachments` owns the bytes in [`Storage`] under its UUID. A file without such a row is scheduled for deletion
//! from before its first byte, and deleted by [`collect_garbage`].

mod access;
mod content_headers;
mod download;
pub mod file_name;
mod garbage_collection;
mod link;
mod media_type;
pub(crate) mod multipart;
mod office;
mod part_header;
pub(crate) mod pending_deletion;
mod pixels;
pub(crate) mod quota;
pub mod record;
mod s3;
mod s3_config;
pub(crate) mod spool;
mod storage;
mod thumbnail;
pub(crate) mod upload;

pub use access::check_access;
pub use content_headers::ContentHeaders;
pub use download::{Download, find_download};
pub use garbage_collection::{collect_garbage, run_garbage_collection};
pub use link::PATH;
pub use quota::{StorageUse, storage_use};
pub use record::route;
pub use s3_config::S3Config;
pub use storage::{ObjectKind, Storage};
pub use upload::{Upload, upload};

/// Maximum file size: 20 MB in the specification, read as 20 × 1024 × 1024 bytes.
pub const MAX_FILE_BYTES: u64 = 20 << 20;
