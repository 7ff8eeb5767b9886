//! `charter webhook listen`: received deliveries and their verification.

use charter_runtime::webhook::{Attempt, HttpTransport, SigningSecret, Transport, UrlPolicy};

use crate::support::Database;
use crate::support::program::{Program, Serving};

#[test]
fn deliveries_are_printed_and_verified() {
    let program = Program::new(Database::Sqlite);
    let (secret, other) = (SigningSecret::generate().expect("a secret"), SigningSecret::generate().expect("a secret"));
    let arguments = ["webhook", "listen", "--port", "0", "--status", "202", "--secret", secret.reveal()];
    let listening = Serving::start(program.command(&arguments), "Start the server with");
    let url = listening.banner.lines().find_map(|line| line.strip_prefix("Listening on ")).expect("a URL").to_string();
    let attempt = |secret: &SigningSecret, previous: Option<&SigningSecret>| Attempt {
        webhook_id: 1,
        url: url.clone(),
        secret: secret.reveal().into(),
        previous_secret: previous.map(|secret| secret.reveal().into()),
        event: "user.created".into(),
        body: r#"{"event":"user.created","data":{"user":{"name":"Zoë"}}}"#.into(),
        uid: "msg_1".into(),
        number: 3,
        at: chrono::Utc::now(),
        trace: None,
    };
    let old = Attempt { at: chrono::Utc::now() - chrono::TimeDelta::hours(1), ..attempt(&secret, None) };
    let sent = [attempt(&secret, None), attempt(&other, None), attempt(&other, Some(&secret)), old];
    let policy = UrlPolicy { allow_http: true, networks: vec!["127.0.0.0/8".parse().expect("a network")] };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let sender = HttpTransport::new(policy).expect("a sender");
        for attempt in &sent {
            assert_eq!(sender.send(attempt).await.status, Some(202));
        }
    });
    listening.signal("INT");
    let said = listening.end();
    assert_eq!(said.code, 0, "{said:?}");
    let reports: Vec<&str> = said.out.split("\n\n").skip(1).collect();
    assert_eq!(reports.len(), 4, "{}", said.out);
    for report in &reports {
        assert!(report.contains("event user.created, attempt 3, id msg_1"), "{report}");
        assert!(report.contains("\"name\": \"Zoë\""), "{report}");
    }
    let expected = [
        ["x-service-signature: valid\n", "webhook-signature: valid\n", "webhook-timestamp: recent\n"],
        ["x-service-signature: INVALID\n", "webhook-signature: INVALID\n", "webhook-timestamp: recent\n"],
        ["use the new secret\n", "webhook-signature: valid\n", "webhook-timestamp: recent\n"],
        ["x-service-signature: valid\n", "webhook-signature: valid\n", "s old: a receiver should reject it\n"],
    ];
    for (report, lines) in reports.iter().zip(expected) {
        assert!(lines.iter().all(|line| report.contains(line)), "{lines:?}: {report}");
    }
    assert!(!said.out.contains(secret.reveal()) && !program.path().join("data").exists());
}

#[test]
fn invalid_secret_exits_with_1() {
    let said = Program::new(Database::Sqlite).run(&["webhook", "listen", "--port", "0", "--secret", "hush"]);
    assert!(said.code == 1 && said.err.contains("whsec_") && !said.err.contains("hush"), "{said:?}");
}

#[test]
fn webhook_listen_ignores_server_settings() {
    let program = Program::new(Database::Sqlite);
    let mut command = program.command(&["webhook", "listen", "--port", "0"]);
    command.env("CHARTER_BODY_LIMIT", "x").env("CHARTER_LISTN", "x");
    let listening = Serving::start(command, "Start the server with");
    listening.signal("INT");
    assert_eq!(listening.end().code, 0);
}

#[test]
fn webhook_listen_stops_on_signals_after_printing_its_address() {
    let program = Program::new(Database::Sqlite);
    for signal in ["INT", "TERM", "HUP"].into_iter().cycle().take(30) {
        let listening = Serving::start(program.command(&["webhook", "listen", "--port", "0"]), "Listening on");
        listening.signal(signal);
        assert_eq!(listening.end().code, 0, "{signal}");
    }
}
