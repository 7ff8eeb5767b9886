//! The setting `cors-origins`.

use url::Url;

use super::Problems;

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

/// An origin as browsers serialize it: in lower case, without the default port.
fn origin(given: &str) -> Option<String> {
    let url = Url::parse(given).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let origin = url.origin().ascii_serialization();
    (url.as_str() == format!("{origin}/")).then_some(origin)
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn origins_are_as_browsers_send_them() {
        for (given, expected) in [
            ("https://app.example.com", Some("https://app.example.com")),
            ("https://APP.example.com:443/", Some("https://app.example.com")),
            ("http://localhost:5173", Some("http://localhost:5173")),
            ("https://münchen.example", Some("https://xn--mnchen-3ya.example")),
            ("https://app.example.com/path", None),
            ("https://user@app.example.com", None),
            ("app.example.com", None),
            ("ftp://app.example.com", None),
            ("null", None),
            ("*.example.com", None),
        ] {
            assert_eq!(origin(given).as_deref(), expected, "{given}");
        }
    }
}
