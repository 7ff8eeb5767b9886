//! Origins of the settings `base-url` and `cors-origins`.

use url::Url;

/// The origin of a URL without a path, as browsers serialize it: in lower case, without the default port.
pub(super) fn origin(given: &str) -> Option<String> {
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
