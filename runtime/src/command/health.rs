//! Command `health`: asks the server of these settings if it is ready, for a container without other programs.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use clap::Command;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::output;
use crate::config::Config;
use charter_core::error::{Error, Result};

/// Time that the server has to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes of the answer, more than that of `/health/ready` has.
const MAX_BYTES: u64 = 16 * 1024;

pub(super) fn command() -> Command {
    Command::new("health").about("Ask the server at `listen` if it is ready; exits with 1 if it is not")
}

/// Prints the body of `/health/ready`.
///
/// # Errors
/// When the server cannot be reached, or is not ready.
pub(super) async fn run(config: &Config) -> Result<()> {
    let address = reachable(config.listen.parse().map_err(Error::internal)?);
    let answer = timeout(TIMEOUT, ask(address)).await;
    let answer = answer.map_err(|_| Error::internal(format!("no answer from {address} within {TIMEOUT:?}")))?;
    let answer = answer.map_err(|error| Error::internal(format!("{address}: {error}")))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.split(' ').nth(1) == Some("200") {
        return output::line(body);
    }
    Err(Error::internal(format!("{address} answered {}", head.lines().next().unwrap_or("nothing"))))
}

/// HTTP/1.0, so that the server closes the connection after an answer without chunks.
async fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET /health/ready HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// A server that listens on all addresses is reached by the loopback address.
fn reachable(mut listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    listen
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn all_addresses_are_reached_by_loopback() {
        for (listen, expected) in
            [("0.0.0.0:8000", "127.0.0.1:8000"), ("[::]:8000", "[::1]:8000"), ("10.0.0.1:80", "10.0.0.1:80")]
        {
            assert_eq!(reachable(listen.parse().unwrap()), expected.parse().unwrap(), "{listen}");
        }
    }
}
