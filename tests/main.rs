//! The service as its clients meet it: every test talks HTTP to a server of its own, on SQLite and on PostgreSQL.

mod authentication;
mod commands;
mod delivery;
mod errors;
mod events;
mod oddities;
mod query;
mod relations;
mod routes;
mod server;
mod support;
mod webhooks;
