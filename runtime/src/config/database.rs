//! Validation of the setting `database-url`.

use std::path::Path;
use std::str::FromStr;

use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::sqlite::SqliteConnectOptions;
use url::Url;

use charter_core::db::{HostList, SESSION_PARAMETER};
use charter_core::suggest;

/// The problem of a database URL. It never quotes the URL, which can hold a password.
pub(super) fn problem(url: &str) -> Option<String> {
    let invalid = |error| format!("is invalid: {error}");
    match url.split_once("://") {
        Some(("sqlite", file)) if !file.split('?').next().unwrap_or_default().is_empty() => {
            SqliteConnectOptions::from_str(url).err().map(invalid)
        }
        Some(("sqlite", _)) => Some("must name a file after sqlite://".into()),
        Some(("postgres" | "postgresql", _)) => match HostList::parse(url) {
            Ok(list) => list.urls.iter().find_map(|url| match Url::parse(url) {
                Ok(parsed) => unknown_parameter(&parsed).or_else(|| PgConnectOptions::from_str(url).err().map(invalid)),
                Err(_) => Some("must be a URL such as postgres://user@host/database".into()),
            }),
            Err(problem) => Some(problem),
        },
        _ => Some("must begin with sqlite:// or postgres://".into()),
    }
}

/// URL parameters that the PostgreSQL driver knows, besides [`SESSION_PARAMETER`].
pub(super) const POSTGRES_PARAMETERS: [&str; 18] = [
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

/// The first parameter that the driver does not know. The driver would ignore it, so that `sslmod=require` would connect without
/// TLS, and log its value, which can be a password.
fn unknown_parameter(url: &Url) -> Option<String> {
    let is_known = |name: &str| {
        let is_option = name.strip_prefix("options[").is_some_and(|rest| rest.ends_with(']'));
        is_option || POSTGRES_PARAMETERS.contains(&name)
    };
    let unknown = url.query_pairs().map(|(name, _)| name).find(|name| !is_known(name))?;
    let hint = suggest::hint(&unknown, POSTGRES_PARAMETERS.into_iter().chain([SESSION_PARAMETER]));
    Some(format!("has the unknown parameter `{}`{hint}", unknown.escape_debug()))
}

/// The URL of the default database. `?` and `%` of the path are escaped.
pub(super) fn sqlite_url(data_dir: &Path) -> String {
    let path = data_dir.join("charter.db").display().to_string();
    format!("sqlite://{}", path.replace('%', "%25").replace('?', "%3F"))
}
