//! State of webhooks that the server and their actions share.

use std::sync::Arc;

use super::{Metrics, Transport, UrlPolicy};

/// State of webhooks, an extension of the application's state.
#[derive(Debug)]
pub struct Webhooks {
    /// Sends the deliveries.
    pub transport: Arc<dyn Transport>,
    /// The URLs that a webhook may have.
    pub policy: UrlPolicy,
    /// Maximum of concurrent attempts of one webhook.
    pub max_attempts_per_webhook: usize,
    /// Maximum of pending deliveries of the webhooks of one user; `None` for no limit.
    pub max_pending_per_user: Option<u64>,
    pub metrics: Arc<Metrics>,
}
