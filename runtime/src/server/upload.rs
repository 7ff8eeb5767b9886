//! Uploads: records that are created with a file, by the resource that they belong to.

use super::{Response, headers};
use charter_core::catalog::Entry;
use charter_core::error::Result;
use charter_core::ops::Context;
use charter_core::ops::idempotency::Key;
use charter_platform::attachment::Upload;
use charter_platform::{attachment, import};

/// Creates a record with a file.
///
/// # Errors
/// Those of the upload.
pub(super) async fn create_with_file(
    context: &Context<'_>,
    entry: &Entry,
    upload: Upload<'_>,
    key: Option<Key>,
) -> Result<Response> {
    headers::execution_response(match entry.is_attached() {
        true => attachment::upload(context, upload, key).await?,
        false => import::upload(context, upload, key).await?,
    })
}
