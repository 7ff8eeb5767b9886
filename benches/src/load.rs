//! The load: so many connections, each asking again as soon as it is answered.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::server::Server;

/// Asks for `seconds` and tells the number of answers and the time they took.
pub fn run(server: &Server, path: &str, connections: usize, seconds: f64) -> (u64, f64) {
    let request = server.request(path);
    let begun = Instant::now();
    let until = begun + Duration::from_secs_f64(seconds);
    let answered: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..connections).map(|_| scope.spawn(|| ask(&server.address, &request, until))).collect();
        workers.into_iter().map(|worker| worker.join().expect("the connection held")).sum()
    });
    (answered, begun.elapsed().as_secs_f64())
}

fn ask(address: &str, request: &[u8], until: Instant) -> u64 {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket option");
    let mut buffer = vec![0; 64 * 1024];
    let mut answered = 0;
    while Instant::now() < until {
        stream.write_all(request).expect("the request is sent");
        read_answer(&mut stream, &mut buffer);
        answered += 1;
    }
    answered
}

/// Reads one answer with a `content-length`.
fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) {
    let mut filled = 0;
    let mut whole = None;
    loop {
        let read = stream.read(&mut buffer[filled..]).expect("the answer arrives");
        assert!(read > 0, "the server closed the connection");
        filled += read;
        if whole.is_none() {
            whole = expected(&buffer[..filled]);
        }
        if whole.is_some_and(|whole| filled >= whole) {
            return;
        }
    }
}

/// The length of head and body, once the head is there.
fn expected(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).expect("a head is text");
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    Some(head + length.expect("the answer tells its length"))
}
