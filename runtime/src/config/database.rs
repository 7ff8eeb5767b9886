//! The setting `database-url`: whether it can be read, and where it leads.

use std::path::Path;
use std::str::FromStr;

use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use url::Url;

/// What is wrong with the URL of a database, without its text, which may hold a password.
pub fn wrong(url: &str) -> Option<String> {
    let unread = |error| format!("cannot be read: {error}");
    match url.split_once("://") {
        Some(("sqlite", file)) if !file.split('?').next().unwrap_or_default().is_empty() => {
            SqliteConnectOptions::from_str(url).err().map(unread)
        }
        Some(("sqlite", _)) => Some("must name a file behind sqlite://".into()),
        Some(("postgres" | "postgresql", _)) => match Url::parse(url) {
            Ok(parsed) => unknown_parameter(&parsed).or_else(|| PgConnectOptions::from_str(url).err().map(unread)),
            Err(_) => Some("must be a URL such as postgres://user@host/database".into()),
        },
        _ => Some("must begin with sqlite:// or postgres://".into()),
    }
}

/// What the driver of PostgreSQL reads of a URL's parameters.
pub const POSTGRES_PARAMETERS: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// A parameter that the driver does not know. It would go on without it, as without TLS for `sslmod=require`, and log its
/// value, which may be a password.
fn unknown_parameter(url: &Url) -> Option<String> {
    let is_known = |name: &str| {
        let is_option = name.strip_prefix("options[").is_some_and(|rest| rest.ends_with(']'));
        is_option || POSTGRES_PARAMETERS.contains(&name)
    };
    let unknown = url.query_pairs().map(|(name, _)| name).find(|name| !is_known(name))?;
    let hint = crate::query::hint(&unknown, POSTGRES_PARAMETERS);
    Some(format!("has the parameter `{}`, which is none{hint}", unknown.escape_debug()))
}

/// A `?` begins the parameters, and a `%` an escape.
pub fn sqlite_url(data_dir: &Path) -> String {
    let path = data_dir.join("charter.db").display().to_string();
    format!("sqlite://{}", path.replace('%', "%25").replace('?', "%3F"))
}
