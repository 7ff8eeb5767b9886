//! Open doors: `POST` to a collection without a token, limited for each client address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use salvo::Request;
use salvo::http::StatusCode;
use serde_json::json;

use super::authenticate::{count, count_anonymous, is_anonymous};
use super::{RateLimit, Response, client_address, client_ip, headers, read_body};
use crate::server::ServerState;
use charter_core::catalog::{Catalog, Entry};
use charter_core::error::Result;
use charter_core::meta::{PublicMeta, Rate};
use charter_core::ops::endpoints::PathKind;
use charter_core::ops::input::body::Body;
use charter_core::ops::write::open_door;
use charter_core::ops::{Context, Transaction};
use charter_core::principal::Principal;

/// The limits of the open doors, each by client address.
#[derive(Debug)]
pub struct OpenDoors(HashMap<&'static str, RateLimit<IpAddr>>);

impl OpenDoors {
    pub fn new(catalog: &Catalog) -> OpenDoors {
        let doors = catalog.entries().iter().filter_map(|entry| Some((entry.meta.name, entry.meta.public?.limit)));
        let limit = |(name, rate): (&'static str, Rate)| {
            (name, RateLimit::per(rate.requests, Duration::from_secs(rate.seconds.into())))
        };
        OpenDoors(doors.map(limit).collect())
    }
}

/// The open door that a request comes through: it sends no token, valid or not, and creates a record.
pub(super) fn of(entry: &Entry, path_kind: PathKind, request: &Request) -> Option<&'static PublicMeta> {
    let creates = matches!(path_kind, PathKind::Collection) && request.method().as_str() == "POST";
    entry.meta.public.as_ref().filter(|_| creates && is_anonymous(request))
}

/// Creates a record, and answers with its id alone: what else the record holds, its caller may not read.
///
/// # Errors
/// 429 with the seconds to wait; those of a body; 422.
pub(super) async fn create(
    state: &Arc<ServerState>,
    request: &mut Request,
    entry: &Entry,
    door: &PublicMeta,
) -> Result<Response> {
    count_anonymous(state, request)?;
    let address = client_ip(request, &state.config.trusted_proxies);
    count(state.open_doors.0.get(entry.meta.name).and_then(|limit| limit.count(address)), request)?;
    let bytes = read_body(request, state.config.body_limit).await?;
    let body = Body::read(&bytes, Some(entry.meta.name))?;
    let (caller, request_id) = (Principal::public(), headers::request_id(request));
    let context = Context::new(state, &caller, state.db.reader())
        .with_request_id(request_id.as_deref())
        .with_client_address(Some(client_address(request, &state.config.trusted_proxies)))
        .with_trace(headers::trace(request));
    let transaction = Transaction::begin_late(context.state_arc()).await?;
    let id = open_door::create(&context.in_transaction(&transaction), entry, door, &body).await?;
    transaction.commit(&context).await?;
    Ok(Response::json(StatusCode::CREATED, json!({ entry.meta.name: { "id": id } }).to_string().into_bytes()))
}
