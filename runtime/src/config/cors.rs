//! The setting `cors-origins`.

use super::Problems;
use super::origin::origin;

/// Web pages whose scripts may use the API, by their origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CorsOrigins {
    /// Pages of every origin.
    Any,
    /// As a browser sends them: `https://app.example.com`.
    Listed(Vec<String>),
}

impl Default for CorsOrigins {
    fn default() -> CorsOrigins {
        CorsOrigins::Listed(Vec::new())
    }
}

/// Reads `*` or a list of origins. An origin with a path would never be equal to one that a browser sends.
pub(super) fn cors_origins(text: &str, problems: &mut Problems<'_>) -> CorsOrigins {
    if text.trim() == "*" {
        return CorsOrigins::Any;
    }
    let mut origins = Vec::new();
    for given in text.split(',').map(str::trim).filter(|given| !given.is_empty()) {
        match origin(given) {
            Some(origin) => origins.push(origin),
            None => {
                let problem =
                    format!("must be `*` or origins such as https://app.example.com, without a path, not `{given}`");
                problems.add("cors-origins", problem);
            }
        }
    }
    CorsOrigins::Listed(origins)
}
