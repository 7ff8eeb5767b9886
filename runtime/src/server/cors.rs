//! Cross-origin requests of web pages to the API (Fetch, section 3.3), by the setting `cors-origins`.

use std::time::Duration;

use charter_model::reserved::MCP_PATH;
use salvo::cors::{AllowHeaders, AllowOrigin, Any, CorsHandler};
use salvo::http::header::ACCESS_CONTROL_REQUEST_METHOD;
use salvo::http::{HeaderValue, Method};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};

use crate::config::{Config, CorsOrigins};
use charter_core::ops;
use charter_platform::attachment;

/// Time that a browser keeps the answer to a preflight request: the most that Chromium accepts.
const MAX_AGE: Duration = Duration::from_secs(7200);

/// Answers preflight requests to the API, to files and to the MCP endpoint, and names the origin in every answer, also to
/// a refused request.
///
/// Cookies stay out: a page of another origin sends a token. The panel, whose sessions are cookies, has no such headers.
pub(crate) struct Cors {
    handler: CorsHandler,
    serves_mcp: bool,
}

impl Cors {
    /// `None` if no other origin may use the API.
    pub(crate) fn new(config: &Config) -> Option<Cors> {
        let allowed = match &config.cors_origins {
            CorsOrigins::Any => AllowOrigin::from(Any),
            CorsOrigins::Listed(origins) if origins.is_empty() => return None,
            CorsOrigins::Listed(origins) => {
                AllowOrigin::list(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()))
            }
        };
        let cors = salvo::cors::Cors::new()
            .allow_origin(allowed)
            .allow_methods(vec![Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(Any)
            .max_age(MAX_AGE);
        Some(Cors { handler: cors.into_handler(), serves_mcp: config.mcp })
    }
}

#[async_trait]
impl Handler for Cors {
    async fn handle(&self, request: &mut Request, depot: &mut Depot, response: &mut Response, flow: &mut FlowCtrl) {
        let path = request.uri().path();
        let is_file = path.strip_prefix(attachment::PATH).is_some_and(|rest| rest.starts_with('/'));
        let is_mcp = self.serves_mcp && path.trim_matches('/') == MCP_PATH;
        if !ops::is_of_api(path) && !is_file && !is_mcp {
            flow.call_next(request, depot, response).await;
            return;
        }
        // The answer to a preflight request has no body, and the browser sends it without a token.
        if request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
            flow.skip_rest();
        }
        self.handler.handle(request, depot, response, flow).await;
    }
}
