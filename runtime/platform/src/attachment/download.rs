//! Download of a stored file by its signed link.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use sea_orm::entity::prelude::*;

use super::content_headers::ContentHeaders;
use super::storage::{ObjectKind, Storage};
use super::{access, link, record};
use charter_core::error::{Error, Result};
use charter_core::ops::attachable;
use charter_core::ops::{Context, State};
use charter_core::principal::Principal;

/// A file that a link refers to.
#[derive(Debug)]
pub struct Download {
    part: ObjectKind,
    uuid: Uuid,
    /// Size in bytes.
    pub size: u64,
    pub content_headers: ContentHeaders,
    /// The header `ETag`. The bytes under a UUID never change.
    pub tag: String,
}

/// Finds the file of a link, given by the path and query string of the request.
///
/// # Errors
/// [`Error::LinkInvalid`] or [`Error::LinkExpired`]; [`Error::NotFound`] if the attachment or its record is deleted.
pub async fn find_download(state: &Arc<State>, target: &str) -> Result<Download> {
    state.extension::<Storage>()?.check_link(target, state.clock.now())?;
    let path = target.split('?').next().unwrap_or_default();
    let path = path.strip_prefix(link::PATH).and_then(|path| path.strip_prefix('/')).unwrap_or_default();
    let (uuid, part) = path.split_once('/').ok_or(Error::NotFound)?;
    let uuid = Uuid::parse_str(uuid).map_err(|_| Error::NotFound)?;
    let part = ObjectKind::ALL.into_iter().find(|known| known.name() == part).ok_or(Error::NotFound)?;
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let found = record::Entity::find().filter(record::Column::Uuid.eq(uuid)).one(context.db()).await?;
    let attachment = found.ok_or(Error::NotFound)?;
    let on = attachable(context.catalog(), &attachment.attachable_type).ok_or(Error::NotFound)?;
    if !access::target_exists(&context, on, attachment.attachable_id, false).await? {
        return Err(Error::NotFound);
    }
    let media_type = match part {
        ObjectKind::File => attachment.mime_type,
        ObjectKind::Thumb => attachment.thumb_type.ok_or(Error::NotFound)?,
    };
    Ok(Download {
        part,
        uuid,
        size: state.extension::<Storage>()?.size(part, uuid).await?,
        content_headers: ContentHeaders::of(part, &media_type, &attachment.original_name),
        tag: format!("\"{uuid}-{}\"", part.name()),
    })
}

impl Download {
    /// Streams the file, or a range of its bytes, from storage.
    pub async fn read(
        &self,
        state: &State,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, std::io::Result<Bytes>>> {
        state.extension::<Storage>()?.read(self.part, self.uuid, range).await
    }
}
