//! Application state, and the context of an operation: the caller, the clock, the connection and the other resources.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};

use crate::attachment::Storage;
use crate::auth::TokenCache;
use crate::catalog::{Catalog, Entry};
use crate::clock::Clock;
use crate::config::Config;
use crate::custom_field;
use crate::db::{Connection, Db, Rows, Sql};
use crate::error::Result;
use crate::metrics::Metrics;
use crate::online_indexes;
use crate::openapi::OpenApiDocument;
use crate::ops::{DatabaseSideEffects, ResponseCache, Route, RunningHook, Transaction};
use crate::principal::Principal;
use crate::server::{ConcurrencyLimiter, Mount, RateLimit, ResponseBudget};
use crate::tasks::DetachedTasks;
use crate::trace::Trace;
use crate::trigram;
use crate::view;
use crate::webhook::{self, Transport};

/// Rate limits of sign-in attempts.
#[derive(Debug)]
pub struct SignIns {
    pub addresses: RateLimit<IpAddr>,
    pub accounts_from_addresses: RateLimit<(String, IpAddr)>,
    pub accounts: RateLimit<String>,
}

/// State that all requests of an application share.
#[derive(Debug)]
pub struct State {
    /// Name of the application's command.
    pub name: &'static str,
    /// The application's own routes, besides the resources.
    pub mounts: Vec<Mount>,
    pub db: Db,
    pub catalog: Catalog,
    /// Hooks and actions of the resources, by the index of their catalog entry.
    pub routes: Vec<Route>,
    pub config: Config,
    pub clock: Clock,
    /// Metrics of webhooks.
    pub webhooks: webhook::Metrics,
    /// All metrics, including those of webhooks.
    pub metrics: Metrics,
    /// Sends the deliveries of webhooks.
    pub webhook_transport: Arc<dyn Transport>,
    pub tokens: TokenCache,
    /// Response cache for list pages and totals.
    pub responses: ResponseCache,
    /// Storage of attachments.
    pub attachments: Storage,
    /// Address of the listener, once it listens.
    pub address: OnceLock<SocketAddr>,
    /// Signals that a custom-field definition was created, changed or deleted.
    pub custom_fields_changed: online_indexes::ChangeSignal,
    /// Signals that a saved view was created, changed or deleted.
    pub views_version: view::ViewVersion,
    /// Admission control: the limit of concurrent requests.
    pub concurrency_limiter: Arc<ConcurrencyLimiter>,
    /// Memory budget of unsent responses.
    pub response_budget: ResponseBudget,
    /// Cache of custom-field definitions.
    pub custom_fields: custom_field::DefinitionCache,
    /// Tables with triggers, rules or policies that change what is stored.
    pub database_side_effects: DatabaseSideEffects,
    /// Complete trigram indexes, on SQLite.
    pub substring_indexes: trigram::ReadyIndexes,
    /// Rate limit of each token, by its digest.
    pub token_rate: RateLimit<[u8; 32]>,
    /// Rate limit of requests without a valid token, by address.
    pub anonymous_rate: RateLimit<IpAddr>,
    /// Rate limits of sign-in attempts.
    pub sign_ins: SignIns,
    /// Tasks that continue when their client disconnects.
    pub detached_tasks: DetachedTasks,
    /// The OpenAPI document, generated once.
    pub openapi_document: OnceLock<OpenApiDocument>,
}

impl State {
    /// The OpenAPI document.
    ///
    /// # Errors
    /// See [`OpenApiDocument::of`].
    pub fn openapi_document(&self) -> Result<&OpenApiDocument> {
        match self.openapi_document.get() {
            Some(document) => Ok(document),
            None => {
                let description = OpenApiDocument::of(self)?;
                Ok(self.openapi_document.get_or_init(|| description))
            }
        }
    }
}

impl State {
    /// The capitalized name: `Charter` for `charter`.
    pub fn name_for_people(&self) -> String {
        let mut letters = self.name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// The base URL for clients, without a trailing slash: the configured one, or else that of the listener.
    pub fn base_url(&self) -> String {
        match (&self.config.base_url, self.address.get()) {
            (Some(url), _) => url.clone(),
            (None, Some(address)) => format!("http://{address}"),
            (None, None) => format!("http://{}", self.config.listen),
        }
    }
}

/// The context of one operation: caller, time and connection. In a write, the connection is that of its transaction.
#[derive(Debug)]
pub struct Context<'a> {
    state: &'a Arc<State>,
    caller: &'a Principal,
    connection: &'a Connection,
    /// The transaction of a write, with the same connection.
    transaction: Option<&'a Transaction>,
    /// Id of the HTTP request.
    request_id: Option<&'a str>,
    /// The trace of the HTTP request, if it has one.
    trace: Option<Trace>,
    /// The innermost hook that is running.
    running: Option<&'a RunningHook<'a>>,
    now: DateTime<Utc>,
}

impl<'a> Context<'a> {
    pub fn new(state: &'a Arc<State>, caller: &'a Principal, connection: &'a Connection) -> Context<'a> {
        let (transaction, request_id, trace, running) = (None, None, None, None);
        Context { state, caller, connection, transaction, request_id, trace, running, now: state.clock.now() }
    }

    /// The same context in a transaction.
    pub fn in_transaction(&self, transaction: &'a Transaction) -> Context<'a> {
        Context { connection: transaction.connection(), transaction: Some(transaction), ..*self }
    }

    /// The same context with the id of its HTTP request.
    pub fn with_request_id(self, request_id: Option<&'a str>) -> Context<'a> {
        Context { request_id, ..self }
    }

    /// The same context with the trace of its HTTP request.
    pub fn with_trace(self, trace: Option<Trace>) -> Context<'a> {
        Context { trace, ..self }
    }

    /// The same context at another time.
    pub fn with_now(self, now: DateTime<Utc>) -> Context<'a> {
        Context { now, ..self }
    }

    /// The same context inside a hook.
    pub fn within_hook<'b>(&self, running: &'b RunningHook<'b>) -> Context<'b>
    where
        'a: 'b,
    {
        let context: &Context<'b> = self;
        Context { running: Some(running), ..*context }
    }

    /// The innermost hook that is running.
    pub fn running(&self) -> Option<&'a RunningHook<'a>> {
        self.running
    }

    /// The connection for SeaORM queries: `product::Entity::find().all(context.db())`.
    pub fn db(&self) -> &'a Connection {
        self.connection
    }

    /// The connection for reads that need no open transaction: that of the transaction if it is open, else a reader.
    /// PostgreSQL's READ COMMITTED makes both see the same rows, because each statement sees what was committed when it
    /// began.
    pub fn read_connection(&self) -> &'a Connection {
        if self.connection.is_open() { self.connection } else { self.state.db.reader() }
    }

    /// Reads rows. Outside of a transaction, concurrent identical statements share one query (request coalescing).
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read(&self, sql: Sql) -> Result<Arc<Rows>> {
        self.state.db.rows(self.connection, sql).await
    }

    pub fn caller(&self) -> &'a Principal {
        self.caller
    }

    /// The time of the request in milliseconds, constant for the whole request.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    pub fn catalog(&self) -> &'a Catalog {
        &self.state.catalog
    }

    /// Hooks and actions of a resource.
    pub fn route(&self, entry: &Entry) -> &'a Route {
        &self.state.routes[entry.index]
    }

    pub fn state(&self) -> &'a State {
        self.state
    }

    /// The state, for tasks that outlive the request.
    pub fn state_arc(&self) -> &'a Arc<State> {
        self.state
    }

    /// The id of the HTTP request, if there is one.
    pub fn request_id(&self) -> Option<&'a str> {
        self.request_id
    }

    /// The trace of the HTTP request, if it has one.
    pub fn trace(&self) -> Option<Trace> {
        self.trace
    }

    /// The transaction of a write.
    pub fn transaction(&self) -> Option<&'a Transaction> {
        self.transaction
    }
}
