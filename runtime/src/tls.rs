//! TLS as a client: whom this server trusts when it connects to others.

use std::sync::{Arc, LazyLock};

use rustls::{ClientConfig, RootCertStore};

use crate::error::{Error, Result};

/// The system's authorities, or those of the browsers where the system has none; as they were when they were first asked
/// for.
pub fn authorities() -> Arc<RootCertStore> {
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

/// What a client needs that trusts these authorities.
///
/// # Errors
/// When TLS cannot be set up.
pub fn trusting(roots: Arc<RootCertStore>) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(tls.map_err(Error::internal)?.with_root_certificates(roots).with_no_client_auth())
}
