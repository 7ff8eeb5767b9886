//! The panel's cookies: the session, which no script reads, the theme, and for one page what was done before it.

use salvo::http::header::{COOKIE, HeaderMap};

use crate::context::State;

/// The header that sets one.
pub const SET: &str = "set-cookie";
const THEME: &str = "charter_theme";
const SAID: &str = "charter_said";
/// A page that does not come at once says nothing any more, in seconds.
const AT_ONCE: u32 = 20;
/// As long as a session lasts at most, in seconds.
const LASTS: u32 = 30 * 24 * 60 * 60;

/// Over HTTPS the name promises browsers that no other host or path has set it (RFC 6265bis, 4.1.3.2).
fn name(state: &State) -> &'static str {
    if is_secure(state) { "__Host-charter_session" } else { "charter_session" }
}

fn is_secure(state: &State) -> bool {
    state.base_url().starts_with("https://")
}

/// The secret of the session that a browser sends.
pub fn sent_session(state: &State, headers: &HeaderMap) -> Option<String> {
    sent(headers, name(state)).filter(|secret| !secret.is_empty())
}

/// The theme that was chosen, `light` or `dark`; otherwise the browser's.
pub fn sent_theme(headers: &HeaderMap) -> Option<&'static str> {
    let theme = sent(headers, THEME)?;
    ["light", "dark"].into_iter().find(|known| *known == theme)
}

/// The word for what was done before.
pub fn sent_said(headers: &HeaderMap) -> Option<String> {
    sent(headers, SAID)
}

/// Sets what the next page says; an empty word removes it.
pub fn said(word: &str) -> String {
    let lasts = if word.is_empty() { 0 } else { AT_ONCE };
    format!("{SAID}={word}; Path=/; HttpOnly; SameSite=Lax; Max-Age={lasts}")
}

fn sent(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_string()).next()
}

/// Sets the session. `Lax`, so that a link in a message leads to the page it names; what changes something is guarded
/// by more than the cookie.
pub fn session(state: &State, secret: &str) -> String {
    let secure = if is_secure(state) { "; Secure" } else { "" };
    format!("{}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={LASTS}{secure}", name(state))
}

/// Whether a header sets or removes the session.
pub fn is_session(set: &str) -> bool {
    set.contains("charter_session=")
}

/// Removes the session.
pub fn no_session(state: &State) -> String {
    let secure = if is_secure(state) { "; Secure" } else { "" };
    format!("{}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{secure}", name(state))
}

/// Sets the theme; anything but the two is the browser's own.
pub fn theme(theme: &str) -> String {
    match theme {
        "light" | "dark" => format!("{THEME}={theme}; Path=/; SameSite=Lax; Max-Age=31536000"),
        _ => format!("{THEME}=; Path=/; SameSite=Lax; Max-Age=0"),
    }
}
