//! The attachment resource: metadata of a file, whose bytes are in storage.

use charter_macros::Resource;
use sea_orm::entity::prelude::*;

use super::content_headers::ContentHeaders;
use super::storage::{ObjectKind, Storage};
use super::{access, pending_deletion};
use charter_core::db::Row;
use charter_core::error::{Error, Result};
use charter_core::meta::FieldMeta;
use charter_core::ops::{BoxFuture, Context, Route};
use charter_core::record::{Cell, Shape, write_text};

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(name = "attachment", operations("show", "create", "delete"), events)]
#[resource(index("uuid"), index("attachable_type", "attachable_id"), index("uploaded_by", "file_size"))]
pub struct Model {
    pub id: i64,
    /// Key of the file in storage and in its links.
    #[field(read_only)]
    pub uuid: Uuid,
    #[field(string(255), read_only)]
    pub original_name: String,
    /// Detected from the bytes; the client's type is ignored.
    #[field(string(255), read_only)]
    pub mime_type: String,
    #[field(read_only)]
    pub file_size: i64,
    #[field(string(50))]
    pub category: Option<String>,
    #[field(string(1000))]
    #[computed("url", from("uuid", "mime_type", "original_name"))]
    #[computed("thumb_url", from("uuid", "thumb_type", "original_name"), nullable)]
    pub description: Option<String>,
    #[field(reference("user"), read_only, default_caller)]
    pub uploaded_by: i64,
    #[field(timestamp(offset), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(offset), read_only)]
    pub updated_at: DateTimeUtc,
    /// The record that it is attached to: the type name of a resource that declares `attachments`, and an id.
    #[field(string(64), required, write_only)]
    pub attachable_type: String,
    #[field(required, write_only)]
    pub attachable_id: i64,
    /// Type of the thumbnail, if there is one.
    #[field(string(64), internal)]
    pub thumb_type: Option<String>,
}

pub fn route() -> Route {
    let mut route = charter_core::route!(Entity, Behaviour, hooks(after_delete), actions());
    route.hooks.computed = Some(computed);
    route.hooks.scope = Some(access::scope);
    route.is_attached = true;
    route.receives_file = true;
    route
}

trait Behaviour {
    fn after_delete(context: &Context<'_>, attachment: &Model) -> impl Future<Output = Result<()>> + Send;
}

impl Behaviour for Entity {
    /// Schedules the deletion of the files in the same transaction.
    async fn after_delete(context: &Context<'_>, attachment: &Model) -> Result<()> {
        pending_deletion::schedule(context.db(), context.state().db.dialect(), attachment.uuid, context.now()).await
    }
}

/// Signed links, created each time that the record is shown.
fn computed<'a>(
    context: &'a Context<'a>,
    field: &'static FieldMeta,
    shape: &'a Shape,
    rows: &'a [Row<'a>],
) -> BoxFuture<'a, Result<Vec<Vec<u8>>>> {
    Box::pin(async move {
        let missing = |name: &str| Error::internal(format!("`{name}` was not read"));
        let position = |name: &str| shape.position(name).ok_or_else(|| missing(name));
        let (uuid, name) = (position("uuid")?, position("original_name")?);
        let (part, media_type) = match field.name {
            "thumb_url" => (ObjectKind::Thumb, position("thumb_type")?),
            _ => (ObjectKind::File, position("mime_type")?),
        };
        let base_url = context.state().base_url();
        let mut values = Vec::with_capacity(rows.len());
        for row in rows.iter().copied() {
            let Some(media_type) = Cell::new(row, media_type)?.text()? else {
                values.push(b"null".to_vec());
                continue;
            };
            let uuid = Cell::new(row, uuid)?.uuid()?.ok_or_else(|| missing("uuid"))?;
            let name = Cell::new(row, name)?.text()?.ok_or_else(|| missing("original_name"))?;
            let headers = ContentHeaders::of(part, media_type, name);
            let link =
                context.state().extension::<Storage>()?.link(&base_url, part, uuid, context.now(), headers).await?;
            let mut value = Vec::with_capacity(link.len() + 2);
            write_text(&mut value, &link);
            values.push(value);
        }
        Ok(values)
    })
}
