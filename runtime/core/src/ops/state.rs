//! State that all operations of an application share.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use super::extensions::Extensions;
use super::{DatabaseSideEffects, ResponseCache, Route, ZoneCache};
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::crypto::SecretKey;
use crate::custom_field::DefinitionCache;
use crate::db::Db;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::online_indexes::ChangeSignal;
use crate::tasks::DetachedTasks;
use crate::trigram::ReadyIndexes;

/// State that all operations of an application share.
#[derive(Debug)]
pub struct State {
    /// Name of the application's command.
    pub name: &'static str,
    /// The name that people read, if the operator set one.
    pub title: Option<String>,
    pub db: Db,
    pub catalog: Catalog,
    /// Hooks and actions of the resources, by the index of their catalog entry.
    pub routes: Vec<Route>,
    pub clock: Clock,
    /// All metrics of the process.
    pub metrics: Metrics,
    /// Maximum duration of a request.
    pub request_timeout: Duration,
    pub secret_key: SecretKey,
    pub public_url: PublicUrl,
    /// Response cache for list pages and totals.
    pub responses: ResponseCache,
    /// Signals that a custom-field definition was created, changed or deleted.
    pub custom_fields_changed: ChangeSignal,
    /// Signals that the record of a singleton was created or changed.
    pub singletons_changed: ChangeSignal,
    /// Cache of the company's time zone.
    pub company_zone: ZoneCache,
    /// Cache of custom-field definitions.
    pub custom_fields: DefinitionCache,
    /// Tables with triggers, rules or policies that change what is stored.
    pub database_side_effects: DatabaseSideEffects,
    /// Complete trigram indexes, on SQLite.
    pub substring_indexes: ReadyIndexes,
    /// Tasks that continue when their client disconnects.
    pub detached_tasks: DetachedTasks,
    /// State of the platform's resources, such as the token cache, and of the application.
    pub extensions: Extensions,
}

impl State {
    /// The value of a type: one that `App::with` has added, or the state of a platform resource.
    ///
    /// # Errors
    /// An internal error that names the type, if there is none.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Result<&T> {
        self.extensions.get()
    }

    /// The base URL for clients, without a trailing slash.
    pub fn base_url(&self) -> String {
        self.public_url.text()
    }

    /// The name that the operator set, else the capitalized name: `Charter` for `charter`.
    pub fn name_for_people(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let mut letters = self.name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }
}

/// The URL by which clients reach the server: the configured one, or else that of the listener.
#[derive(Debug)]
pub struct PublicUrl {
    configured: Option<String>,
    /// The setting `listen`.
    listen: String,
    /// Address of the listener, once it listens.
    address: OnceLock<SocketAddr>,
}

impl PublicUrl {
    pub fn new(configured: Option<String>, listen: String) -> PublicUrl {
        PublicUrl { configured, listen, address: OnceLock::new() }
    }

    /// Sets the address of the listener, which has the real port if the configured one is 0.
    pub fn set_address(&self, address: SocketAddr) {
        let _ = self.address.set(address);
    }

    fn text(&self) -> String {
        match (&self.configured, self.address.get()) {
            (Some(url), _) => url.clone(),
            (None, Some(address)) => format!("http://{address}"),
            (None, None) => format!("http://{}", self.listen),
        }
    }
}
