//! Charter against a hand-written server, in one run: CPU of the server for each request, and requests a second.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml` builds both, starts a private PostgreSQL, fills it, checks
//! that both answer the same bytes, and then asks them in turn. Quote the ratios: they are of one run and one machine.

mod load;
mod server;

use std::path::PathBuf;

use charter_testing::postgres;
use server::{Server, build, built, run};

/// Name and path of the requests to both servers.
const CASES: [(&str, &str); 3] = [
    ("list: page 1 of 20, with the exact total", "/api/v1/products"),
    ("list: page 3", "/api/v1/products?page=3"),
    ("show", "/api/v1/products/42"),
];

struct Options {
    products: u64,
    rounds: usize,
    seconds: f64,
    connections: usize,
    pool: u32,
}

fn main() {
    let options = Options {
        products: setting("PRODUCTS", 100.0) as u64,
        rounds: setting("ROUNDS", 7.0) as usize,
        seconds: setting("SECONDS", 2.0),
        connections: setting("CONNECTIONS", 8.0) as usize,
        pool: setting("POOL", 4.0) as u32,
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    // Another build of the server, to see what a setting of its profile buys.
    let charter = built(&root);
    build(&root, &["--manifest-path", "benches/Cargo.toml", "--bin", "hand-written"]);
    let peer = root.join("benches/target/release/hand-written");

    let postgres = postgres::server();
    let url = postgres.create_database(None);
    let data = std::env::temp_dir().join(format!("charter-bench-{}", std::process::id()));
    let environment =
        [("CHARTER_DATABASE_URL", url.as_str()), ("CHARTER_DATA_DIR", data.to_str().expect("a UTF-8 path"))];
    let products = options.products.to_string();
    run(&charter, &environment, &["user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin"]);
    let token = run(
        &charter,
        &environment,
        &["token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*"],
    );
    run(&charter, &environment, &["seed", "demo", "--products", &products]);

    let pool = options.pool.to_string();
    let settings = [("CHARTER_LOG", "warn"), ("CHARTER_RATE_LIMIT", "0"), ("CHARTER_DATABASE_POOL", pool.as_str())];
    let ours = Server::start(&charter, &[&environment[..], &settings].concat(), "CHARTER_LISTEN", Some(token.trim()));
    let theirs = Server::start(&peer, &[("DATABASE_URL", url.as_str()), ("POOL", &pool)], "LISTEN", None);

    println!(
        "{} products, {} connections, pool of {}, {} rounds of {} s each in turn\n",
        options.products, options.connections, options.pool, options.rounds, options.seconds
    );
    println!(
        "{:<42} {:>12} {:>12} {:>7} {:>10} {:>10} {:>7}",
        "", "Charter µs", "by hand µs", "ratio", "Charter/s", "by hand/s", "ratio"
    );
    for (title, path) in CASES {
        let (one, other) = (ours.get(path), theirs.get(path));
        assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&other), "both answer {path} alike");
        compare(title, path, &ours, &theirs, &options);
    }
    drop((ours, theirs));
    let _ = std::fs::remove_dir_all(data);
}

/// Asks both in turn and prints the medians. The first round of each warms it and is not counted.
fn compare(title: &str, path: &str, ours: &Server, theirs: &Server, options: &Options) {
    let (mut cost, mut rate) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let (mut cost_ratios, mut rate_ratios) = (Vec::new(), Vec::new());
    for round in 0..=options.rounds {
        let mut figures = [(0.0, 0.0); 2];
        for (index, server) in [ours, theirs].into_iter().enumerate() {
            let before = server.cpu_seconds();
            let outcome = load::run(server, path, options.connections, None, options.seconds);
            let cpu = server.cpu_seconds() - before;
            assert!(outcome.refused.is_empty() && outcome.other.is_empty(), "{path} is answered 200");
            let requests = outcome.good.len() as f64;
            figures[index] = (cpu * 1e6 / requests, requests / outcome.seconds);
        }
        if round > 0 {
            for index in 0..2 {
                cost[index].push(figures[index].0);
                rate[index].push(figures[index].1);
            }
            cost_ratios.push(figures[0].0 / figures[1].0);
            rate_ratios.push(figures[0].1 / figures[1].1);
        }
    }
    println!(
        "{title:<42} {:>12.1} {:>12.1} {:>7.2} {:>10.0} {:>10.0} {:>7.2}",
        median(&mut cost[0]),
        median(&mut cost[1]),
        median(&mut cost_ratios),
        median(&mut rate[0]),
        median(&mut rate[1]),
        median(&mut rate_ratios),
    );
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn setting(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
