//! Memory use of uploads: many concurrent ones, and an image that decodes to a huge bitmap.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin uploads` builds the server, starts it on an SQLite file
//! in a temporary folder, and reads its resident memory from the kernel while 200 clients upload 20 MiB each.

#[path = "../server.rs"]
mod server;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use server::{Server, built, run};

const BOUNDARY: &str = "----charter-bench";
const MIB: u64 = 1 << 20;

fn main() {
    let setting = |name: &str, default: u64| {
        std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let (clients, bytes) = (setting("UPLOADS", 200), setting("BYTES", 20 * MIB));
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    // Another build of the server, such as a debug build.
    let program = built(&root);
    let data = std::env::temp_dir().join(format!("charter-uploads-{}", std::process::id()));
    let environment = [("CHARTER_DATA_DIR", data.to_str().expect("a UTF-8 path")), ("CHARTER_LOG", "warn")];
    run(&program, &environment, &["user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin"]);
    let arguments = ["token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*"];
    let token = run(&program, &environment, &arguments).trim().to_string();
    let settings = [&environment[..], &[("CHARTER_RATE_LIMIT", "0")]].concat();
    let server = Server::start(&program, &settings, "CHARTER_LISTEN", Some(&token));
    let member = b"{\"name\":\"Bench\"}";
    send(&server, &token, "/api/v1/members", "application/json", &[member], 201);

    // One upload first, so that what is made once does not count.
    let noise = noise(bytes as usize);
    upload(&server, &token, &noise, 201);
    let before = server.resident();
    let (peak, seconds) = watch(&server, || {
        std::thread::scope(|scope| {
            for _ in 0..clients {
                scope.spawn(|| upload(&server, &token, &noise, 201));
            }
        });
    });
    report(&format!("{clients} uploads of {} MiB at once", bytes / MIB), before, peak, seconds);
    let bomb = png_of_zeros(60_000, 60_000);
    let before = server.resident();
    let (peak, seconds) = watch(&server, || upload(&server, &token, &bomb, 422));
    report(
        &format!("a PNG of 60,000 × 60,000 pixels in {:.1} MiB", bomb.len() as f64 / MIB as f64),
        before,
        peak,
        seconds,
    );
    drop(server);
    let _ = std::fs::remove_dir_all(data);
}

fn report(title: &str, before: u64, peak: u64, seconds: f64) {
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    let raise = mib(peak) - mib(before);
    println!("{title}: {:.1} MiB before, {:.1} at most, {raise:.1} more, {seconds:.1} s", mib(before), mib(peak));
}

/// Runs something and answers the most memory that the server had meanwhile, and the seconds it took.
fn watch(server: &Server, work: impl FnOnce()) -> (u64, f64) {
    let (peak, over) = (AtomicU64::new(server.resident()), AtomicBool::new(false));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                peak.fetch_max(server.resident(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        work();
        over.store(true, Ordering::Relaxed);
    });
    (peak.into_inner(), begun.elapsed().as_secs_f64())
}

/// Uploads a file and expects this status.
fn upload(server: &Server, token: &str, file: &[u8], status: u16) {
    let field = |name: &str, value: &str| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let head = format!(
        "{}{}--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bench\"\r\n\r\n",
        field("attachable_type", "Member"),
        field("attachable_id", "1")
    );
    let tail = format!("\r\n--{BOUNDARY}--\r\n");
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    send(server, token, "/api/v1/attachments", &kind, &[head.as_bytes(), file, tail.as_bytes()], status);
}

fn send(server: &Server, token: &str, path: &str, kind: &str, body: &[&[u8]], status: u16) {
    let length: usize = body.iter().map(|part| part.len()).sum();
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("the server reads");
    for part in body {
        stream.write_all(part).expect("the server reads");
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
}

/// Bytes without a pattern (xorshift).
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// A whole and correct PNG, grey in one bit a pixel and all of it black: every row decodes.
fn png_of_zeros(width: u32, height: u32) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[1, 0, 0, 0, 0]].concat();
    chunk(&mut png, b"IHDR", &head);
    chunk(&mut png, b"IDAT", &zeros(u64::from(height) * (1 + u64::from(width).div_ceil(8))));
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    png.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let begin = png.len();
    png.extend_from_slice(name);
    png.extend_from_slice(data);
    let table: Vec<u32> = (0..256_u32)
        .map(|byte| (0..8).fold(byte, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 }))
        .collect();
    let sum =
        png[begin..].iter().fold(!0_u32, |sum, byte| table[((sum ^ u32::from(*byte)) & 0xff) as usize] ^ sum >> 8);
    png.extend_from_slice(&(!sum).to_be_bytes());
}

/// This number of zeros in zlib's format: a literal, then copies of the 258 bytes before, in the fixed code of RFC 1951.
fn zeros(count: u64) -> Vec<u8> {
    let (mut bytes, mut held, mut bits) = (vec![0x78, 0x01], 0_u64, 0_u32);
    let mut write = |value: u64, length: u32, bytes: &mut Vec<u8>| {
        held |= value << bits;
        bits += length;
        while bits >= 8 {
            bytes.push(held as u8);
            held >>= 8;
            bits -= 8;
        }
    };
    let turned = |value: u64, length: u32| value.reverse_bits() >> (64 - length);
    write(0b011, 3, &mut bytes);
    let (copies, literals) = ((count - 1) / 258, 1 + (count - 1) % 258);
    for _ in 0..literals {
        write(turned(0b0011_0000, 8), 8, &mut bytes);
    }
    for _ in 0..copies {
        // Length 258, then distance 1.
        write(turned(0b1100_0101, 8), 8, &mut bytes);
        write(0, 5, &mut bytes);
    }
    write(0, 7, &mut bytes);
    write(0, 7, &mut bytes);
    let sum = (count % 65_521) << 16 | 1;
    bytes.extend_from_slice(&(sum as u32).to_be_bytes());
    bytes
}
