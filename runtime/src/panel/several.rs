//! Records by their ids: in one request where the resource can be asked for ids, else one after the other.

use salvo::http::StatusCode;
use serde_json::Value;

use super::visit::Visit;
use crate::catalog::Entry;
use crate::error::Result;
use crate::meta::Filter;

/// So many ids stand in one request.
const PART: usize = 100;

/// The records of a collection that are there, with a further part of the query as `&fields=id,name`.
///
/// # Errors
/// What the API refuses; a record that is not there, or not for the user, is left out.
pub async fn records(
    visit: &Visit<'_>,
    entry: &Entry,
    collection: &str,
    ids: &[i64],
    with: &str,
) -> Result<Vec<Value>> {
    let asked = match entry.field("id").map(|field| field.filter) {
        Some(Filter::Fitting) => true,
        Some(Filter::Only(names)) => names.contains(&"in"),
        Some(Filter::Off) | None => false,
    };
    let mut found = Vec::with_capacity(ids.len());
    for part in ids.chunks(PART) {
        if asked {
            let part: Vec<String> = part.iter().map(i64::to_string).collect();
            let query = format!("q[id_in]={}&per_page={PART}&count=none{with}", part.join(","));
            let body = visit.read(&format!("{collection}?{query}")).await?;
            found.extend(body[entry.meta.plural].as_array().cloned().unwrap_or_default());
            continue;
        }
        for id in part {
            let reply = visit.get(&format!("{collection}/{id}")).await?;
            if !matches!(reply.status, StatusCode::NOT_FOUND | StatusCode::FORBIDDEN) {
                found.push(reply.json()?[entry.meta.name].take());
            }
        }
    }
    Ok(found)
}
