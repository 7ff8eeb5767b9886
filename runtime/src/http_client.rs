//! HTTP client for outgoing requests: TLS roots and safe defaults.

use std::sync::{Arc, LazyLock};

use reqwest::{Client, ClientBuilder, redirect, retry};
use rustls::{ClientConfig, RootCertStore};

use crate::error::{Error, Result};

/// The system's root certificates, or Mozilla's if the system has none, loaded once.
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

/// Builder of all HTTP clients of this server: no proxy, no redirects, no retries, no `Referer`. HTTP/1.1 only, because
/// an HTTP/2 peer could send megabytes before they are refused.
///
/// # Errors
/// If TLS cannot be set up.
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

/// TLS configuration with these root certificates.
///
/// # Errors
/// If TLS cannot be set up.
fn tls_config(roots: Arc<RootCertStore>) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(tls.map_err(Error::internal)?.with_root_certificates(roots).with_no_client_auth())
}
