//! Server start and graceful shutdown on SIGTERM, SIGINT and SIGHUP.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use salvo::Server;
use salvo::fuse::FuseConfig;
use salvo::server::ServerHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::router::router;
use crate::server::ServerState;
use crate::server::{AcceptLoop, AcceptedConnections, ConnectionLimit, Listener};
use charter_core::counts;
use charter_core::error::{Error, Result};
use charter_core::online_indexes;
use charter_core::ops::{State, idempotency};
use charter_core::tasks::supervise;
use charter_core::trigram;
use charter_platform::job::{self, Jobs};
use charter_platform::webhook::{Dispatcher, Webhooks};
use charter_platform::{attachment, import};

/// Time that open requests have to finish after the signal to stop.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(15);

/// Time that the rest of the start has to finish after the signal to stop.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// Received and unread bytes that a connection holds at most: more than the longest head, with the longest URL.
const READ_BUFFER: usize = 80 << 10;

/// Concurrent requests of one HTTP/2 connection.
const MAX_CONCURRENT_STREAMS: u32 = 64;

/// An idle connection is closed after this time, which is longer than a database takes to find the first record of an export.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// The head of a request arrives within this time, or within the timeout of a request if that is shorter.
const MAX_HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The time after which hyper closes a connection without an answer is longer by this.
const HEAD_TIMEOUT_MARGIN: Duration = Duration::from_secs(2);

/// A connection is closed when its client takes none of the sent bytes for this time.
const WRITE_STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A server that listens.
pub struct Running {
    /// The address, with the real port when the configured one is 0.
    pub address: SocketAddr,
    handle: ServerHandle,
    serving: JoinHandle<()>,
    engine: Dispatcher,
    accept_loop: AcceptLoop,
    background_tasks: Vec<JoinHandle<()>>,
    state: Arc<ServerState>,
}

/// Starts to listen and to deliver webhooks.
///
/// # Errors
/// When the address cannot be bound.
pub async fn serve(state: Arc<ServerState>) -> Result<Running> {
    raise_file_limit();
    let listener = Listener::bind(&state.config.listen).await?;
    let address = listener.address;
    state.public_url.set_address(address);
    let router = router(&state);
    let (max, proxies) = (state.config.address_connections as usize, &state.config.trusted_proxies);
    let head_timeout = state.config.request_timeout.min(MAX_HEAD_TIMEOUT);
    let (incoming, accept_loop) = listener.accept(ConnectionLimit::new(max, proxies), head_timeout);
    let server = server(incoming);
    let handle = server.handle();
    let serving = tokio::spawn(server.serve(router));
    let slots = state.config.webhook_concurrency as usize;
    let transport = state.extension::<Webhooks>()?.transport.clone();
    let engine = Dispatcher::start(state.state.clone(), transport, slots)?;
    let mut background_tasks = vec![
        spawn_supervised("attachments", &state, attachment::run_garbage_collection),
        spawn_supervised("idempotency", &state, idempotency::run_pruning),
        spawn_supervised("imports", &state, import::run_worker),
        spawn_supervised("search", &state, |state| async move {
            trigram::build_in_background(&state.substring_indexes, &state.db, &state.catalog, &state.metrics.tasks)
                .await;
        }),
        spawn_supervised("indexes", &state, |state| async move {
            let changes = &state.custom_fields_changed;
            online_indexes::run(&state.db, &state.catalog, changes, &state.metrics.tasks).await;
        }),
        spawn_supervised("totals", &state, |state| async move {
            counts::compact_in_background(&state.db, &state.metrics.tasks).await;
        }),
    ];
    if !state.extension::<Jobs>()?.is_empty() {
        background_tasks.push(spawn_supervised("jobs", &state, job::run_worker));
    }
    Ok(Running { address, handle, serving, engine, accept_loop, background_tasks, state })
}

/// Raises the limit of open files as far as the system allows: each connection is one.
fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
    {
        tracing::warn!(%error, "the limit of open files could not be raised");
    }
}

/// The salvo server, with the limits of a connection.
fn server(incoming: AcceptedConnections) -> Server<AcceptedConnections> {
    let timeouts = FuseConfig::default()
        .with_http1_header_timeout(MAX_HEAD_TIMEOUT + HEAD_TIMEOUT_MARGIN)
        .with_connection_idle_timeout(IDLE_TIMEOUT)
        .with_write_stall_timeout(WRITE_STALL_TIMEOUT);
    let mut server = Server::new(incoming).fuse_config(timeouts);
    // The memory that a request needs depends on these buffers.
    server.http1_mut().max_buf_size(READ_BUFFER);
    server
        .http2_mut()
        .initial_stream_window_size(READ_BUFFER as u32)
        .initial_connection_window_size(4 * READ_BUFFER as u32)
        .max_concurrent_streams(MAX_CONCURRENT_STREAMS);
    server
}

/// Starts a background task that runs until the server stops.
fn spawn_supervised<F>(task: &'static str, state: &Arc<ServerState>, work: fn(Arc<State>) -> F) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let state = state.state.clone();
    tokio::spawn(supervise(state.metrics.tasks.clone(), task, move || work(state.clone())))
}

impl Running {
    /// Closes the socket, lets open requests and deliveries finish, and closes the database.
    pub async fn stop(self) {
        // First, so that new clients are refused instead of waiting for the shutdown.
        self.accept_loop.close().await;
        self.state.is_stopping.store(true, Ordering::Relaxed);
        self.handle.stop_graceful(SHUTDOWN_TIMEOUT);
        // At the same time, so that each has nearly all of the time.
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        let _ = tokio::join!(self.serving, self.engine.stop());
        // The next start does the work that is left.
        for task in self.background_tasks {
            task.abort();
        }
        // After the requests and the workers of jobs, which start them.
        if timeout_at(deadline, self.state.detached_tasks.wait()).await.is_err() {
            tracing::warn!("detached tasks did not finish before the shutdown timeout");
        }
        self.state.db.close().await;
    }

    /// Finishes the start, waits for a signal, and stops. After the signal the start has five seconds to finish, then it is
    /// abandoned.
    ///
    /// # Errors
    /// Those of the start.
    pub async fn run_until_signal(self, mut signals: Signals, start: impl Future<Output = Result<()>>) -> Result<()> {
        let mut signal = pin!(signals.recv());
        let mut start = pin!(start);
        tokio::select! {
            started = &mut start => {
                started?;
                signal.await;
            }
            // The server is ready already, and clients expect the administrator to exist.
            () = &mut signal => match timeout(START_TIMEOUT, start).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "stopping; the start has failed"),
                Err(_) => tracing::warn!("stopping before the start has finished"),
            }
        }
        tracing::info!("stopping");
        self.stop().await;
        tracing::info!("stopped");
        Ok(())
    }
}

/// Receivers of SIGTERM, SIGINT and SIGHUP, which then no longer end the process.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Starts to listen. Call it before the server prints its address.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn listen() -> Result<Signals> {
        let listen = |kind| signal(kind).map_err(Error::internal);
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal, also for one that arrived since [`Signals::listen`].
    pub async fn recv(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
