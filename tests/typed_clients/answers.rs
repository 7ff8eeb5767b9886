//! Answers of a server that are no answers of the API, over a socket: redirects, slow bodies, broken compression.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use charter_codegen::client::Language;
use charter_testing::needs_clients;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Database, Server, TypedClient, run};

/// A server that answers by the first part of the path, and records the requests.
struct Broken {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Broken {
    async fn start() -> Broken {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let recorded = requests.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let recorded = recorded.clone();
                // The client may close the connection within an answer.
                tokio::spawn(async move { answer(client, &recorded).await.ok() });
            }
        });
        Broken { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(mut client: TcpStream, requests: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    // The body of a request is an object, and small.
    while !(bytes.ends_with(b"\r\n\r\n") && bytes.starts_with(b"GET") || bytes.ends_with(b"}")) {
        if client.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    }
    let request = String::from_utf8_lossy(&bytes);
    let target: Vec<&str> = request.split(' ').take(2).collect();
    requests.lock().unwrap_or_else(PoisonError::into_inner).push(target.join(" "));
    let head = match target[1].split('/').nth(1) {
        Some("moved") => "301 Moved Permanently\r\nLocation: /target\r\nContent-Length: 0",
        Some("compressed") => "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6",
        Some("slow") => "200 OK\r\nContent-Length: 1000000",
        _ => "200 OK\r\nContent-Length: 6",
    };
    client.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    if target[1].starts_with("/slow/") {
        loop {
            client.write_all(b" ").await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    client.write_all(b"broken").await?;
    client.shutdown().await
}

/// The address of a port on which nothing listens any more.
async fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    format!("http://{}", listener.local_addr().expect("it listens"))
}

fn gives_up(language: Language) {
    run(Database::Sqlite, |server: Server| async move {
        let broken = Broken::start().await;
        let client = TypedClient::of(&server, language, &["support", "answers", "requests"]).await;
        client.run("answers", &broken.url, &[&closed().await]).await;
        client.run("requests", &broken.url, &[]).await;
        let of = |start: &str| broken.requests().into_iter().filter(|request| request.contains(start)).count();
        assert_eq!((of("POST /moved/"), of("/target")), (1, 0), "{:?}", broken.requests());
        assert_eq!((of("POST /compressed/"), of("GET /slow/")), (2, 3), "{:?}", broken.requests());
    });
}

needs_clients! {
    #[test]
    fn typescript_client_gives_up_on_redirects_and_slow_or_broken_answers() {
        gives_up(Language::TypeScript);
    }

    #[test]
    fn python_client_gives_up_on_redirects_and_slow_or_broken_answers() {
        gives_up(Language::Python);
    }
}
