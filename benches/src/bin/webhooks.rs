//! Cost and delay of webhooks: first attempts under load, one dead receiver of a hundred, a receiver with an endless
//! response, and the cost that ten webhooks add to a write.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin webhooks`. `SERVER` is the path of a built server.
//! `DATABASES` (`postgres,sqlite`) and `PARTS` (`rate,dead,endless,write`) select a part of the run. A delay lasts from the
//! scheduled time of a write, even if the server is behind schedule, to the arrival at the receiver.

#[path = "../server.rs"]
mod server;
#[path = "../webhooks/mod.rs"]
mod webhooks;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use charter_testing::postgres;
use server::Server;
use webhooks::receiver::Receiver;
use webhooks::{Delays, Writes, client};

/// Events a second that are asked of each database, and what is tried beyond them.
const WRITES_PER_SECOND: [(&str, u64); 2] = [("postgres", 500), ("sqlite", 100)];
/// How often the servers with and without a dead receiver are asked, in turn.
const ROUNDS: usize = 8;
const STEPS: [u64; 8] = [100, 200, 300, 400, 500, 600, 800, 1000];

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let other = std::env::var("SERVER").ok().map(PathBuf::from);
    if other.is_none() {
        let build = ["build", "--release", "--package", "charter", "--bin", "charter"];
        assert!(Command::new(env!("CARGO")).args(build).current_dir(&root).status().expect("cargo runs").success());
    }
    let charter = other.unwrap_or_else(|| root.join("target/release/charter"));
    let wanted =
        |variable: &str, part: &str| std::env::var(variable).map_or(true, |list| list.split(',').any(|p| p == part));
    for (database, rate) in WRITES_PER_SECOND.into_iter().filter(|(database, _)| wanted("DATABASES", database)) {
        let bench = Bench { charter: charter.clone(), database, rate };
        if wanted("PARTS", "rate") {
            bench.rate();
        }
        if wanted("PARTS", "dead") {
            bench.dead();
        }
        if wanted("PARTS", "endless") {
            bench.endless();
        }
        if wanted("PARTS", "write") {
            bench.write();
        }
    }
}

struct Bench {
    charter: PathBuf,
    database: &'static str,
    rate: u64,
}

/// A server over a database of its own.
struct Node {
    server: Server,
    folder: PathBuf,
    token: String,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    fn node(&self) -> Node {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("charter-webhooks-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let url = match self.database {
            "postgres" => postgres::server().create_database(None),
            _ => format!("sqlite://{}/charter.db", folder.display()),
        };
        let settings = [
            ("CHARTER_DATABASE_URL", url.as_str()),
            ("CHARTER_DATA_DIR", folder.to_str().expect("a UTF-8 path")),
            ("CHARTER_LOG", "warn"),
            ("CHARTER_RATE_LIMIT", "0"),
            ("CHARTER_WEBHOOK_ALLOW_HTTP", "true"),
            ("CHARTER_WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8"),
        ];
        let run = |arguments: &[&str]| {
            let output = Command::new(&self.charter).envs(settings).args(arguments).output().expect("the command runs");
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("text").trim().to_string()
        };
        run(&["user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin"]);
        let token = run(&["token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*"]);
        let server = Server::start(&self.charter, &settings, "CHARTER_LISTEN", Some(&token));
        Node { server, folder, token }
    }

    /// The delay of first attempts at the rate that is asked for, and the highest rate that is sustained.
    fn rate(&self) {
        let receiver = Receiver::start(Duration::ZERO);
        let node = self.node();
        node.subscribe(&receiver.url("all"));
        node.writes().at(&receiver, 50, 3);
        let asked = node.writes().at(&receiver, self.rate, 20);
        println!("{:<9} first attempts at {:>4} events/s: {}", self.database, self.rate, asked.summary());
        let mut sustained = None;
        for rate in STEPS {
            let delays = node.writes().at(&receiver, rate, 10);
            println!("{:<9}   at {rate:>4} events/s: {}", self.database, delays.summary());
            if delays.missing > 0 || delays.at(0.99) > 1.0 {
                break;
            }
            sustained = Some(rate);
        }
        println!("{:<9} highest rate with p99 under 1 s: {sustained:?} events/s", self.database);
    }

    /// A hundred webhooks for each event, and the same with one of them dead, which answers nothing: two servers, asked
    /// in turn, so that whatever else the machine does is in both.
    fn dead(&self) {
        let (receiver, silent) = (Receiver::start(Duration::ZERO), Receiver::silent());
        let nodes = [false, true].map(|dead| {
            let node = self.node();
            for number in 0..99 {
                node.subscribe(&receiver.url(&number.to_string()));
            }
            node.subscribe(&if dead { silent.url("dead") } else { receiver.url("99") });
            node.writes().at(&receiver, 2, 3);
            node
        });
        let mut delays = [Delays::default(), Delays::default()];
        for round in 0..ROUNDS {
            // The first of a round is not always the same.
            for turn in [round % 2, (round + 1) % 2] {
                let of_each = if turn == 1 { 99 } else { 100 };
                delays[turn].add(nodes[turn].writes().counting(of_each).at(&receiver, 3, 10));
            }
        }
        for (delays, name) in delays.iter().zip(["all alive", "one dead"]) {
            println!("{:<9} a hundred webhooks, {name}: {}", self.database, delays.summary());
        }
        let ratio = |part: f64| delays[1].at(part) / delays[0].at(part);
        println!(
            "{:<9} the others, one dead to all alive: p50 {:.2}, p99 {:.2}",
            self.database,
            ratio(0.5),
            ratio(0.99)
        );
    }

    /// A receiver whose answer never ends: what the server takes for it, and for how long.
    fn endless(&self) {
        let (receiver, endless) = (Receiver::start(Duration::ZERO), Receiver::endless());
        let node = self.node();
        // Warm-up: the memory of the first deliveries does not count.
        node.subscribe(&receiver.url("all"));
        node.writes().at(&receiver, 20, 3);
        let mebibytes = || node.server.resident() as f64 / f64::from(1 << 20);
        let before = mebibytes();
        node.subscribe(&endless.url("endless"));
        node.post("/api/v1/roles", r#"{"name":"endless"}"#);
        let mut most = before;
        while endless.open_for().is_none_or(|(_, closed)| !closed) {
            std::thread::sleep(Duration::from_millis(50));
            most = most.max(mebibytes());
        }
        let (seconds, _) = endless.open_for().expect("it was opened");
        println!(
            "{:<9} an answer that never ends: {seconds:.1} s, {:.1} MiB more memory at most",
            self.database,
            most - before
        );
    }

    /// A write with ten webhooks for its event, and one with none, in turn.
    fn write(&self) {
        let receiver = Receiver::start(Duration::ZERO);
        let (with, without) = (self.node(), self.node());
        for number in 0..10 {
            with.subscribe(&receiver.url(&number.to_string()));
        }
        let mut clients = [
            client::Client::connect(&without.server.address, &without.token),
            client::Client::connect(&with.server.address, &with.token),
        ];
        let mut times = [Vec::new(), Vec::new()];
        for number in 0..600 {
            for (client, times) in clients.iter_mut().zip(&mut times) {
                let begun = std::time::Instant::now();
                assert_eq!(client.post("/api/v1/roles", &format!(r#"{{"name":"w-{number}"}}"#)), 201);
                // The first ones warm it.
                if number >= 100 {
                    times.push(begun.elapsed().as_secs_f64() * 1e6);
                }
                // The pause lets deliveries finish, so that only the write is measured.
                std::thread::sleep(Duration::from_millis(15));
            }
        }
        let [without, with] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        println!(
            "{:<9} a write: {without:.0} µs without webhooks, {with:.0} µs with ten, ratio {:.2}",
            self.database,
            with / without
        );
    }
}

impl Node {
    fn subscribe(&self, url: &str) {
        self.post("/api/v1/webhooks", &format!(r#"{{"url":"{url}","events":["role.created"]}}"#));
    }

    fn post(&self, path: &str, body: &str) {
        let status = client::Client::connect(&self.server.address, &self.token).post(path, body);
        assert_eq!(status, 201, "{path} {body}");
    }

    fn writes(&self) -> Writes<'_> {
        Writes::new(&self.server.address, &self.token)
    }
}

impl Delays {
    fn summary(&self) -> String {
        let millis = |part| self.at(part) * 1000.0;
        format!(
            "{} deliveries, p50 {:.0} ms, p99 {:.0} ms, most {:.0} ms{}",
            self.seconds.len(),
            millis(0.5),
            millis(0.99),
            millis(1.0),
            if self.missing > 0 { format!(", {} MISSING", self.missing) } else { String::new() }
        )
    }
}
