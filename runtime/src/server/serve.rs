//! Listening, and stopping: SIGTERM and SIGINT let what is under way finish.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salvo::conn::{Acceptor, Listener, TcpListener};
use salvo::request_id::RequestId;
use salvo::server::ServerHandle;
use salvo::{Router, Server, Service};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::endpoint::Endpoint;
use super::files::Files;
use super::health::{Figures, Live, Nothing, Ready};
use crate::attachment;
use crate::context::State;
use crate::crud;
use crate::error::{Error, Result};
use crate::webhook::Engine;

/// What is under way has so long to finish once the server was told to stop.
const DRAIN: Duration = Duration::from_secs(15);

/// A connection holds at most so many bytes that were received and not read: more than the longest head, with the
/// longest URL.
const READ: usize = 80 << 10;

/// A server that listens.
pub struct Running {
    /// Where: the real port when the configured one was 0.
    pub address: SocketAddr,
    handle: ServerHandle,
    task: tokio::task::JoinHandle<()>,
    engine: Engine,
    sweeper: tokio::task::JoinHandle<()>,
    state: Arc<State>,
}

/// Begins to listen, and to deliver webhooks.
///
/// # Errors
/// When the address cannot be bound.
pub async fn serve(state: Arc<State>) -> Result<Running> {
    let acceptor = TcpListener::new(state.config.listen.clone())
        .try_bind()
        .await
        .map_err(|error| Error::Internal(format!("cannot listen on {}: {error}", state.config.listen)))?;
    let address = acceptor.holdings().first().and_then(|holding| holding.local_addr.clone().into_std());
    let address = address.ok_or_else(|| Error::internal("the listener has no address"))?;
    let _ = state.address.set(address);
    let mut server = Server::new(acceptor);
    // What is received is read in pieces of this size, and so is the head of a request. A request's memory is theirs.
    server.http1_mut().max_buf_size(READ);
    server.http2_mut().initial_stream_window_size(READ as u32).initial_connection_window_size(4 * READ as u32);
    let handle = server.handle();
    let service = service(&state);
    let task = tokio::spawn(server.serve(service));
    let slots = state.config.webhook_concurrency as usize;
    let engine = Engine::start(state.clone(), state.sender.clone(), slots);
    let sweeper = tokio::spawn(attachment::sweep(state.clone()));
    Ok(Running { address, handle, task, engine, sweeper, state })
}

/// Every path of the application.
fn service(state: &Arc<State>) -> Service {
    let endpoint = |path: &str, router: Router| Router::with_path(path).push(router);
    let health = endpoint("health", Router::with_path("live").goal(Endpoint::new(state.clone(), Live)))
        .push(Router::with_path("ready").goal(Endpoint::new(state.clone(), Ready)))
        .push(Router::with_path("metrics").goal(Endpoint::new(state.clone(), Figures)));
    let files = endpoint("files", Router::with_path("{uuid}/{part}").goal(Endpoint::new(state.clone(), Files)));
    let router = Router::new()
        .hoop(RequestId::new())
        .push(health)
        .push(files)
        .push(crud::router(state))
        .push(Router::with_path("{**rest}").goal(Endpoint::new(state.clone(), Nothing)));
    Service::new(router)
}

impl Running {
    /// Stops accepting and claiming, lets what is under way finish, and closes the database.
    pub async fn stop(self) {
        self.handle.stop_graceful(DRAIN);
        // At the same time: each has nearly all of the time that an operator waits.
        let _ = tokio::join!(self.task, self.engine.stop());
        // What it leaves is due at the next start.
        self.sweeper.abort();
        self.state.db.close().await;
    }

    /// Waits for the signal to stop, then stops.
    pub async fn until_told(self, mut signals: Signals) {
        signals.told().await;
        tracing::info!("stopping");
        self.stop().await;
    }
}

/// SIGTERM and SIGINT, which no longer end the process once they are listened for.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Begins to listen: to be called before anybody is told that the server runs.
    ///
    /// # Errors
    /// When the signals cannot be listened for.
    pub fn listen() -> Result<Signals> {
        let listen = |kind| signal(kind).map_err(Error::internal);
        Ok(Signals { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
