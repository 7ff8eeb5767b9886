//! An application: its resources, its migrations, its reference data; and how it is opened.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sea_orm::{DatabaseConnection, DbErr};
use sea_orm_migration::MigratorTrait;

use crate::auth;
use crate::catalog::Catalog;
use crate::config::Config;
use crate::context::{SignIns, State};
use crate::db::{Db, DedicatedLock, Dialect, Lock};
use crate::error::{Error, Result};
use crate::lasting::Lasting;
use crate::metrics::Metrics;
use crate::ops::{BoxFuture, ResponseCache, Route};
use crate::server::{Gate, Mount, Pending, RateLimit};
use crate::{attachment, audit, counts, custom_field, seed, view, webhook};

/// Runs the application's migrations in one direction.
pub type Migrate = for<'a> fn(&'a Db, Direction) -> BoxFuture<'a, Result<Vec<(String, bool)>>>;
/// Makes sure of so many sample records of a resource, telling how far it is, and answers how many were added.
pub type Fill = for<'a> fn(&'a Arc<State>, &'a str, u64, &'a (dyn Fn(u64) + Sync)) -> BoxFuture<'a, Result<u64>>;

/// The sample data of an application: how many records of which resource, in the order in which they are made.
#[derive(Clone, Copy)]
pub struct Demo {
    pub counts: &'static [(&'static str, u64)],
    pub fill: Fill,
}

/// So often a minute one may try to sign in: from one address, from it to one account, and to one account from everywhere.
const SIGN_INS_OF_ADDRESS: u32 = 30;
const SIGN_INS_OF_BOTH: u32 = 10;
const SIGN_INS_OF_ACCOUNT: u32 = 100;

/// Where migrations go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    /// Only tells which were applied.
    Status,
    /// Undoes the last so many.
    Down(u32),
}

/// What an application consists of.
#[derive(Clone)]
pub struct App {
    /// The name of its command.
    pub name: &'static str,
    pub(crate) routes: Vec<Route>,
    pub(crate) seeds: &'static [(&'static str, &'static str)],
    pub(crate) migrate: Migrate,
    pub(crate) demo: Option<Demo>,
    mounts: Vec<Mount>,
}

impl App {
    /// An application whose tables the migrator makes. The platform's own resources (users, roles, tokens, custom
    /// fields, saved views, webhooks, attachments) come with it.
    pub fn new<M: MigratorTrait>(name: &'static str, routes: Vec<Route>) -> App {
        let platform = [
            auth::user::route(),
            auth::role::route(),
            auth::token::route(),
            custom_field::route(),
            view::route(),
            webhook::record::route(),
            webhook::log::route(),
            attachment::route(),
            audit::route(),
        ];
        App {
            name,
            routes: routes.into_iter().chain(platform).collect(),
            seeds: &[],
            migrate: migrate::<M>,
            demo: None,
            mounts: Vec::new(),
        }
    }

    /// Paths of the application's own, before all others but those of `/health`: what no resource is, as a page for a
    /// screen or what a payment service calls. [`Endpoint`](crate::server::Endpoint) gives a path the log, the limits and the
    /// errors that all others have. Who asks, and what they may, is for the application to find out
    /// ([`authenticate`](crate::auth::authenticate)).
    pub fn mount(mut self, paths: Mount) -> App {
        self.mounts.push(paths);
        self
    }

    /// The reference data that every start makes sure of: resource and YAML.
    pub fn seeds(mut self, seeds: &'static [(&'static str, &'static str)]) -> App {
        self.seeds = seeds;
        self
    }

    /// What `seed demo` does.
    pub fn demo(mut self, demo: Demo) -> App {
        self.demo = Some(demo);
        self
    }

    /// Opens the database and links the resources; touches no table.
    ///
    /// # Errors
    /// When the database cannot be reached or the metadata names what is not there.
    pub async fn open(&self, config: Config) -> Result<Arc<State>> {
        let limit = config.request_timeout;
        self.open_with(config, Some(limit)).await
    }

    /// The same; a statement may take as long as `limit`, and without one as long as it takes.
    pub(crate) async fn open_with(&self, config: Config, limit: Option<Duration>) -> Result<Arc<State>> {
        let catalog = Catalog::link(self.routes.clone()).map_err(Error::internal)?;
        let db = Db::connect(&config.database_url, config.database_pool, limit).await;
        let db = db.map_err(|error| Error::internal(format!("the database cannot be opened: {error}")))?;
        let token_rate = RateLimit::new(config.rate_limit);
        let anonymous_rate = RateLimit::new(config.rate_limit_anonymous);
        let webhook_transport = Arc::new(webhook::Sender::new(config.webhook_policy.clone())?);
        let attachments = attachment::Storage::open(&config)?;
        let (clock, tokens, address) = Default::default();
        let webhooks = webhook::Metrics::default();
        let metrics = Metrics::new(db.metrics(), |registry| webhooks.register(registry));
        db.metrics().log_slower_than(config.slow_statement);
        let responses = ResponseCache::new(metrics.cache.clone());
        let concurrency_limiter = Arc::new(Gate::new(config.at_once(), metrics.admission.clone()));
        let (custom_fields, custom_fields_changed, database_side_effects, substring_indexes, views_changed) =
            Default::default();
        Ok(Arc::new(State {
            name: self.name,
            mounts: self.mounts.clone(),
            db,
            catalog,
            config,
            clock,
            webhooks,
            metrics,
            webhook_transport,
            tokens,
            responses,
            attachments,
            address,
            custom_fields_changed,
            views_changed,
            concurrency_limiter,
            response_budget: Pending::default(),
            custom_fields,
            database_side_effects,
            substring_indexes,
            token_rate,
            anonymous_rate,
            tasks: Lasting::default(),
            sign_ins: SignIns {
                addresses: RateLimit::new(SIGN_INS_OF_ADDRESS),
                accounts_from_addresses: RateLimit::new(SIGN_INS_OF_BOTH),
                accounts: RateLimit::new(SIGN_INS_OF_ACCOUNT),
            },
            description: OnceLock::new(),
        }))
    }

    /// Migrates, and makes sure of the reference data. Several processes may do so at once.
    ///
    /// # Errors
    /// When a migration fails or the reference data is not valid.
    pub async fn prepare(&self, state: &Arc<State>) -> Result<()> {
        let lock = self.lock(state).await?;
        self.prepare_locked(state).await?;
        lock.release().await
    }

    /// Waits until no other process prepares the same database.
    pub(crate) async fn lock(&self, state: &State) -> Result<StartLock> {
        match state.db.dialect() {
            Dialect::Postgres => Ok(StartLock::Transaction(Box::new(Lock::Start.acquire_dedicated(&state.db).await?))),
            Dialect::Sqlite => {
                let Some(database) = state.db.file().map(Path::to_path_buf) else { return Ok(StartLock::File(None)) };
                let locked = tokio::task::spawn_blocking(move || lock_beside(&database));
                Ok(StartLock::File(locked.await.map_err(Error::internal)??))
            }
        }
    }

    pub(crate) async fn prepare_locked(&self, state: &Arc<State>) -> Result<Vec<String>> {
        let applied = self.migrate_up(state).await?;
        seed::reference(state, self.seeds).await?;
        Ok(applied)
    }

    /// Applies every migration that is not applied, makes sure that the tables are counted, and answers which it applied.
    pub(crate) async fn migrate_up(&self, state: &State) -> Result<Vec<String>> {
        let applied = self.migrate_by(state, Direction::Up).await?;
        for table in counts::install(&state.db, &state.catalog).await? {
            tracing::debug!(table, "its records are counted from now on");
        }
        Ok(applied)
    }

    /// Migrates, and answers the names of what was applied, or undone. The state before comes first: a database of a newer
    /// version is told so, and not in the library's words.
    pub(crate) async fn migrate_by(&self, state: &State, direction: Direction) -> Result<Vec<String>> {
        let before = (self.migrate)(&state.db, Direction::Status).await?;
        let after = (self.migrate)(&state.db, direction).await?;
        let changed = after.into_iter().filter(|now| !before.contains(now));
        Ok(changed.map(|(name, _)| name).collect())
    }
}

/// Held while a process prepares the database; the end of the process releases it too.
pub(crate) enum StartLock {
    /// An advisory lock of PostgreSQL.
    Transaction(Box<DedicatedLock>),
    /// A lock on a file beside the database, which all who open that share; none where there can be none.
    File(Option<File>),
}

impl StartLock {
    pub(crate) async fn release(self) -> Result<()> {
        match self {
            StartLock::Transaction(held) => held.release().await,
            StartLock::File(file) => file.map_or(Ok(()), |file| file.unlock()).map_err(Error::internal),
        }
    }
}

/// Waits for the lock on a file beside this database. A folder in which nothing can be made takes no journal of SQLite either:
/// nobody prepares anything there.
fn lock_beside(database: &Path) -> Result<Option<File>> {
    // Links lead to the one file that there is.
    let path = database.canonicalize().unwrap_or_else(|_| database.to_path_buf()).with_added_extension("start.lock");
    let told = |error: std::io::Error| Error::internal(format!("the lock of a start, {}: {error}", path.display()));
    // One that another user made can be read and locked.
    match File::open(&path).or_else(|_| File::create(&path)) {
        Ok(file) => file.lock().map(|()| Some(file)).map_err(told),
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => Ok(None),
        Err(error) => Err(told(error)),
    }
}

fn migrate<M: MigratorTrait>(db: &Db, direction: Direction) -> BoxFuture<'_, Result<Vec<(String, bool)>>> {
    Box::pin(async move {
        let connection = db.migrating();
        match direction {
            Direction::Up => M::up(&connection, None).await?,
            Direction::Down(steps) => M::down(&connection, Some(steps)).await?,
            Direction::Status => {}
        }
        let migrations = status::<M>(&connection).await?;
        if db.dialect() == Dialect::Postgres {
            connection.close().await?;
        }
        Ok(migrations)
    })
}

/// Every migration, and whether it was applied. It writes nothing.
async fn status<M: MigratorTrait>(connection: &DatabaseConnection) -> Result<Vec<(String, bool)>> {
    let migrations = M::get_migration_with_status_read_only(connection).await.map_err(|error| match error {
        // One that was applied and is not known here.
        DbErr::Custom(what) => Error::internal(format!(
            "the database was migrated by a newer version of this program, or by another one: {what}"
        )),
        other => other.into(),
    })?;
    let applied = |m: &sea_orm_migration::Migration| m.status() == sea_orm_migration::MigrationStatus::Applied;
    Ok(migrations.iter().map(|m| (m.name().to_string(), applied(m))).collect())
}
