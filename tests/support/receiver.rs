//! Receiver of webhooks: a real server that records requests and replies as a test wants.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A listening receiver. It stops when it is dropped.
pub struct Receiver {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    connections: AtomicUsize,
    received: Mutex<Vec<Received>>,
    arrived: Notify,
    reply: Box<dyn Fn(&Received) -> Reply + Send + Sync>,
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Response of the receiver.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status, a body and an additional header.
    Whole(u16, Vec<u8>, Option<(&'static str, String)>),
    /// These bytes, then the connection closes.
    Bytes(Vec<u8>),
    /// Status 200 and a body of 10 GB, in chunks of this size with pauses between.
    Endless(usize, Duration),
    /// No response, and the connection stays open.
    Silence,
}

impl Reply {
    pub fn status(status: u16) -> Reply {
        Reply::Whole(status, Vec::new(), None)
    }
}

impl Received {
    /// A header, or the empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

impl Receiver {
    /// Listens on a free port, without TLS.
    pub async fn start(reply: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Receiver {
        Receiver::listen("127.0.0.1:0", None, reply).await
    }

    /// Replies to each delivery with this status.
    pub async fn answering(status: u16) -> Receiver {
        Receiver::start(move |_| Reply::status(status)).await
    }

    /// Listens on this address, with TLS if there is an acceptor.
    pub async fn listen(
        address: &str,
        tls: Option<TlsAcceptor>,
        reply: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Receiver {
        let listener = TcpListener::bind(address).await.expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let shared = Arc::new(Shared {
            connections: AtomicUsize::new(0),
            received: Mutex::default(),
            arrived: Notify::new(),
            reply: Box::new(reply),
        });
        let accepted = shared.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepted.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, tls) = (accepted.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        // A client that does not trust the certificate closes the connection.
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => shared.serve(stream).await,
                            Err(_) => Some(()),
                        },
                        None => shared.serve(stream).await,
                    }
                });
            }
        });
        Receiver { address, shared, accepting }
    }

    /// `http://127.0.0.1:<port>/hooks`
    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().expect("no test failed").clone()
    }

    /// Waits until `count` requests have arrived and returns all of them.
    #[track_caller]
    pub fn wait_for(&self, count: usize) -> impl Future<Output = Vec<Received>> {
        let caller = std::panic::Location::caller();
        async move {
            let arrived = async {
                loop {
                    let arrived = self.shared.arrived.notified();
                    if self.received().len() >= count {
                        return self.received();
                    }
                    arrived.await;
                }
            };
            match tokio::time::timeout(Duration::from_secs(20), arrived).await {
                Ok(received) => received,
                Err(_) => panic!("{caller}: {} of {count} deliveries arrived", self.received().len()),
            }
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    /// Serves one connection until either side closes it.
    async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let received = self.read(&mut stream).await?;
            let reply = (self.reply)(&received);
            self.received.lock().ok()?.push(received);
            self.arrived.notify_waiters();
            match reply {
                Reply::Whole(status, body, header) => {
                    let header = header.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
                    let head = format!("HTTP/1.1 {status} X\r\n{header}content-length: {}\r\n\r\n", body.len());
                    stream.write_all(&[head.as_bytes(), &body].concat()).await.ok()?;
                }
                Reply::Bytes(bytes) => return stream.write_all(&bytes).await.ok(),
                Reply::Endless(size, pause) => {
                    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n";
                    stream.write_all(head).await.ok()?;
                    loop {
                        stream.write_all(&vec![b'x'; size]).await.ok()?;
                        stream.flush().await.ok()?;
                        tokio::time::sleep(pause).await;
                    }
                }
                Reply::Silence => return std::future::pending().await,
            }
            stream.flush().await.ok()?;
        }
    }

    async fn read(&self, stream: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Received> {
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
        let (method, path) = (words.next()?.to_string(), words.next()?.to_string());
        let headers: Vec<(String, String)> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)];
        stream.read_exact(&mut body).await.ok()?;
        Some(Received { method, path, headers, body })
    }
}
