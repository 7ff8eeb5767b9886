//! HTTP proxy in front of a server that fails in the ways of a network and of an overloaded server.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A failure of one attempt of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// No failure.
    Passed,
    /// The connection closes before the server gets the request.
    LostBefore,
    /// The server carries out the request, and the connection closes without a response.
    LostAfter,
    /// The server carries out the request, and the connection closes within the response.
    LostWithin,
    /// 429 with `Retry-After: 1`.
    RateLimited,
    /// 503 without a body.
    Unavailable,
}

/// The attempts of the `POST` with the number of its key; further ones pass.
const PLANS: [&[Exchange]; 8] = [
    &[],
    &[Exchange::LostBefore],
    &[Exchange::LostAfter],
    &[Exchange::LostWithin],
    &[Exchange::Unavailable],
    &[Exchange::LostAfter, Exchange::LostAfter],
    &[Exchange::LostBefore, Exchange::LostWithin, Exchange::Unavailable],
    &[Exchange::RateLimited],
];

/// A request to the proxy.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The idempotency key, or else method and path.
    pub request: String,
    pub exchange: Exchange,
    pub at: Instant,
}

pub struct FaultProxy {
    address: SocketAddr,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

impl FaultProxy {
    /// A proxy to a server. The responses to the first attempts of a `PUT` and of a `DELETE` are lost.
    pub async fn to(server: SocketAddr) -> FaultProxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let attempts = Arc::new(Mutex::new(Vec::new()));
        let proxy = FaultProxy { address, attempts: attempts.clone() };
        let numbers = Arc::new(Mutex::new(HashMap::new()));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (attempts, numbers) = (attempts.clone(), numbers.clone());
                tokio::spawn(async move { exchange(client, server, &attempts, &numbers).await });
            }
        });
        proxy
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All attempts so far.
    pub fn attempts(&self) -> Vec<Attempt> {
        locked(&self.attempts).clone()
    }
}

fn locked<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one request and closes the connection.
async fn exchange(
    mut client: TcpStream,
    server: SocketAddr,
    attempts: &Mutex<Vec<Attempt>>,
    numbers: &Mutex<HashMap<String, usize>>,
) {
    let Some((head, request)) = read_request(&mut client).await else { return };
    let key =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("idempotency-key: ").map(str::to_owned));
    let target = head.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let plan: &[Exchange] = match (&key, target.split(' ').next()) {
        (Some(key), _) => {
            let mut numbers = locked(numbers);
            let next = numbers.len();
            PLANS[*numbers.entry(key.clone()).or_insert(next) % PLANS.len()]
        }
        (None, Some("PUT" | "DELETE")) => &[Exchange::LostAfter],
        _ => &[],
    };
    let request_name = key.unwrap_or(target);
    let exchange = {
        let mut attempts = locked(attempts);
        let before = attempts.iter().filter(|attempt| attempt.request == request_name).count();
        let exchange = plan.get(before).copied().unwrap_or(Exchange::Passed);
        attempts.push(Attempt { request: request_name, exchange, at: Instant::now() });
        exchange
    };
    let response = match exchange {
        Exchange::LostBefore => return,
        Exchange::RateLimited => answer("429 Too Many Requests", "Retry-After: 1\r\n"),
        Exchange::Unavailable => answer("503 Service Unavailable", ""),
        Exchange::Passed | Exchange::LostAfter | Exchange::LostWithin => forwarded(server, &head, &request).await,
    };
    let sent = match exchange {
        Exchange::LostAfter => &[][..],
        Exchange::LostWithin => &response[..response.len() - 10],
        _ => &response,
    };
    let _ = client.write_all(sent).await;
    let _ = client.shutdown().await;
}

fn answer(status: &str, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
}

/// The head and the body of a request, whose length is in its head.
async fn read_request(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if client.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let body = bytes.split_off(end);
    let head = String::from_utf8(bytes).ok()?;
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = body;
    while body.len() < length.unwrap_or(0) {
        if client.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, body))
}

/// The whole response of the server, which closes its connection.
async fn forwarded(server: SocketAddr, head: &str, body: &[u8]) -> Vec<u8> {
    let kept = head.trim_end().lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let head: String = kept.chain(["Connection: close", ""]).map(|line| format!("{line}\r\n")).collect();
    let mut stream = TcpStream::connect(server).await.expect("the server listens");
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    stream.write_all(body).await.expect("the server reads");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.expect("the server answers");
    response
}
