//! The load of the webhooks' benchmark: writes at a fixed rate, and how long after each its deliveries arrive.

pub mod client;
pub mod receiver;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use client::Client;
use receiver::Receiver;

/// Connections that write. With this number, none waits for another at the rates used.
const WRITERS: usize = 32;
/// Timeout for missing deliveries.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(20);

/// Writes to one server.
pub struct Writes<'s> {
    address: &'s str,
    token: &'s str,
    deliveries: u64,
}

/// Delays of deliveries in seconds, sorted.
#[derive(Default)]
pub struct Delays {
    pub seconds: Vec<f64>,
    pub missing: u64,
}

impl Delays {
    /// Takes those of another run.
    pub fn add(&mut self, other: Delays) {
        self.seconds.extend(other.seconds);
        self.seconds.sort_by(f64::total_cmp);
        self.missing += other.missing;
    }

    /// The delay that this part of them does not exceed.
    pub fn at(&self, part: f64) -> f64 {
        let place = ((self.seconds.len() as f64 * part).ceil() as usize).clamp(1, self.seconds.len().max(1)) - 1;
        self.seconds.get(place).copied().unwrap_or(f64::INFINITY)
    }
}

impl<'s> Writes<'s> {
    pub fn new(address: &'s str, token: &'s str) -> Writes<'s> {
        Writes { address, token, deliveries: 1 }
    }

    /// Sets the number of deliveries that each write causes.
    pub fn counting(self, deliveries: u64) -> Writes<'s> {
        Writes { deliveries, ..self }
    }

    /// Writes at a rate for a number of seconds, and waits for all deliveries.
    pub fn at(&self, receiver: &Receiver, rate: u64, seconds: u64) -> Delays {
        let writes = rate * seconds;
        let run = receiver.begin();
        let next = AtomicU64::new(0);
        let begun = Instant::now() + Duration::from_millis(200);
        let due = |number: u64| begun + Duration::from_secs_f64(number as f64 / rate as f64);
        std::thread::scope(|scope| {
            for _ in 0..WRITERS.min(writes as usize) {
                scope.spawn(|| {
                    let mut client = Client::connect(self.address, self.token);
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= writes {
                            return;
                        }
                        std::thread::sleep(due(number).saturating_duration_since(Instant::now()));
                        assert_eq!(client.post("/api/v1/roles", &format!(r#"{{"name":"r{run}-{number}"}}"#)), 201);
                    }
                });
            }
        });
        let wanted = writes * self.deliveries;
        let until = Instant::now() + ARRIVAL_TIMEOUT;
        while receiver.count() < wanted && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        let arrived = receiver.take();
        let delay = |(number, at): &(u64, Instant)| at.saturating_duration_since(due(*number)).as_secs_f64();
        let mut seconds: Vec<f64> = arrived.iter().map(delay).collect();
        seconds.sort_by(f64::total_cmp);
        Delays { missing: wanted.saturating_sub(seconds.len() as u64), seconds }
    }
}
