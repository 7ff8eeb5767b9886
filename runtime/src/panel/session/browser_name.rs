//! Name of a browser in plain words, from its `User-Agent` header, which is a claim of the client.

use crate::language::text;

/// Browser families by the text that identifies them, the specific ones first: most browsers also claim to be Chrome
/// or Safari.
const BROWSERS: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Operating systems, the specific ones first: Android also claims to be Linux, and an iPhone to be like Mac OS X.
const SYSTEMS: [(&str, &str); 7] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// `Firefox on Linux`
pub(super) fn describe(user_agent: Option<&str>) -> String {
    let text = user_agent.unwrap_or_default();
    let find =
        |known: &[(&str, &'static str)]| known.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| *name);
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => text!("{browser} on {system}", browser = browser, system = system),
        (Some(name), None) => name.to_string(),
        (None, Some(system)) => text!("Unknown browser on {system}", system = system),
        (None, None) => text!("Unknown browser"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_named_by_family_and_system() {
        for (sent, expected) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 \
                 Safari/537.36 Edg/142.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.6 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/142.0.0.0 Safari/537.36",
                "Chrome on macOS",
            ),
            ("curl/8.5.0", "Unknown browser"),
        ] {
            assert_eq!(describe(Some(sent)), expected, "{sent}");
        }
        assert_eq!(describe(None), "Unknown browser");
    }
}
