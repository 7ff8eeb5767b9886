//! Listening, and stopping: SIGTERM and SIGINT let what is under way finish.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use salvo::fuse::FuseConfig;
use salvo::request_id::RequestId;
use salvo::server::ServerHandle;
use salvo::{Router, Server};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::encoding::Encoding;
use super::endpoint::Endpoint;
use super::files::Files;
use super::health::{Figures, Live, Ready};
use super::listener::{Closer, Incoming, Listener};
use super::reference::{Described, Page};
use crate::attachment;
use crate::context::State;
use crate::counts;
use crate::error::{Error, Result};
use crate::idempotency;
use crate::lasting::kept;
use crate::online_indexes;
use crate::openapi;
use crate::ops;
use crate::panel;
use crate::trigram;
use crate::webhook::Engine;

/// What is under way has so long to finish once the server was told to stop.
const DRAIN: Duration = Duration::from_secs(15);

/// How long what else there is to a start may take once the server was told to stop.
const START: Duration = Duration::from_secs(5);

/// A connection holds at most so many bytes that were received and not read: more than the longest head, with the
/// longest URL.
const READ: usize = 80 << 10;

/// So many requests of one connection are under way at once, each with its answer, in HTTP/2.
const STREAMS: u32 = 64;

/// A connection on which nothing comes or goes is closed after so long: more than a database takes to find the first record
/// of an export.
const IDLE: Duration = Duration::from_secs(600);

/// So long a connection may take none of what is sent on it.
const STALL: Duration = Duration::from_secs(60);

/// A server that listens.
pub struct Running {
    /// Where: the real port when the configured one was 0.
    pub address: SocketAddr,
    handle: ServerHandle,
    served: JoinHandle<()>,
    engine: Engine,
    closer: Closer,
    /// What works beside the requests.
    keepers: Vec<JoinHandle<()>>,
    state: Arc<State>,
}

/// Begins to listen, and to deliver webhooks.
///
/// # Errors
/// When the address cannot be bound.
pub async fn serve(state: Arc<State>) -> Result<Running> {
    let listener = Listener::bind(&state.config.listen).await?;
    let address = listener.address;
    let _ = state.address.set(address);
    let router = router(&state);
    let (incoming, closer) = listener.accept();
    let server = server(incoming);
    let handle = server.handle();
    let served = tokio::spawn(server.serve(router));
    let slots = state.config.webhook_concurrency as usize;
    let engine = Engine::start(state.clone(), state.webhook_transport.clone(), slots);
    let keepers = vec![
        keep("attachments", &state, attachment::sweep),
        keep("idempotency", &state, idempotency::keep_pruned),
        keep("search", &state, |state| async move { trigram::keep_built(&state).await }),
        keep("indexes", &state, online_indexes::keep_built),
        keep("totals", &state, counts::keep_compacted),
    ];
    Ok(Running { address, handle, served, engine, closer, keepers, state })
}

/// Serves connections, with the limits of each.
fn server(incoming: Incoming) -> Server<Incoming> {
    let unused = FuseConfig::default().with_connection_idle_timeout(IDLE).with_write_stall_timeout(STALL);
    let mut server = Server::new(incoming).fuse_config(unused);
    // What is received is read in pieces of this size, and so is the head of a request. A request's memory is theirs.
    server.http1_mut().max_buf_size(READ);
    server
        .http2_mut()
        .initial_stream_window_size(READ as u32)
        .initial_connection_window_size(4 * READ as u32)
        .max_concurrent_streams(STREAMS);
    server
}

/// Begins what works beside the requests for as long as the server runs.
fn keep<F>(task: &'static str, state: &Arc<State>, work: fn(Arc<State>) -> F) -> JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let state = state.clone();
    tokio::spawn(kept(state.metrics.tasks.clone(), task, move || work(state.clone())))
}

/// Makes paths of an application's own.
pub type Mount = fn(&Arc<State>) -> Router;

/// Every path of the application.
pub fn router(state: &Arc<State>) -> Router {
    let endpoint = |path: &str, router: Router| Router::with_path(path).push(router);
    let health = endpoint("health", Router::with_path("live").goal(Endpoint::new(state.clone(), Live)))
        .push(Router::with_path("ready").goal(Endpoint::new(state.clone(), Ready)))
        .push(Router::with_path("metrics").goal(Endpoint::new(state.clone(), Figures)));
    let files = endpoint("files", Router::with_path("{uuid}/{part}").goal(Endpoint::new(state.clone(), Files)));
    let page = |path: &str, page: Page| Router::with_path(path).goal(Endpoint::new(state.clone(), page));
    // Not what monitors ask for, and not files: those have ranges and tags of their bytes, and most are compressed already.
    let encoded = || Router::new().hoop(Encoding::new());
    let mounted = state.mounts.iter().fold(encoded(), |router, mount| router.push(mount(state)));
    let records = mounted.push(ops::router(state));
    // Megabytes for anyone who asks, without a turn at the gate: they would be compressed anew for each.
    let described = Router::new()
        .push(endpoint(&openapi::path(), Router::new().goal(Endpoint::new(state.clone(), Described))))
        .push(page("docs/viewer.js", Page::Viewer));
    let pages = encoded()
        .push(page("docs", Page::Html))
        .push(page("docs/begin.js", Page::Begin))
        // Whatever nothing else is.
        .push(panel::router(state));
    // They are tried one after another: nothing hides the first from monitors, and most requests are for records.
    Router::new().hoop(RequestId::new()).push(health).push(records).push(files).push(described).push(pages)
}

impl Running {
    /// Stops accepting and claiming, lets what is under way finish, and closes the database.
    pub async fn stop(self) {
        // First, so that whoever comes now is refused and does not wait for the end of the others.
        self.closer.close().await;
        self.handle.stop_graceful(DRAIN);
        // At the same time: each has nearly all of the time that an operator waits.
        let until = Instant::now() + DRAIN;
        let _ = tokio::join!(self.served, self.engine.stop());
        // Behind those that begin it.
        if timeout_at(until, self.state.tasks.ended()).await.is_err() {
            tracing::warn!("what was begun for clients that went away did not end in time");
        }
        // What they leave is done at the next start.
        for keeper in self.keepers {
            keeper.abort();
        }
        self.state.db.close().await;
    }

    /// Does what else there is to a start, waits for the signal to stop, then stops. A start under way when the signal comes has
    /// five seconds to end, and one that waits for its database longer than that is let go of.
    ///
    /// # Errors
    /// What the start failed with.
    pub async fn until_told(self, mut signals: Signals, start: impl Future<Output = Result<()>>) -> Result<()> {
        let mut told = pin!(signals.told());
        let mut start = pin!(start);
        tokio::select! {
            started = &mut start => {
                started?;
                told.await;
            }
            // It answers already: whoever was told that it is ready finds an administrator later.
            () = &mut told => match timeout(START, start).await {
                Ok(started) => started?,
                Err(_) => tracing::warn!("told to stop before the start had ended"),
            }
        }
        tracing::info!("stopping");
        self.stop().await;
        tracing::info!("stopped");
        Ok(())
    }
}

/// SIGTERM, SIGINT and SIGHUP, which no longer end the process once they are listened for.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Begins to listen: to be called before anybody is told that the server runs.
    ///
    /// # Errors
    /// When the signals cannot be listened for.
    pub fn listen() -> Result<Signals> {
        let listen = |kind| signal(kind).map_err(Error::internal);
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for one of them, those included that came since it began to listen.
    pub async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
