//! Listening socket and accept loop.
//!
//! A task accepts connections, so that a stopping server can close the socket while it still serves open connections. A
//! connection reaches the server after its first byte: the server detects the protocol by it, and browsers and load balancers
//! open spare connections, which would delay the shutdown.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use salvo::conn::tcp::TcpCoupler;
use salvo::conn::{Accepted, Acceptor, ConnCtrl, Holding, StraightStream};
use salvo::fuse::{ArcFusePolicy, FuseAction, FuseInfo, TransProto};
use salvo::http::Version;
use salvo::http::uri::Scheme;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::connection_limit::{ConnectionLimit, CountedStream};
use super::head_timeout::HeadTimeout;
use charter_core::error::{Error, Result};

/// A connection is closed if its client sends nothing for this time.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after a failed accept, for example because of too many open files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(10);

type Peer = (CountedStream, SocketAddr);

#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    /// The address with the real port when the configured one is 0.
    pub address: SocketAddr,
}

/// The task that accepts connections and owns the socket.
#[derive(Debug)]
pub(crate) struct AcceptLoop(JoinHandle<()>);

/// The accepted connections, for the server.
pub(crate) struct AcceptedConnections {
    accepted: mpsc::UnboundedReceiver<Peer>,
    /// Connections without a first byte.
    silent: FuturesUnordered<BoxFuture<'static, Option<Peer>>>,
    first_byte_timeout: Duration,
    head_timeout: Duration,
    holdings: [Holding; 1],
}

impl Listener {
    /// # Errors
    /// When the address cannot be bound.
    pub(crate) async fn bind(listen: &str) -> Result<Listener> {
        let problem = |error: io::Error| Error::internal(format!("cannot listen on {listen}: {error}"));
        let socket = TcpListener::bind(listen).await.map_err(problem)?;
        let address = socket.local_addr().map_err(problem)?;
        Ok(Listener { socket, address })
    }

    /// Starts to accept connections. Those beyond the limit of their address are closed, and those whose first request has
    /// no complete head within `head_timeout` are answered 408.
    pub(crate) fn accept(self, limit: ConnectionLimit, head_timeout: Duration) -> (AcceptedConnections, AcceptLoop) {
        let (sender, accepted) = mpsc::unbounded_channel();
        let incoming = AcceptedConnections::new(accepted, self.address, head_timeout);
        let accept = async move {
            loop {
                // With Nagle's algorithm (RFC 896), a response in several writes waits for delayed acknowledgements.
                let peer = match self.socket.accept().await {
                    Ok((stream, from)) => stream.set_nodelay(true).map(|()| (stream, from)),
                    Err(error) => Err(error),
                };
                match peer {
                    Ok((stream, from)) => match limit.admit(stream, from.ip()) {
                        // Without a receiver the server has ended, and the connection closes.
                        Some(stream) => drop(sender.send((stream, from))),
                        None => tracing::warn!(address = %from.ip(), "too many connections of an address"),
                    },
                    Err(error) => {
                        tracing::error!(%error, "could not accept a connection");
                        sleep(ACCEPT_RETRY_DELAY).await;
                    }
                }
            }
        };
        (incoming, AcceptLoop(tokio::spawn(accept)))
    }
}

impl AcceptLoop {
    /// Closes the socket and waits until it is closed.
    pub(crate) async fn close(self) {
        self.0.abort();
        // Dropping the task closes the socket.
        let _ = self.0.await;
    }
}

impl AcceptedConnections {
    fn new(
        accepted: mpsc::UnboundedReceiver<Peer>,
        address: SocketAddr,
        head_timeout: Duration,
    ) -> AcceptedConnections {
        let holding = Holding {
            local_addr: address.into(),
            http_versions: vec![Version::HTTP_11, Version::HTTP_2],
            http_scheme: Scheme::HTTP,
        };
        let silent = FuturesUnordered::new();
        let first_byte_timeout = FIRST_BYTE_TIMEOUT;
        AcceptedConnections { accepted, silent, first_byte_timeout, head_timeout, holdings: [holding] }
    }

    /// The next connection with a first byte.
    async fn next(&mut self) -> Peer {
        loop {
            tokio::select! {
                Some((stream, remote)) = self.accepted.recv() => {
                    let limit = self.first_byte_timeout;
                    self.silent.push(Box::pin(async move {
                        // Peeking, because `readable` has false positives.
                        let sent = timeout(limit, stream.stream.peek(&mut [0])).await.ok()?.ok()?;
                        (sent > 0).then_some((stream, remote))
                    }));
                }
                Some(peer) = self.silent.next(), if !self.silent.is_empty() => {
                    if let Some(peer) = peer {
                        return peer;
                    }
                }
                // The socket is closed, and no connection remains.
                else => return std::future::pending().await,
            }
        }
    }
}

impl Acceptor for AcceptedConnections {
    type Coupler = TcpCoupler<Self::Stream>;
    type Stream = StraightStream<HeadTimeout<CountedStream>>;

    fn holdings(&self) -> &[Holding] {
        &self.holdings
    }

    async fn accept(&mut self, fuse: Option<ArcFusePolicy>) -> io::Result<Accepted<Self::Coupler, Self::Stream>> {
        let (stream, remote) = self.next().await;
        let stream = HeadTimeout::new(stream, self.head_timeout);
        let (conn_ctrl, local_addr) = (ConnCtrl::new(), self.holdings[0].local_addr.clone());
        let info = FuseInfo { trans_proto: TransProto::Tcp, remote_addr: remote.into(), local_addr };
        let (fuse_config, observer) = match &fuse {
            Some(policy) => match policy.decide(&info).await {
                FuseAction::Accept(config) => (Some(config), policy.observe(&info, &conn_ctrl)),
                FuseAction::Reject => return Err(io::ErrorKind::ConnectionRefused.into()),
            },
            None => (None, None),
        };
        Ok(Accepted {
            coupler: TcpCoupler::new(),
            stream: StraightStream::new(stream, fuse_config, conn_ctrl.clone(), observer),
            fuse_config,
            conn_ctrl,
            remote_addr: info.remote_addr,
            local_addr: info.local_addr,
            http_scheme: Scheme::HTTP,
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn connection_is_served_after_its_first_byte_and_closed_without_one() {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.address;
        let (mut incoming, accept_loop) = listener.accept(ConnectionLimit::new(0, &[]), FIRST_BYTE_TIMEOUT);
        incoming.first_byte_timeout = Duration::from_millis(50);
        let mut silent = TcpStream::connect(address).await.unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"G").await.unwrap();
        let (stream, remote) = incoming.next().await;
        assert_eq!(remote, client.local_addr().unwrap(), "the first client sends nothing");
        assert!(stream.stream.nodelay().unwrap());
        assert!(timeout(4 * incoming.first_byte_timeout, incoming.next()).await.is_err());
        assert_eq!(silent.read(&mut [0]).await.unwrap(), 0, "the silent connection is closed");
        accept_loop.close().await;
        assert!(TcpStream::connect(address).await.is_err(), "the address refuses new connections");
    }
    #[tokio::test]
    async fn connections_beyond_the_limit_of_their_address_are_closed() {
        for (proxies, served) in [(Vec::new(), false), (vec!["127.0.0.0/8".parse().unwrap()], true)] {
            let listener = Listener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.address;
            let (mut incoming, accept_loop) = listener.accept(ConnectionLimit::new(1, &proxies), FIRST_BYTE_TIMEOUT);
            let connect = async || {
                let mut client = TcpStream::connect(address).await.unwrap();
                client.write_all(b"G").await.unwrap();
                client
            };
            let (_first, held) = (connect().await, incoming.next().await);
            let mut second = connect().await;
            assert_eq!(timeout(Duration::from_millis(200), incoming.next()).await.is_ok(), served);
            if !served {
                assert!(matches!(second.read(&mut [0]).await, Ok(0) | Err(_)), "it is closed");
            }
            drop(held);
            let _third = connect().await;
            assert!(timeout(Duration::from_secs(5), incoming.next()).await.is_ok(), "the first one has ended");
            accept_loop.close().await;
        }
    }
}
