//! The service as its clients meet it: every test talks HTTP to a server of its own, on SQLite and on PostgreSQL.

mod abilities;
mod audit;
mod authentication;
mod budget;
mod clients;
mod commands;
mod compression;
mod delivery;
mod deprecation;
mod errors;
mod events;
mod idempotency;
mod oddities;
mod openapi;
mod panel;
mod pooler;
mod query;
mod relations;
mod restores;
mod routes;
mod server;
mod support;
mod together;
mod versions;
mod webhooks;
mod writes;
