//! Webhook transport: allowed addresses, requests, signatures and outcomes.

mod http_transport;
mod signature_vectors;
mod tls;
mod url_policy;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use charter_runtime::webhook::dns::Lookup;
use charter_runtime::webhook::{Attempt, HttpTransport, SigningSecret, TransportLimits, UrlPolicy};
use chrono::{DateTime, Utc};

/// A policy that also allows http and these networks.
fn allowing(networks: &[&str]) -> UrlPolicy {
    let networks = networks.iter().map(|text| text.parse().expect("a network")).collect();
    UrlPolicy { allow_http: true, networks }
}

/// A transport with short timeouts.
fn sender(policy: UrlPolicy, lookup: Lookup) -> HttpTransport {
    HttpTransport::with(policy, lookup, quick(), rustls::RootCertStore::empty().into()).expect("a sender")
}

fn quick() -> TransportLimits {
    let soon = Duration::from_millis(400);
    TransportLimits { resolve: soon, connect: soon, total: soon * 2, ..TransportLimits::default() }
}

/// A lookup that must not be called.
fn no_names() -> Lookup {
    Arc::new(|_| Box::pin(async { Err(io::Error::other("no such name")) }))
}

/// A lookup that returns these addresses for every name.
fn named(addresses: &[&str]) -> Lookup {
    let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().expect("an address")).collect();
    Arc::new(move |_| {
        let addresses = addresses.clone();
        Box::pin(async move { Ok(addresses) })
    })
}

fn at() -> DateTime<Utc> {
    DateTime::from_timestamp(1_792_000_000, 0).expect("a time")
}

/// An attempt to send a small event to this URL.
fn attempt(url: &str) -> Attempt {
    Attempt {
        webhook_id: 1,
        url: url.to_string(),
        secret: SigningSecret::generate().expect("a secret").reveal().to_string(),
        previous_secret: None,
        event: "user.created".into(),
        body: r#"{"event":"user.created"}"#.into(),
        uid: "msg_1".into(),
        number: 1,
        at: at(),
        trace: None,
    }
}
