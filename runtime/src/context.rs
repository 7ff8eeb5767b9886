//! What a behaviour is given beside its record: the caller, the clock, the connection, the other resources.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};

use crate::attachment::Storage;
use crate::auth::{Principal, TokenCache};
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::config::Config;
use crate::custom_field;
use crate::db::{Connection, Db, Rows, Sql};
use crate::error::Result;
use crate::lasting::Lasting;
use crate::metrics::Metrics;
use crate::online_indexes;
use crate::openapi::Description;
use crate::ops::{DatabaseSideEffects, ResponseCache, RunningHook, Transaction};
use crate::server::{Gate, Mount, Pending, RateLimit};
use crate::trace::Trace;
use crate::trigram;
use crate::view;
use crate::webhook::{self, Exchange};

/// Attempts to sign in, counted.
#[derive(Debug)]
pub struct SignIns {
    pub addresses: RateLimit<IpAddr>,
    pub accounts_from_addresses: RateLimit<(String, IpAddr)>,
    pub accounts: RateLimit<String>,
}

/// What all requests of an application share.
#[derive(Debug)]
pub struct State {
    /// The name of the application's command.
    pub name: &'static str,
    /// The application's own paths.
    pub mounts: Vec<Mount>,
    pub db: Db,
    pub catalog: Catalog,
    pub config: Config,
    pub clock: Clock,
    /// What was counted of webhooks.
    pub webhooks: webhook::Metrics,
    /// What was counted of everything, those included.
    pub metrics: Metrics,
    /// What sends their deliveries.
    pub sender: Arc<dyn Exchange>,
    pub tokens: TokenCache,
    /// Pages and totals of lists.
    pub responses: ResponseCache,
    /// Where the bytes of attachments are.
    pub attachments: Storage,
    /// Where the server listens, once it does.
    pub address: OnceLock<SocketAddr>,
    /// Told when a definition of a custom field comes, changes or goes.
    pub custom_fields_changed: online_indexes::ChangeSignal,
    /// Told when a saved view comes, changes or goes.
    pub views_changed: view::Changes,
    /// Whose turn it is, of the requests.
    pub gate: Arc<Gate>,
    /// The room for answers that wait to be sent.
    pub pending: Pending,
    /// The definitions of custom fields as they were last read.
    pub custom_fields: custom_field::Known,
    /// The tables in whose rows the database has a say.
    pub foreign_triggers: DatabaseSideEffects,
    /// The indexes of substrings that are complete, on SQLite.
    pub searches: trigram::ReadyIndexes,
    /// Requests of each token, by its digest.
    pub token_rate: RateLimit<[u8; 32]>,
    /// Requests without a valid token, of each address.
    pub anonymous_rate: RateLimit<IpAddr>,
    /// Attempts to sign in.
    pub sign_ins: SignIns,
    /// What goes on when its client goes away.
    pub lasting: Lasting,
    /// The OpenAPI description, made once.
    pub description: OnceLock<Description>,
}

impl State {
    /// The OpenAPI description.
    ///
    /// # Errors
    /// See [`Description::of`].
    pub fn description(&self) -> Result<&Description> {
        match self.description.get() {
            Some(description) => Ok(description),
            None => {
                let made = Description::of(self)?;
                Ok(self.description.get_or_init(|| made))
            }
        }
    }
}

impl State {
    /// What people read: `charter` is `Charter`.
    pub fn name_for_people(&self) -> String {
        let mut letters = self.name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// The address that clients use, without a slash at its end: the configured one, or else where the server listens.
    pub fn base_url(&self) -> String {
        match (&self.config.base_url, self.address.get()) {
            (Some(url), _) => url.clone(),
            (None, Some(address)) => format!("http://{address}"),
            (None, None) => format!("http://{}", self.config.listen),
        }
    }
}

/// One operation: who asks, when, and on which connection. In a write that is its transaction.
#[derive(Debug)]
pub struct Context<'a> {
    state: &'a Arc<State>,
    caller: &'a Principal,
    connection: &'a Connection,
    /// In a write, the same as the connection.
    transaction: Option<&'a Transaction>,
    /// Of the HTTP request, if there is one.
    request_id: Option<&'a str>,
    /// The trace of the HTTP request, if it belongs to one.
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

    /// The same operation in the transaction that it began.
    pub fn in_transaction(&self, transaction: &'a Transaction) -> Context<'a> {
        Context { connection: transaction.connection(), transaction: Some(transaction), ..*self }
    }

    /// The same operation as what a request with this id asks for.
    pub fn with_request_id(self, request_id: Option<&'a str>) -> Context<'a> {
        Context { request_id, ..self }
    }

    /// The same operation as a part of the trace of its request.
    pub fn with_trace(self, trace: Option<Trace>) -> Context<'a> {
        Context { trace, ..self }
    }

    /// The same operation at another time.
    pub fn with_now(self, now: DateTime<Utc>) -> Context<'a> {
        Context { now, ..self }
    }

    /// The same operation within a hook.
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

    /// What any SeaORM query runs on: `product::Entity::find().all(context.db())`.
    pub fn db(&self) -> &'a Connection {
        self.connection
    }

    /// Where something is read that a transaction may still be without: outside of one that has not begun. As each
    /// statement sees what was committed when it began (READ COMMITTED), that is what it would see inside.
    pub fn read_connection(&self) -> &'a Connection {
        if self.connection.is_open() { self.connection } else { self.state.db.reader() }
    }

    /// The rows that a statement reads: outside of a transaction together with those who ask for the very same.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read(&self, sql: Sql) -> Result<Arc<Rows>> {
        self.state.db.rows(self.connection, sql).await
    }

    pub fn caller(&self) -> &'a Principal {
        self.caller
    }

    /// The time of the request, to the millisecond: the same throughout it.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    pub fn catalog(&self) -> &'a Catalog {
        &self.state.catalog
    }

    pub fn state(&self) -> &'a State {
        self.state
    }

    /// The state, for work that outlives the request.
    pub fn state_arc(&self) -> &'a Arc<State> {
        self.state
    }

    /// The id of the HTTP request, if there is one.
    pub fn request_id(&self) -> Option<&'a str> {
        self.request_id
    }

    /// The trace of the HTTP request, if it belongs to one.
    pub fn trace(&self) -> Option<Trace> {
        self.trace
    }

    /// The transaction of a write.
    pub fn transaction(&self) -> Option<&'a Transaction> {
        self.transaction
    }
}
