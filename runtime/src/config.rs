//! The settings of a server: each an environment variable, a flag of the same name, and a row of one table.

mod database;
mod problems;
mod secret;

use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches};
use url::Url;

use database::sqlite_url;
pub use problems::Problems;

use crate::attachment::Location;
use crate::error::{Error, Result};
use crate::network::Network;
use crate::ops::is_email;
use crate::webhook::Policy;

/// One setting, as the documentation lists it.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// `database-url` is the flag; the environment variable is `CHARTER_DATABASE_URL`.
    pub flag: &'static str,
    /// What it is when nobody says; empty where the text of `about` tells.
    pub default: &'static str,
    pub about: &'static str,
}

/// Every setting. The table in `docs/operations.md` is generated from it.
pub const SETTINGS: &[Setting] = &[
    Setting {
        flag: "database-url",
        default: "",
        about: "`sqlite://<file>` or `postgres://...`; by default `charter.db` in the data folder",
    },
    Setting {
        flag: "listen",
        default: "127.0.0.1:8000",
        about: "Address and port to listen on; port 0 takes a free one",
    },
    Setting {
        flag: "base-url",
        default: "",
        about: "The address that clients use, without a path; by default that of `listen`",
    },
    Setting {
        flag: "data-dir",
        default: "./data",
        about: "Folder for the SQLite database, attached files and the secret key",
    },
    Setting {
        flag: "storage",
        default: "",
        about: "Where attached files are kept: `s3://<bucket>`, or with a prefix `s3://<bucket>/<prefix>`; by default the data folder",
    },
    Setting {
        flag: "storage-endpoint",
        default: "",
        about: "Address of the S3-compatible service, such as `https://minio.example.com:9000`; by default Amazon's of the region",
    },
    Setting { flag: "storage-region", default: "us-east-1", about: "Region of the bucket" },
    Setting { flag: "storage-access-key", default: "", about: "Id of the key that may use the bucket" },
    Setting { flag: "storage-secret-key", default: "", about: "The secret of that key" },
    Setting {
        flag: "secret-key",
        default: "",
        about: "Signs links and seals secrets; made on the first start and kept in the data folder when unset",
    },
    Setting {
        flag: "admin-email",
        default: "admin@example.com",
        about: "The administrator that the first start creates",
    },
    Setting {
        flag: "database-pool",
        default: "8",
        about: "Connections to PostgreSQL, or readers of SQLite; exports have up to 2 more, and so has a start on PostgreSQL",
    },
    Setting { flag: "threads", default: "", about: "Threads that serve, by default one for each processor" },
    Setting { flag: "body-limit", default: "1048576", about: "Bytes of a body, JSON or a form; more is 413" },
    Setting {
        flag: "request-concurrency",
        default: "",
        about: "Requests that are worked on at once, by default 4 for each connection of the pool; 16 times as many wait, or as many as had their turn in the last quarter of a second, for half a second at most, and what is beyond is 503",
    },
    Setting { flag: "request-timeout", default: "30", about: "Seconds for one request; longer is 503" },
    Setting {
        flag: "slow-statement-ms",
        default: "500",
        about: "Milliseconds from which on a statement of the database is logged, without its values; 0 turns it off",
    },
    Setting { flag: "rate-limit", default: "1000", about: "Requests a minute for one token; 0 turns it off" },
    Setting {
        flag: "rate-limit-anonymous",
        default: "60",
        about: "Requests a minute without a valid token, for one address; 0 turns it off",
    },
    Setting {
        flag: "trusted-proxies",
        default: "",
        about: "Networks of the proxies in front, such as `10.0.0.0/8`: what they write into `X-Forwarded-For` is believed",
    },
    Setting {
        flag: "webhook-allow-http",
        default: "false",
        about: "Whether webhooks may have http:// URLs, whose deliveries anybody on the way can read",
    },
    Setting {
        flag: "webhook-allow-networks",
        default: "",
        about: "Networks that webhooks may reach although they are not public, such as `10.0.0.0/8,fd00::/8`",
    },
    Setting {
        flag: "webhook-concurrency",
        default: "256",
        about: "Webhook deliveries that this process attempts at a time; 0 leaves them to other processes",
    },
    Setting { flag: "webhook-endpoint-concurrency", default: "32", about: "Of these, the most to one webhook" },
    Setting {
        flag: "log",
        default: "info",
        about: "What is logged: a level, or directives such as `charter_runtime=debug`",
    },
    Setting { flag: "log-format", default: "text", about: "`text` or `json`, one line an event, on standard error" },
];

/// For each connection of the pool so many requests are worked on when nobody says how many: they do more than to wait for
/// the database.
const TURNS: u32 = 4;

/// Variables of the tests, which are no settings.
const TEST_PREFIX: &str = "CHARTER_TEST_";

/// The settings of one server, read and checked.
#[derive(Clone)]
pub struct Config {
    pub database_url: String,
    pub listen: String,
    pub base_url: Option<String>,
    pub data_dir: PathBuf,
    /// The bucket of attached files; without one they are in the data folder.
    pub storage: Option<Location>,
    pub secret_key: Option<String>,
    pub admin_email: String,
    pub database_pool: u32,
    /// How many threads serve.
    pub threads: usize,
    pub body_limit: usize,
    /// How many requests are worked on at once; see [`Config::at_once`].
    pub request_concurrency: Option<u32>,
    pub request_timeout: Duration,
    /// From which duration on a statement is logged, if at all.
    pub slow_statement: Option<Duration>,
    pub rate_limit: u32,
    pub rate_limit_anonymous: u32,
    /// Whose `X-Forwarded-For` tells the address of a client.
    pub trusted_proxies: Vec<Network>,
    /// Where webhooks may lead.
    pub webhook_policy: Policy,
    pub webhook_concurrency: u32,
    pub webhook_endpoint_concurrency: u32,
    pub log: String,
    pub log_json: bool,
}

impl std::fmt::Debug for Config {
    /// Without the database's password and the keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("listen", &self.listen).field("data_dir", &self.data_dir).finish_non_exhaustive()
    }
}

impl Setting {
    /// `CHARTER_DATABASE_URL`
    pub fn variable(&self) -> String {
        format!("CHARTER_{}", self.flag.replace('-', "_").to_ascii_uppercase())
    }

    /// The flag for the command line.
    pub fn argument(&self) -> Arg {
        let default = if self.default.is_empty() { String::new() } else { format!(" [default: {}]", self.default) };
        let help = format!("{} [env: {}]{default}", self.about, self.variable());
        Arg::new(self.flag).long(self.flag).value_name("VALUE").global(true).help(help).help_heading("Settings")
    }
}

impl Config {
    /// Reads the flags, then the environment, then the defaults.
    ///
    /// # Errors
    /// One line for every variable that is unknown and every value that cannot be read.
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
        let number = |flag: &str, least: u64, most: u64, problems: &mut Problems<'_>| match value(flag).parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => number,
            _ => {
                let given = value(flag);
                problems.add(flag, format!("must be a whole number from {least} to {most}, and is `{given}`"));
                least
            }
        };
        let networks = |flag: &str, problems: &mut Problems<'_>| networks(flag, &value(flag), problems);
        let data_dir = PathBuf::from(value("data-dir"));
        let database_url = optional("database-url").unwrap_or_else(|| sqlite_url(&data_dir));
        let config = Config {
            listen: value("listen"),
            base_url: optional("base-url").map(|url| base_url(&url, &mut problems)),
            storage: Location::read(&optional, &mut problems),
            secret_key: optional("secret-key"),
            admin_email: value("admin-email"),
            database_pool: number("database-pool", 2, 1000, &mut problems) as u32,
            threads: match optional("threads") {
                Some(_) => number("threads", 1, 1024, &mut problems) as usize,
                None => processors(),
            },
            database_url,
            body_limit: number("body-limit", 1024, 1 << 30, &mut problems) as usize,
            request_concurrency: optional("request-concurrency")
                .map(|_| number("request-concurrency", 1, 100_000, &mut problems) as u32),
            request_timeout: Duration::from_secs(number("request-timeout", 1, 3600, &mut problems)),
            slow_statement: Some(number("slow-statement-ms", 0, 3_600_000, &mut problems))
                .filter(|millis| *millis > 0)
                .map(Duration::from_millis),
            rate_limit: number("rate-limit", 0, 1_000_000_000, &mut problems) as u32,
            rate_limit_anonymous: number("rate-limit-anonymous", 0, 1_000_000_000, &mut problems) as u32,
            trusted_proxies: networks("trusted-proxies", &mut problems),
            webhook_policy: Policy {
                allow_http: value("webhook-allow-http") == "true",
                networks: networks("webhook-allow-networks", &mut problems),
            },
            webhook_concurrency: number("webhook-concurrency", 0, 10_000, &mut problems) as u32,
            webhook_endpoint_concurrency: number("webhook-endpoint-concurrency", 1, 10_000, &mut problems) as u32,
            log: value("log"),
            log_json: value("log-format") == "json",
            data_dir,
        };
        let http = value("webhook-allow-http");
        if !matches!(http.as_str(), "true" | "false") {
            problems.add("webhook-allow-http", format!("must be `true` or `false`, and is `{http}`"));
        }
        if !matches!(value("log-format").as_str(), "text" | "json") {
            problems.add("log-format", format!("must be `text` or `json`, and is `{}`", value("log-format")));
        }
        if let Err(problem) = crate::command::log::filter(&config.log) {
            problems.add("log", format!("must be a level or directives such as charter_runtime=debug: {problem}"));
        }
        if config.listen.parse::<std::net::SocketAddr>().is_err() {
            let listen = &config.listen;
            problems.add("listen", format!("must be an address and a port such as 127.0.0.1:8000, and is `{listen}`"));
        }
        if let Some(problem) = database::wrong(&config.database_url) {
            problems.add("database-url", problem);
        }
        if config.secret_key.as_ref().is_some_and(|key| key.trim().is_empty()) {
            problems.add("secret-key", "must not be blank");
        }
        if !is_email(&config.admin_email) {
            problems.add("admin-email", "must be an e-mail address");
        }
        problems.into_result().map(|()| config)
    }

    /// How many requests are worked on at once.
    pub fn at_once(&self) -> usize {
        self.request_concurrency.unwrap_or(self.database_pool.saturating_mul(TURNS)) as usize
    }

    /// Makes the data folder and, in it, the secret key that nobody set.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn prepare(&mut self) -> Result<()> {
        let problem =
            |error: std::io::Error| Error::internal(format!("the data folder {}: {error}", self.data_dir.display()));
        // It holds what clients keep here, and secrets: a folder that is there already stays as somebody wanted it.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.data_dir).map_err(problem)?;
        if self.secret_key.is_none() {
            self.secret_key = Some(secret::kept(&self.data_dir).map_err(problem)?);
        }
        Ok(())
    }
}

/// The origin that a URL is, however it is written: others are compared with it, and links are written behind it.
fn base_url(text: &str, problems: &mut Problems<'_>) -> String {
    let url = Url::parse(text.trim_end_matches('/')).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let origin = url.as_ref().map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    // Whatever it has beside that stands in it too.
    if url.is_none_or(|url| url.as_str() != format!("{origin}/")) {
        problems.add("base-url", "must be a URL such as https://records.example.com, and no more");
    }
    origin
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn networks(flag: &str, text: &str, problems: &mut Problems<'_>) -> Vec<Network> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let (networks, wrong): (Vec<_>, Vec<_>) = parts.map(str::parse).partition(Result::is_ok);
    wrong.into_iter().filter_map(Result::err).for_each(|problem| problems.add(flag, format!("is wrong: {problem}")));
    networks.into_iter().filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests;
