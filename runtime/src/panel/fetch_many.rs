//! Reads records by their ids, in batches if the resource can be filtered by id.

use salvo::http::StatusCode;
use serde_json::Value;

use super::request::PanelRequest;
use crate::server::ApiResponse;
use charter_core::catalog::Entry;
use charter_core::error::Result;
use charter_core::meta::Filter;

const MAX_IDS_PER_REQUEST: usize = 100;

/// Requests the records of a collection. `parameters` is appended to the query string: `&fields=id,name`,
/// `&deleted=only`. If each record is requested on its own, one that is missing or not visible has no response.
///
/// # Errors
/// When the API cannot be called. Its error responses are returned.
pub(super) async fn fetch(
    request: &PanelRequest<'_>,
    entry: &Entry,
    collection: &str,
    ids: &[i64],
    parameters: &str,
) -> Result<Vec<ApiResponse>> {
    let filters_by_id = match entry.field("id").map(|field| field.filter) {
        Some(Filter::Fitting) => true,
        Some(Filter::Only(names)) => names.contains(&"in"),
        Some(Filter::Off) | None => false,
    };
    let mut responses = Vec::new();
    for batch in ids.chunks(MAX_IDS_PER_REQUEST) {
        if filters_by_id {
            let batch: Vec<String> = batch.iter().map(i64::to_string).collect();
            let query = format!("q[id_in]={}&per_page={MAX_IDS_PER_REQUEST}&count=none{parameters}", batch.join(","));
            responses.push(request.get(&format!("{collection}?{query}")).await?);
            continue;
        }
        for id in batch {
            let response = request.get(&format!("{collection}/{id}?{}", parameters.trim_start_matches('&'))).await?;
            if !matches!(response.status, StatusCode::NOT_FOUND | StatusCode::FORBIDDEN) {
                responses.push(response);
            }
        }
    }
    Ok(responses)
}

/// The records in a response of [`fetch`].
///
/// # Errors
/// The API's error.
pub(super) fn records(entry: &Entry, response: &ApiResponse) -> Result<Vec<Value>> {
    let mut body = response.json()?;
    Ok(match body[entry.meta.plural].take() {
        Value::Array(records) => records,
        _ => vec![body[entry.meta.name].take()],
    })
}
