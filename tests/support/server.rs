//! A server in this process, on a free port and with its own database.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use charter_runtime::App;
use charter_runtime::app::{self, Running};
use charter_runtime::config::Config;
use charter_runtime::db::Sql;
use charter_runtime::ops::{BoxFuture, State};
use charter_runtime::server::ServerState;
use charter_runtime::trigram;
use charter_testing::{Folder, Prepared, config, prepare};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

use super::{Client, Database, log};

/// A running server of the records service.
pub struct Server {
    pub database: Database,
    pub address: SocketAddr,
    /// The server's state, for access that HTTP does not offer.
    pub state: Arc<ServerState>,
    url: String,
    token: String,
    folder: Arc<Folder>,
    running: Running,
}

/// A test fixture.
pub trait Fixture: Sized {
    fn start(database: Database) -> impl Future<Output = Self>;

    fn server(&self) -> &Server;
}

/// Adds records to a prepared database.
pub type Fill = fn(&Arc<State>) -> BoxFuture<'_, ()>;

/// Runs a test on a fixture over this database.
pub fn run<F: Fixture, T: Future<Output = ()>>(database: Database, test: impl FnOnce(F) -> T) {
    log();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(async {
        let fixture = F::start(database).await;
        let (state, url) = (fixture.server().state.clone(), fixture.server().url.clone());
        test(fixture).await;
        state.db.close().await;
        database.remove(&url);
    });
}

impl Fixture for Server {
    async fn start(database: Database) -> Server {
        Server::with(database, |_| {}).await
    }

    fn server(&self) -> &Server {
        self
    }
}

impl Server {
    /// The records service with other settings.
    pub async fn with(database: Database, configure: impl FnOnce(&mut Config)) -> Server {
        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        Server::open(charter::app(), database, template, nothing, configure).await
    }

    /// Starts an application over a copy of the prepared database in `template`, which the first caller prepares.
    pub async fn open(
        app: App,
        database: Database,
        template: &'static OnceLock<Prepared>,
        fill: Fill,
        configure: impl FnOnce(&mut Config),
    ) -> Server {
        let prepared = match template.get() {
            Some(prepared) => prepared,
            None => {
                // On a blocking thread, because waiting for another thread's preparation blocks.
                let app = app.clone();
                let init = move || template.get_or_init(|| prepared(&app, database, fill));
                tokio::task::spawn_blocking(init).await.expect("a database is prepared")
            }
        };
        let folder = Arc::new(Folder::create());
        let url = prepared.copy(&folder);
        let mut config = config(&url, &folder);
        configure(&mut config);
        let state = app.open(config).await.expect("the application opens");
        Server::serve(database, state, url, prepared.token.clone(), folder).await
    }

    async fn serve(
        database: Database,
        state: Arc<ServerState>,
        url: String,
        token: String,
        folder: Arc<Folder>,
    ) -> Server {
        let running = app::serve(state.clone()).await.expect("the server starts");
        Server { database, address: running.address, state, url, token, folder, running }
    }

    /// Another node of the service over the same database.
    pub async fn second_node(&self) -> Server {
        self.second_node_with(|_| {}).await
    }

    /// A node of another application over the same database.
    pub async fn second_node_of(&self, app: App) -> Server {
        let state = app.open(config(&self.url, &self.folder)).await.expect("the application opens");
        Server::serve(self.database, state, self.url.clone(), self.token.clone(), self.folder.clone()).await
    }

    /// Another node with other settings.
    pub async fn second_node_with(&self, configure: impl FnOnce(&mut Config)) -> Server {
        let mut config = config(&self.url, &self.folder);
        configure(&mut config);
        let state = charter::app().open(config).await.expect("the application opens");
        Server::serve(self.database, state, self.url.clone(), self.token.clone(), self.folder.clone()).await
    }

    /// The service over the empty PostgreSQL database at this URL.
    pub async fn over(url: &str) -> Server {
        let folder = Arc::new(Folder::create());
        let app = charter::app();
        let state = app.open(config(url, &folder)).await.expect("the application opens");
        let token = prepare(&app, &state).await;
        Server::serve(Database::Postgres, state, url.to_string(), token, folder).await
    }

    /// Stops gracefully, as on a signal.
    pub async fn stop(self) {
        self.running.stop().await;
    }

    /// The same service with other settings and its own database.
    pub async fn configured(&self, configure: impl FnOnce(&mut Config)) -> Server {
        Server::with(self.database, configure).await
    }

    /// The URL of its pages.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A client with the administrator's token, which has all abilities.
    pub fn admin(&self) -> Client {
        self.client(&self.token)
    }

    /// A client with this token.
    pub fn client(&self, token: &str) -> Client {
        Client::new(self.address).bearing(token)
    }

    /// A client without a token.
    pub fn anonymous(&self) -> Client {
        Client::new(self.address)
    }

    /// Reverses the creation times of the first ten records of a table, so that their order differs from that of the
    /// ids.
    pub async fn reverse_creation_times(&self, table: &str) {
        for id in 1..=10 {
            let time = format!("2026-01-01T00:{:02}:00+00:00", 59 - id);
            self.sql(&format!("UPDATE {table} SET created_at = '{time}' WHERE id = {id}")).await;
        }
    }

    /// Runs a statement directly on the database.
    pub async fn sql(&self, statement: &str) {
        self.state.db.writer().execute_unprepared(statement).await.expect("the statement runs");
    }

    /// The names of the events with this prefix, oldest first.
    pub async fn events(&self, prefix: &str) -> Vec<String> {
        let backend = self.state.db.writer().get_database_backend();
        let statement = Statement::from_string(backend, "SELECT name FROM events ORDER BY id");
        let rows = self.state.db.writer().query_all_raw(statement).await.expect("the events are read");
        let names = rows.iter().map(|row| row.try_get::<String>("", "name").expect("a name"));
        names.filter(|name| name.starts_with(prefix)).collect()
    }

    /// The bodies of the events, without the first `after`, as receivers get them.
    pub async fn event_bodies(&self, after: usize) -> Vec<Value> {
        let sql = Sql::new(self.state.db.dialect(), "SELECT \"body\" FROM \"events\" ORDER BY \"id\"");
        let rows = sql.all(self.state.db.reader()).await.expect("the events are read");
        let bodies = rows.iter().map(|row| row.try_get::<String>("", "body").expect("an event has a body"));
        bodies.map(|body| serde_json::from_str(&body).expect("an event is JSON")).skip(after).collect()
    }

    /// The column `text` of a query's result.
    pub async fn texts(&self, query: &str) -> Vec<String> {
        let rows = Sql::new(self.state.db.dialect(), query).all(self.state.db.reader()).await.expect("it is read");
        rows.iter().map(|row| row.try_get::<String>("", "text").expect("a text")).collect()
    }

    /// A token of the administrator with these abilities only.
    pub async fn token(&self, abilities: &[&str]) -> String {
        let token = json!({ "name": "Able", "abilities": abilities });
        let created = self.admin().post("/tokens", token).await.created("token");
        text(&created["value"]).to_string()
    }

    /// A client with such a token.
    pub async fn able(&self, abilities: &[&str]) -> Client {
        self.client(&self.token(abilities).await)
    }

    /// A new user without administrator rights, with a role of these permissions and every ability, and a client with a token of these
    /// abilities.
    pub async fn user(&self, permissions: &[&str], abilities: &[&str]) -> (Value, Client) {
        let admin = self.admin();
        let number = admin.get("/users").await.ok()["meta"]["total"].as_i64().expect("a total");
        let name = format!("Role {number}");
        let role = json!({ "name": name, "permissions": permissions, "abilities": ["*"] });
        let role = admin.post("/roles", role).await.created("role");
        let email = format!("user{number}@example.com");
        let user = json!({ "name": format!("User {number}"), "email": email, "role_ids": [role["id"]] });
        let user = admin.post("/users", user).await.created("user");
        let token = json!({ "name": "Theirs", "user_id": user["id"], "abilities": abilities });
        let token = admin.post("/tokens", token).await.created("token");
        (user, self.client(text(&token["value"])))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// A database to copy, prepared in a runtime of its own.
fn prepared(app: &App, database: Database, fill: Fill) -> Prepared {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(Prepared::new(app, database, fill))
}

/// Builds the missing trigram indexes on SQLite.
pub async fn build_trigram_indexes(state: &State) -> charter_runtime::Result<()> {
    trigram::build_missing(&state.substring_indexes, &state.db, &state.catalog).await
}

/// Adds nothing to a prepared database.
pub fn nothing(_: &Arc<State>) -> BoxFuture<'_, ()> {
    Box::pin(async {})
}
