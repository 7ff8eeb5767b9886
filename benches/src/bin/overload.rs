//! Throughput under overload: successful responses a second at one and three times the capacity of the server.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin overload` finds the number of
//! closed-loop connections with the highest rate. Each round then measures that load, and an open loop at one and at three
//! times its rate. The output also has the successful responses for each CPU second of the server, which other programs on
//! the machine influence less. With two CPUs, the server and the load each have one.
//!
//! `DATABASE=postgres` starts a private PostgreSQL. `CONCURRENCY` is the setting `request-concurrency`, `CROWD` the number
//! of connections of the open loop, and `SERVER` the path of a built server.

#[path = "../load.rs"]
mod load;
#[path = "../server.rs"]
mod server;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use charter_testing::postgres;
use load::Outcome;
use server::{Server, built, run};

/// Numbers of connections that are tried for the highest rate.
const BEST: [usize; 4] = [8, 16, 32, 64];

fn main() {
    let number = |name: &str, default: f64| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (rounds, seconds, products) =
        (number("ROUNDS", 5.0) as usize, number("SECONDS", 3.0), number("PRODUCTS", 10_000.0));
    let crowd = number("CROWD", 600.0) as usize;
    let path = std::env::var("ASK").unwrap_or_else(|_| "/api/v1/products".into());
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let charter = built(&root);
    let data = std::env::temp_dir().join(format!("charter-overload-{}", std::process::id()));
    let mut environment = vec![("CHARTER_DATA_DIR", data.display().to_string())];
    let on_postgres = std::env::var("DATABASE").is_ok_and(|database| database == "postgres");
    if on_postgres {
        let url = postgres::server().create_database(None);
        environment.push(("CHARTER_DATABASE_URL", url));
    }
    for (name, default) in [("CONCURRENCY", ""), ("POOL", "8")] {
        let variable = if name == "POOL" { "CHARTER_DATABASE_POOL" } else { "CHARTER_REQUEST_CONCURRENCY" };
        environment.push((variable, std::env::var(name).unwrap_or_else(|_| default.into())));
    }
    environment.extend([("CHARTER_LOG", "warn".into()), ("CHARTER_RATE_LIMIT", "0".into())]);
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    run(&charter, &environment, &["user", "create", "--email", "bench@example.com", "--name", "Bench", "--admin"]);
    let token = ["token", "create", "--user", "bench@example.com", "--name", "bench", "--ability", "*"];
    let token = run(&charter, &environment, &token);
    run(&charter, &environment, &["seed", "demo", "--products", &products.to_string()]);
    let server = Server::start(&charter, &environment, "CHARTER_LISTEN", Some(token.trim()));
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1) {
        server.pin("0");
        pin(std::process::id(), "1");
    }
    server.get(&path);
    // The outcome, and the CPU time of the server.
    let load = |connections, rate| {
        let before = server.cpu_seconds();
        let outcome = load::run(&server, &path, connections, rate, seconds);
        (outcome, server.cpu_seconds() - before)
    };

    let rate = |outcome: &Outcome| outcome.good.len() as f64 / outcome.seconds;
    load(16, None);
    let tried: Vec<(usize, f64)> =
        BEST.iter().map(|connections| (*connections, rate(&load(*connections, None).0))).collect();
    let fastest = tried.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1));
    let (connections, first) = fastest.expect("several were tried");
    println!("best {first:.0} answers a second of {path}, with {connections} connections");
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>8} {:>8} {:>22} {:>22}",
        "offered", "asked/s", "good/s", "refused/s", "of best", "by CPU", "good ms (50%, 99%)", "refused ms (50%, 99%)"
    );
    let (mut ratios, mut by_cpu) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..rounds {
        // A machine is not as fast all the time: each round is held against its own.
        let (alone, cpu) = load(connections, None);
        let (best, yielded) = (rate(&alone), alone.good.len() as f64 / cpu);
        println!("{:>8} {best:>10.0}", "best");
        for (index, times) in [1.0, 3.0].into_iter().enumerate() {
            let (mut outcome, cpu) = load(crowd, Some(best * times));
            let (good, refused) = (rate(&outcome), outcome.refused.len() as f64 / outcome.seconds);
            let asked = good + refused + outcome.other.len() as f64 / outcome.seconds;
            let good_of_cpu = outcome.good.len() as f64 / cpu / yielded;
            let (one, two) = (spread(&mut outcome.good), spread(&mut outcome.refused));
            println!(
                "{times:>7}x {asked:>10.0} {good:>10.0} {refused:>10.0} {:>7.0}% {:>7.0}% {one:>22} {two:>22}",
                good / best * 100.0,
                good_of_cpu * 100.0
            );
            assert!(outcome.other.is_empty(), "answers that are neither: {:?}", outcome.other);
            ratios[index].push(good / best);
            by_cpu[index].push(good_of_cpu);
        }
    }
    for (name, ratios) in [("of the best rate", ratios), ("of the best for a second of CPU", by_cpu)] {
        let [one, three] = ratios.map(|mut ratios| {
            ratios.sort_by(f64::total_cmp);
            ratios[ratios.len() / 2] * 100.0
        });
        println!("medians: {one:.0} % {name} at 1x, {three:.0} % at 3x");
    }
    drop(server);
    let _ = std::fs::remove_dir_all(data);
}

/// The middle and the 99th of a hundred, in milliseconds.
fn spread(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |part: usize| times.get(times.len() * part / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    format!("{:.1}, {:.1}", at(50), at(99))
}

fn pin(process: u32, cpu: &str) {
    let done = Command::new("taskset").args(["-a", "-p", "-c", cpu, &process.to_string()]).output();
    assert!(done.is_ok_and(|done| done.status.success()), "taskset is there");
}
