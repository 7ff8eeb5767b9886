//! Load generator: a number of connections in a closed loop, or in an open loop at a fixed rate.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder as Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use crate::server::Server;

/// Results of the requests of a round.
#[derive(Default)]
pub struct Outcome {
    pub seconds: f64,
    pub good: Vec<Duration>,
    pub refused: Vec<Duration>,
    /// The other status codes.
    pub other: Vec<u16>,
}

/// Sends requests on a number of connections, in a closed loop or at a total rate that does not depend on the server. One
/// thread serves all connections, because waking a thread for each response would also cost the server CPU time.
pub fn run(server: &Server, path: &str, connections: usize, rate: Option<f64>, seconds: f64) -> Outcome {
    let runtime = Runtime::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let mut streams = Vec::with_capacity(connections);
        for _ in 0..connections {
            let stream = TcpStream::connect(&server.address).await.expect("the server listens");
            stream.set_nodelay(true).expect("a socket option");
            streams.push(stream);
        }
        let begun = Instant::now() + Duration::from_millis(20);
        let until = begun + Duration::from_secs_f64(seconds);
        let pause = rate.map(|rate| Duration::from_secs_f64(connections as f64 / rate));
        let request: Arc<[u8]> = server.request(path).into();
        let mut workers = JoinSet::new();
        for (index, stream) in streams.into_iter().enumerate() {
            let first = begun + pause.unwrap_or_default().mul_f64(index as f64 / connections as f64);
            workers.spawn(ask(stream, request.clone(), first, pause, until));
        }
        let mut all = Outcome::default();
        while let Some(one) = workers.join_next().await {
            let one = one.expect("the connection held");
            all.good.extend(one.good);
            all.refused.extend(one.refused);
            all.other.extend(one.other);
        }
        all.seconds = begun.elapsed().as_secs_f64();
        all
    })
}

async fn ask(
    mut stream: TcpStream,
    request: Arc<[u8]>,
    first: Instant,
    pause: Option<Duration>,
    until: Instant,
) -> Outcome {
    let (mut outcome, mut buffer, mut next) = (Outcome::default(), vec![0; 64 << 10], first);
    loop {
        if next > Instant::now() {
            sleep_until(next.into()).await;
        }
        let begun = Instant::now();
        if begun >= until {
            return outcome;
        }
        // A late request is sent immediately; one that is more than a second late is skipped.
        next = pause.map_or(begun, |pause| (next + pause).max(begun - Duration::from_secs(1)));
        stream.write_all(&request).await.expect("the request is sent");
        match status(&mut stream, &mut buffer).await {
            200 => outcome.good.push(begun.elapsed()),
            429 | 503 => outcome.refused.push(begun.elapsed()),
            other => outcome.other.push(other),
        }
    }
}

/// Reads one answer with a `content-length`, and tells its status.
async fn status(stream: &mut TcpStream, buffer: &mut [u8]) -> u16 {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await.expect("the answer arrives");
        assert!(read > 0, "the server closed the connection");
        filled += read;
        let Some(head) = buffer[..filled].windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&buffer[..head]).expect("a head is text").to_ascii_lowercase();
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length:")).expect("the answer tells its length");
        if filled >= head + 4 + length.trim().parse::<usize>().expect("a number of bytes") {
            return text[9..12].parse().expect("a status");
        }
    }
}
