//! This server as a client: whom it trusts when it connects to others, and what it never does there.

use std::sync::{Arc, LazyLock};

use reqwest::{Client, ClientBuilder, redirect, retry};
use rustls::{ClientConfig, RootCertStore};

use crate::error::{Error, Result};

/// The system's authorities, or those of the browsers where the system has none; as they were when they were first asked
/// for.
pub fn root_store() -> Arc<RootCertStore> {
    static ROOTS: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        roots.into()
    });
    ROOTS.clone()
}

/// What every client of this server is: it trusts these authorities, goes by no proxy, and does nothing that it is not told
/// to. Over HTTP/2 the other end could send megabytes before they are refused.
///
/// # Errors
/// When TLS cannot be set up.
pub fn builder(roots: Arc<RootCertStore>) -> Result<ClientBuilder> {
    Ok(Client::builder()
        .tls_backend_preconfigured(tls_config(roots)?)
        .user_agent(concat!("Charter/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .http1_only())
}

/// What TLS needs that trusts these authorities.
///
/// # Errors
/// When TLS cannot be set up.
pub fn tls_config(roots: Arc<RootCertStore>) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(tls.map_err(Error::internal)?.with_root_certificates(roots).with_no_client_auth())
}
