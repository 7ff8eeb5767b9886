//! Records by their ids: in one request where the resource can be asked for ids, else one after the other.

use salvo::http::StatusCode;
use serde_json::Value;

use super::api::Reply;
use super::visit::Visit;
use crate::catalog::Entry;
use crate::error::Result;
use crate::meta::Filter;

/// So many ids stand in one request.
const PART: usize = 100;

/// Asks a collection for records, with a further part of the query as `&fields=id,name` or `&deleted=only`. Where each is asked for alone, one
/// that is not there, or not for the user, has no answer.
///
/// # Errors
/// When the API cannot be asked. What it refuses is in its answers.
pub async fn ask(visit: &Visit<'_>, entry: &Entry, collection: &str, ids: &[i64], with: &str) -> Result<Vec<Reply>> {
    let is_asked = match entry.field("id").map(|field| field.filter) {
        Some(Filter::Fitting) => true,
        Some(Filter::Only(names)) => names.contains(&"in"),
        Some(Filter::Off) | None => false,
    };
    let mut replies = Vec::new();
    for part in ids.chunks(PART) {
        if is_asked {
            let part: Vec<String> = part.iter().map(i64::to_string).collect();
            let query = format!("q[id_in]={}&per_page={PART}&count=none{with}", part.join(","));
            replies.push(visit.get(&format!("{collection}?{query}")).await?);
            continue;
        }
        for id in part {
            let reply = visit.get(&format!("{collection}/{id}?{}", with.trim_start_matches('&'))).await?;
            if !matches!(reply.status, StatusCode::NOT_FOUND | StatusCode::FORBIDDEN) {
                replies.push(reply);
            }
        }
    }
    Ok(replies)
}

/// The records of such an answer.
///
/// # Errors
/// What was refused.
pub fn records(entry: &Entry, reply: &Reply) -> Result<Vec<Value>> {
    let mut body = reply.json()?;
    Ok(match body[entry.meta.plural].take() {
        Value::Array(records) => records,
        _ => vec![body[entry.meta.name].take()],
    })
}
