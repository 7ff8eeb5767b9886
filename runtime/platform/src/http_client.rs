//! HTTP client for requests to other servers: trusted roots, no proxy, no redirects.

use std::sync::{Arc, LazyLock};

use reqwest::{Client, ClientBuilder, redirect, retry};
use rustls::{ClientConfig, RootCertStore};

use charter_core::error::{Error, Result};

/// The certificate authorities of the system, or Mozilla's if the system has none. They are loaded once.
pub(crate) fn root_store() -> Arc<RootCertStore> {
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

/// A client that trusts these roots, and follows no redirects, retries or proxies. It speaks HTTP/1.1 only: over HTTP/2 a server
/// could send megabytes before they are refused.
///
/// # Errors
/// When TLS cannot be set up.
pub(crate) fn builder(roots: Arc<RootCertStore>) -> Result<ClientBuilder> {
    Ok(Client::builder()
        .tls_backend_preconfigured(tls_config(roots)?)
        .user_agent(concat!("Charter/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .http1_only())
}

/// A TLS configuration that trusts these roots.
///
/// # Errors
/// When TLS cannot be set up.
pub(crate) fn tls_config(roots: Arc<RootCertStore>) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(tls.map_err(Error::internal)?.with_root_certificates(roots).with_no_client_auth())
}
