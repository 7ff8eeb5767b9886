//! A service like S3 with one bucket: a real server that checks every signature, and fails as a test wants.

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

/// The service. It stops when it is dropped.
pub struct Bucket {
    pub address: SocketAddr,
    kept: Arc<Kept>,
    accepting: JoinHandle<()>,
}

struct Kept {
    key: Key,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    /// What goes wrong next, for which requests.
    faults: VecDeque<(&'static str, Fault)>,
    /// `PUT of/charter/… 200`, as they were answered; without a status those that were not.
    log: Vec<String>,
    /// How far its clock is ahead.
    ahead: TimeDelta,
}

/// What goes wrong with one request.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Nothing is read of the body, and this status answered.
    Status(u16),
    /// This status after half of the body, and the end of the connection.
    Midway(u16),
    /// The end of the connection after half of the body.
    Cut,
    /// All is done as asked, and the connection ends without an answer.
    Unanswered,
    /// The body is read for as long as it comes, and nothing answered.
    Silence,
}

impl Bucket {
    /// Listens on a free port.
    pub async fn start() -> Bucket {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let key = Key { id: "AKIATEST".into(), secret: "hush/of+the=tests".into(), region: "test-1".into() };
        let kept = Arc::new(Kept { key, state: Mutex::default() });
        let accepted = kept.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = accepted.clone();
                tokio::spawn(async move { kept.serve(stream).await });
            }
        });
        Bucket { address, kept, accepting }
    }

    /// What a server must know of it.
    pub fn location(&self) -> S3Config {
        let Key { id, secret, region } = self.kept.key.clone();
        S3Config {
            bucket: NAME.into(),
            prefix: PREFIX.into(),
            endpoint: Some(format!("http://{}", self.address)),
            region,
            access_key: id,
            secret_key: secret,
        }
    }

    /// The names and bytes of all that is stored, without the prefix.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let prefix = format!("{PREFIX}/");
        let plain = |name: &String| name.strip_prefix(&prefix).expect("it has the prefix").to_string();
        self.state(|state| state.objects.iter().map(|(name, bytes)| (plain(name), bytes.clone())).collect())
    }

    /// Stores an object past the service.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        self.state(|state| state.objects.insert(format!("{PREFIX}/{name}"), bytes));
    }

    /// Lets the next requests fail, each once: those with a method, `PUT`, or also with an end of the name, `PUT thumb`.
    pub fn fail(&self, which: &'static str, faults: impl IntoIterator<Item = Fault>) {
        self.state(|state| state.faults.extend(faults.into_iter().map(|fault| (which, fault))));
    }

    /// Turns its clock ahead.
    pub fn turn(&self, time: Duration) {
        self.state(|state| state.ahead += TimeDelta::from_std(time).expect("a short time"));
    }

    /// The requests with this method so far, with their statuses.
    pub fn asked(&self, method: &str) -> Vec<String> {
        self.state(|state| state.log.iter().filter(|line| line.starts_with(method)).cloned().collect())
    }

    fn state<T>(&self, read: impl FnOnce(&mut State) -> T) -> T {
        read(&mut self.kept.state.lock().expect("no test failed"))
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// What is answered.
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

impl Kept {
    /// Serves one connection until either side ends it.
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
                // Who still sends is not read any more.
                return Some(());
            }
        }
    }

    fn fault(&self, head: &Head) -> Option<Fault> {
        let mut state = self.state.lock().ok()?;
        let fits = |which: &str| {
            let (method, end) = which.split_once(' ').unwrap_or((which, ""));
            head.method == method && head.path.ends_with(end)
        };
        let at = state.faults.iter().position(|(which, _)| fits(which))?;
        state.faults.remove(at).map(|(_, fault)| fault)
    }

    fn log(&self, head: &Head, status: Option<u16>) {
        let status = status.map(|status| format!(" {status}")).unwrap_or_default();
        if let Ok(mut state) = self.state.lock() {
            state.log.push(format!("{} {}{status}", head.method, head.path));
        }
    }

    /// What the service does with a request that was read whole.
    fn answer(&self, head: &Head, body: Vec<u8>) -> Reply {
        let mut state = self.state.lock().expect("no test failed");
        let signed = match sigv4::check(head, &self.key, Utc::now() + state.ahead) {
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
        // Parts of an upload, lists and the like are more than this service needs to know.
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
        // A status without a body has no length.
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

/// An object, or a part of it, under the headers that a signed link asks for.
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
