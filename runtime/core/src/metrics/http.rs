//! Metrics of HTTP requests: duration by method, route and status, and active requests.

use std::time::Instant;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::request_seconds;

/// The route of unknown paths.
pub const UNMATCHED: &str = "unmatched";

/// The metrics of HTTP requests.
#[derive(Debug, Clone)]
pub struct Http {
    answered: Family<Answered, Histogram, fn() -> Histogram>,
    active: Family<Active, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    http_request_method: &'static str,
    http_route: String,
    http_response_status_code: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Active {
    http_request_method: &'static str,
}

/// An active request, until this is dropped.
#[derive(Debug)]
pub struct ActiveRequest {
    http: Http,
    method: &'static str,
    gauge: Gauge,
    start: Instant,
}

impl Default for Http {
    fn default() -> Http {
        Http { answered: Family::new_with_constructor(request_seconds), active: Family::default() }
    }
}

impl Http {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "http_server_request_duration",
            "Duration of HTTP requests until the response is sent",
            Unit::Seconds,
            self.answered.clone(),
        );
        registry.register("http_server_active_requests", "HTTP requests in flight", self.active.clone());
    }

    /// Counts a request at its start.
    pub fn begin(&self, method: &str) -> ActiveRequest {
        let method = label(method);
        let gauge = self.active.get_or_create_owned(&Active { http_request_method: method });
        gauge.inc();
        ActiveRequest { http: self.clone(), method, gauge, start: Instant::now() }
    }
}

impl ActiveRequest {
    /// Records the response.
    pub fn end(self, route: &str, status: u16) {
        let labels = Answered {
            http_request_method: self.method,
            http_route: route.to_string(),
            http_response_status_code: status,
        };
        self.http.answered.get_or_create(&labels).observe(self.start.elapsed().as_secs_f64());
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}

/// The method as a label. Unknown methods share one, because each label value is a time series.
fn label(method: &str) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("_OTHER")
}

/// The matched path template as a label: `/api/v1/products/{id}`.
pub fn route(matched: &str) -> String {
    format!("/{}", matched.trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::EncodeMetric;

    use super::*;

    #[test]
    fn unknown_methods_share_one_label() {
        assert_eq!(label("PATCH"), "PATCH");
        assert_eq!(label("BREW"), "_OTHER");
    }

    #[test]
    fn request_is_active_until_it_is_dropped() {
        let http = Http::default();
        let active = || http.active.get_or_create_owned(&Active { http_request_method: "GET" }).get();
        let request = http.begin("GET");
        assert_eq!(active(), 1);
        drop(request);
        assert_eq!(active(), 0);
        assert!(http.answered.is_empty(), "a request without a response has no status");
    }
}
