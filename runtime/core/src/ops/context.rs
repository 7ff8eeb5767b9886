//! Context of an operation: the caller, the time, the connection and the other resources.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::company_zone::company_zone;
use super::{Route, RunningHook, State, Transaction};
use crate::catalog::{Catalog, Entry};
use crate::db::{Connection, Rows, Sql};
use crate::error::Result;
use crate::expression::Request;
use crate::principal::Principal;
use crate::trace::Trace;

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
    /// Address of the client.
    client_address: Option<IpAddr>,
    /// The trace of the HTTP request, if it has one.
    trace: Option<Trace>,
    /// The import that makes the changes, if one does.
    import_id: Option<i64>,
    /// The innermost hook that is running.
    running: Option<&'a RunningHook<'a>>,
    now: DateTime<Utc>,
}

impl<'a> Context<'a> {
    pub fn new(state: &'a Arc<State>, caller: &'a Principal, connection: &'a Connection) -> Context<'a> {
        let (transaction, request_id, client_address, trace) = (None, None, None, None);
        let (import_id, running, now) = (None, None, state.clock.now());
        Context { state, caller, connection, transaction, request_id, client_address, trace, import_id, running, now }
    }

    /// The same context in a transaction.
    pub fn in_transaction(&self, transaction: &'a Transaction) -> Context<'a> {
        Context { connection: transaction.connection(), transaction: Some(transaction), ..*self }
    }

    /// The same context with the id of its HTTP request.
    pub fn with_request_id(self, request_id: Option<&'a str>) -> Context<'a> {
        Context { request_id, ..self }
    }

    /// The same context with the address of its client.
    pub fn with_client_address(self, client_address: Option<IpAddr>) -> Context<'a> {
        Context { client_address, ..self }
    }

    /// The same context with the trace of its HTTP request.
    pub fn with_trace(self, trace: Option<Trace>) -> Context<'a> {
        Context { trace, ..self }
    }

    /// The same context of an import, whose audit entries form one group.
    pub fn with_import(self, import_id: Option<i64>) -> Context<'a> {
        Context { import_id, ..self }
    }

    /// The same context for another caller, such as the user whom a sign-in has just authenticated.
    pub fn with_caller<'b>(&self, caller: &'b Principal) -> Context<'b>
    where
        'a: 'b,
    {
        let context: &Context<'b> = self;
        Context { caller, ..*context }
    }

    /// The same context on the connection of a transaction that has no hooks.
    pub fn with_connection<'b>(&self, connection: &'b Connection) -> Context<'b>
    where
        'a: 'b,
    {
        let context: &Context<'b> = self;
        Context { connection, transaction: None, ..*context }
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

    /// The request, as an expression sees it. The company's zone is read only if the expression needs the day.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn request(&self, needs_day: bool) -> Result<Request<'a>> {
        match needs_day {
            true => Ok(Request { zone: company_zone(self.state).await?, ..self.request_without_day() }),
            false => Ok(self.request_without_day()),
        }
    }

    /// The request for an expression without `today`.
    pub fn request_without_day(&self) -> Request<'a> {
        Request { caller: self.caller, now: self.now, zone: Tz::UTC }
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

    /// The application's value of a type, which `App::with` has added.
    ///
    /// # Errors
    /// An internal error that names the type, if there is none.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Result<&'a T> {
        self.state.extension()
    }

    /// The state, for tasks that outlive the request.
    pub fn state_arc(&self) -> &'a Arc<State> {
        self.state
    }

    /// The id of the HTTP request, if there is one.
    pub fn request_id(&self) -> Option<&'a str> {
        self.request_id
    }

    /// The address of the client, if there is one.
    pub fn client_address(&self) -> Option<IpAddr> {
        self.client_address
    }

    /// The trace of the HTTP request, if it has one.
    pub fn trace(&self) -> Option<Trace> {
        self.trace
    }

    /// The import that makes the changes. No client can set it.
    pub fn import_id(&self) -> Option<i64> {
        self.import_id
    }

    /// The transaction of a write.
    pub fn transaction(&self) -> Option<&'a Transaction> {
        self.transaction
    }
}
