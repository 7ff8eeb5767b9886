//! URL policy of webhooks: forbidden addresses are rejected in every notation before a connection is made.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use charter_runtime::webhook::dns::{Lookup, system_lookup};
use charter_runtime::webhook::{Transport, UrlPolicy};
use tokio::net::TcpListener;

use super::{allowing, attempt, named, no_names, sender};
use crate::support::{Receiver, Reply};

/// URLs of this machine, of private networks, and malformed ones. `PORT` is replaced by the port of a server that
/// listens on all addresses of this machine.
const FORBIDDEN: &[&str] = &[
    // Loopback in the notations that address parsers accept.
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://127.255.255.254:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0X7F.1:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0177.0x0.0.01:PORT/",
    "http://127.0.0.01:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://１２７.0.0.1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://0x0:PORT/",
    "http://0.1.2.3:PORT/",
    // IPv6 and embedded IPv4.
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[::ffff:10.0.0.1]:PORT/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2002:7f00:0001::7f00:1]:PORT/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[2001::ffff:80ff:fffe]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fec0::1]:PORT/",
    "http://[fc00::1]:PORT/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]:PORT/",
    "http://[2001:db8::1]:PORT/",
    "http://[3fff::1]:PORT/",
    "http://[100::1]:PORT/",
    // Host names of this machine.
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://localhost..:PORT/",
    "http://a.localhost:PORT/",
    "http://a.b.LocalHost.:PORT/",
    "http://localhost.localdomain:PORT/",
    "http://ip6-localhost:PORT/",
    "http://ip6-loopback:PORT/",
    "http://ｌｏｃａｌｈｏｓｔ:PORT/",
    "http://loc%61lhost:PORT/",
    // Private networks, metadata services and reserved addresses.
    "http://10.0.0.1:PORT/",
    "http://167772161:PORT/",
    "http://172.16.0.1:PORT/",
    "http://172.31.255.255:PORT/",
    "http://192.168.1.1:PORT/",
    "http://0xC0A80101:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://0251.0376.0251.0376/",
    "http://100.100.100.200/",
    "http://100.64.0.1:PORT/",
    "http://192.0.0.192/",
    "http://192.0.2.1:PORT/",
    "http://192.88.99.1:PORT/",
    "http://198.18.0.1:PORT/",
    "http://198.51.100.1:PORT/",
    "http://203.0.113.1:PORT/",
    "http://224.0.0.1:PORT/",
    "http://240.0.0.1:PORT/",
    "http://255.255.255.255:PORT/",
    // A partial URL parser extracts another host from these.
    "http://user@127.0.0.1:PORT/",
    "http://user:password@example.com/",
    "http://@example.com/",
    "http://:@127.0.0.1:PORT/",
    "http://example.com@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT@example.com/",
    "http://example.com\\@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT\\@example.com/",
    "http:\\\\127.0.0.1:PORT\\",
    "http:127.0.0.1:PORT/",
    "http:///127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    " http://127.0.0.1:PORT/",
    "http://127.0.\n0.1:PORT/",
    "ht\ttp://127.0.0.1:PORT/",
    "http://[::1%25lo]:PORT/",
    "http://127.0.0.1:PORT#@example.com/",
    "http://127.0.0.1:PORT?@example.com/",
    // Not URLs, or ports of other protocols.
    "",
    "/hooks",
    "example.com",
    "http://",
    "http://./",
    "http://:PORT/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/_GET",
    "unix:///var/run/docker.sock",
    "data:text/plain,x",
    "javascript:alert(1)",
    "ws://example.com/",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "http://example.com:0/",
    "http://example.com:22/",
    "http://example.com:25/",
    "http://example.com:65536/",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://0x1ffffffff/",
];

/// A server on all addresses of this machine that counts connections and never responds.
async fn trap() -> (u16, Arc<AtomicUsize>) {
    let v6 = TcpListener::bind("[::]:0").await;
    let listener = match v6 {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind("0.0.0.0:0").await.expect("a port is free"),
    };
    let (port, count) = (listener.local_addr().expect("an address").port(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    (port, count)
}

#[tokio::test]
async fn forbidden_addresses_are_rejected_in_every_notation() {
    let (port, connections) = trap().await;
    let http = sender(allowing(&[]), system_lookup());
    let https = sender(UrlPolicy::default(), system_lookup());
    for url in FORBIDDEN {
        let url = url.replace("PORT", &port.to_string());
        for (sender, url) in [(&http, url.clone()), (&https, url.replacen("http:", "https:", 1))] {
            assert!(sender.policy().check(&url).is_err(), "{url:?} is let through");
            let outcome = sender.send(&attempt(&url)).await;
            assert!(outcome.status.is_none() && outcome.error.is_some(), "{url:?}: {outcome:?}");
            let text = outcome.error.unwrap_or_default();
            assert!(text.starts_with("the URL ") && !text.contains("127"), "{url:?}: {text}");
        }
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    assert!(FORBIDDEN.len() >= 60);
}

/// Checks the trap: with the addresses allowed, the same URLs connect to it.
#[tokio::test]
async fn allowed_addresses_connect_in_every_notation() {
    let (port, connections) = trap().await;
    let sender = sender(allowing(&["127.0.0.0/8", "::1/128"]), no_names());
    let mut expected = 0;
    for url in FORBIDDEN.iter().filter(|url| url.contains("PORT")) {
        let url = url.replace("PORT", &port.to_string());
        if sender.policy().check(&url).is_ok() {
            expected += 1;
            sender.send(&attempt(&url)).await;
        }
    }
    assert!(expected >= 25, "{expected}");
    let connected = connections.load(Ordering::SeqCst);
    assert!(connected >= expected, "{connected} of {expected}");
}

#[tokio::test]
async fn host_name_with_a_forbidden_address_is_rejected() {
    let (port, connections) = trap().await;
    let forbidden: &[&[&str]] = &[
        &["127.0.0.1"],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["10.0.0.1"],
        &["169.254.169.254"],
        &["fd00::1"],
        &["64:ff9b::7f00:1"],
        &["0.0.0.0"],
        &["8.8.8.8", "127.0.0.1"],
        &["127.0.0.1", "2606:4700::1"],
    ];
    for addresses in forbidden {
        let sender = sender(allowing(&[]), named(addresses));
        let outcome = sender.send(&attempt(&format!("http://example.com:{port}/"))).await;
        let error = outcome.error.unwrap_or_default();
        assert_eq!(error, "the URL points to an address that is not public", "{addresses:?}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

/// DNS that returns a permitted address first and another one later. The connection uses the checked address, and every
/// new lookup is checked again.
#[tokio::test]
async fn dns_rebinding_does_not_reach_a_forbidden_address() {
    let permitted = Receiver::listen("127.0.0.2:0", None, |_| Reply::status(204)).await;
    let port = permitted.address.port();
    let other = Receiver::listen(&format!("127.0.0.1:{port}"), None, |_| Reply::status(204)).await;
    let answers = Arc::new(Mutex::new(vec!["127.0.0.1", "127.0.0.2"]));
    let lookup: Lookup = Arc::new(move |_| {
        let mut left = answers.lock().expect("no test failed");
        let answer = if left.len() > 1 { left.pop() } else { left.first().copied() };
        let address: IpAddr = answer.expect("an answer").parse().expect("an address");
        Box::pin(async move { Ok(vec![address]) })
    });
    let url = format!("http://rebinding.example:{port}/");
    let first = sender(allowing(&["127.0.0.2/32"]), lookup.clone());
    assert_eq!(first.send(&attempt(&url)).await.status, Some(204));
    // A resolver with an empty cache gets the second address.
    let second = sender(allowing(&["127.0.0.2/32"]), lookup);
    let outcome = second.send(&attempt(&url)).await;
    assert_eq!(outcome.error.as_deref(), Some("the URL points to an address that is not public"));
    assert_eq!((permitted.connections(), other.connections()), (1, 0));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (port, connections) = trap().await;
    for status in [300, 301, 302, 303, 307, 308] {
        for place in [format!("http://127.0.0.1:{port}/"), format!("http://localhost:{port}/"), "/other".into()] {
            let location = place.clone();
            let receiver = Receiver::listen("127.0.0.2:0", None, move |_| {
                Reply::Whole(status, Vec::new(), Some(("location", location.clone())))
            });
            let receiver = receiver.await;
            let outcome = sender(allowing(&["127.0.0.2"]), no_names()).send(&attempt(&receiver.url())).await;
            assert_eq!((outcome.status, outcome.is_delivered()), (Some(status), false), "{place}: {outcome:?}");
            assert_eq!(receiver.received().len(), 1);
        }
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}
