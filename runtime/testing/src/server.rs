//! Server of an application in the process of the test, on a free port and with its own database.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use charter_runtime::App;
use charter_runtime::app::{self, Running};
use charter_runtime::config::Config;
use charter_runtime::db::Sql;
use charter_runtime::server::ServerState;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::OnceCell;

use crate::{Client, Database, Folder, Prepared, config, create};

/// Prepared databases by the type of the function that returns the application.
type PreparedDatabases = BTreeMap<(TypeId, Database), Arc<OnceCell<Prepared>>>;

/// The prepared databases of this process.
static PREPARED: Mutex<PreparedDatabases> = Mutex::new(BTreeMap::new());

/// A running server. It is also a [`Client`] with a token of an administrator: `server.get("books")`.
///
/// The server stops when this is dropped, and its database is removed.
pub struct Server {
    /// The server's state, for access that HTTP does not offer.
    pub state: Arc<ServerState>,
    /// `http://127.0.0.1:<port>`
    pub base_url: String,
    /// A token of an administrator with all abilities.
    pub token: String,
    client: Client,
    running: Option<Running>,
    database: Database,
    database_url: String,
    /// Removed with the server.
    _folder: Folder,
}

impl Server {
    /// Starts an application, given as a function such as `lending::app`. Its database is migrated, and has the seed data and
    /// an administrator.
    ///
    /// # Panics
    /// If the server does not start.
    pub async fn start<F: Fn() -> App + 'static>(app: F, database: Database) -> Server {
        Server::start_with(app, database, |_| {}).await
    }

    /// [`Server::start`] with other settings.
    ///
    /// # Panics
    /// If the server does not start.
    pub async fn start_with<F: Fn() -> App + 'static>(
        app: F,
        database: Database,
        configure: impl FnOnce(&mut Config),
    ) -> Server {
        // The type then determines the application.
        const { assert!(size_of::<F>() == 0, "`app` must be a function, or a closure that captures nothing") };
        let cell = {
            let mut all = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry((TypeId::of::<F>(), database)).or_default().clone()
        };
        let app = app();
        let prepared = cell.get_or_init(|| Prepared::new(&app, database, async |_| {})).await;
        let folder = Folder::create();
        let database_url = prepared.copy(&folder);
        let mut config = config(&database_url, &folder);
        configure(&mut config);
        let state = app.open(config).await.expect("the application opens");
        let running = app::serve(state.clone()).await.expect("the server starts");
        let base_url = format!("http://{}", running.address);
        let client = Client::new(&base_url).with_token(&prepared.token);
        let (token, running) = (prepared.token.clone(), Some(running));
        Server { state, base_url, token, client, running, database, database_url, _folder: folder }
    }

    /// A token of the administrator with only these abilities.
    ///
    /// # Panics
    /// If an ability is invalid.
    pub async fn token_with(&self, abilities: &[&str]) -> String {
        let (status, answer) = self.post("tokens", json!({ "name": "Test", "abilities": abilities })).await;
        let value = answer["token"]["value"].as_str().filter(|_| status == 201);
        value.unwrap_or_else(|| panic!("no token: {status} {answer}")).to_string()
    }

    /// Creates a record with the rights of the operator, and returns it.
    ///
    /// # Panics
    /// If the resource does not exist, or if a field is invalid.
    pub async fn create(&self, resource: &str, fields: Value) -> Value {
        create(&self.state, resource, &fields).await
    }

    /// Advances the clock of the application.
    pub fn advance_clock(&self, by: Duration) {
        self.state.clock.advance(by);
    }

    /// The names and bodies of all events, oldest first.
    ///
    /// # Panics
    /// If the table of events cannot be read.
    pub async fn events(&self) -> Vec<(String, Value)> {
        let sql = Sql::new(self.state.db.dialect(), "SELECT \"name\", \"body\" FROM \"events\" ORDER BY \"id\"");
        let rows = sql.all(self.state.db.reader()).await.expect("the events are read");
        let text = |row: &sea_orm::QueryResult, column| row.try_get::<String>("", column).expect("a text");
        let body = |row| serde_json::from_str(&text(row, "body")).expect("the body of an event is JSON");
        rows.iter().map(|row| (text(row, "name"), body(row))).collect()
    }

    /// Stops gracefully, as on a signal: open requests finish.
    pub async fn stop(mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }
}

impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let (Some(running), Ok(runtime)) = (self.running.take(), Handle::try_current()) {
            runtime.spawn(running.stop());
        }
        // The database of a failed test stays until the end of the process.
        if !std::thread::panicking() {
            self.database.remove(&self.database_url);
        }
    }
}
