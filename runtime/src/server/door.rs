//! The listening socket, which can be closed while what came through it is still served.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::desk::Desks;
use crate::error::{Error, Result};

/// After a connection could not be accepted, as because there are too many files, the next is waited for so long.
const PAUSE: Duration = Duration::from_millis(10);

/// Accepts connections until it is closed: then the address is refused at once, where a socket that nobody accepts from
/// would let clients wait.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    /// Where it listens: the real port when the configured one was 0.
    pub address: SocketAddr,
}

/// Closes a [`Door`].
#[derive(Debug)]
pub struct Closer(JoinHandle<()>);

impl Door {
    /// Listens.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn at(listen: &str) -> Result<Door> {
        let problem = |error: io::Error| Error::Internal(format!("cannot listen on {listen}: {error}"));
        let listener = TcpListener::bind(listen).await.map_err(problem)?;
        let address = listener.local_addr().map_err(problem)?;
        Ok(Door { listener, address })
    }

    /// Leads those who come to the desks, from now on.
    pub fn open(self, mut desks: Desks) -> Closer {
        Closer(tokio::spawn(async move {
            loop {
                // What goes wrong before it is at a desk is one client's connection, or room for it.
                let led = match self.listener.accept().await {
                    // An answer in several writes would wait for the client's delayed acknowledgement (Nagle, RFC 896).
                    Ok((stream, from)) => match stream.set_nodelay(true) {
                        Ok(()) => stream.into_std().map(|stream| desks.lead((stream, from))),
                        Err(error) => Err(error),
                    },
                    Err(error) => Err(error),
                };
                if let Err(error) = led {
                    tracing::error!(%error, "a connection could not be accepted");
                    sleep(PAUSE).await;
                }
            }
        }))
    }
}

impl Closer {
    /// Closes the socket and waits until it is.
    pub async fn close(self) {
        self.0.abort();
        // The socket goes with the task.
        let _ = self.0.await;
    }
}
