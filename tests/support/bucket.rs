//! S3-compatible server with one bucket: checks every signature and injects faults.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use charter_runtime::attachment::S3Config;
use chrono::{TimeDelta, Utc};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::sigv4::{self, Head, Key, Signed};

const NAME: &str = "files";
const PREFIX: &str = "of/charter";

/// The server. It stops when it is dropped.
pub struct Bucket {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    key: Key,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    /// Faults for the next requests that match.
    faults: VecDeque<(&'static str, Fault)>,
    /// `PUT of/charter/… 200`, for each request. Without a status if there was no response.
    log: Vec<String>,
    /// Offset of the server's clock.
    clock_offset: TimeDelta,
}

/// Fault of one request.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Responds with this status without reading the body.
    Status(u16),
    /// Responds with this status after half of the body and closes the connection.
    Midway(u16),
    /// Closes the connection after half of the body.
    Cut,
    /// Processes the request and closes the connection without a response.
    Unanswered,
    /// Reads the body and never responds.
    Silence,
}

impl Bucket {
    /// Listens on a free port.
    pub async fn start() -> Bucket {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let key = Key { id: "AKIATEST".into(), secret: "hush/of+the=tests".into(), region: "test-1".into() };
        let shared = Arc::new(Shared { key, state: Mutex::default() });
        let accepted = shared.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = accepted.clone();
                tokio::spawn(async move { shared.serve(stream).await });
            }
        });
        Bucket { address, shared, accepting }
    }

    /// The configuration for a client.
    pub fn location(&self) -> S3Config {
        let Key { id, secret, region } = self.shared.key.clone();
        S3Config {
            bucket: NAME.into(),
            prefix: PREFIX.into(),
            endpoint: Some(format!("http://{}", self.address)),
            region,
            access_key: id,
            secret_key: secret,
        }
    }

    /// Names, without the prefix, and contents of all objects.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let prefix = format!("{PREFIX}/");
        let plain = |name: &String| name.strip_prefix(&prefix).expect("it has the prefix").to_string();
        self.state(|state| state.objects.iter().map(|(name, bytes)| (plain(name), bytes.clone())).collect())
    }

    /// Stores an object without a request.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        self.state(|state| state.objects.insert(format!("{PREFIX}/{name}"), bytes));
    }

    /// Makes the next requests fail, each once: those with a method, `PUT`, or with a method and the end of a name,
    /// `PUT thumb`.
    pub fn fail(&self, pattern: &'static str, faults: impl IntoIterator<Item = Fault>) {
        self.state(|state| state.faults.extend(faults.into_iter().map(|fault| (pattern, fault))));
    }

    /// Advances the clock.
    pub fn advance(&self, time: Duration) {
        self.state(|state| state.clock_offset += TimeDelta::from_std(time).expect("a short time"));
    }

    /// The requests with this method, with their statuses.
    pub fn requests(&self, method: &str) -> Vec<String> {
        self.state(|state| state.log.iter().filter(|line| line.starts_with(method)).cloned().collect())
    }

    fn state<T>(&self, read: impl FnOnce(&mut State) -> T) -> T {
        read(&mut self.shared.state.lock().expect("no test failed"))
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Response to a request.
struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Reply {
    fn new(status: u16) -> Reply {
        Reply { status, headers: Vec::new(), body: Vec::new() }
    }

    fn error(status: u16, code: &str) -> Reply {
        let body = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code></Error>");
        Reply { body: body.into_bytes(), ..Reply::new(status) }
    }
}

impl Shared {
    /// Serves one connection until either side closes it.
    async fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let head = read_head(&mut stream).await?;
            let length = head.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            let fault = self.fault(&head);
            let first = match fault {
                Some(Fault::Status(_)) => 0,
                Some(Fault::Midway(_) | Fault::Cut) => length / 2,
                _ => length,
            };
            let mut body = vec![0; first];
            stream.read_exact(&mut body).await.ok()?;
            let reply = match fault {
                Some(Fault::Silence) => {
                    self.log(&head, None);
                    return std::future::pending().await;
                }
                Some(Fault::Cut) => {
                    self.log(&head, None);
                    return Some(());
                }
                Some(Fault::Status(status) | Fault::Midway(status)) => Reply::error(status, "OfTheTest"),
                Some(Fault::Unanswered) | None => self.answer(&head, body),
            };
            if let Some(Fault::Unanswered) = fault {
                self.log(&head, None);
                return Some(());
            }
            self.log(&head, Some(reply.status));
            self.write(&mut stream, &head, &reply).await?;
            if fault.is_some() {
                // The rest of the body is not read.
                return Some(());
            }
        }
    }

    fn fault(&self, head: &Head) -> Option<Fault> {
        let mut state = self.state.lock().ok()?;
        let matches = |pattern: &str| {
            let (method, end) = pattern.split_once(' ').unwrap_or((pattern, ""));
            head.method == method && head.path.ends_with(end)
        };
        let at = state.faults.iter().position(|(pattern, _)| matches(pattern))?;
        state.faults.remove(at).map(|(_, fault)| fault)
    }

    fn log(&self, head: &Head, status: Option<u16>) {
        let status = status.map(|status| format!(" {status}")).unwrap_or_default();
        if let Ok(mut state) = self.state.lock() {
            state.log.push(format!("{} {}{status}", head.method, head.path));
        }
    }

    /// Processes a complete request.
    fn answer(&self, head: &Head, body: Vec<u8>) -> Reply {
        let mut state = self.state.lock().expect("no test failed");
        let signed = match sigv4::check(head, &self.key, Utc::now() + state.clock_offset) {
            Ok(signed) => signed,
            Err(code) => return Reply::error(403, code),
        };
        if let Signed::Headers(Some(digest)) = signed
            && digest[..] != Sha256::digest(&body)[..]
        {
            return Reply::error(400, "XAmzContentSHA256Mismatch");
        }
        let Some(name) = head.path.strip_prefix(&format!("/{NAME}/")).map(str::to_string) else {
            return Reply::error(404, "NoSuchBucket");
        };
        // Multipart uploads, lists and other operations are not supported.
        if head.query.iter().any(|(name, _)| !name.starts_with("X-Amz-") && !name.starts_with("response-")) {
            return Reply::error(501, "NotImplemented");
        }
        match head.method.as_str() {
            "PUT" if head.header("content-length").is_none() => Reply::error(411, "MissingContentLength"),
            "PUT" => {
                state.objects.insert(name, body);
                Reply { headers: vec![("etag".into(), "\"1\"".into())], ..Reply::new(200) }
            }
            "DELETE" => {
                state.objects.remove(&name);
                Reply::new(204)
            }
            "GET" | "HEAD" => match state.objects.get(&name) {
                Some(bytes) => shown(head, bytes),
                None => Reply::error(404, "NoSuchKey"),
            },
            _ => Reply::error(405, "MethodNotAllowed"),
        }
    }

    async fn write(&self, stream: &mut BufReader<TcpStream>, head: &Head, reply: &Reply) -> Option<()> {
        let headers: String = reply.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        // A 204 has no length.
        let length =
            if reply.status == 204 { String::new() } else { format!("content-length: {}\r\n", reply.body.len()) };
        let text = format!("HTTP/1.1 {} X\r\n{headers}{length}\r\n", reply.status);
        stream.write_all(text.as_bytes()).await.ok()?;
        if head.method != "HEAD" {
            stream.write_all(&reply.body).await.ok()?;
        }
        stream.flush().await.ok()
    }
}

/// An object or a range of it, with the headers from a signed link.
fn shown(head: &Head, bytes: &[u8]) -> Reply {
    let mut headers: Vec<(String, String)> = vec![
        ("accept-ranges".into(), "bytes".into()),
        ("etag".into(), "\"1\"".into()),
        ("last-modified".into(), "Sat, 21 Nov 2026 10:00:00 GMT".into()),
    ];
    headers.extend(
        head.query
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("response-")?.to_string(), value.clone()))),
    );
    let range = head.header("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((first, last)) = range else { return Reply { headers, body: bytes.to_vec(), ..Reply::new(200) } };
    let end = last.parse::<usize>().map_or(bytes.len(), |last| bytes.len().min(last + 1));
    match first.parse::<usize>() {
        Ok(first) if first < end => {
            headers.push(("content-range".into(), format!("bytes {first}-{}/{}", end - 1, bytes.len())));
            Reply { headers, body: bytes[first..end].to_vec(), ..Reply::new(206) }
        }
        _ => Reply::error(416, "InvalidRange"),
    }
}

async fn read_head(stream: &mut BufReader<TcpStream>) -> Option<Head> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_string()),
        }
    }
    let mut words = lines.first()?.split(' ');
    let (method, target) = (words.next()?.to_string(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = lines[1..].iter().filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string())).collect();
    Some(Head { method, path: path.to_string(), query: Head::parameters(query), headers })
}
