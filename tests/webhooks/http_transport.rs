//! HTTP transport: request, timeouts and limits of an attempt, and the stored response.

use std::time::{Duration, Instant};

use charter_runtime::webhook::{Attempt, HttpTransport, Outcome, SigningSecret, Transport};
use chrono::TimeDelta;

use super::{allowing, at, attempt, named, no_names, sender};
use crate::support::{Receiver, Reply};

/// A transport that may connect to this machine.
fn local() -> HttpTransport {
    sender(allowing(&["127.0.0.0/8"]), no_names())
}

/// Outcome of one attempt at a receiver with this reply.
async fn outcome(reply: Reply) -> Outcome {
    let receiver = Receiver::start(move |_| reply.clone()).await;
    local().send(&attempt(&receiver.url())).await
}

#[tokio::test]
async fn attempt_sends_the_body_and_signed_headers() {
    let receiver = Receiver::answering(200).await;
    let body = r#"{"event":"user.updated","data":{"name":"Zoë"}}"#;
    let (secret, previous) = (SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap());
    let rotating = Attempt {
        secret: secret.reveal().into(),
        previous_secret: Some(previous.reveal().into()),
        event: "user.updated".into(),
        body: body.into(),
        number: 7,
        ..attempt(&format!("{}?a=b", receiver.url()))
    };
    assert!(local().send(&rotating).await.is_delivered());
    assert!(local().send(&Attempt { previous_secret: None, ..rotating }).await.is_delivered());
    let received = receiver.wait_for(2).await;
    for sent in &received {
        assert_eq!(
            (sent.method.as_str(), sent.path.as_str(), sent.body.as_slice()),
            ("POST", "/hooks?a=b", body.as_bytes())
        );
        assert_eq!(sent.json()["event"], "user.updated");
        assert_eq!(sent.header("content-type"), "application/json");
        assert_eq!(sent.header("user-agent"), concat!("Charter/", env!("CARGO_PKG_VERSION")));
        assert_eq!((sent.header("x-service-event"), sent.header("x-service-attempt")), ("user.updated", "7"));
        assert_eq!((sent.header("webhook-id"), sent.header("webhook-timestamp")), ("msg_1", "1792000000"));
        assert!(secret.verify(body.as_bytes(), sent.header("x-service-signature")));
        let standard = sent.header("webhook-signature");
        assert!(secret.verify_standard("msg_1", at().timestamp(), body.as_bytes(), standard));
    }
    assert!(previous.verify(body.as_bytes(), received[0].header("x-service-signature-previous")));
    let both = received[0].header("webhook-signature");
    assert!(previous.verify_standard("msg_1", at().timestamp(), body.as_bytes(), both));
    assert_eq!(both.split(' ').count(), 2);
    assert_eq!(received[1].header("x-service-signature-previous"), "");
    assert_eq!(received[1].header("webhook-signature").split(' ').count(), 1);
}

#[tokio::test]
async fn only_2xx_counts_as_delivered() {
    for (status, delivered) in [
        (200, true),
        (201, true),
        (204, true),
        (299, true),
        (300, false),
        (304, false),
        (400, false),
        (404, false),
        (410, false),
        (429, false),
        (500, false),
        (503, false),
        (599, false),
    ] {
        let outcome = outcome(Reply::status(status)).await;
        assert_eq!((outcome.status, outcome.is_delivered()), (Some(status), delivered), "{outcome:?}");
        assert_eq!(outcome.error, None);
    }
}

#[tokio::test]
async fn beginning_of_the_response_body_is_stored() {
    let whole = outcome(Reply::Whole(500, "naïve\0".into(), None)).await;
    assert_eq!(whole.body.as_deref(), Some("naïve\u{fffd}"));
    let long = outcome(Reply::Whole(200, "é".repeat(5000).into(), None)).await;
    assert_eq!((long.body.as_deref(), long.is_delivered()), (Some("é".repeat(1024).as_str()), true));
    let odd = outcome(Reply::Whole(200, [b"x".as_slice(), "é".repeat(5000).as_bytes()].concat(), None)).await;
    assert_eq!(odd.body, Some(format!("x{}", "é".repeat(1023))));
    // At most 16 KiB are read, which makes the endless rest irrelevant.
    let endless = outcome(Reply::Endless(64 * 1024, Duration::from_secs(60))).await;
    assert_eq!((endless.body.as_ref().map(String::len), endless.is_delivered()), (Some(2048), true), "{endless:?}");
}

#[tokio::test]
async fn incomplete_response_is_a_failure_after_the_timeout() {
    for (reply, status) in [(Reply::Silence, None), (Reply::Endless(1, Duration::from_millis(50)), Some(200))] {
        let begun = Instant::now();
        let outcome = outcome(reply).await;
        assert_eq!((outcome.status, outcome.is_delivered()), (status, false));
        assert_eq!(outcome.error.as_deref(), Some("no complete response within 0.8 s"));
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(800) && took < Duration::from_millis(1600), "{took:?}");
        assert!(outcome.duration >= Duration::from_millis(800), "{:?}", outcome.duration);
    }
}

#[tokio::test]
async fn error_messages_are_short_and_have_no_addresses() {
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let refused = local().send(&attempt(&closed)).await.error.unwrap_or_default();
    assert!(refused.starts_with("could not connect: Connection refused"), "{refused}");
    let cases = [
        (Reply::Bytes(Vec::new()), "connection closed before message completed"),
        (Reply::Bytes(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()), "invalid HTTP version parsed"),
        (
            Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()),
            "end of file before message length reached",
        ),
    ];
    for (reply, expected) in cases {
        let outcome = outcome(reply).await;
        assert!(!outcome.is_delivered());
        assert_eq!(outcome.error.as_deref(), Some(expected));
    }
    let unknown = local().send(&attempt("http://nowhere.example/")).await;
    assert_eq!(unknown.error.as_deref(), Some("the host name could not be resolved"));
    let broken = Attempt { secret: "whsec_broken".into(), ..attempt("http://127.0.0.1:4000/") };
    let broken = local().send(&broken).await.error.unwrap_or_default();
    assert_eq!(broken, "the signing secret is malformed: rotate it");
}

#[tokio::test]
async fn lookup_and_connect_have_separate_timeouts() {
    let slow = std::sync::Arc::new(|_| -> std::pin::Pin<Box<dyn Future<Output = _> + Send>> {
        Box::pin(std::future::pending())
    });
    let outcome = sender(allowing(&[]), slow).send(&attempt("http://slow.example/")).await;
    assert_eq!(outcome.error.as_deref(), Some("the host name was not resolved within 0.4 s"));
    // The system accepts the connection, and no TLS handshake follows.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("https://{}/", listener.local_addr().expect("an address"));
    let outcome = local().send(&attempt(&url)).await;
    assert_eq!(outcome.error.as_deref(), Some("connection timed out after 0.4 s"));
}

#[tokio::test]
async fn retry_after_is_parsed_as_seconds_and_as_a_date() {
    let later = (at() + TimeDelta::seconds(90)).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let earlier = (at() - TimeDelta::seconds(90)).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    for (value, seconds) in [
        ("120", Some(120)),
        (later.as_str(), Some(90)),
        (earlier.as_str(), None),
        ("soon", None),
        ("-1", None),
        ("0", Some(0)),
    ] {
        let outcome = outcome(Reply::Whole(503, Vec::new(), Some(("retry-after", value.to_string())))).await;
        assert_eq!(outcome.retry_after, seconds.map(Duration::from_secs), "{value}");
    }
}

/// Idle connections are reused, which saves the second handshake.
#[tokio::test]
async fn deliveries_to_one_host_reuse_a_connection() {
    let receiver = Receiver::answering(200).await;
    let sender = sender(allowing(&["127.0.0.0/8"]), named(&["127.0.0.1"]));
    let url = format!("http://receiver.example:{}/", receiver.address.port());
    for _ in 0..5 {
        assert!(sender.send(&attempt(&url)).await.is_delivered());
    }
    assert_eq!((receiver.connections(), receiver.received().len()), (1, 5));
}

/// Resident memory of this process, in KiB.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("a number")
}

/// Measurement with the default limits and both ends in this process: 50 receivers each send up to 10 GB, slowly enough
/// to reach the timeout.
#[tokio::test]
#[ignore = "takes 15 s: cargo test --test api slow_flood -- --ignored --nocapture"]
async fn slow_endless_responses_cost_15_s_and_less_than_1_mib() {
    const RECEIVERS: usize = 50;
    let sender = std::sync::Arc::new(HttpTransport::new(allowing(&["127.0.0.0/8"])).unwrap());
    let mut receivers = Vec::new();
    for _ in 0..RECEIVERS {
        receivers.push(Receiver::start(|_| Reply::Endless(1000, Duration::from_secs(1))).await);
    }
    let (before, begun) = (resident(), Instant::now());
    let sends: Vec<_> = receivers
        .iter()
        .map(|receiver| (sender.clone(), attempt(&receiver.url())))
        .map(|(sender, attempt)| tokio::spawn(async move { sender.send(&attempt).await }))
        .collect();
    tokio::time::sleep(Duration::from_secs(14)).await;
    let each = (resident() - before) / RECEIVERS as i64;
    for send in sends {
        let outcome = send.await.unwrap();
        assert_eq!(outcome.error.as_deref(), Some("no complete response within 15 s"));
    }
    let took = begun.elapsed();
    println!("each of {RECEIVERS} took {took:?} and {each} KiB");
    assert!(took < Duration::from_secs(16) && each < 1024, "{took:?} {each} KiB");
}
