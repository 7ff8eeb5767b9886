//! One connection that writes, each time when it was answered.

use std::io::{Read, Write};
use std::net::TcpStream;

pub struct Client {
    stream: TcpStream,
    head: String,
}

impl Client {
    pub fn connect(address: &str, token: &str) -> Client {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket option");
        let head = format!("Host: bench\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json");
        Client { stream, head }
    }

    /// Sends a JSON body and answers the status.
    pub fn post(&mut self, path: &str, body: &str) -> u16 {
        let request = format!("POST {path} HTTP/1.1\r\n{}\r\nContent-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.write_all(request.as_bytes()).expect("the request is sent");
        let (mut answer, mut buffer) = (Vec::new(), [0; 16 * 1024]);
        loop {
            let read = self.stream.read(&mut buffer).expect("the answer arrives");
            assert!(read > 0, "the server closed the connection");
            answer.extend_from_slice(&buffer[..read]);
            let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let text = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
            if answer.len() >= head + 4 + length.unwrap_or(0) {
                return text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
            }
        }
    }
}
