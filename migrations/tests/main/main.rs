//! Tests of the migrations on SQLite, and on PostgreSQL where it is installed.

mod computed_columns;
mod concurrent_writes_postgres;
mod concurrent_writes_sqlite;
mod database;
mod default_changes;
mod default_columns;
mod existing_rows;
mod generated_migrations;
mod killed;
mod model;
mod model_resource;
mod name_conflicts;
mod query_plans;
mod role_rights;
mod rollup_triggers;
mod rows;
mod server_objects;
mod service_snapshot;
mod steps;
mod table_edge_cases;
mod tables;
mod up_and_down;
mod walk;
