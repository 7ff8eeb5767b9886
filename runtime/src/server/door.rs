//! The listening socket, which can be closed while what came through it is still served.

use std::io::Result;
use std::sync::Arc;

use salvo::conn::tcp::TcpAcceptor;
use salvo::conn::{Accepted, Acceptor, Holding};
use salvo::fuse::ArcFusePolicy;
use tokio::sync::watch;

/// Accepts connections until it is closed: then the address is refused at once, where a socket that nobody accepts from
/// would let clients wait.
pub struct Door {
    inner: Option<TcpAcceptor>,
    holdings: Vec<Holding>,
    state: Arc<watch::Sender<State>>,
}

/// Closes a [`Door`].
#[derive(Debug, Clone)]
pub struct Closer(Arc<watch::Sender<State>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// It is to be closed.
    Closing,
    Closed,
}

impl Door {
    pub fn new(inner: TcpAcceptor) -> (Door, Closer) {
        let state = Arc::new(watch::Sender::new(State::Open));
        (Door { holdings: inner.holdings().to_vec(), inner: Some(inner), state: state.clone() }, Closer(state))
    }
}

impl Closer {
    /// Closes the socket and waits until it is.
    pub async fn close(&self) {
        self.0.send_if_modified(|state| {
            let open = *state == State::Open;
            if open {
                *state = State::Closing;
            }
            open
        });
        // The door is gone when nobody is left to close it.
        let _ = self.0.subscribe().wait_for(|state| *state == State::Closed).await;
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.state.send_replace(State::Closed);
    }
}

impl Acceptor for Door {
    type Coupler = <TcpAcceptor as Acceptor>::Coupler;
    type Stream = <TcpAcceptor as Acceptor>::Stream;

    fn holdings(&self) -> &[Holding] {
        &self.holdings
    }

    async fn accept(&mut self, fuse: Option<ArcFusePolicy>) -> Result<Accepted<Self::Coupler, Self::Stream>> {
        if let Some(inner) = &mut self.inner {
            let mut state = self.state.subscribe();
            tokio::select! {
                accepted = inner.accept(fuse) => return accepted,
                _ = state.wait_for(|state| *state != State::Open) => {}
            }
        }
        self.inner = None;
        self.state.send_replace(State::Closed);
        // Nobody comes any more.
        std::future::pending().await
    }
}
