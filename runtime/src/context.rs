//! What a behaviour is given beside its record: the caller, the clock, the connection, the other resources.

use std::net::IpAddr;

use chrono::{DateTime, Utc};

use crate::auth::{Principal, TokenCache};
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::config::Config;
use crate::db::{Connection, Db};
use crate::server::RateLimit;

/// What all requests of an application share.
#[derive(Debug)]
pub struct State {
    pub db: Db,
    pub catalog: Catalog,
    pub config: Config,
    pub clock: Clock,
    pub tokens: TokenCache,
    /// Requests of each token, by its digest.
    pub token_rate: RateLimit<[u8; 32]>,
    /// Requests without a valid token, of each address.
    pub anonymous_rate: RateLimit<IpAddr>,
}

/// One operation: who asks, when, and on which connection. In a write that is its transaction.
#[derive(Debug)]
pub struct Context<'a> {
    state: &'a State,
    caller: &'a Principal,
    connection: &'a Connection,
    now: DateTime<Utc>,
}

impl<'a> Context<'a> {
    pub fn new(state: &'a State, caller: &'a Principal, connection: &'a Connection) -> Context<'a> {
        Context { state, caller, connection, now: state.clock.now() }
    }

    /// The same operation on another connection: the transaction that it began.
    pub fn on(&self, connection: &'a Connection) -> Context<'a> {
        Context { connection, ..*self }
    }

    /// What any SeaORM query runs on: `product::Entity::find().all(context.db())`.
    pub fn db(&self) -> &'a Connection {
        self.connection
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
}
