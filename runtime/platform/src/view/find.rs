//! Lookup of the view that a list request names by `view_id`.

use super::record;
use charter_core::catalog::Entry;
use charter_core::error::{Error, Result};
use charter_core::ops::Context;
use charter_core::ops::{load, model as model_of, visible};
use charter_core::query::SavedView;
use charter_core::resource::Resource as _;

/// Finds the view of the query parameter `view_id`.
///
/// # Errors
/// 422 under `view_id` if there is no such view, the caller may not see it, or it is for another resource.
pub async fn find(context: &Context<'_>, entry: &Entry, view_id: &str) -> Result<SavedView> {
    let unknown = || Error::invalid("view_id", format!("is not a view of {}", entry.meta.plural));
    let id: i64 = view_id.trim().parse().map_err(|_| unknown())?;
    let views = context.catalog().linked(record::Entity::meta().name);
    let visible = visible(context, views);
    let row = load(context, views, id, &visible, false).await?.ok_or_else(unknown)?;
    let model = model_of::<record::Entity>(&row)?;
    if model.entity_type != entry.meta.plural {
        return Err(unknown());
    }
    let columns = serde_json::from_value(model.columns.clone()).map_err(Error::internal)?;
    let filters = serde_json::from_value(model.filters.clone()).map_err(Error::internal)?;
    let descending = model.sort_direction == "desc";
    let sort = model.sort_column.map(|column| if descending { format!("-{column}") } else { column });
    Ok(SavedView { id: model.id, name: model.name, columns, filters, sort, per_page: model.per_page })
}
