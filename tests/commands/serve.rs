//! `charter serve`: starts, signals, data folder and log.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{blocking, on_both, status, token};
use crate::support::program::{Program, Serving, signal};
use crate::support::{Bucket, Client, Database, postgres};

#[test]
fn read_only_database_file_is_logged_at_start() {
    let program = Program::new(Database::Sqlite);
    let first = program.serve_first(&[]);
    let token = token(&first.banner);
    first.signal("TERM");
    assert!(!first.end().err.contains("read-only"));
    let mut command = program.command(&[]);
    command.env("CHARTER_DATABASE_URL", format!("{}?mode=ro", program.url()));
    let serving = Serving::start(command, "Serving ");
    assert_eq!(status(&serving, &token, "/products"), 200);
    serving.signal("TERM");
    let said = serving.end();
    let warnings = said.err.lines().filter(|line| line.contains("WARN") && line.contains("read-only")).count();
    assert_eq!(warnings, 1, "{}", said.err);
}

on_both!(
    first_start_prints_a_token_and_a_working_curl_line,
    second_start_prints_no_token_and_accepts_the_first,
    administrator_email_is_a_setting,
    sigterm_and_sigint_stop_the_server_with_exit_code_0,
    silent_connections_do_not_delay_the_shutdown,
    concurrent_starts_create_one_administrator,
    log_contains_no_secrets,
    server_runs_when_its_output_cannot_be_written,
);

fn first_start_prints_a_token_and_a_working_curl_line(program: Program) {
    let serving = program.serve_first(&[]);
    let curl = serving.banner.lines().map(str::trim).find(|line| line.starts_with("curl "));
    let curl = curl.unwrap_or_else(|| panic!("no curl line: {}", serving.banner));
    // As pasted into a shell, if curl is installed.
    let shell = std::process::Command::new("sh").args(["-c", &format!("{curl} --silent --noproxy '*'")]).output();
    let shell = shell.expect("sh runs");
    if shell.status.code() != Some(127) {
        let body: Value = serde_json::from_slice(&shell.stdout).expect("curl prints the answer");
        assert!(body["meta"]["total"].as_i64().is_some_and(|total| total > 0), "{body}");
    }
    let token = token(&serving.banner);
    assert!(curl.contains(&format!("'Authorization: Bearer {token}'")) && curl.contains(&serving.base_url), "{curl}");
    for path in ["/currencies", "/products", "/users", "/settings"] {
        assert_eq!(status(&serving, &token, path), 200, "{path}");
    }
    for path in ["~/health/live", "~/health/ready"] {
        assert_eq!(status(&serving, "", path), 200, "{path}");
    }
    assert_eq!(serving.banner.matches(&token).count(), 2, "once alone, once in the line to paste");
}

fn second_start_prints_no_token_and_accepts_the_first(program: Program) {
    let serving = program.serve_first(&["serve"]);
    let token = token(&serving.banner);
    serving.signal("TERM");
    let said = serving.end();
    assert_eq!(said.code, 0, "{said:?}");
    let again = program.serve(&["serve"]);
    assert_eq!(status(&again, &token, "/products"), 200);
    again.signal("TERM");
    let said = again.end();
    assert!(!said.out.contains("chr_") && !said.err.contains("chr_"), "{said:?}");
}

fn administrator_email_is_a_setting(program: Program) {
    let mut command = program.command(&[]);
    command.env("CHARTER_ADMIN_EMAIL", "Boss@Example.org").env("CHARTER_BASE_URL", "https://hire.example/");
    let serving = Serving::start(command, "More tokens:");
    assert_eq!(serving.base_url, "https://hire.example");
    assert!(serving.banner.contains("https://hire.example/api/v1/currencies"), "{}", serving.banner);
    serving.signal("INT");
    assert_eq!(serving.end().code, 0);
    let made = program.run(&["user", "create", "--email", "boss@example.org", "--name", "x"]);
    assert!(made.code == 1 && made.err.contains("already taken"), "{made:?}");
    // A flag wins over the environment variable.
    let mut command = program.command(&["--base-url", "http://other.example"]);
    command.env("CHARTER_BASE_URL", "https://hire.example/");
    assert_eq!(Serving::start(command, "Serving ").base_url, "http://other.example");
}

fn sigterm_and_sigint_stop_the_server_with_exit_code_0(program: Program) {
    drop(program.serve_first(&[]));
    for signal in ["TERM", "INT"] {
        let serving = program.serve(&[]);
        serving.signal(signal);
        let said = serving.end();
        assert_eq!(said.code, 0, "{signal}: {said:?}");
    }
}

fn silent_connections_do_not_delay_the_shutdown(program: Program) {
    drop(program.serve_first(&[]));
    let serving = program.serve(&[]);
    let address = serving.base_url.trim_start_matches("http://").to_string();
    let connect = || TcpStream::connect(&address).expect("it accepts");
    let (silent, mut idle) = (connect(), connect());
    idle.write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("it reads");
    let mut answer = [0; 12];
    idle.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"HTTP/1.1 200");
    let start = Instant::now();
    serving.signal("TERM");
    let said = serving.end();
    assert_eq!(said.code, 0, "{said:?}");
    // Open requests would have 15 seconds.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    drop((silent, idle));
}

fn concurrent_starts_create_one_administrator(program: Program) {
    let serving = std::thread::scope(|scope| {
        let starts = [(); 2].map(|()| scope.spawn(|| program.serve(&[])));
        starts.map(|start| start.join().expect("it starts"))
    });
    for serving in &serving {
        assert_eq!(status(serving, "", "~/health/ready"), 200);
        serving.signal("TERM");
    }
    let said = serving.map(Serving::end);
    assert!(said.iter().all(|said| said.code == 0), "{said:?}");
    let out = format!("{}{}", said[0].out, said[1].out);
    assert_eq!(out.matches("This is the first start").count(), 1, "one of them creates the administrator: {out}");
    assert_eq!(status(&program.serve(&[]), &token(&out), "/users"), 200);
}

fn log_contains_no_secrets(program: Program) {
    let mut command = program.command(&[]);
    command
        .env("CHARTER_LOG", "trace")
        .env("CHARTER_LOG_FORMAT", "json")
        .env("CHARTER_SECRET_KEY", "the-secret-key-of-at-least-32-bytes");
    let serving = Serving::start(command, "More tokens:");
    let first = token(&serving.banner);
    let (_, link) = serving.banner.split_once("/panel/invitation/").expect("a link to set a password by");
    let link = link.split_whitespace().next().expect("a secret").to_string();
    let made = blocking(async {
        let client = Client::new(serving.address()).bearing(&first);
        client.get("/products?q[name_eq]=personal").await.ok();
        client.get("/tokens/1").await.record("token");
        let made = client.post("/tokens", json!({ "name": "x", "abilities": ["*"] })).await.created("token");
        Client::new(serving.address())
            .with("x-auth-token", made["value"].as_str().expect("a value"))
            .get("/users")
            .await
            .ok();
        client.get("/nope").await.refused(404, "not_found");
        let page = client.with("accept", "text/html").get(&format!("~/panel/invitation/{link}")).await;
        assert!(page.status(200).text.contains("Choose a password"));
        for spelled in ["/panel//invitation/", "/panel/%69nvitation/"] {
            client.with("accept", "text/html").get(&format!("~{spelled}{link}")).await.status(404);
        }
        made["value"].as_str().expect("a value").to_string()
    });
    serving.signal("TERM");
    let said = serving.end();
    let answered: Vec<Value> = said.err.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let lines: Vec<&Value> = answered.iter().filter(|line| line["fields"]["message"] == "answered").collect();
    assert_eq!(lines.len(), 8, "{}", said.err.len());
    assert_eq!([&lines[0]["fields"]["path"], &lines[0]["fields"]["status"]], [&json!("/api/v1/products"), &json!(200)]);
    for line in &lines[5..] {
        assert_eq!(line["fields"]["path"], "/panel/invitation/-");
    }
    for hidden in [&first[4..], &made[4..], "the-secret-key-of-at-least-32-bytes", &link] {
        let line = said.err.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{hidden}");
    }
}

#[test]
fn bucket_is_tested_at_start_and_a_refusal_is_logged() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let bucket = runtime.block_on(Bucket::start());
    let location = bucket.location();
    let said = |secret: &str, last: &str| {
        let program = Program::new(Database::Sqlite);
        let mut command = program.command(&["serve", "--log", "trace"]);
        command.env("CHARTER_STORAGE", format!("s3://{}/{}/", location.bucket, location.prefix));
        command.env("CHARTER_STORAGE_ENDPOINT", location.endpoint.as_deref().expect("an address"));
        command.env("CHARTER_STORAGE_REGION", &location.region).env("CHARTER_STORAGE_SECRET_KEY", secret);
        command.env("CHARTER_STORAGE_ACCESS_KEY", &location.access_key);
        let serving = Serving::start(command, "More tokens:");
        let start = Instant::now();
        while !bucket.requests(last).iter().any(|line| line.contains("/started ")) {
            assert!(start.elapsed() < Duration::from_secs(10), "the bucket is not tested");
            std::thread::sleep(Duration::from_millis(20));
        }
        // Time for the server to log the result.
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(status(&serving, "", "~/health/ready"), 200);
        serving.signal("TERM");
        serving.end()
    };
    let message = "attachment storage is unavailable: check the storage settings";
    let wrong = said("another/secret", "PUT");
    assert_eq!(wrong.code, 0);
    assert!(wrong.err.contains(message) && wrong.err.contains("SignatureDoesNotMatch"), "{}", wrong.err);
    let right = said(&location.secret_key, "DELETE");
    assert!(!right.err.contains(message), "{}", right.err);
    for secret in ["another/secret", &location.secret_key] {
        assert!(![&wrong, &right].iter().any(|said| said.err.contains(secret) || said.out.contains(secret)));
    }
    assert!(bucket.objects().is_empty());
}

#[test]
fn data_folder_holds_database_and_key_by_default() {
    let program = Program::new(Database::Sqlite);
    let mut command = program.command(&[]);
    command.env_remove("CHARTER_DATABASE_URL");
    let serving = Serving::start(command, "More tokens:");
    assert_eq!(status(&serving, &token(&serving.banner), "/products"), 200);
    let data = program.path().join("data");
    assert!(data.join("charter.db").is_file());
    let key = |data: &std::path::Path| {
        let files = std::fs::read_dir(data).expect("a folder").flatten().map(|entry| entry.path());
        let kept = files.filter(|path| path.is_file() && !path.to_string_lossy().contains("charter.db")).map(|path| {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
            (std::fs::read(&path).expect("a file"), mode & 0o077)
        });
        kept.filter(|(content, _)| !content.is_empty()).collect::<Vec<_>>()
    };
    let first = key(&data);
    assert!(
        first.len() == 1 && first[0].0.len() >= 32 && first[0].1 == 0,
        "one key, readable by its owner only: {first:?}"
    );
    serving.signal("TERM");
    assert_eq!(serving.end().code, 0);
    let mut command = program.command(&["migrate"]);
    assert!(command.env_remove("CHARTER_DATABASE_URL").status().expect("the program runs").success());
    assert_eq!(key(&data), first, "the key stays the same");
}

#[test]
fn port_in_use_exits_with_1() {
    let program = Program::new(Database::Sqlite);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let said = program.run(&["--listen", &address]);
    assert!(said.code == 1 && said.err.contains(&address), "{said:?}");
}

charter_testing::needs_postgres! {
    #[test]
    fn readiness_is_503_while_the_database_is_unavailable() {
        let own = postgres::Postgres::start();
        let program = Program::new(Database::Sqlite);
        let mut command = program.command(&[]);
        command.env("CHARTER_DATABASE_URL", own.create_database(None));
        let serving = Serving::start(command, "More tokens:");
        assert_eq!(status(&serving, "", "~/health/ready"), 200);
        drop(own);
        assert_eq!(status(&serving, "", "~/health/ready"), 503);
        assert_eq!(status(&serving, "", "~/health/live"), 200);
        // The shutdown does not hang either.
        let start = Instant::now();
        serving.signal("TERM");
        assert_eq!(serving.end().code, 0);
        assert!(start.elapsed() < Duration::from_secs(60));
        // Without a database the server does not start.
        let said = program.run(&["--database-wait", "0", "--database-url", "postgres://nobody:hush@127.0.0.1:1/nowhere"]);
        assert!(said.code == 1 && !said.err.contains("hush"), "{said:?}");
    }
}

charter_testing::needs_postgres! {
    #[test]
    fn start_survives_idle_transaction_timeouts() {
        let server = postgres::server();
        let program = Program::new(Database::Sqlite);
        let mut command = program.command(&[]);
        let ended = "options=-c%20idle_in_transaction_session_timeout%3D400";
        command.env("CHARTER_DATABASE_URL", format!("{}?{ended}", server.create_database(None)));
        let serving = Serving::start(command, "More tokens:");
        assert_eq!(status(&serving, &token(&serving.banner), "/products"), 200);
        serving.signal("TERM");
        let said = serving.end();
        assert!(said.code == 0 && !said.err.contains("startup lock was lost"), "{said:?}");
    }
}

#[test]
fn transparent_huge_pages_are_disabled() {
    let program = Program::new(Database::Sqlite);
    let serving = program.serve_first(&[]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", serving.id())).expect("Linux has it");
    // Linux reports it since 5.0.
    let enabled = status.lines().find_map(|line| line.strip_prefix("THP_enabled:"));
    assert!(enabled.is_none_or(|enabled| enabled.trim() == "0"), "{status}");
}

/// As on a full disk, or with a closed pipe.
fn server_runs_when_its_output_cannot_be_written(program: Program) {
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    // The server cannot print its port. No other test uses this address, so that no other server can answer.
    let own = if program.url().starts_with("sqlite") { "127.0.0.2:0" } else { "127.0.0.3:0" };
    let free = std::net::TcpListener::bind(own).and_then(|free| free.local_addr()).expect("a port");
    let address = free.to_string();
    let mut child = program.command(&["--listen", &address]).stdout(full()).stderr(full()).spawn().expect("it runs");
    let client = Client::new(free);
    let reaches = || std::net::TcpStream::connect(&address).is_ok();
    let start = Instant::now();
    while !reaches() && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..3 {
        assert_eq!(blocking(client.get("~/health/ready")).status, 200);
        assert_eq!(blocking(client.get("/products")).status, 401);
    }
    signal(child.id(), "TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    // A command can create another token.
    let token = program.done(&["token", "create", "--user", "admin@example.com", "--name", "x", "--ability", "*"]);
    assert!(token.starts_with("chr_"), "{token}");
}

#[test]
fn start_and_stop_are_logged() {
    let program = Program::new(Database::Sqlite);
    let serving = program.serve_first(&[]);
    serving.signal("TERM");
    let said = serving.end();
    for message in ["starting", "database=Sqlite", "applied migration", "listening", "stopping", "stopped"] {
        assert!(said.err.contains(message), "{message}: {}", said.err);
    }
}
