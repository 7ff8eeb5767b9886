//! Authentication of requests by their token, and the rate limits of tokens and of addresses.

use std::sync::Arc;

use salvo::Request;
use salvo::http::{HeaderMap, Method};

use super::{ServerState, Usage, client_address, client_ip, headers};
use charter_core::client::Client;
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::principal::Principal;
use charter_platform::auth::{Rejection, Secret, Sender, TokenCache, caller_of_secret};

/// The user and the token of a request, for its log line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identified {
    pub user_id: Option<i64>,
    pub token_id: Option<i64>,
}

impl Identified {
    /// Stores the user and the token of a caller in the request.
    pub(crate) fn note(request: &mut Request, caller: &Principal) {
        request.extensions_mut().insert(Identified { user_id: caller.user_id, token_id: caller.token_id });
    }
}

/// Authenticates a request by `Authorization: Bearer <token>` or `X-AUTH-TOKEN: <token>`.
///
/// # Errors
/// 401 if the token is missing, unknown or expired; 403 if its user is deactivated; 429 if the token, or the client
/// address of requests without a valid token, exceeds its rate limit.
pub async fn authenticate(state: &Arc<ServerState>, request: &mut Request) -> Result<Arc<Principal>> {
    authenticate_with(state, request, false).await
}

/// Authenticates a request; `bypass_cache` looks the token up in the database.
pub async fn authenticate_with(
    state: &Arc<ServerState>,
    request: &mut Request,
    bypass_cache: bool,
) -> Result<Arc<Principal>> {
    // Set by the panel for requests within this process. Clients cannot set it.
    if let Some(caller) = request.extensions().get::<Arc<Principal>>().cloned() {
        Identified::note(request, &caller);
        return Ok(caller);
    }
    let secret = match secret(request.headers()) {
        Ok(secret) => secret,
        Err(error) => {
            count_anonymous(state, request)?;
            return Err(error);
        }
    };
    let digest = secret.digest();
    let request_id = headers::request_id(request);
    let client_address = Some(client_address(request, &state.config.trusted_proxies));
    let sender = Sender { request_id: request_id.as_deref(), client_address };
    let caller = match caller_of_secret(state, &secret, bypass_cache, sender).await {
        Ok(caller) => caller,
        Err(Rejection { error, was_known }) => {
            // An invalid token counts against the client address, and a valid one does not: other clients of that
            // address cannot block it. The checksum keeps most guesses away from the database.
            if matches!(error, Error::InvalidToken) && !was_known {
                count_anonymous(state, request)?;
            }
            return Err(error);
        }
    };
    Identified::note(request, &caller);
    count(state.token_rate.count(digest), request)?;
    if caller.is_active { Ok(caller) } else { Err(Error::UserDeactivated) }
}

/// The client to whose share a request counts, before it is authenticated. An unknown token counts to its address, so that guesses
/// have no shares of their own.
pub(crate) fn client(state: &Arc<ServerState>, request: &Request) -> Client {
    // Set for requests within this process. Clients cannot set it.
    if let Some(client) = request.extensions().get::<Client>() {
        return *client;
    }
    if let Some(caller) = request.extensions().get::<Arc<Principal>>() {
        return caller.user_id.map_or(Client::Server, Client::User);
    }
    let digest = secret(request.headers()).ok().map(|secret| secret.digest());
    match digest.filter(|digest| state.extension::<TokenCache>().is_ok_and(|tokens| tokens.is_known(digest))) {
        Some(digest) => Client::Token(digest),
        None => Client::Address(client_ip(request, &state.config.trusted_proxies)),
    }
}

/// True if a request has no token, valid or not, and is not one of the panel. A cookie is no token: a page of another site cannot
/// act as the user of a session.
pub(super) fn is_anonymous(request: &Request) -> bool {
    request.extensions().get::<Arc<Principal>>().is_none() && matches!(sent_token(request.headers()), Ok(None))
}

/// Counts a request without a valid token against its client address.
pub(super) fn count_anonymous(state: &ServerState, request: &mut Request) -> Result<()> {
    // A browser sends preflight requests on its own and without credentials (Fetch, section 4.8).
    if request.method() == Method::OPTIONS {
        return Ok(());
    }
    let address = client_ip(request, &state.config.trusted_proxies);
    count(state.anonymous_rate.count(address), request)
}

/// Counts further requests of a token, for a request with the work of several.
pub(super) fn charge(state: &ServerState, request: &mut Request, requests: u32) {
    // Requests of the panel have no token and no limit.
    let Ok(secret) = secret(request.headers()) else { return };
    if let Some(usage) = state.token_rate.charge(secret.digest(), requests) {
        request.extensions_mut().insert(usage);
    }
}

/// Stores the rate limit usage in the request, for the response headers.
pub(super) fn count(usage: Option<Usage>, request: &mut Request) -> Result<()> {
    request.extensions_mut().remove::<Usage>();
    let Some(usage) = usage else { return Ok(()) };
    request.extensions_mut().insert(usage);
    usage.allowed()
}

fn secret(headers: &HeaderMap) -> Result<Secret> {
    let sent = sent_token(headers)?.ok_or(Error::Unauthenticated)?;
    Secret::parse(sent).ok_or(Error::InvalidToken)
}

/// The token of a request. Schemes other than `Bearer` are ignored, because they may be meant for a proxy.
fn sent_token(headers: &HeaderMap) -> Result<Option<&str>> {
    let read = |name: &str| -> Result<Option<&str>> {
        let Some(header) = headers.get(name) else { return Ok(None) };
        header.to_str().map(|text| Some(text.trim())).map_err(|_| Error::InvalidToken)
    };
    let bearer = read("authorization")?.and_then(|text| {
        let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match bearer {
        Some(token) => Ok(Some(token)),
        None => Ok(read(header::AUTH_TOKEN)?.filter(|token| !token.is_empty())),
    }
}
