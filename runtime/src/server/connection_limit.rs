//! Limit of the open connections of an address, except those of trusted proxies.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::client_ip::rate_limit_address;
use charter_core::network::Network;

/// Open connections by address.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionLimit {
    max: usize,
    proxies: Vec<Network>,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection that is counted until it is dropped.
#[derive(Debug)]
pub(crate) struct CountedStream {
    pub stream: TcpStream,
    /// `None` for a trusted proxy.
    address: Option<IpAddr>,
    limit: ConnectionLimit,
}

impl ConnectionLimit {
    /// A limit for each address; 0 is no limit.
    pub(crate) fn new(max: usize, proxies: &[Network]) -> ConnectionLimit {
        ConnectionLimit { max, proxies: proxies.to_vec(), open: Arc::default() }
    }

    /// Counts a connection. `None` if its address has too many.
    pub(super) fn admit(&self, stream: TcpStream, from: IpAddr) -> Option<CountedStream> {
        let is_exempt = self.max == 0 || self.proxies.iter().any(|network| network.contains(from));
        let address = (!is_exempt).then(|| rate_limit_address(from));
        if let Some(address) = address {
            let mut open = self.lock();
            let count = open.entry(address).or_default();
            if *count >= self.max {
                return None;
            }
            *count += 1;
        }
        Some(CountedStream { stream, address, limit: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut open = self.limit.lock();
        if let Some(count) = open.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&address);
            }
        }
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, out)
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
