//! Webhooks: at-least-once delivery of outbox events to the URLs that subscribe to them.

pub mod url_policy;
mod cancellation;
mod results;
mod delivery;
mod dispatcher;
pub mod transport;
pub mod delivery_log;
pub mod redelivery;
mod metrics;
pub mod dns;
pub mod record;
mod retention;
mod retry_policy;
pub mod http_transport;
pub mod signature;
mod subscriptions;

pub use url_policy::UrlPolicy;
pub use cancellation::cancel;
pub use delivery::{fan_out, write_pending_events};
pub use dispatcher::{Dispatcher, run_once};
pub use transport::{Attempt, Transport, Outcome};
pub use metrics::Metrics;
pub use record::stale_references;
pub use retention::prune;
pub use http_transport::{TransportLimits, HttpTransport};
pub use signature::{Secrets, SigningSecret};
