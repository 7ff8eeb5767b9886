//! Where connections are served: each stays, from its beginning to its end, at the desk that it was led to.
//!
//! On SQLite every desk is a thread of its own. A request there waits for no other server, and what is short is read on its
//! thread, so that nothing is won where any thread may go on with any request, and much is lost: threads wake each other
//! for work of which half is the waking (decision 24). On PostgreSQL there is one desk, of all threads together.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use salvo::conn::tcp::TcpCoupler;
use salvo::conn::{Accepted, Acceptor, ConnCtrl, Holding, StraightStream};
use salvo::fuse::{ArcFusePolicy, FuseAction, FuseInfo, TransProto};
use salvo::http::Version;
use salvo::http::uri::Scheme;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::error::{Error, Result};

/// A connection that says nothing for so long is closed: as long as the head of its first request may take.
const SILENCE: Duration = Duration::from_secs(30);

/// A connection on its way to a desk.
pub type Guest = (TcpStream, SocketAddr);

/// Leads connections to desks, in turn.
#[derive(Debug)]
pub struct Desks {
    queues: Vec<mpsc::UnboundedSender<Guest>>,
    next: usize,
}

/// A desk, to which connections are led. It serves those that have said something: what serves them waits to learn what they
/// speak, and a browser or a balancer opens some that may never say it. Those would keep a server that stops from ending.
pub struct Desk {
    queue: mpsc::UnboundedReceiver<Guest>,
    silent: FuturesUnordered<BoxFuture<'static, Option<Heard>>>,
    silence: Duration,
    holdings: [Holding; 1],
}

/// A connection that has said something.
type Heard = (tokio::net::TcpStream, SocketAddr);

/// What goes on at a desk.
#[derive(Debug)]
pub struct Service {
    ended: oneshot::Receiver<()>,
    /// What was begun on a thread of its own goes on until this is gone.
    _open: Option<oneshot::Sender<()>>,
}

impl Desks {
    /// So many desks, of a server that listens there.
    pub fn new(count: usize, address: SocketAddr) -> (Desks, Vec<Desk>) {
        let (queues, desks): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::unbounded_channel()).unzip();
        let holding = Holding {
            local_addr: address.into(),
            http_versions: vec![Version::HTTP_11, Version::HTTP_2],
            http_scheme: Scheme::HTTP,
        };
        let desk =
            |queue| Desk { queue, silent: FuturesUnordered::new(), silence: SILENCE, holdings: [holding.clone()] };
        let desks = desks.into_iter().map(desk).collect();
        (Desks { queues, next: 0 }, desks)
    }

    /// Leads a connection to the next desk. It is closed where nobody serves any more.
    pub fn lead(&mut self, guest: Guest) {
        let _ = self.queues[self.next].send(guest);
        self.next = (self.next + 1) % self.queues.len();
    }
}

impl Desk {
    /// The next that says something.
    async fn heard(&mut self) -> io::Result<Heard> {
        loop {
            tokio::select! {
                Some((stream, remote)) = self.queue.recv() => {
                    let stream = tokio::net::TcpStream::from_std(stream)?;
                    let silence = self.silence;
                    self.silent.push(Box::pin(async move {
                        timeout(silence, stream.readable()).await.ok()?.ok()?;
                        Some((stream, remote))
                    }));
                }
                Some(heard) = self.silent.next(), if !self.silent.is_empty() => {
                    if let Some(heard) = heard {
                        return Ok(heard);
                    }
                }
                // Once the door is closed nobody comes any more.
                else => return std::future::pending().await,
            }
        }
    }
}

impl Acceptor for Desk {
    type Coupler = TcpCoupler<Self::Stream>;
    type Stream = StraightStream<tokio::net::TcpStream>;

    fn holdings(&self) -> &[Holding] {
        &self.holdings
    }

    async fn accept(&mut self, fuse: Option<ArcFusePolicy>) -> io::Result<Accepted<Self::Coupler, Self::Stream>> {
        let (stream, remote) = self.heard().await?;
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

impl Service {
    /// Serves on a thread of its own.
    ///
    /// # Errors
    /// When there is no room for another thread.
    pub fn alone(work: impl Future<Output = ()> + Send + 'static) -> Result<Service> {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_all().build().map_err(Error::internal)?;
        let (end, ended) = oneshot::channel();
        let (open, closed) = oneshot::channel::<()>();
        let served = async move {
            let work = async {
                work.await;
                let _ = end.send(());
                // What requests have begun and is to outlast them goes on here.
                std::future::pending::<()>().await
            };
            tokio::select! {
                () = work => {}
                _ = closed => {}
            }
        };
        let thread = thread::Builder::new().name("charter-desk".into());
        thread.spawn(move || runtime.block_on(served)).map_err(Error::internal)?;
        Ok(Service { ended, _open: Some(open) })
    }

    /// Serves on the threads of the runtime.
    pub fn together(work: impl Future<Output = ()> + Send + 'static) -> Service {
        let (end, ended) = oneshot::channel();
        tokio::spawn(async move {
            work.await;
            let _ = end.send(());
        });
        Service { ended, _open: None }
    }

    /// Waits until nobody is served any more.
    pub async fn ended(&mut self) {
        let _ = (&mut self.ended).await;
    }
}

/// As many desks as the runtime has threads.
pub fn most() -> usize {
    Handle::current().metrics().num_workers()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn connections_are_led_to_desks_in_turn() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (mut desks, mut each) = Desks::new(3, address);
        for _ in 0..4 {
            desks.lead((TcpStream::connect(address).unwrap(), address));
        }
        let led = each.iter_mut().map(|desk| std::iter::from_fn(|| desk.queue.try_recv().ok()).count());
        assert_eq!(led.collect::<Vec<_>>(), [2, 1, 1]);
        // Nobody serves any more: the connection goes.
        drop(each);
        desks.lead((TcpStream::connect(address).unwrap(), address));
    }

    #[tokio::test]
    async fn a_connection_is_served_once_it_says_something_and_closed_where_it_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (mut desks, mut each) = Desks::new(1, address);
        let mut desk = each.pop().unwrap();
        desk.silence = Duration::from_millis(50);
        let mut clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        for _ in &clients {
            let (stream, remote) = listener.accept().unwrap();
            stream.set_nonblocking(true).unwrap();
            desks.lead((stream, remote));
        }
        clients[1].write_all(b"G").unwrap();
        let heard = desk.heard().await.unwrap();
        assert_eq!(heard.1, clients[1].local_addr().unwrap(), "the one that came first says nothing");
        // Nobody else ever says anything.
        assert!(timeout(4 * desk.silence, desk.heard()).await.is_err());
        assert_eq!(clients[0].read(&mut [0]).unwrap(), 0, "it is closed");
    }

    #[tokio::test]
    async fn what_was_begun_at_a_desk_goes_on_until_it_is_left() {
        let (progress, mut seen) = mpsc::unbounded_channel();
        let mut service = Service::alone(async move {
            tokio::spawn(async move {
                while progress.send(thread::current().name().map(str::to_owned)).is_ok() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            });
        })
        .unwrap();
        service.ended().await;
        while seen.try_recv().is_ok() {}
        assert_eq!(seen.recv().await, Some(Some("charter-desk".into())));
        drop(service);
        while seen.recv().await.is_some() {}
    }
}
