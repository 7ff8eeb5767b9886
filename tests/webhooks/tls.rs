//! TLS of deliveries: certificates that the transport accepts.

use std::sync::Arc;

use charter_runtime::webhook::{HttpTransport, Outcome, Transport};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::{allowing, attempt, named, quick};
use crate::support::{Receiver, Reply};

/// A certificate authority of the test.
struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        Authority { certificate: certificate.der().clone(), issuer: Issuer::new(params, key) }
    }

    /// A server with a certificate for this name that expires at the end of this year.
    fn server(&self, name: &str, until: i32) -> TlsAcceptor {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec![name.to_string()]).expect("a name");
        params.not_after = date_time_ymd(until, 12, 31);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("versions of TLS").with_no_client_auth();
        let config = config.with_single_cert(vec![certificate.der().clone()], key).expect("a server");
        TlsAcceptor::from(Arc::new(config))
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("an authority");
        roots
    }
}

/// Outcome of an attempt over TLS at `receiver.example`, and the number of requests that arrived.
async fn outcome(server: TlsAcceptor, roots: RootCertStore) -> (Outcome, usize) {
    let receiver = Receiver::listen("127.0.0.1:0", Some(server), |_| Reply::status(204)).await;
    let policy = charter_runtime::webhook::UrlPolicy { allow_http: false, ..allowing(&["127.0.0.0/8"]) };
    let sender = HttpTransport::with(policy, named(&["127.0.0.1"]), quick(), roots.into()).expect("a sender");
    let url = format!("https://receiver.example:{}/hooks", receiver.address.port());
    let outcome = sender.send(&attempt(&url)).await;
    (outcome, receiver.received().len())
}

#[tokio::test]
async fn valid_certificate_is_accepted() {
    let authority = Authority::new("One");
    let (outcome, arrived) = outcome(authority.server("receiver.example", 2099), authority.roots()).await;
    assert_eq!((outcome.status, outcome.error, arrived), (Some(204), None, 1));
}

#[tokio::test]
async fn invalid_certificates_are_rejected_before_the_request() {
    let (authority, other) = (Authority::new("One"), Authority::new("Other"));
    let cases = [
        ("an unknown authority", authority.server("receiver.example", 2099), other.roots(), "UnknownIssuer"),
        ("another name", authority.server("other.example", 2099), authority.roots(), "not valid for name"),
        ("expired", authority.server("receiver.example", 2020), authority.roots(), "expired"),
    ];
    for (what, server, roots, expected) in cases {
        let (outcome, arrived) = outcome(server, roots).await;
        let error = outcome.error.clone().unwrap_or_default();
        assert!(error.starts_with("TLS: invalid peer certificate") && error.contains(expected), "{what}: {error}");
        assert_eq!((outcome.status, arrived), (None, 0), "{what}");
    }
}
