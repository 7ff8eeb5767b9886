//! Background jobs: queued by a write or scheduled, retried, and done by one process of many.

mod queued;
mod scheduled;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use charter_migrations::prelude::*;
use charter_runtime::job::Job;
use charter_runtime::ops::{BoxFuture, Context, Transaction, revise};
use charter_runtime::{Error, Result};
use sea_orm::ActiveValue::Set;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::support::{Client, Database, Fixture, Prepared, Server, nothing, with_own};

/// The application's state: what the jobs of a test do and have done.
#[derive(Debug)]
pub struct Depot {
    sent: AtomicUsize,
    swept: AtomicUsize,
    fails: AtomicBool,
    panics: AtomicBool,
    /// A job gives its lease to another worker.
    usurps: AtomicBool,
    /// The jobs of parcels wait for a permit.
    gate: Semaphore,
}

/// Test resource: a parcel is sent by a job, which its creation queues.
mod parcel {
    use std::sync::atomic::Ordering;

    use charter_runtime::generated::Resource;
    use charter_runtime::ops::{Context, Route, Schedule};
    use charter_runtime::{Error, Result};
    use sea_orm::entity::prelude::DateTimeUtc;
    use serde_json::json;

    use super::{Depot, EXPORT, FORGOTTEN, SEND, WAIT};

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "parcel", events)]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub address: String,
        #[field(enumeration("packed", "sent"), default = "packed", read_only)]
        pub status: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    pub fn route() -> Route {
        charter_runtime::route!(Entity, Behaviour, hooks(after_save), actions(), jobs(sweep_depot: Schedule::every(3600)))
    }

    trait Behaviour {
        fn sweep_depot(context: &Context<'_>) -> impl Future<Output = Result<()>> + Send;
        fn after_save(
            context: &Context<'_>,
            parcel: &Model,
            before: Option<&Model>,
        ) -> impl Future<Output = Result<()>> + Send;
    }

    impl Behaviour for Entity {
        async fn sweep_depot(context: &Context<'_>) -> Result<()> {
            context.extension::<Depot>()?.swept.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        async fn after_save(context: &Context<'_>, parcel: &Model, _: Option<&Model>) -> Result<()> {
            // The jobs change the parcel, too.
            if parcel.status != "packed" {
                return Ok(());
            }
            if parcel.address != "abroad" {
                SEND.enqueue(context, json!({ "parcel": parcel.id, "secret": "hunter2" })).await?;
            }
            match parcel.address.as_str() {
                "nowhere" => Err(Error::Conflict("There is no such place.".into())),
                "abroad" if parcel.status == "packed" => {
                    EXPORT.enqueue(context, json!({ "parcel": parcel.id })).await.map(drop)
                }
                "the end" => WAIT.enqueue(context, json!({})).await.map(drop),
                "unregistered" => FORGOTTEN.enqueue(context, json!({})).await.map(drop),
                "stateless" => context.extension::<std::sync::Mutex<u128>>().map(drop),
                _ => Ok(()),
            }
        }
    }
}

const SEND: Job = Job::queued("send_parcel", send).attempts(2).timeout(Duration::from_secs(20));
const EXPORT: Job = Job::queued("export_parcel", export).external();
const WAIT: Job = Job::queued("wait_long", wait).external().timeout(Duration::from_secs(1));
/// No job of the application.
const FORGOTTEN: Job = Job::queued("forgotten", forgotten);

fn send<'a>(context: &'a Context<'a>, arguments: &'a Value) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let depot = context.extension::<Depot>()?;
        depot.gate.acquire().await.map_err(Error::internal)?.forget();
        let id = arguments["parcel"].as_i64().unwrap_or_default();
        revise::<parcel::Entity>(context, id, |draft| {
            draft.model.status = Set("sent".into());
            Ok(())
        })
        .await?;
        if depot.usurps.load(Ordering::Relaxed) {
            let usurp = "UPDATE \"background_jobs\" SET \"lease_owner\" = 'another' WHERE \"name\" = 'send_parcel'";
            context.db().execute_unprepared(usurp).await?;
        }
        depot.sent.fetch_add(1, Ordering::Relaxed);
        assert!(!depot.panics.load(Ordering::Relaxed), "a panic of a test");
        match depot.fails.load(Ordering::Relaxed) {
            true => Err(Error::internal(format!("no van for {arguments}"))),
            false => Ok(()),
        }
    })
}

fn export<'a>(context: &'a Context<'a>, arguments: &'a Value) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        assert!(context.transaction().is_none());
        let transaction = Transaction::begin(context.state()).await?;
        send(&context.in_transaction(&transaction), arguments).await?;
        transaction.commit(context).await
    })
}

fn wait<'a>(_: &'a Context<'a>, _: &'a Value) -> BoxFuture<'a, Result<()>> {
    Box::pin(async {
        sleep(Duration::from_secs(600)).await;
        Ok(())
    })
}

fn forgotten<'a>(_: &'a Context<'a>, _: &'a Value) -> BoxFuture<'a, Result<()>> {
    Box::pin(async { Ok(()) })
}

#[derive(Default)]
struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "parcels"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let parcels = Table::on(manager, "parcels");
        let status = enumeration("status").default("packed");
        parcels.create([id(), string("address", 80), status, timestamp("created_at"), timestamp("updated_at")]).await
    }
}

/// The service with parcels and their jobs.
pub struct Parcels(Server);

impl Parcels {
    fn app() -> charter_runtime::App {
        let depot = Depot {
            sent: AtomicUsize::new(0),
            swept: AtomicUsize::new(0),
            fails: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            usurps: AtomicBool::new(false),
            gate: Semaphore::new(1000),
        };
        with_own::<Migration>([parcel::route()]).with(depot).job(SEND).job(EXPORT).job(WAIT)
    }

    fn depot(&self) -> &Depot {
        self.0.state.extension().expect("it is added")
    }

    /// Takes the permits, so that jobs wait until `depot().gate` gets new ones.
    fn close_gate(&self) {
        let gate = &self.depot().gate;
        gate.forget_permits(gate.available_permits());
    }

    async fn pack(&self, address: &str) -> Value {
        self.0.admin().post("/parcels", json!({ "address": address })).await.created("parcel")
    }

    async fn status_of(&self, parcel: &Value) -> Value {
        self.0.admin().get(&format!("/parcels/{}", parcel["id"])).await.record("parcel")["status"].clone()
    }

    /// The only run of a job, once it has this status.
    async fn run_in(&self, job: &str, status: &str) -> Value {
        eventually(&self.0.admin(), job, |run| run["status"] == status).await
    }
}

/// The only run of a job, once the condition holds.
async fn eventually(admin: &Client, job: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let runs = admin.get(&format!("/background_jobs?q[name_eq]={job}")).await.records("background_jobs");
        match runs.as_slice() {
            [run] if holds(run) => return run.clone(),
            _ => assert!(begun.elapsed() < Duration::from_secs(20), "{runs:?}"),
        }
        sleep(Duration::from_millis(50)).await;
    }
}

impl Fixture for Parcels {
    async fn start(database: Database) -> Parcels {
        use std::sync::OnceLock;

        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        Parcels(Server::open(Parcels::app(), database, template, nothing, |_| {}).await)
    }

    fn server(&self) -> &Server {
        &self.0
    }
}
