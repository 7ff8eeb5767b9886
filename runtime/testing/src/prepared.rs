//! Prepared database: migrated and filled once in a process, then copied for each test.

use std::sync::Arc;
use std::time::Duration;

use charter_runtime::App;
use charter_runtime::config::{Config, CorsOrigins};
use charter_runtime::ops::State;
use charter_runtime::server::ServerState;
use charter_runtime::{online_indexes, trigram};
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::{Database, Folder, create, postgres};

/// Email address of the first administrator.
pub const ADMINISTRATOR: &str = "admin@example.com";

/// A migrated and seeded database with an administrator, to copy.
pub struct Prepared {
    template: Template,
    /// A token of the administrator with all abilities.
    pub token: String,
}

enum Template {
    /// The bytes of the SQLite file.
    Sqlite(Vec<u8>),
    /// The URL of the PostgreSQL database, without connections.
    Postgres(String),
}

impl Prepared {
    /// Prepares a database, and adds the records of `fill` to it.
    ///
    /// # Panics
    /// If a migration fails or the seed data is invalid.
    pub async fn new(app: &App, database: Database, fill: impl AsyncFnOnce(&Arc<State>)) -> Prepared {
        let folder = Folder::create();
        let url = database.create(&folder);
        let state = app.open(config(&url, &folder)).await.expect("the application opens");
        let token = prepare(app, &state).await;
        fill(&state).await;
        // The indexes are copied with the database, so that no server has to build them.
        online_indexes::reconcile(&state.db, &state.catalog).await.expect("the indexes of custom fields are created");
        let indexes = &state.substring_indexes;
        trigram::build_missing(indexes, &state.db, &state.catalog).await.expect("the trigram indexes are built");
        Prepared { template: Template::of(database, url, &folder, &state).await, token }
    }

    /// The URL of a copy. A copy on SQLite is a file in `folder`.
    ///
    /// # Panics
    /// If the copy cannot be written.
    #[must_use]
    pub fn copy(&self, folder: &Folder) -> String {
        match &self.template {
            Template::Sqlite(bytes) => {
                std::fs::write(folder.sqlite_file(), bytes).expect("the folder can be written");
                folder.sqlite_url()
            }
            Template::Postgres(url) => postgres::server().create_database(Some(url)),
        }
    }
}

impl Template {
    /// Closes all connections.
    async fn of(database: Database, url: String, folder: &Folder, state: &State) -> Template {
        let whole = folder.path().join("whole.db");
        if database == Database::Sqlite {
            // A copy of the file alone could be inconsistent: a connection that closes slowly may write planner
            // statistics.
            let copy = format!("VACUUM INTO '{}'", whole.display());
            state.db.writer().execute_unprepared(&copy).await.expect("the database can be copied");
        }
        state.db.close().await;
        match database {
            Database::Sqlite => Template::Sqlite(std::fs::read(whole).expect("the copy is a file")),
            Database::Postgres => Template::Postgres(url),
        }
    }
}

/// Migrates, seeds and creates the first administrator. Returns a token of theirs with all abilities.
///
/// # Panics
/// If a migration fails or the seed data is invalid.
pub async fn prepare(app: &App, state: &Arc<ServerState>) -> String {
    app.prepare(state).await.expect("the database is migrated and seeded");
    let user = json!({ "name": "Administrator", "email": ADMINISTRATOR, "is_admin": true });
    let user = create(state, "user", &user).await;
    let token = json!({ "name": "First", "user_id": user["id"], "abilities": ["*"] });
    let token = create(state, "token", &token).await;
    // The audit entry of the first use, written in the background, would otherwise come between those of a test.
    let used = "UPDATE tokens SET last_used_at = created_at";
    state.db.writer().execute_unprepared(used).await.expect("the token is marked as used");
    token["value"].as_str().expect("a new token has a value").to_string()
}

/// Settings of a server under test: a free port, no limits on the number of requests, no deliveries of webhooks.
#[must_use]
pub fn config(url: &str, folder: &Folder) -> Config {
    Config {
        database_url: url.to_string(),
        listen: "127.0.0.1:0".into(),
        base_url: None,
        data_dir: folder.path().to_path_buf(),
        storage: None,
        oidc: None,
        brand: Default::default(),
        secret_key: Some("the secret key of the tests, which is no secret".into()),
        admin_email: ADMINISTRATOR.into(),
        database_pool: 6,
        threads: 1,
        body_limit: 1 << 20,
        request_concurrency: None,
        client_concurrency: None,
        request_timeout: Duration::from_secs(60),
        slow_statement: None,
        rate_limit: 0,
        rate_limit_anonymous: 0,
        database_wait: Duration::ZERO,
        address_connections: 0,
        trusted_proxies: Vec::new(),
        cors_origins: CorsOrigins::default(),
        mcp: false,
        webhook_policy: Default::default(),
        webhook_concurrency: 0,
        webhook_endpoint_concurrency: 16,
        smtp: None,
        user_storage_limit: None,
        user_delivery_limit: None,
        log: "error".into(),
        log_json: false,
    }
}
