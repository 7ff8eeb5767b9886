//! Receivers of the benchmark: one that answers at once and keeps when what arrived, one that is silent, one without end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// Behaviour of a receiver.
#[derive(Clone, Copy)]
enum Manner {
    Answers(Duration),
    Silent,
    Endless,
}

pub struct Receiver {
    address: String,
    kept: Arc<Kept>,
    run: AtomicU64,
    _runtime: Runtime,
}

#[derive(Default)]
struct Kept {
    /// The run that is counted.
    run: AtomicU64,
    arrived: Mutex<Vec<(u64, Instant)>>,
    /// When the first answer without end began, and when the other side had enough.
    open: Mutex<Option<(Instant, Option<Instant>)>>,
}

impl Receiver {
    /// Answers 200 after so long.
    pub fn start(takes: Duration) -> Receiver {
        Receiver::listen(Manner::Answers(takes))
    }

    /// Takes everything and answers nothing.
    pub fn silent() -> Receiver {
        Receiver::listen(Manner::Silent)
    }

    /// Answers with 10 GB, a kilobyte at a time.
    pub fn endless() -> Receiver {
        Receiver::listen(Manner::Endless)
    }

    fn listen(manner: Manner) -> Receiver {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime starts");
        let kept: Arc<Kept> = Arc::default();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let keeping = kept.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(serve(stream, keeping.clone(), manner));
            }
        });
        Receiver { address, kept, run: AtomicU64::new(0), _runtime: runtime }
    }

    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Begins a run, of which alone deliveries are kept, and answers its number.
    pub fn begin(&self) -> u64 {
        let run = self.run.fetch_add(1, Ordering::Relaxed) + 1;
        self.kept.run.store(run, Ordering::Relaxed);
        self.take();
        run
    }

    pub fn count(&self) -> u64 {
        self.kept.arrived.lock().expect("no thread panicked").len() as u64
    }

    pub fn take(&self) -> Vec<(u64, Instant)> {
        std::mem::take(&mut *self.kept.arrived.lock().expect("no thread panicked"))
    }

    /// For how many seconds the answer without end was read, and whether it is over.
    pub fn open_for(&self) -> Option<(f64, bool)> {
        let open = *self.kept.open.lock().expect("no thread panicked");
        open.map(|(begun, ended)| ((ended.unwrap_or_else(Instant::now) - begun).as_secs_f64(), ended.is_some()))
    }
}

async fn serve(mut stream: TcpStream, kept: Arc<Kept>, manner: Manner) {
    let mut request = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let Ok(read @ 1..) = stream.read(&mut buffer).await else { return };
        request.extend_from_slice(&buffer[..read]);
        let Some(whole) = whole(&request) else { continue };
        let arrived = Instant::now();
        if let Some((run, number)) = written(&request[..whole])
            && run == kept.run.load(Ordering::Relaxed)
        {
            kept.arrived.lock().expect("no thread panicked").push((number, arrived));
        }
        request.drain(..whole);
        let done = match manner {
            Manner::Answers(takes) => {
                tokio::time::sleep(takes).await;
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await
            }
            Manner::Silent => std::future::pending().await,
            Manner::Endless => {
                *kept.open.lock().expect("no thread panicked") = Some((arrived, None));
                let ended = trickle(&mut stream).await;
                if let Some(open) = &mut *kept.open.lock().expect("no thread panicked") {
                    open.1 = Some(Instant::now());
                }
                ended
            }
        };
        if done.is_err() {
            return;
        }
    }
}

/// A few bytes at a time, for ever: slower than what is read at most, so that the time ends it.
async fn trickle(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n").await?;
    loop {
        stream.write_all(&[b'x'; 64]).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The length of the first request, once it is there.
fn whole(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok())?;
    (bytes.len() >= head + length).then_some(head + length)
}

/// The run and the number in the name of the record that a delivery tells of: `"name":"r3-17"`.
fn written(request: &[u8]) -> Option<(u64, u64)> {
    let text = String::from_utf8_lossy(request);
    let name = text.split("\"name\":\"r").nth(1)?.split('"').next()?;
    let (run, number) = name.split_once('-')?;
    Some((run.parse().ok()?, number.parse().ok()?))
}
