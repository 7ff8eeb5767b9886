//! Application: its resources, migrations, seed data and mounted routes, and the server that is built from them.

mod router;
mod serve;
mod start_lock;
mod unique_ids;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sea_orm::EntityTrait;
use sea_orm::{DatabaseConnection, DbErr};
use sea_orm_migration::MigratorTrait;

use crate::config::Config;
use crate::language::Tables;
use crate::panel::{PanelCard, PanelExtensions, PanelPage, import_labels};
use crate::seed;
use crate::server::{
    ConcurrencyLimiter, Mount, MountAccess, OpenDoors, RateLimit, ResponseBudget, ServerState, SignInGuard, SignIns,
};
use charter_core::crypto::SecretKey;
use charter_core::db::{Db, Dialect};
use charter_core::error::{Error, Result};
use charter_core::metrics::Metrics;
use charter_core::ops::{BoxFuture, Extensions, PublicUrl, ResponseCache, Route, State, link_routes};
use charter_core::{counts, rollups};
use charter_platform::auth;
use charter_platform::auth::TokenCache;
use charter_platform::job::{self, Job};
use charter_platform::view::ViewVersion;
use charter_platform::webhook::Webhooks;
use charter_platform::{attachment, audit_log, custom_fields, import, mail, view, webhook};

pub use self::router::router;
pub use self::serve::{Running, Signals, serve};
pub(crate) use self::start_lock::StartLock;

/// Runs the application's migrations, and returns each with whether it is applied.
pub type Migrate = for<'a> fn(&'a Db, Direction) -> BoxFuture<'a, Result<Vec<(String, bool)>>>;
/// Adds sample records of a resource until there are as many as given. Reports its progress, and returns how many it added.
pub type AddSamples = for<'a> fn(&'a Arc<State>, &'a str, u64, &'a (dyn Fn(u64) + Sync)) -> BoxFuture<'a, Result<u64>>;

/// The sample data of an application.
#[derive(Clone, Copy)]
pub struct Demo {
    /// Resources and their default numbers of records, in the order in which they are created.
    pub counts: &'static [(&'static str, u64)],
    pub fill: AddSamples,
}

/// Attempts to sign in per minute from one address.
const SIGN_INS_PER_ADDRESS: u32 = 30;

/// Direction of the migrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    /// Changes nothing.
    Status,
    /// Undoes this many migrations.
    Down(u32),
}

/// An application.
#[derive(Clone)]
pub struct App {
    /// The name of the server command.
    pub name: &'static str,
    pub(crate) routes: Vec<Route>,
    pub(crate) seeds: &'static [(&'static str, &'static str)],
    pub(crate) languages: &'static [(&'static str, &'static str)],
    pub(crate) migrate: Migrate,
    pub(crate) demo: Option<Demo>,
    mounts: Vec<Mount>,
    jobs: Vec<Job>,
    extensions: Extensions,
    panel_extensions: PanelExtensions,
}

impl App {
    /// An application with the tables of a migrator. The platform's resources (users, roles, tokens, custom fields, saved views,
    /// webhooks, attachments, audit log, imports) are added.
    pub fn new<M: MigratorTrait>(name: &'static str, routes: Vec<Route>) -> App {
        let platform = [
            auth::user::route(),
            auth::role::route(),
            auth::token::route(),
            custom_fields::route(),
            view::route(),
            webhook::record::route(),
            webhook::delivery_log::route(),
            attachment::route(),
            audit_log::route(),
            import::record::route(),
            import::row::route(),
        ];
        let platform = platform.map(|route| Route { is_platform: true, ..route });
        let jobs: Vec<Job> = routes.iter().flat_map(|route| &route.jobs).copied().map(Job::from).collect();
        let history = (!jobs.is_empty()).then(job_history);
        App {
            name,
            routes: routes.into_iter().chain(platform).chain(history).collect(),
            seeds: &[],
            languages: &[],
            migrate: migrate::<M>,
            demo: None,
            mounts: Vec::new(),
            jobs,
            extensions: Extensions::default(),
            panel_extensions: PanelExtensions::default(),
        }
    }

    /// Adds a path that is no resource, such as a report or the callback of a payment service. It takes precedence over all paths but
    /// those of `/health`, and has the request log, the limits, the checks of abilities and the error responses of all paths.
    pub fn mount(mut self, mount: Mount) -> App {
        self.mounts.push(mount);
        self
    }

    /// Adds a value of the application, such as its settings or a client of another server. Hooks, actions and jobs read it by
    /// its type with [`Context::extension`](charter_core::ops::Context::extension), mounted routes with `state.extension`. A
    /// second value of the same type replaces the first.
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> App {
        self.extensions = self.extensions.with(value);
        self
    }

    /// Adds a background job that code queues. The first job adds the resource `background_jobs`, with the history of all
    /// jobs.
    pub fn job(mut self, job: Job) -> App {
        if self.jobs.is_empty() {
            self.routes.push(job_history());
        }
        self.jobs.push(job);
        self
    }

    /// The abilities of its mounted paths.
    fn mounted_abilities(&self) -> Result<Vec<&'static str>> {
        for (position, mount) in self.mounts.iter().enumerate() {
            mount.check()?;
            let earlier = || self.mounts[..position].iter().filter(|other| other.shape() == mount.shape());
            if let Some(other) = earlier().find(|other| other.path != mount.path) {
                let problem = format!("the mounted paths `{}` and `{}` differ by a name alone", other.path, mount.path);
                return Err(Error::internal(problem));
            }
            if earlier().any(|other| other.method == mount.method) {
                return Err(Error::internal(format!("`{} /{}` is mounted twice", mount.method, mount.path)));
            }
        }
        let ability = |mount: &Mount| match mount.access {
            MountAccess::Ability(ability) => Some(ability),
            MountAccess::AnyToken | MountAccess::Public => None,
        };
        Ok(self.mounts.iter().filter_map(ability).collect())
    }

    /// Adds a page to the panel.
    pub fn panel_page(mut self, page: PanelPage) -> App {
        self.panel_extensions.pages.push(page);
        self
    }

    /// Adds a card to the overview of the panel.
    pub fn panel_card(mut self, card: PanelCard) -> App {
        self.panel_extensions.cards.push(card);
        self
    }

    /// Seed data that every start inserts if it is missing: resource and YAML.
    pub fn seeds(mut self, seeds: &'static [(&'static str, &'static str)]) -> App {
        self.seeds = seeds;
        self
    }

    /// The texts of the application in other languages: the code of a language and YAML.
    pub fn languages(mut self, languages: &'static [(&'static str, &'static str)]) -> App {
        self.languages = languages;
        self
    }

    /// The sample data of `seed demo`.
    pub fn demo(mut self, demo: Demo) -> App {
        self.demo = Some(demo);
        self
    }

    /// Opens the database and links the resources. It reads and writes no table.
    ///
    /// # Errors
    /// When the database cannot be reached, or the metadata has an unknown name.
    pub async fn open(&self, config: Config) -> Result<Arc<ServerState>> {
        let (limit, wait) = (config.request_timeout, config.database_wait);
        self.open_with(config, Some(limit), wait).await
    }

    /// [`App::open`] with a timeout for each statement, or none, and the time to wait for the database.
    pub(crate) async fn open_with(
        &self,
        config: Config,
        limit: Option<Duration>,
        wait: Duration,
    ) -> Result<Arc<ServerState>> {
        let catalog = link_routes(&self.routes).map_err(Error::internal)?;
        let catalog = catalog.with_mounted_abilities(self.mounted_abilities()?);
        let db = Db::connect_within(wait, &config.database_url, config.database_pool, limit).await;
        let db = db.map_err(|error| Error::internal(format!("could not open the database: {error}")))?;
        let (webhooks, mails, jobs) = (webhook::Metrics::default(), mail::Metrics::default(), job::Metrics::default());
        let metrics = Metrics::new(db.metrics(), |registry| {
            webhooks.register(registry);
            mails.register(registry);
            jobs.register(registry);
        });
        db.metrics().log_slower_than(config.slow_statement);
        let storage =
            attachment::Storage::open(&config.data_dir, config.storage.as_ref(), config.secret_key.as_deref())?;
        let languages = Tables::new(self.languages)?;
        let extensions = self
            .extensions
            .clone()
            .with(job::Jobs::new(self.jobs.clone(), jobs)?)
            .with(TokenCache::default())
            .with(self.panel_extensions.clone())
            .with(ViewVersion::default())
            .with(mail::Mailer::open(config.smtp.as_ref(), config.request_timeout, mails)?)
            .with(storage.with_user_limit(config.user_storage_limit))
            .with(import_labels(&catalog, &languages))
            .with(import::Imports::new(|state, caller| Box::pin(auth::revalidate(state, caller))))
            .with(Webhooks {
                transport: Arc::new(webhook::HttpTransport::new(config.webhook_policy.clone())?),
                policy: config.webhook_policy.clone(),
                max_attempts_per_webhook: config.webhook_endpoint_concurrency as usize,
                max_pending_per_user: config.user_delivery_limit,
                metrics: Arc::new(webhooks),
            });
        let (clock, custom_fields, custom_fields_changed, singletons_changed) = Default::default();
        let (database_side_effects, substring_indexes, detached_tasks) = Default::default();
        let (max_in_flight, per_client) = (config.max_in_flight(), config.max_in_flight_per_client());
        let limiter = ConcurrencyLimiter::new(max_in_flight, per_client, metrics.admission.clone());
        let state = State {
            name: self.name,
            title: config.brand.name.clone(),
            db,
            catalog,
            routes: self.routes.clone(),
            clock,
            responses: ResponseCache::new(metrics.cache.clone()),
            metrics,
            request_timeout: config.request_timeout,
            secret_key: SecretKey::new(config.secret_key.clone()),
            public_url: PublicUrl::new(config.base_url.clone(), config.listen.clone()),
            custom_fields,
            custom_fields_changed,
            singletons_changed,
            company_zone: Default::default(),
            database_side_effects,
            substring_indexes,
            detached_tasks,
            extensions,
        };
        Ok(Arc::new(ServerState {
            open_doors: OpenDoors::new(&state.catalog),
            state: Arc::new(state),
            mounts: self.mounts.clone(),
            languages,
            concurrency_limiter: Arc::new(limiter),
            response_budget: ResponseBudget::default(),
            token_rate: RateLimit::new(config.rate_limit),
            anonymous_rate: RateLimit::new(config.rate_limit_anonymous),
            sign_ins: SignIns {
                addresses: RateLimit::new(SIGN_INS_PER_ADDRESS),
                accounts: SignInGuard::default(),
                resets: SignInGuard::default(),
            },
            oidc: config.oidc.clone().map(auth::oidc::Provider::new).transpose()?,
            is_stopping: AtomicBool::new(false),
            config,
        }))
    }

    /// Applies the migrations and inserts missing seed data. Concurrent processes wait for each other.
    ///
    /// # Errors
    /// When a migration fails, or the seed data is invalid.
    pub async fn prepare(&self, state: &Arc<ServerState>) -> Result<()> {
        let lock = self.lock(state).await?;
        self.prepare_locked(state).await?;
        lock.release().await
    }

    /// Waits for the lock of the start.
    pub(crate) async fn lock(&self, state: &ServerState) -> Result<StartLock> {
        StartLock::acquire(&state.db).await
    }

    pub(crate) async fn prepare_locked(&self, state: &Arc<ServerState>) -> Result<Vec<String>> {
        let applied = self.migrate_up(state).await?;
        unique_ids::check(&state.db, &state.catalog).await?;
        seed::reference(state, self.seeds).await?;
        if state.secret_key.get().is_some() {
            let sealed = webhook::seal_stored_secrets(state).await?;
            if sealed > 0 {
                tracing::info!(webhooks = sealed, "encrypted the secrets of webhooks that were stored in plain text");
            }
        }
        Ok(applied)
    }

    /// Applies all pending migrations, installs missing count triggers, and returns the names of the applied migrations.
    pub(crate) async fn migrate_up(&self, state: &ServerState) -> Result<Vec<String>> {
        let applied = self.migrate_by(state, Direction::Up).await?;
        self.report_kept_rights(state, &applied).await?;
        for table in counts::install(&state.db, &state.catalog).await? {
            tracing::debug!(table, "installed count triggers");
        }
        for table in rollups::install(&state.db, &state.catalog).await? {
            tracing::info!(table, "computed the rollups");
        }
        Ok(applied)
    }

    /// Logs which rights users keep, if roles got their abilities in a database with users.
    async fn report_kept_rights(&self, state: &ServerState, applied: &[String]) -> Result<()> {
        if !applied.iter().any(|name| name.ends_with("_platform_role_abilities")) {
            return Ok(());
        }
        let roles = auth::role::Entity::find().all(state.db.reader()).await?;
        let mut kept = Vec::new();
        for role in &roles {
            if auth::role::words(&role.abilities)? == ["*"] {
                kept.push(&role.name);
            }
        }
        if !kept.is_empty() {
            tracing::warn!(
                roles = ?kept,
                "roles have abilities now: these roles grant every ability, so that no user lost a right; narrow them in the panel"
            );
        }
        Ok(())
    }

    /// Migrates, and returns the names of the applied or undone migrations. Reading the state first gives a database of a newer
    /// version its own error message.
    pub(crate) async fn migrate_by(&self, state: &ServerState, direction: Direction) -> Result<Vec<String>> {
        let before = (self.migrate)(&state.db, Direction::Status).await?;
        let after = (self.migrate)(&state.db, direction).await?;
        let changed = after.into_iter().filter(|now| !before.contains(now));
        Ok(changed.map(|(name, _)| name).collect())
    }
}

/// The resource `background_jobs`.
fn job_history() -> Route {
    Route { is_platform: true, ..job::record::route() }
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

/// Returns true if SeaORM's message names a platform migration of an unreleased build, as `m20261121_000007_platform_events`.
/// The migrations of releases have other names.
fn names_unreleased_migration(message: &str) -> bool {
    let mut ends = message.split('\'').filter_map(|name| name.strip_prefix("m20261121_0000")?.get(2..));
    ends.any(|end| end.starts_with("_platform_"))
}

/// All migrations, and whether each is applied. It writes nothing.
async fn status<M: MigratorTrait>(connection: &DatabaseConnection) -> Result<Vec<(String, bool)>> {
    let migrations = M::get_migration_with_status_read_only(connection).await.map_err(|error| match error {
        DbErr::Custom(message) if names_unreleased_migration(&message) => Error::internal(
            "the database was created by an unreleased build of Charter and cannot be migrated: create a new database",
        ),
        // A migration is applied that this program does not have.
        DbErr::Custom(what) => Error::internal(format!(
            "the database was migrated by a newer version of this program, or by another program: {what}"
        )),
        other => other.into(),
    })?;
    let applied = |m: &sea_orm_migration::Migration| m.status() == sea_orm_migration::MigrationStatus::Applied;
    Ok(migrations.iter().map(|m| (m.name().to_string(), applied(m))).collect())
}
