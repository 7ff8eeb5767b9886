//! Webhooks: at-least-once delivery of outbox events to the URLs that subscribe to them.

mod cancellation;
mod condition;
mod consequences;
mod delivery;
pub mod delivery_log;
mod dispatcher;
pub mod dns;
pub mod event_fields;
mod fan_out;
mod http_transport;
mod metrics;
pub mod record;
pub mod redelivery;
mod results;
mod retention;
mod retry_policy;
mod sealed_secret;
pub mod signature;
mod state;
mod subscriptions;
mod suspension;
pub mod transport;
pub mod url_policy;

pub use cancellation::cancel;
pub use dispatcher::{Dispatcher, run_once};
pub use fan_out::{fan_out, write_pending_events};
pub use http_transport::{HttpTransport, TransportLimits};
pub use metrics::Metrics;
pub use record::stale_references;
pub use retention::prune;
pub use sealed_secret::seal_stored_secrets;
pub use signature::{Secrets, SigningSecret};
pub use state::Webhooks;
pub use transport::{Attempt, Outcome, Transport};
pub use url_policy::UrlPolicy;
