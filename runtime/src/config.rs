//! Settings of a server. Each is a flag and an environment variable.

mod brand;
mod cors;
mod database;
mod log_filter;
mod mail;
mod oidc;
mod origin;
mod problems;
mod s3;
mod secret;
mod settings;

use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;

use brand::brand;
pub use brand::{Brand, Color, Logo};
pub use cors::CorsOrigins;
use cors::cors_origins;
use database::sqlite_url;
pub use log_filter::log_filter;
use mail::smtp_config;
use oidc::oidc_config;
use origin::origin;
pub use problems::Problems;
use s3::s3_config;
pub use settings::{SETTINGS, Setting};

use charter_core::error::{Error, Result};
use charter_core::network::Network;
use charter_core::ops::is_email;
use charter_platform::attachment::S3Config;
use charter_platform::auth::oidc::OidcConfig;
use charter_platform::mail::SmtpConfig;
use charter_platform::webhook::UrlPolicy;

/// Default of requests in flight for each connection of the pool: a request does more than wait for the database.
const REQUESTS_PER_CONNECTION: u32 = 4;

/// Minimum length of the secret key: as many bytes as the output of SHA-256 (RFC 2104, section 3).
const MIN_SECRET_KEY_BYTES: usize = 32;

/// Prefix of variables for the tests, which are not settings.
const TEST_PREFIX: &str = "CHARTER_TEST_";

/// The validated settings of a server.
#[derive(Clone)]
pub struct Config {
    pub database_url: String,
    pub listen: String,
    pub base_url: Option<String>,
    pub data_dir: PathBuf,
    /// The bucket of attached files; without one they are stored in the data folder.
    pub storage: Option<S3Config>,
    pub secret_key: Option<String>,
    /// The identity provider of the panel.
    pub oidc: Option<OidcConfig>,
    /// Name, logo and color of the panel.
    pub brand: Brand,
    pub admin_email: String,
    pub database_pool: u32,
    /// Time that a start of the server waits for the database.
    pub database_wait: Duration,
    /// Worker threads.
    pub threads: usize,
    pub body_limit: usize,
    /// Set by the operator; [`Config::max_in_flight`] has the default.
    pub request_concurrency: Option<u32>,
    /// Set by the operator; [`Config::max_in_flight_per_client`] has the default.
    pub client_concurrency: Option<u32>,
    pub request_timeout: Duration,
    /// Statements that take at least this long are logged.
    pub slow_statement: Option<Duration>,
    pub rate_limit: u32,
    pub rate_limit_anonymous: u32,
    pub address_connections: u32,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<Network>,
    /// Web pages that may use the API.
    pub cors_origins: CorsOrigins,
    /// Serves the MCP endpoint.
    pub mcp: bool,
    /// The URLs that webhooks may have.
    pub webhook_policy: UrlPolicy,
    pub webhook_concurrency: u32,
    pub webhook_endpoint_concurrency: u32,
    /// The mail server; without one no mail is sent.
    pub smtp: Option<SmtpConfig>,
    /// Bytes of the files of one user.
    pub user_storage_limit: Option<u64>,
    /// Pending deliveries of the webhooks of one user.
    pub user_delivery_limit: Option<u64>,
    pub log: String,
    pub log_json: bool,
}

impl std::fmt::Debug for Config {
    /// Leaves out the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("listen", &self.listen).field("data_dir", &self.data_dir).finish_non_exhaustive()
    }
}

impl Config {
    /// Reads the settings. A flag wins over the environment, which wins over the default.
    ///
    /// # Errors
    /// One line for each unknown variable and each invalid value.
    pub fn read(matches: &ArgMatches, environment: impl Iterator<Item = (String, String)>) -> Result<Config, String> {
        let environment: Vec<(String, String)> = environment.filter(|(name, _)| name.starts_with("CHARTER_")).collect();
        let mut problems = Problems::of(matches, &environment);
        let value = |flag: &str| -> String {
            let setting = SETTINGS.iter().find(|setting| setting.flag == flag);
            let from_flag = matches.get_one::<String>(flag).cloned();
            let variable = setting.map(Setting::variable).unwrap_or_default();
            let from_environment =
                || environment.iter().find(|(name, _)| *name == variable).map(|(_, value)| value.clone());
            let default = || setting.map(|setting| setting.default.to_string()).unwrap_or_default();
            from_flag.or_else(from_environment).filter(|value| !value.is_empty()).unwrap_or_else(default)
        };
        let optional = |flag: &str| Some(value(flag)).filter(|value| !value.is_empty());
        let number = |flag: &str, min: u64, max: u64, problems: &mut Problems<'_>| match value(flag).parse::<u64>() {
            Ok(number) if (min..=max).contains(&number) => number,
            _ => {
                let given = value(flag);
                problems.add(flag, format!("must be a whole number from {min} to {max}, not `{given}`"));
                min
            }
        };
        let networks = |flag: &str, problems: &mut Problems<'_>| networks(flag, &value(flag), problems);
        let data_dir = PathBuf::from(value("data-dir"));
        let database_url = optional("database-url").unwrap_or_else(|| sqlite_url(&data_dir));
        let config = Config {
            listen: value("listen"),
            base_url: optional("base-url").map(|url| base_url(&url, &mut problems)),
            storage: s3_config(&optional, &mut problems),
            secret_key: optional("secret-key"),
            oidc: oidc_config(&optional, &mut problems),
            brand: brand(&optional, &mut problems),
            admin_email: value("admin-email"),
            database_pool: number("database-pool", 2, 1000, &mut problems) as u32,
            database_wait: Duration::from_secs(number("database-wait", 0, 86_400, &mut problems)),
            threads: match optional("threads") {
                Some(_) => number("threads", 1, 1024, &mut problems) as usize,
                None => processors(),
            },
            database_url,
            body_limit: number("body-limit", 1024, 1 << 30, &mut problems) as usize,
            request_concurrency: optional("request-concurrency")
                .map(|_| number("request-concurrency", 1, 100_000, &mut problems) as u32),
            client_concurrency: optional("client-concurrency")
                .map(|_| number("client-concurrency", 1, 100_000, &mut problems) as u32),
            request_timeout: Duration::from_secs(number("request-timeout", 1, 3600, &mut problems)),
            slow_statement: Some(number("slow-statement-ms", 0, 3_600_000, &mut problems))
                .filter(|millis| *millis > 0)
                .map(Duration::from_millis),
            rate_limit: number("rate-limit", 0, 1_000_000_000, &mut problems) as u32,
            rate_limit_anonymous: number("rate-limit-anonymous", 0, 1_000_000_000, &mut problems) as u32,
            address_connections: number("address-connections", 0, 1_000_000, &mut problems) as u32,
            trusted_proxies: networks("trusted-proxies", &mut problems),
            cors_origins: cors_origins(&value("cors-origins"), &mut problems),
            mcp: value("mcp") == "true",
            webhook_policy: UrlPolicy {
                allow_http: value("webhook-allow-http") == "true",
                networks: networks("webhook-allow-networks", &mut problems),
            },
            webhook_concurrency: number("webhook-concurrency", 0, 10_000, &mut problems) as u32,
            webhook_endpoint_concurrency: number("webhook-endpoint-concurrency", 1, 10_000, &mut problems) as u32,
            smtp: smtp_config(&optional, &mut problems),
            user_storage_limit: Some(number("user-storage-limit", 0, 1 << 50, &mut problems))
                .filter(|bytes| *bytes > 0),
            user_delivery_limit: Some(number("user-delivery-limit", 0, 1 << 30, &mut problems))
                .filter(|count| *count > 0),
            log: value("log"),
            log_json: value("log-format") == "json",
            data_dir,
        };
        for flag in ["mcp", "webhook-allow-http"] {
            let given = value(flag);
            if !matches!(given.as_str(), "true" | "false") {
                problems.add(flag, format!("must be `true` or `false`, not `{given}`"));
            }
        }
        if !matches!(value("log-format").as_str(), "text" | "json") {
            problems.add("log-format", format!("must be `text` or `json`, not `{}`", value("log-format")));
        }
        if let Err(problem) = log_filter(&config.log) {
            problems.add("log", format!("must be a level or directives such as charter_runtime=debug: {problem}"));
        }
        if config.listen.parse::<std::net::SocketAddr>().is_err() {
            let listen = &config.listen;
            problems.add("listen", format!("must be an address and a port such as 127.0.0.1:8000, not `{listen}`"));
        }
        if let Some(problem) = database::problem(&config.database_url) {
            problems.add("database-url", problem);
        }
        if let Some(key) = &config.secret_key
            && key.trim().len() < MIN_SECRET_KEY_BYTES
        {
            let length = key.trim().len();
            let problem = format!(
                "must have at least {MIN_SECRET_KEY_BYTES} bytes, not {length}, such as the output of `openssl rand -hex 32`"
            );
            problems.add("secret-key", problem);
        }
        if !is_email(&config.admin_email) {
            problems.add("admin-email", "must be an e-mail address");
        }
        problems.into_result().map(|()| config)
    }

    /// Maximum number of requests in flight.
    pub fn max_in_flight(&self) -> usize {
        self.request_concurrency.unwrap_or(self.database_pool.saturating_mul(REQUESTS_PER_CONNECTION)) as usize
    }

    /// Maximum number of requests in flight of one client.
    pub fn max_in_flight_per_client(&self) -> usize {
        let half = self.max_in_flight().div_ceil(2);
        self.client_concurrency.map_or(half, |limit| (limit as usize).min(self.max_in_flight()))
    }

    /// Creates the data folder, and the secret key in it if none is set.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn prepare(&mut self) -> Result<()> {
        let problem =
            |error: std::io::Error| Error::internal(format!("the data folder {}: {error}", self.data_dir.display()));
        // Only the owner may read it, because it holds data and secrets. The mode of an existing folder stays.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.data_dir).map_err(problem)?;
        if self.secret_key.is_none() {
            self.secret_key = Some(secret::load_or_create(&self.data_dir).map_err(problem)?);
        }
        Ok(())
    }
}

/// The normalized origin of a URL: other URLs are compared with it, and links begin with it.
fn base_url(text: &str, problems: &mut Problems<'_>) -> String {
    origin(text.trim_end_matches('/')).unwrap_or_else(|| {
        problems.add("base-url", "must be a URL such as https://records.example.com, without a path");
        String::new()
    })
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn networks(flag: &str, text: &str, problems: &mut Problems<'_>) -> Vec<Network> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let (networks, wrong): (Vec<_>, Vec<_>) = parts.map(str::parse).partition(Result::is_ok);
    wrong.into_iter().filter_map(Result::err).for_each(|problem| problems.add(flag, format!("is invalid: {problem}")));
    networks.into_iter().filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests;
