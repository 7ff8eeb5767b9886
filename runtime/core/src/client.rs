//! The client that the current task works for, by which turns and connections are shared.

use std::net::IpAddr;

/// A client in the sense of fair queues: each has its own share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Background tasks, commands, and statements that several clients share.
    Server,
    /// A token that was valid at its last lookup, by its digest.
    Token([u8; 32]),
    /// A user who is signed in to the panel.
    User(i64),
    /// A client without a known token.
    Address(IpAddr),
}

/// How long a request may take, and what it competes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Reads one record by its id.
    Record,
    Read,
    Write,
}

/// A client and the lane of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    pub client: Client,
    pub lane: Lane,
}

tokio::task_local! {
    static CALLER: Caller;
}

impl Caller {
    /// Background work.
    pub const SERVER: Caller = Caller { client: Client::Server, lane: Lane::Read };

    /// The caller of this task. A task that was spawned without [`Caller::scope`] works for the server.
    pub fn current() -> Caller {
        CALLER.try_with(|caller| *caller).unwrap_or(Caller::SERVER)
    }

    /// Runs `work` for this caller.
    pub async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CALLER.scope(self, work).await
    }
}
