//! Latency and CPU time of the panel's list pages, compared with the API's lists of the same rows.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin panel` fills an SQLite file with a million products
//! (`PRODUCTS`) and signs in. Each of the rounds (`ROUNDS`) sends `BLOCK` requests for the list and as many for the page,
//! one after the other on one connection. A ratio is the median of the rounds' ratios, which filters out other load of the
//! machine. With `FIRST=1`, a write that is not measured precedes each request, so that no response comes from the cache;
//! the page may then cost up to 1.5 times the list. `SERVER` is the path of a built server, and `ONLY` a part of a case's
//! name.

#[path = "../server.rs"]
mod server;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use server::{Server, built, run};

/// Name of each case, and its path: the same for the API and the panel.
const CASES: [(&str, &str); 5] = [
    ("page 1 of 20", "/products"),
    ("page 1 of 100", "/products?per_page=100"),
    ("by name, downwards", "/products?sort=-name"),
    ("page 1,000", "/products?page=1000"),
    ("one in fifty, by a word", "/products?q[name_cont]=led"),
];

/// Microseconds of a request, and of the server's CPU.
#[derive(Clone, Copy)]
struct Cost {
    time: f64,
    cpu: f64,
}

fn main() {
    let number =
        |name: &str, default: usize| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (products, rounds, block) = (number("PRODUCTS", 1_000_000), number("ROUNDS", 51), number("BLOCK", 40));
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let charter = built(&root);
    let data = std::env::temp_dir().join(format!("charter-panel-{}", std::process::id()));
    let environment = [
        ("CHARTER_DATA_DIR", data.to_str().expect("a UTF-8 path")),
        ("CHARTER_LOG", "warn"),
        ("CHARTER_RATE_LIMIT", "0"),
    ];
    run(&charter, &environment, &["user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin"]);
    let token = ["token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*"];
    let token = run(&charter, &environment, &token);
    let invited = run(&charter, &environment, &["user", "invite", "bench@example.com"]);
    run(&charter, &environment, &["seed", "demo", "--products", &products.to_string()]);
    let server = Server::start(&charter, &environment, "CHARTER_LISTEN", Some(token.trim()));
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1) {
        server.pin("0");
    }
    let secret =
        invited.split("/panel/invitation/").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a link");
    let cookie = sign_in(&server.address, secret);
    let mut connection = TcpStream::connect(&server.address).expect("the server listens");
    connection.set_nodelay(true).expect("a socket option");
    until_quiet(&server);
    println!(
        "{products} products on SQLite, {rounds} rounds of {block} requests each in turn; medians in microseconds\n"
    );
    println!(
        "{:<26} {:>9} {:>9} {:>7} {:>9} {:>9} {:>7} {:>9} {:>9}",
        "", "API", "page", "ratio", "API CPU", "page CPU", "ratio", "API kB", "page kB"
    );
    let only = std::env::var("ONLY").unwrap_or_default();
    let first = std::env::var("FIRST").is_ok_and(|first| first == "1");
    // Two values in turn, because an update to the stored value changes nothing.
    let writes = ["1.5", "2.5"].map(|weight| {
        let body = format!("{{\"weight\":\"{weight}\"}}");
        let head = format!(
            "PATCH /api/v1/products/2 HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            token.trim(),
            body.len()
        );
        (head + &body).into_bytes()
    });
    for (title, path) in CASES.into_iter().filter(|(title, _)| title.contains(&only)) {
        let list = server.request(&format!("/api/v1{path}"));
        let page =
            format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAccept: text/html\r\nCookie: {cookie}\r\n\r\n").into_bytes();
        let mut costs = [Vec::new(), Vec::new()];
        let mut bytes = [0, 0];
        for round in 0..=rounds {
            for (index, request) in [&list, &page].into_iter().enumerate() {
                let (mut time, before) = (Duration::ZERO, server.cpu_seconds());
                for number in 0..block {
                    if first {
                        ask(&mut connection, &writes[number % 2]);
                    }
                    let begun = Instant::now();
                    bytes[index] = ask(&mut connection, request);
                    time += begun.elapsed();
                }
                let each = |seconds: f64| seconds * 1e6 / block as f64;
                let cost = Cost { time: each(time.as_secs_f64()), cpu: each(server.cpu_seconds() - before) };
                // The first round only fills the caches.
                if round > 0 {
                    costs[index].push(cost);
                }
            }
        }
        let ratio = |of: fn(&Cost) -> f64| median(costs[0].iter().zip(&costs[1]).map(|(api, page)| of(page) / of(api)));
        let [time, cpu] = [ratio(|cost| cost.time), ratio(|cost| cost.cpu)];
        let [api, panel] = costs.map(|costs| Cost {
            time: median(costs.iter().map(|cost| cost.time)),
            cpu: median(costs.iter().map(|cost| cost.cpu)),
        });
        println!(
            "{title:<26} {:>9.0} {:>9.0} {:>7.2} {:>9.0} {:>9.0} {:>7.2} {:>9} {:>9}",
            api.time,
            panel.time,
            time,
            api.cpu,
            panel.cpu,
            cpu,
            bytes[0] / 1000,
            bytes[1] / 1000
        );
    }
    drop(server);
    let _ = std::fs::remove_dir_all(data);
}

/// Waits until the server has built the indexes of the inserted records in the background.
fn until_quiet(server: &Server) {
    let mut quiet = 0;
    while quiet < 3 {
        let before = server.cpu_seconds();
        std::thread::sleep(Duration::from_secs(1));
        quiet = if server.cpu_seconds() - before < 0.05 { quiet + 1 } else { 0 };
    }
}

/// Sets a password by the link, and answers the cookie of the session.
fn sign_in(address: &str, secret: &str) -> String {
    let body = "password=correct+horse+battery+staple";
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let head = format!(
        "POST /panel/invitation/{secret} HTTP/1.1\r\nHost: bench\r\nAccept: text/html\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).expect("the form is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the answer arrives");
    let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie:"));
    let line = line.unwrap_or_else(|| panic!("no session: {answer}"));
    line["set-cookie:".len()..].split(';').next().unwrap_or_default().trim().to_string()
}

/// Asks once, reads the whole answer, which tells its length, and answers how many bytes its body has.
fn ask(stream: &mut TcpStream, request: &[u8]) -> usize {
    stream.write_all(request).expect("the request is sent");
    let (mut answer, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    let mut whole = None;
    while whole.is_none_or(|(head, length): (usize, usize)| answer.len() < head + length) {
        let read = stream.read(&mut buffer).expect("the answer arrives");
        assert!(read > 0, "the server closed the connection");
        answer.extend_from_slice(&buffer[..read]);
        if whole.is_none() {
            whole = lengths(&answer);
        }
    }
    whole.map_or(0, |(_, length)| length)
}

/// The lengths of head and body, once the head is there.
fn lengths(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).expect("a head is text");
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Some((head, length.expect("the answer tells its length")))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
